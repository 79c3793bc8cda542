"""The former name of `edfkmeans.engines`."""
