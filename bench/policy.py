"""What the decisions cost: microseconds a call, best of five.

python bench/policy.py
"""

import timeit
from collections.abc import Callable

from gossamer.policy.addresses import classify
from gossamer.policy.failures import settle
from gossamer.policy.robots import parse
from gossamer.policy.scope import Scope
from gossamer.records import Candidate, Failure, FailureKind, Via
from gossamer.settings import Settings

PATH = "/w/cpp/container/vector/push_back.html"
URL = f"https://en.cppreference.com{PATH}"


def robots(rules: int, wildcards: int) -> bytes:
    lines = [f"Disallow: /folder{number}/" for number in range(rules - wildcards)]
    lines += [f"Disallow: /*?sort{number}=" for number in range(wildcards)]
    return "\n".join(["User-agent: *", *lines]).encode()


def calls() -> dict[str, Callable[[], object]]:
    plain, mixed, huge = (parse(robots(*size)).group("gossamer") for size in ((50, 0), (50, 12), (20_000, 0)))
    seeds = ("https://en.cppreference.com/w/",)
    by_host, by_prefix, by_domain = (Scope(seeds, extent) for extent in ("host", "prefix", "domain"))
    excluding = Scope(seeds, exclude=("*/forum/*", "*.pdf", "*?action=*"))
    candidate = Candidate(URL, Via.ANCHOR, 3)
    outside = Candidate("https://example.net/a", Via.ANCHOR, 3)
    settings, failure, body = Settings(), Failure(FailureKind.RESET, "by peer"), robots(50, 12)
    return {
        "robots match, 50 rules": lambda: plain.match(PATH),
        "robots match, 50 rules, 12 wildcards": lambda: mixed.match(PATH),
        "robots match, 50 rules, escaped path": lambda: plain.match(f"{PATH}?q=%C3%A9"),
        "robots match, 20,000 rules": lambda: huge.match(PATH),
        "robots parse and compile, 50 rules": lambda: parse(body).group("gossamer"),
        "scope judge, host": lambda: by_host.judge(candidate),
        "scope judge, host, outside": lambda: by_host.judge(outside),
        "scope judge, prefix": lambda: by_prefix.judge(candidate),
        "scope judge, domain": lambda: by_domain.judge(candidate),
        "scope judge, host, 3 exclude patterns": lambda: excluding.judge(candidate),
        "settle": lambda: settle(failure, 1, settings, 0.0, 0.5),
        "classify an address": lambda: classify("93.184.216.34"),
    }


def main() -> None:
    print(f"{'call':40} {'us':>8}")
    for name, call in calls().items():
        timer = timeit.Timer(call)
        count, _ = timer.autorange()
        print(f"{name:40} {min(timer.repeat(5, max(count // 4, 1))) / max(count // 4, 1) * 1e6:8.2f}")


if __name__ == "__main__":
    main()
