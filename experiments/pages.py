"""Put tables into pages of the docs, between marks: ``<!-- name -->``, ``<!-- /name -->``."""

import re


def filled(text, tables):
    """Return the text with every table, by the name of its mark, made anew."""
    for name, table in tables.items():
        text, found = re.subn(
            rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)",
            lambda match, table=table: match[1] + table + match[2],
            text,
            flags=re.DOTALL,
        )
        assert found == 1, f"{found} places are marked {name}"
    return text
