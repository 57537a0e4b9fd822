"""The web graph of a collection: read, measured, written in the formats of others and as a page to look at."""
