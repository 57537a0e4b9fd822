"""Where hosts have what nobody told us of."""

WELL_KNOWN = "/sitemap.xml"
"""Where a sitemap is looked for when nobody names one."""
