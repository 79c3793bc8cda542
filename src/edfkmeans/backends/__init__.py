"""Who runs a kernel and where the rows are."""
