# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Judging and comparing runs: certificates, distances, orders of convergence."""
from __future__ import annotations

import os
from typing import Any, Iterable, Optional, Union

import numpy as np

from . import _core
from .arguments import NAN, Array, as_doubles, as_real
from .model import Model, as_model
from .solution import Certificate, Solution
from .solver import load, solve


def certify(sol: Solution) -> Certificate:
    """`Solution.certificate`."""
    data = sol._data
    call = sol._call
    own_start = True
    if call is not None:
        if call.rest[3] is not None:
            raise ValueError("a run that was resumed has no certificate of its own: its first steps are not there")
        own_start = call.start[0] is None and call.numbers[5] != call.numbers[5]
        every = sol.settings["record_every"] == 1 and not sol.settings["record_dt"] > 0 and call.record[2] is None
        if not (every and call.contacts):
            data = call.again((1, NAN, None, True))._data
    return Certificate(_core.verify(data, sol.model._scene, own_start))


def verify(recording: Union[Solution, str, os.PathLike[str]],
           model: Union[None, Model, str, os.PathLike[str]] = None) -> Certificate:
    """Judges a solution or a recording without the code that computed it, as `saltus verify`.

    Without a model the scene of the recording is taken.

    >>> import saltus, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "run.h5")
    >>> saltus.solve("scenes/ball.yaml", 3.5, tol=1e-8, scheme="adaptive", every=1).save(path)
    >>> saltus.verify(path).passed
    True
    """
    sol = recording if isinstance(recording, Solution) else load(recording)
    if model is None:
        return sol.certificate
    return Certificate(_core.verify(sol._data, as_model(model, None)._scene, True))


class Comparison:
    """How far two motions are from each other, column by column.

    `q` and `v` are the largest differences of positions and velocities over the common times, where neither jumps;
    `graph` the Hausdorff distances of their graphs in (t, x), which do not punish a jump that comes a little
    later; `events` pairs of (kind, contact, difference of times) as long as kinds agree.

    >>> import saltus
    >>> fine = saltus.solve("scenes/ball.yaml", 2.2, tol=1e-10, scheme="adaptive")
    >>> rough = saltus.solve("scenes/ball.yaml", 2.2, tol=1e-4, scheme="adaptive")
    >>> saltus.compare(rough, fine).q.max() < 1e-3
    True
    """

    __slots__ = ("names", "q", "v", "graph", "events", "same_events")

    def __init__(self, names: tuple[str, ...], q: Array, v: Array, graph: Array,
                 events: list[tuple[str, str, float]], same_events: bool) -> None:
        self.names, self.q, self.v, self.graph = names, q, v, graph
        self.events, self.same_events = events, same_events

    def __repr__(self) -> str:
        late = max((abs(entry[2]) for entry in self.events), default=0.0)
        words = "the same events" if self.same_events else "different events"
        lines = [f"Comparison: {words}, {len(self.events)} in common, times differ by at most {late:.3g} s"]
        n = len(self.q)
        for i, name in enumerate(self.names):
            value = self.q[i] if i < n else self.v[i - n]
            lines.append(f"  {name}: {value:.3g} at most, {self.graph[i]:.3g} as graphs")
        return "\n".join(lines)


def _columns(sol: Solution) -> Array:
    return np.hstack([sol.q, sol.v])


def _at(sol: Solution, times: Array, left: bool) -> Array:
    from .dense import _take
    q, v = _take(sol.t, sol.q, sol.v, times, left)
    return np.hstack([q, v])


def compare(a: Union[Solution, str, os.PathLike[str]], b: Union[Solution, str, os.PathLike[str]]) -> Comparison:
    """Compares two motions of the same model: positions, velocities, graphs, events.

    States of `a` are compared with `b` at the same times, by dense output where `b` was computed here, else by
    straight lines between recorded states.

    >>> import saltus
    >>> sol = saltus.solve("scenes/woodpecker.yaml", 0.1, tol=1e-6)
    >>> same = saltus.compare(sol, sol)
    >>> same.same_events, float(same.q.max()), float(same.graph.max())
    (True, 0.0, 0.0)
    """
    one = a if isinstance(a, Solution) else load(a)
    other = b if isinstance(b, Solution) else load(b)
    names = one.names[1:1 + one.q.shape[1] + one.v.shape[1]]
    if names != other.names[1:1 + other.q.shape[1] + other.v.shape[1]]:
        raise ValueError("the two motions have different coordinates")
    low, high = max(one.t[0], other.t[0]), min(one.t[-1], other.t[-1])
    if not low < high:
        raise ValueError("the two motions have no time in common")
    jumps = np.concatenate([sol.t[1:][np.diff(sol.t) == 0] for sol in (one, other)])
    times = np.unique(one.t[(one.t >= low) & (one.t <= high)])
    times = times[~np.isin(times, jumps) & (times > low)]  # a start may be corrected
    state = other(times)
    there = np.hstack([state.q, state.v])
    difference = np.abs(_at(one, times, False) - there).max(axis=0, initial=0.0)
    n = one.q.shape[1]
    pieces = [_columns(sol)[(sol.t >= low) & (sol.t <= high)] for sol in (one, other)]
    clocks = [sol.t[(sol.t >= low) & (sol.t <= high)] for sol in (one, other)]
    graph = np.array([_core.hausdorff(np.column_stack([clocks[0], pieces[0][:, i]]),
                                      np.column_stack([clocks[1], pieces[1][:, i]])) for i in range(len(names))])
    events, same = _event_pairs(one, other, low, high)
    return Comparison(names, difference[:n], difference[n:], graph, events, same)


def _event_pairs(a: Solution, b: Solution, low: float, high: float) -> tuple[list[tuple[str, str, float]], bool]:
    from .solution import KINDS
    lists = []
    for sol in (a, b):
        raw = sol.event_array
        lists.append(raw[(raw["t"] >= low) & (raw["t"] <= high)])
    pairs: list[tuple[str, str, float]] = []
    contacts = [name for name, _ in a._data.labels("c")]
    for x, y in zip(*lists):
        if x["kind"] != y["kind"] or x["identity"] != y["identity"]:
            break
        place = int(x["contact"])
        name = contacts[place] if 0 <= place < len(contacts) else str(place)
        pairs.append((KINDS[int(x["kind"])], name, float(x["t"] - y["t"])))
    return pairs, len(pairs) == len(lists[0]) == len(lists[1])


class Convergence:
    """Errors of runs with finer and finer steps or tolerances, and the order that fits them.

    >>> import saltus
    >>> study = saltus.converge("scenes/oscillator.yaml", 1.0, scheme="rk4", steps=[0.1, 0.05, 0.025])
    >>> study.order > 3.5
    True
    """

    __slots__ = ("kind", "sizes", "errors", "order", "solutions")

    def __init__(self, kind: str, sizes: Array, errors: Array, solutions: list[Solution]) -> None:
        self.kind, self.sizes, self.errors, self.solutions = kind, sizes, errors, solutions
        good = (errors > 0) & np.isfinite(errors)
        self.order = float(np.polyfit(np.log(sizes[good]), np.log(errors[good]), 1)[0]) if good.sum() > 1 else NAN

    def __repr__(self) -> str:
        lines = [f"Convergence in the {self.kind}: order {self.order:.2f}"]
        lines += [f"  {size:.3g}: {error:.3g}" for size, error in zip(self.sizes, self.errors)]
        return "\n".join(lines)


def _sizes(values: Iterable[float], name: str) -> Array:
    sizes = as_doubles(list(values), name)
    if sizes.ndim != 1 or len(sizes) == 0 or not (sizes > 0).all():
        raise ValueError(f"{name} has to be a list of positive numbers")
    return sizes


def converge(model: Union[Model, str, os.PathLike[str]], t_end: Optional[float] = None, *,
             scheme: Optional[str] = None, steps: Optional[Iterable[float]] = None,
             tols: Optional[Iterable[float]] = None, reference: Optional[Solution] = None,
             reference_tol: float = 1e-11, **settings: Any) -> Convergence:
    """Errors of positions in runs with given `steps` or `tols`, against a reference run.

    The reference is a run of `adaptive` to `reference_tol` unless one is given. An error is the largest difference of
    positions over the recorded times.

    >>> import saltus
    >>> study = saltus.converge("scenes/ball.yaml", 2.2, scheme="moreau-jean", steps=[0.01, 0.005, 0.0025, 0.00125])
    >>> bool(study.errors[-1] < study.errors[0])
    True
    """
    if (steps is None) == (tols is None):
        raise ValueError("give either steps or tols")
    made = as_model(model, None)
    if reference is None:
        reference = solve(made, t_end, tol=as_real(reference_tol, "reference_tol"), scheme="adaptive")
    kind = "step" if steps is not None else "tolerance"
    sizes = _sizes(steps if steps is not None else tols or [], "steps" if steps is not None else "tols")
    solutions, errors = [], []
    for size in sizes:
        how: dict[str, Any] = {"step" if kind == "step" else "tol": float(size)}
        sol = solve(made, t_end, scheme=scheme, **how, **settings)
        times = np.unique(sol.t[(sol.t >= reference.t[0]) & (sol.t <= reference.t[-1])])
        q = _at(sol, times, False)[:, :sol.q.shape[1]]
        errors.append(float(np.abs(q - reference(times).q).max(initial=0.0)))
        solutions.append(sol)
    return Convergence(kind, sizes, np.array(errors), solutions)
