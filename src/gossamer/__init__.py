"""Gossamer: a web crawler people can trust with a site."""

__version__ = "0.1.0"
