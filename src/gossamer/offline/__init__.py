"""The offline copy: a pure function of the archive and the chosen pages, a folder that opens anywhere with no server."""
