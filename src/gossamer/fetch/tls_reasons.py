"""Why TLS failed, in words that a person understands: libcurl and OpenSSL speak of each in their own."""

import re

_VERIFIED = re.compile(r"verify result: .*\((\d+)\)$")
_MISMATCH = re.compile(r"no alternative certificate subject name matches target (?:\w+ )+?('.*')$")

# X509_V_ERR_… of OpenSSL's x509_vfy.h
_CERTIFICATE = {
    7: "the signature on its certificate is wrong",
    9: "its certificate is not valid yet, or the clock of this machine is wrong",
    10: "its certificate has expired",
    18: "its certificate is self-signed: nobody vouches for it",
    19: "the authority that signed its certificate is not trusted",
    20: "who signed its certificate is not known: it sends no intermediate certificate, or its authority is not trusted",
    21: "who signed its certificate is not known: it sends no intermediate certificate, or its authority is not trusted",
    22: "its chain of certificates is too long",
    23: "its certificate was revoked",
    24: "its certificate is signed by one that may not sign",
    25: "its chain of authorities is longer than they allow",
    26: "its certificate is not one for servers",
    34: "its certificate makes a critical demand that is not understood",
    47: "its authority may not vouch for this name",
    48: "its authority may not vouch for this name",
    66: "the key of its certificate is too weak",
    67: "the key of its authority is too weak",
    68: "its certificate is signed with a digest that is too weak, such as SHA-1",
    79: "its certificate is signed by one that may not sign",
}

_PROTOCOL = (
    (
        ("alert protocol version", "unsupported protocol", "version too low"),
        "it speaks no version of TLS that is safe (1.2 or 1.3)",
    ),
    (("alert certificate required", "alert bad certificate"), "it wants a certificate of ours, or another one"),
    (("alert handshake failure", "no shared cipher"), "it has no cipher that is safe, or wants a certificate of ours"),
    (("unrecognized name",), "it does not know this name"),
    (("wrong version number", "packet length too long", "http request"), "what answers there is not TLS"),
    (("dh key too small",), "its key exchange is too weak"),
    (("unexpected eof",), "it hung up in the middle of the handshake"),
)


def words(text: str) -> str:
    """What libcurl's ``text`` says, in words; the text itself where it is of something else."""
    verified, mismatch = _VERIFIED.search(text), _MISMATCH.search(text)
    if verified is not None:
        return _CERTIFICATE.get(int(verified[1]), text)
    if mismatch is not None:
        return f"its certificate does not match the name {mismatch[1]}"
    return next((said for marks, said in _PROTOCOL if any(mark in text for mark in marks)), text)
