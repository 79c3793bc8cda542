"""What is wrong with a file."""


class BadFileError(ValueError):
    """The file cannot be used as it is; the message says why and what to do."""
