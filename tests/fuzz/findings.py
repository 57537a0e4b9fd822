"""Inputs that broke something once: the target, the bytes, and above each what went wrong."""

FINDINGS: tuple[tuple[str, bytes], ...] = ()
