# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Figures of solutions with matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .solution import Solution

_MOST = 6


def draw(sol: Solution, names: tuple[str, ...], show: bool) -> Any:
    """`Solution.plot`: one panel for each unit, impacts as ticks below."""
    if show:
        import matplotlib.pyplot as pyplot
        figure = pyplot.figure(layout="constrained")
    else:
        from matplotlib.figure import Figure
        figure = Figure(layout="constrained")
    if not names:
        columns = [n for n, _ in sol._data.labels("q")][:_MOST] + [n for n, _ in sol._data.labels("v")][:_MOST]
        names = tuple(columns)
    panels: dict[str, list[str]] = {}
    for name in names:
        panels.setdefault(sol.unit(name), []).append(name)
    figure.set_size_inches(7.0, 1.2 + 2.0 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    impacts = sol.event_array["t"][sol.event_array["kind"] == 0]
    for axis, (unit, members) in zip(axes, panels.items()):
        for name in members:
            axis.plot(sol.t, sol[name], label=name, linewidth=1.2)
        if 0 < len(impacts) <= 2000:
            low = axis.get_ylim()[0]
            axis.plot(impacts, [low] * len(impacts), "|", color="0.4", markersize=5, clip_on=False)
        axis.set_ylabel(f"[{unit}]" if unit else "")
        axis.legend(loc="upper right", fontsize="small", framealpha=0.8, edgecolor="none")
        axis.grid(True, color="0.9")
    axes[-1].set_xlabel("t [s]")
    axes[0].set_title(str(sol._data.about()["name"]), fontsize="medium")
    if show:
        pyplot.show()
    return figure
