"""What a benchmark prints: tables in Markdown, and each target with what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


def p50(samples: Sequence[float]) -> float:
    """The median."""
    return float(np.percentile(samples, 50))


def p99(samples: Sequence[float]) -> float:
    """The 99th percentile, interpolated."""
    return float(np.percentile(samples, 99))


def ms(seconds: float) -> str:
    """``seconds`` in milliseconds, as printed."""
    return f"{seconds * 1000:.2f}"


@dataclass
class Report:
    """One benchmark's output. A reduced run is printed alike, but its targets are not judged."""

    judged: bool
    missed: list[str] = field(default_factory=list)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Print a Markdown table with aligned columns."""
        cells = [list(columns), *([str(cell) for cell in row] for row in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        cells.insert(1, ["-" * width for width in widths])
        print(f"\n{title}\n")
        for row in cells:
            line = " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print(f"| {line} |")

    def at_least(self, what: str, measured: float, floor: float) -> None:
        """Judge a target that is a lower bound."""
        self._judge(f"{what}: {measured:.3f}, target >= {floor:g}", measured >= floor)

    def at_most(self, what: str, measured: float, ceiling: float) -> None:
        """Judge a target that is an upper bound."""
        self._judge(f"{what}: {measured:.3f}, target <= {ceiling:g}", measured <= ceiling)

    def _judge(self, line: str, met: bool) -> None:
        verdict = ("met" if met else "MISSED") if self.judged else "reduced run, not judged"
        print(f"\n{line}: {verdict}", flush=True)
        if self.judged and not met:
            self.missed.append(line)
