"""A curve in characters, for the terminal."""

import math
from collections.abc import Sequence

HEIGHT = 14


def chart(values: Sequence[float], chosen: int, minima: Sequence[int], width: int = 80) -> str:
    """Draw values for k = 1, 2, ...; ``O`` is the chosen k and ``o`` another local minimum."""
    low, high = min(values), max(values)
    step = (high - low) / (HEIGHT - 1) or 1.0
    digits = max(0, 1 - math.floor(math.log10(step)))
    labels = [f"{high - row * step:.{digits}f}" if row % 4 == 0 else "" for row in range(HEIGHT)]
    margin = max(map(len, labels))
    spacing = max(1, min(4, (width - margin - 3) // len(values)))
    rows = [[" "] * (spacing * len(values)) for _ in range(HEIGHT)]
    for k, value in enumerate(values, start=1):
        mark = "O" if k == chosen else "o" if k in minima else "."
        rows[round((high - value) / step)][spacing * k - 1] = mark
    lines = [
        f"{label:>{margin}} |{''.join(row)}".rstrip()
        for label, row in zip(labels, rows, strict=True)
    ]
    axis = [" "] * (spacing * len(values) + 2)
    for k in [1, *range(5, len(values) + 1, 5)]:
        axis[spacing * k - len(str(k)) : spacing * k] = str(k)
    lines.append(" " * margin + " +" + "-" * (spacing * len(values)))
    lines.append(" " * margin + "  " + "".join(axis).rstrip() + "   k")
    return "\n".join(lines)
