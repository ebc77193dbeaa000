# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Verification and comparison of runs: certificates, distances, orders of convergence."""
from __future__ import annotations

import os
from typing import Any, Iterable, Optional, Union

import numpy as np

from . import _core
from ._errors import Interrupted
from .arguments import NAN, Array, as_doubles, as_real
from .model import Model, as_model
from .solution import Certificate, Solution
from .solver import CERTIFIED, load, solve


def certify(sol: Solution) -> Certificate:
    """`Solution.certificate`."""
    data = sol._data
    call = sol._call
    own_start = True
    if call is not None:
        if call.rest[3] is not None:
            raise ValueError("a run that was resumed has no certificate of its own: its first steps are not there")
        own_start = call.start[0] is None and call.numbers[5] != call.numbers[5]
        if not (call.record == CERTIFIED and call.contacts):
            data = call.again(CERTIFIED)._data
    return Certificate(_core.verify(data, sol.model._scene, own_start))


def verify(recording: Union[Solution, str, os.PathLike[str]],
           model: Union[None, Model, str, os.PathLike[str]] = None) -> Certificate:
    """Verifies a solution or a recording independently of the schemes, as `saltus verify`.

    Without a model the scene of the recording is used.

    >>> import saltus, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "run.h5")
    >>> saltus.solve("scenes/ball.yaml", 3.5, tol=1e-8, scheme="adaptive", certify=True).save(path)
    >>> certificate = saltus.verify(path)
    >>> certificate.passed, certificate.complete
    (True, True)
    """
    sol = recording if isinstance(recording, Solution) else load(recording)
    if model is None:
        return sol.certificate
    return Certificate(_core.verify(sol._data, as_model(model, None)._scene, True))


class Comparison:
    """Distances of two motions by column, as printed by `saltus compare`.

    `q` are the largest differences of positions, `q_at` their times [s], `q_mean` their means over time; `q_graph` and
    `v_graph` the Hausdorff distances of graphs in (t, x), in which a small delay of a jump is a small distance. `events`
    are the common events (kind, contact, difference of times [s]); `only_a` and `only_b` count the others.

    >>> import saltus
    >>> fine = saltus.solve("scenes/ball.yaml", 2.2, tol=1e-10, scheme="adaptive")
    >>> rough = saltus.solve("scenes/ball.yaml", 2.2, tol=1e-4, scheme="adaptive")
    >>> found = saltus.compare(rough, fine)
    >>> bool(found.q.max() < 1e-3), [event[0] for event in found.events]
    (True, ['impact', 'impact'])
    """

    __slots__ = ("names", "velocity_names", "q", "q_at", "q_mean", "q_graph", "v_graph", "events", "only_a", "only_b")

    def __init__(self, a: Solution, facts: dict[str, Any]) -> None:
        from .solution import KINDS
        self.names = tuple(name for name, _ in a._data.labels("q"))
        self.velocity_names = tuple(name for name, _ in a._data.labels("v"))
        self.q: Array = np.asarray(facts["q"])
        self.q_at: Array = np.asarray(facts["q_at"])
        self.q_mean: Array = np.asarray(facts["q_mean"])
        self.q_graph: Array = np.asarray(facts["q_graph"])
        self.v_graph: Array = np.asarray(facts["v_graph"])
        self.only_a: int = facts["only_a"]
        self.only_b: int = facts["only_b"]
        raw = a.event_array
        contacts = [name for name, _ in a._data.labels("c")]
        self.events: list[tuple[str, str, float]] = []
        for i, j, dt, _ in facts["pairs"]:
            if i >= 0 and j >= 0:
                place = int(raw["contact"][i])
                name = contacts[place] if 0 <= place < len(contacts) else str(place)
                self.events.append((KINDS[int(raw["kind"][i])], name, float(dt)))

    @property
    def same_events(self) -> bool:
        """True if every event is matched.

        >>> import saltus
        >>> sol = saltus.solve("scenes/ball.yaml", 1.2, tol=1e-6)
        >>> saltus.compare(sol, sol).same_events
        True
        """
        return self.only_a == 0 and self.only_b == 0

    def __repr__(self) -> str:
        late = max((abs(entry[2]) for entry in self.events), default=0.0)
        lines = [f"Comparison: {len(self.events)} events in common, {self.only_a} and {self.only_b} alone, times differ by "
                 f"at most {late:.3g} s"]
        lines += [f"  {name}: {q:.3g} at most, {g:.3g} as graphs"
                  for name, q, g in zip(self.names, self.q, self.q_graph)]
        lines += [f"  {name}: {g:.3g} as graphs" for name, g in zip(self.velocity_names, self.v_graph)]
        return "\n".join(lines)


def _at(sol: Solution, times: Array, left: bool) -> Array:
    from .dense import _take
    q, v = _take(sol.t, sol.q, sol.v, times, left)
    return np.hstack([q, v])


def compare(a: Union[Solution, str, os.PathLike[str]], b: Union[Solution, str, os.PathLike[str]], *,
            match: float = 0.0, other_scene: bool = False) -> Comparison:
    """Compares two motions: positions, graphs of positions and velocities, events.

    Solutions or files. Events of one contact farther apart than `match` [s] are not matched; 0: 1 % of the common
    time. Different scenes are rejected unless `other_scene`.

    >>> import saltus
    >>> sol = saltus.solve("scenes/woodpecker.yaml", 0.1, tol=1e-6)
    >>> same = saltus.compare(sol, sol)
    >>> same.same_events, float(same.q.max()), float(same.v_graph.max())
    (True, 0.0, 0.0)
    """
    one = a if isinstance(a, Solution) else load(a)
    other = b if isinstance(b, Solution) else load(b)
    return Comparison(one, _core.compare(one._data, other._data, as_real(match, "match"), bool(other_scene)))


class Convergence:
    """Errors of runs with decreasing steps or tolerances, and the fitted order.

    >>> import saltus
    >>> study = saltus.converge("scenes/oscillator.yaml", 1.0, scheme="rk4", steps=[10, 20, 40])
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


def _is_dense(sol: Solution) -> bool:
    """True if a solution has dense output; linear interpolation does not count."""
    from .dense import _integrator
    return _integrator(sol) is not None or (sol._call is not None and bool(sol.settings["dense"]))


def _common(times: Array, known: Array) -> Array:
    """Those of `known` that are among `times`, up to rounding."""
    after = np.clip(np.searchsorted(times, known), 1, len(times) - 1)
    nearest = np.where(np.abs(times[after] - known) < np.abs(times[after - 1] - known), times[after], times[after - 1])
    found = np.unique(nearest[np.abs(nearest - known) <= 1e-12 * max(1.0, float(np.abs(known).max()))])
    if len(found) < 2:
        raise ValueError("the reference has no dense output, and fewer than two of its times are those of a run; "
                         "take numbers of steps that divide those of the reference")
    return found


def converge(model: Union[Model, str, os.PathLike[str]], t_end: Optional[float] = None, *,
             scheme: Optional[str] = None, steps: Optional[Iterable[int]] = None,
             tols: Optional[Iterable[float]] = None, reference: Optional[Solution] = None,
             reference_tol: float = 1e-11, **settings: Any) -> Convergence:
    """Errors of positions in runs with given numbers of equal `steps`, or given `tols`, relative to a reference run.

    The reference is a run of `adaptive` to `reference_tol` unless one is given. An error is the largest difference of
    positions over the recorded times; for a reference without dense output over the common times. `sizes` of the
    result are the steps in seconds. Ctrl-C raises `Interrupted`, whose `solution` is the partial study.

    >>> import saltus
    >>> study = saltus.converge("scenes/ball.yaml", 2.2, scheme="moreau-jean", steps=[220, 440, 880, 1760])
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
    if steps is not None:
        if not (sizes == np.floor(sizes)).all():
            raise ValueError(f"steps are numbers of steps of a run, whole and from 1 on, not {sizes.tolist()}; "
                             "a step in seconds is step= of solve")
        end = float(reference.t[-1]) if t_end is None else as_real(t_end, "t_end")
        sizes = (end - float(reference.t[0])) / sizes
    solutions: list[Solution] = []
    errors: list[float] = []
    try:
        for size in sizes:
            how: dict[str, Any] = {"step" if kind == "step" else "tol": float(size)}
            sol = solve(made, t_end, scheme=scheme, **how, **settings)
            times = np.unique(sol.t[(sol.t >= reference.t[0]) & (sol.t <= reference.t[-1])])
            if not _is_dense(reference):
                times = _common(times, reference.t)
            q = _at(sol, times, False)[:, :sol.q.shape[1]]
            errors.append(float(np.abs(q - reference(times).q).max(initial=0.0)))
            solutions.append(sol)
    except KeyboardInterrupt as pressed:
        done = len(errors)
        so_far = Convergence(kind, sizes[:done], np.array(errors), solutions[:done])
        raise Interrupted(f"interrupted; .solution has {done} of {len(sizes)} runs", so_far) from pressed
    return Convergence(kind, sizes, np.array(errors), solutions)
