"""Text that a spreadsheet will not run."""

import re
from typing import Any

# Where a spreadsheet may see a formula: before one of its signs, in either width, at the start or
# behind what separates fields in some countries.
_FORMULA = re.compile(r"(^|[;\t\r\n])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])")


def harmless(value: Any) -> Any:
    """Keep a spreadsheet from running a text as a formula."""
    return _FORMULA.sub(r"\g<0>'", value) if isinstance(value, str) else value
