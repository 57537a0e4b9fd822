"""The imports of JavaScript modules, where they are literal (ECMA-262, "Modules").

A scanner of our own: what parses JavaScript in Python is slow, knows the language of years ago, and refuses a whole file
for one construct that it does not know. To find imports it is enough to know what is text, comment or regular
expression, and so is none; what a slash means is told, as es-module-lexer does it, by what stands before it. The time is
linear whatever comes.
"""

import re
from enum import Enum, auto

from gossamer.parse.rewriting.contract import Kind
from gossamer.parse.rewriting.edits import Edit
from gossamer.parse.rewriting.linker import Linker

_TOKEN = re.compile(
    r"""(?:[\s\ufeff]++|/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n\r\u2028\u2029]*+|<!--[^\n\r]*+)*+(?:
      (?P<word>[\w$\u200c\u200d\\#]++)
    | (?P<text>"(?:[^"\\\n\r]++|\\(?:\r\n|[\s\S]))*+"|'(?:[^'\\\n\r]++|\\(?:\r\n|[\s\S]))*+')
    | (?P<sign>=>|\+\+|--|\?\.|\.\.\.|[\s\S])
    )""",
    re.VERBOSE,
)
# Up to the next that may matter: what opens, closes or quotes, a slash, an import or export.
_OTHER = re.compile(r"""(?:(?!(?:import|export)(?![\w$]))[\w$]++|[^\w$"'`/(){}])++""")
_LAST = re.compile(r"(\.?)\s*+([\w$]++|=>|\+\+|--|\?\.|[^\w\s])\s*+\Z")
_REGEX = re.compile(r"(?:[^/\\\[\n\r\u2028\u2029]++|\\[^\n\r]|\[(?:[^\]\\\n\r]++|\\[^\n\r])*+\])++/[\w$]*+")
_TEMPLATE = re.compile(r"((?:[^`\\$]++|\\[\s\S]|\$(?!\{))*+)(`|\$\{)")

# A slash after one of these begins a regular expression; after any other word it divides.
_BEFORE_REGEX = frozenset(
    (
        *("await", "case", "delete", "do", "else", "in", "instanceof", "new", "of", "return", "throw", "typeof"),
        *("void", "yield"),
    )
)
_BEFORE_CONDITION = frozenset(("for", "if", "while", "with"))
_BEFORE_OBJECT = frozenset("([,=:?&|+-*%!~^<>")  # a brace after one of these begins an object, not a block
_LOOK_BACK = 64  # characters: no keyword is as long, with what may stand around it
_WRITTEN = {ord(character): f"%{ord(character):02X}" for character in "'`$\\"}
_URL_LIKE = re.compile(r"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*:")


def edits(source: str, linker: Linker, start: int = 0, end: int | None = None) -> list[Edit]:
    """What to change in the script that stands in ``source`` from ``start`` to ``end``."""
    end = len(source) if end is None else end
    if source.find("import", start, end) < 0 and source.find("export", start, end) < 0:
        return []
    return _Script(source, linker, end).edits(start)


def is_address(specifier: str) -> bool:
    """Whether it is a URL: a bare one ("react") is none (HTML 8.1.5.2)."""
    return _URL_LIKE.match(specifier) is not None


def point_specifier(linker: Linker, specifier: str) -> str | None:
    """What the specifier of an import becomes; None: it stays."""
    if not is_address(specifier):
        return None
    pointed = linker.point(specifier, Kind.REQUISITE, query=True)
    if pointed is None or pointed.value is None:
        return None
    if pointed.local and not is_address(pointed.value):
        return None if "./" + pointed.value == specifier else "./" + pointed.value
    return pointed.value


class _State(Enum):
    """How far an import or export has been read."""

    NONE = auto()
    IMPORT = auto()  # after "import"
    PHASE = auto()  # after "import.", and the phase if there is one
    DYNAMIC = auto()  # after "import("
    EXPORT = auto()  # after "export"
    CLAUSE = auto()  # within the names, before "from"
    FROM = auto()  # after "from"


class _Script:
    def __init__(self, source: str, linker: Linker, end: int) -> None:
        self._source = source
        self._linker = linker
        self._end = end
        self._edits: list[Edit] = []
        self._state = _State.NONE
        self._before = ""  # the token before: a word, a sign, or a quotation mark for any text
        self._after_dot = False  # whether the word before is the name of a property
        self._conditions: list[bool] = []  # for each open parenthesis: whether a statement follows its end
        self._braces: list[str] = []  # open ones: "{" of a block, "o" of an object, "$" in a template
        self._closed = ""  # what the parenthesis or brace before was: "condition", "block" or nothing

    def edits(self, position: int) -> list[Edit]:
        position = self._pass_over(position)
        while (token := _TOKEN.match(self._source, position, self._end)) is not None:
            position = token.end()
            if (word := token["word"]) is not None:
                self._word(word)
            elif token["text"] is not None:
                self._text(token.start("text") + 1, position - 1)
            else:
                position = self._sign(token["sign"], position)
            if self._state is _State.NONE:
                position = self._pass_over(position)
        return self._edits

    def _pass_over(self, position: int) -> int:
        """Go on to what may matter, and see what stands before it."""
        found = _OTHER.match(self._source, position, self._end)
        if found is None:
            return position
        last = _LAST.search(self._source, max(position, found.end() - _LOOK_BACK), found.end())
        if last is not None:
            self._before, self._after_dot = last[2], bool(last[1])
        return found.end()

    def _word(self, word: str) -> None:
        self._after_dot = self._before in (".", "?.")
        self._state = self._after_word(word)
        self._before = word

    def _after_word(self, word: str) -> _State:
        match self._state:
            case _State.PHASE if word in ("defer", "source"):
                return _State.PHASE
            case _State.IMPORT | _State.CLAUSE | _State.FROM if not (
                self._before == "}" and word in ("import", "export")
            ):
                return _State.FROM if word == "from" and self._before != "import" else _State.CLAUSE
        if word == "import" and not self._after_dot:
            return _State.IMPORT
        if word == "export" and not self._after_dot:
            return _State.EXPORT
        return _State.NONE

    def _text(self, start: int, end: int) -> None:
        """A string, or a template without substitutions; positions are those within the quotes."""
        if self._state in (_State.FROM, _State.IMPORT) or (
            self._state is _State.DYNAMIC and self._ends_argument(end + 1)
        ):
            self._point(start, end)
            self._state = _State.NONE
        elif self._state is not _State.CLAUSE:  # where a name may be a string
            self._state = _State.NONE
        self._before = '"'

    def _ends_argument(self, position: int) -> bool:
        """Whether the string before is all of the argument."""
        token = _TOKEN.match(self._source, position, self._end)
        return token is not None and token["sign"] in (",", ")")

    def _point(self, start: int, end: int) -> None:
        specifier = self._source[start:end]
        if "\\" not in specifier:
            value = point_specifier(self._linker, specifier)
            if value is not None:
                self._edits.append((start, end, value.translate(_WRITTEN)))

    def _sign(self, sign: str, position: int) -> int:
        """Go on after a sign; returns where."""
        if sign == "`":
            return self._template(position, first=True)
        if sign == "/" and self._regex_may_come():
            literal = _REGEX.match(self._source, position, self._end)
            if literal:
                self._state, self._before = _State.NONE, '"'
                return literal.end()
        if sign == "}" and self._braces and self._braces[-1] == "$":
            self._braces.pop()
            return self._template(position, first=False)
        self._state = self._after_sign(sign)
        self._nest(sign)
        self._before = sign
        return position

    def _after_sign(self, sign: str) -> _State:
        match self._state:
            case _State.IMPORT if sign == "." and self._before == "import":
                return _State.PHASE
            case _State.IMPORT | _State.PHASE if sign == "(":
                return _State.DYNAMIC
            case _State.IMPORT | _State.EXPORT | _State.CLAUSE | _State.FROM if sign in "{},*":
                return _State.CLAUSE
        return _State.NONE

    def _nest(self, sign: str) -> None:
        self._closed, closed = "", self._closed
        match sign:
            case "(":
                self._conditions.append(self._before in _BEFORE_CONDITION and not self._after_dot)
            case ")" if self._conditions and self._conditions.pop():
                self._closed = "condition"
            case "{":
                is_object = self._before in _BEFORE_OBJECT or (self._before in _BEFORE_REGEX and closed == "")
                self._braces.append("o" if is_object and self._before not in ("do", "else") else "{")
            case "}" if not self._braces or self._braces.pop() == "{":
                self._closed = "block"

    def _regex_may_come(self) -> bool:
        before = self._before
        if before in (")", "}"):
            return self._closed != ""
        if before in ("]", '"', "++", "--"):
            return False
        if before[-1:].isalnum() or before[-1:] in ("_", "$"):
            return before in _BEFORE_REGEX and not self._after_dot
        return True

    def _template(self, position: int, *, first: bool) -> int:
        found = _TEMPLATE.match(self._source, position, self._end)
        if found is None:
            return self._end
        if found[2] == "${":
            self._braces.append("$")
            self._state, self._before = _State.NONE, "("
        elif first and self._state is _State.DYNAMIC:
            self._text(*found.span(1))
        else:
            self._state, self._before = _State.NONE, '"'
        return found.end()
