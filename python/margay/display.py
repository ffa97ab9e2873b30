"""How reports show themselves in notebooks."""

import html


def preformatted(text: str) -> str:
    """Text as it is in a terminal, for a notebook's output cell."""
    return (
        '<pre style="line-height:1.35;overflow-x:auto;background:transparent">' + html.escape(text) + "</pre>"
    )
