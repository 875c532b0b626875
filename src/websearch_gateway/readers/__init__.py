"""Page readers, one file per kind of source."""
