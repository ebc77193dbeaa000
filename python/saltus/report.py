# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Text summary of a solution."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .solution import Solution

_MOST = 8


def describe(sol: Solution) -> str:
    """Summary: settings, events and final state."""
    about = sol._data.about()
    settings, stats = sol.settings, sol.stats
    lines = [f"{about['name'] or 'solution'}: {about['nq']} coordinates, {about['nc']} contacts, "
             f"{about['nj']} joint rows"]
    if len(sol) == 0:
        return "\n".join([*lines, "  nothing was recorded"])
    tolerance = settings.get("rtol")
    how = f", rtol {tolerance:g}, atol {settings['atol']:g}" if tolerance is not None and tolerance == tolerance else ""
    lines.append(f"  t from {sol.t[0]:g} to {sol.t[-1]:g} s, {len(sol)} states, {stats['steps']} steps by "
                 f"{settings['scheme']}{how}")
    if about["status"] != "complete":
        lines.append(f"  not complete: {about['status']}")
    counts = [f"{count} {kind}" for kind, count in stats.get("events", {}).items() if count]
    lines.append(f"  events: {', '.join(counts) if counts else len(sol.event_array)}")
    for i, (name, unit) in enumerate(sol._data.labels("q")[:_MOST]):
        rate = f", {name}' = {sol.v[-1, i]:.10g}" if about["nq"] == about["nv"] else ""
        lines.append(f"  {name} = {sol.q[-1, i]:.10g}{' ' + unit if unit else ''}{rate}")
    if about["nq"] > _MOST:
        lines.append(f"  ... {about['nq'] - _MOST} more")
    return "\n".join(lines)
