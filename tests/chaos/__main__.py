"""The runner: ``python -m chaos --seeds 0-299``, from the folder of the tests."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

from chaos.draw import Plan, draw
from chaos.judge import judge, requests
from chaos.ride import Ride, ride

_HEAD = f"{'seed':>5} {'hosts':>5} {'pages':>5} {'faults':>6} {'runs':>4} {'visits':>6} {'MB':>4} {'fds':>4} {'s':>6}  what befell it"


def main() -> int:
    """Run the seeds; 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m chaos", description="crawls disturbed in ways drawn from a seed")
    parser.add_argument("--seeds", default="0-19", help="numbers and ranges: 3,7,20-39")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at once")
    parser.add_argument(
        "--keep", type=Path, help="a folder for what each seed left; otherwise failing ones only keep it"
    )
    parser.add_argument("--plan", action="store_true", help="show the plans, run nothing")
    arguments = parser.parse_args()
    seeds = list(_numbers(arguments.seeds))
    if arguments.plan:
        for seed in seeds:
            _say("\n".join(_described(draw(seed))))
        return 0
    _say(_HEAD)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = [
            seed for seed, found in zip(seeds, pool.map(lambda s: _one(s, arguments.keep), seeds), strict=True) if found
        ]
    _say(f"{len(seeds)} seeds, {len(failed)} failed{': ' + ', '.join(map(str, failed)) if failed else ''}")
    return 1 if failed else 0


def _numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _one(seed: int, keep: Path | None) -> list[str]:
    place = Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-"))
    result = ride(draw(seed), place)
    found = judge(result)
    _say(_row(result, found))
    if found:
        _say("\n".join(_report(result, found, place)))
    (place / "requests.txt").write_text("\n".join(requests(result.visits)) + "\n", encoding="utf-8")
    (place / "plan.txt").write_text("\n".join(_described(result.plan)) + "\n", encoding="utf-8")
    for number, run in enumerate(result.runs, 1):
        (place / f"run{number}.txt").write_text(run.err, encoding="utf-8")
    if keep is not None:
        shutil.copytree(place, keep / str(seed), dirs_exist_ok=True)
    if keep is not None or not found:
        shutil.rmtree(place)
    return found


def _row(result: Ride, found: list[str]) -> str:
    plan = result.plan
    blows = ", ".join(f"{run.disturbance.blow if run.disturbance else 'none'} [{run.code}]" for run in result.runs)
    outcome = "" if not found else f"  FAILED: {len(found)} violations"
    pages = sum(host.pages for host in plan.hosts)
    return (
        f"{plan.seed:5} {len(plan.hosts):5} {pages:5} {len(plan.faults):6} {len(result.runs):4} {len(result.visits):6}"
        f" {result.memory >> 20:4} {result.descriptors:4} {result.seconds:6.1f}  {blows}{outcome}"
    )


def _report(result: Ride, found: list[str], place: Path) -> Iterator[str]:
    """Everything that it takes to look into a failing seed."""
    yield "-" * 100
    yield from _described(result.plan)
    for number, run in enumerate(result.runs, 1):
        yield f"  run {number}: exit code {run.code} after {run.ended - run.began:.2f} s: {' '.join(run.arguments)}"
        yield from (f"    {line}" for line in run.err.splitlines()[-5:])
    yield from (f"  VIOLATION {line}" for line in found[:30])
    yield f"  collection, requests and output: {place}"
    yield f"  again: python -m chaos --seeds {result.plan.seed}"
    yield "-" * 100


def _described(plan: Plan) -> Iterator[str]:
    for field in fields(plan):
        value = getattr(plan, field.name)
        if isinstance(value, tuple) and value and not isinstance(value[0], str):
            yield f"  {field.name}:"
            yield from (f"    {each}" for each in value)
        else:
            yield f"  {field.name}: {value}"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
