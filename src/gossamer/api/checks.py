"""Arguments of programs that no type checker looked at: what makes no sense is said where it was given.

Further in, an error of a wrong type would be taken for a damaged collection, which can hold anything.
"""

from inspect import iscoroutinefunction

from gossamer.errors import UsageError


def check_texts(what: str, *values: object) -> None:
    """Raises UsageError for a value that is no str; None passes."""
    for value in values:
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{what} must be a str, not {value!r}")


def check_counts(what: str, *values: object) -> None:
    """Raises UsageError for a value that is no whole number, at least 0; None passes."""
    for value in values:
        if value is not None and (not isinstance(value, int) or value < 0):
            raise UsageError(f"{what} must be a whole number, at least 0, not {value!r}")


def check_status(value: object) -> None:
    """Raises UsageError for what is no HTTP status, and no first and last one."""
    numbers = value if isinstance(value, tuple) else (value, value)
    if value is not None and (len(numbers) != 2 or not all(isinstance(number, int) for number in numbers)):
        raise UsageError(f"{value!r} is no HTTP status", hint="write 404, or (400, 499)")


def check_function(what: str, function: object) -> None:
    """Raises UsageError for what can't be called, or would only give something to be awaited; None passes."""
    if function is None:
        return
    if not callable(function):
        raise UsageError(f"{what} must be a function, not {function!r}")
    if iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        raise UsageError(
            f"{what} can't be awaited: {name_of(function)} is async", hint="write def instead of async def"
        )


def name_of(function: object) -> str:
    """What a function is called in messages."""
    return str(getattr(function, "__qualname__", None) or repr(function))
