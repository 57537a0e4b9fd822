"""Archives that somebody else made, taken into a collection as if it had been crawled. Nothing is fetched."""
