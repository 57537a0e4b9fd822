"""Programs that say what a crawl should have done and whether it did. They share no code with the crawler.

``walk`` finds a site's pages by plain breadth-first search; ``check`` holds a crawl against the server's own access
log and the files that were written, and returns the violations, each as one line.
"""

from oracle.archive import check_archive
from oracle.check import Expected, check, expect
from oracle.politeness import check_politeness
from oracle.visits import check_visits
from oracle.walk import Walk, walk

__all__ = ["Expected", "Walk", "check", "check_archive", "check_politeness", "check_visits", "expect", "walk"]
