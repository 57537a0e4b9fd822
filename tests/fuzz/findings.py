"""Inputs that broke something once: the target, the bytes, and above each what went wrong."""

FINDINGS: tuple[tuple[str, bytes], ...] = (
    # http://./ is a URL, and its host without the last dot was no name at all
    ("urls", b"////.//"),
    # a host that begins like a comment was lost when the file was written again
    ("files", b".#a.example\tFALSE\t/\tTRUE\t0\tname\tvalue\n"),
)
