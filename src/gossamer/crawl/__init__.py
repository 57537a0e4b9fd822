"""The crawl manager: leases URLs, has them fetched, parsed and committed, and says when it is over."""
