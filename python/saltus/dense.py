# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Dense output between recorded states."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _core
from .arguments import Array, as_doubles

if TYPE_CHECKING:
    from .solution import Solution, State


def _take(t: Array, q: Array, v: Array, wanted: Array, left: bool) -> tuple[Array, Array]:
    """States at given times by linear interpolation; at a jump the left or right state."""
    after = np.searchsorted(t, wanted, side="left" if left else "right")
    if left:
        hit = np.clip(after, 0, len(t) - 1)
        before = np.clip(after - 1, 0, len(t) - 1)
        exact = t[hit] == wanted
        low, high = np.where(exact, hit, before), hit
    else:
        low = np.clip(after - 1, 0, len(t) - 1)
        high = np.where(t[low] == wanted, low, np.clip(after, 0, len(t) - 1))
    span = t[high] - t[low]
    part = np.where(span > 0, (wanted - t[low]) / np.where(span > 0, span, 1.0), 0.0)[:, None]
    return q[low] + part * (q[high] - q[low]), v[low] + part * (v[high] - v[low])


def _integrator(sol: Solution) -> Optional[_core.Sim]:
    """Integrator with dense output, created once, for schemes that run to a tolerance."""
    if "integrator" not in sol._cache:
        call = sol._call
        family = call is not None and str(sol.settings["scheme"]).startswith("adaptive")
        sol._cache["integrator"] = (call.integrator(float(sol.t[-1]), int(sol.stats["steps"]))
                                    if call is not None and family else None)
    found: Optional[_core.Sim] = sol._cache["integrator"]
    return found


def evaluate(sol: Solution, t: Any, side: str) -> State:
    """`Solution.__call__`."""
    from .solution import State
    if side not in ("left", "right"):
        raise ValueError(f'side is {side!r}, must be "left" or "right"')
    times = as_doubles(t, "t")
    if len(sol) == 0:
        raise ValueError("nothing was recorded")
    low, high = float(sol.t[0]), float(sol.t[-1])
    if times.size and not (times.min() >= low and times.max() <= high):
        raise ValueError(f"t has to lie between {low:g} and {high:g} s")
    wanted = np.unique(times)
    left = side == "left"
    call = sol._call
    sim = _integrator(sol)
    if sim is not None:
        states = [sim.dense(x, left) for x in times.ravel().tolist()]
        q = np.array([np.asarray(state[0]) for state in states]).reshape(-1, sol.q.shape[1])
        v = np.array([np.asarray(state[1]) for state in states]).reshape(-1, sol.v.shape[1])
    elif wanted.size and call is not None and sol.settings["dense"]:
        known = call.at(wanted)
        q, v = _take(known.t, known.q, known.v, times.ravel(), left)
    else:
        q, v = _take(sol.t, sol.q, sol.v, times.ravel(), left)
    shape = times.shape
    return State(t, q.reshape(*shape, q.shape[1]), v.reshape(*shape, v.shape[1]),
                 {name: place for name, place in sol._places.items() if place[0] != "outputs"})
