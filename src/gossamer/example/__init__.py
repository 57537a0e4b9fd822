"""A small site to try a crawl on, and the server that shows it on this machine only.

`python -m gossamer.example` serves it until it is interrupted; with a command, it runs that command meanwhile, the
site's address in place of ``{}``, and ends as the command did.
"""
