"""Gossamer for programs in Python: what ``import gossamer`` gives. Described in docs/python.md."""
