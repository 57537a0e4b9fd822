"""The archive: WARC segments, the database beside them, and the full-text index."""
