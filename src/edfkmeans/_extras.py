"""What is installed on request: how to ask for it."""


def needs(what: str, packages: str, extra: str) -> str:
    """Say what needs a package that is not there, and how to get it.

    From a checkout: the name is not ours on PyPI, and may be a stranger's there.
    """
    how = f"Install it in a checkout of edfkmeans: pip install '.[{extra}]'"
    return f"{what} needs {packages}. {how}"
