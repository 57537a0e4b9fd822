"""The archive in the formats of others. Everything streams: memory does not grow with what is exported."""
