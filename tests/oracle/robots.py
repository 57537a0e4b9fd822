"""robots.txt as RFC 9309 has it, in the plainest way: for well-formed files and plain paths."""

import re


class Rules:
    """The rules of one file for one product token."""

    def __init__(self, text: str, agent: str = "gossamer") -> None:
        groups = _groups(text)
        chosen = [rules for names, rules in groups if agent.lower() in names]
        if not chosen:
            chosen = [rules for names, rules in groups if "*" in names]
        self._rules = [rule for rules in chosen for rule in rules]

    def allows(self, path: str) -> bool:
        """The longest pattern that matches decides, Allow on a tie (section 2.2.2)."""
        matches = [(len(pattern), verb == "allow") for verb, pattern in self._rules if _regex(pattern).match(path)]
        return max(matches, default=(0, True))[1]


def _groups(text: str) -> list[tuple[list[str], list[tuple[str, str]]]]:
    groups: list[tuple[list[str], list[tuple[str, str]]]] = []
    is_open = False
    for line in text.lstrip("\ufeff").splitlines():
        key, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
        if key.lower() == "user-agent":
            if not is_open:
                groups.append(([], []))
            groups[-1][0].append(value.lower())
            is_open = True
        elif key.lower() in ("allow", "disallow") and groups:
            is_open = False
            if value:
                groups[-1][1].append((key.lower(), value))
    return groups


def _regex(pattern: str) -> re.Pattern[str]:
    body = ".*".join(re.escape(part) for part in pattern.removesuffix("$").split("*"))
    return re.compile(body + ("$" if pattern.endswith("$") else ""), re.DOTALL)
