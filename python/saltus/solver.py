# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""solve: integration of a model."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import _core
from ._errors import Interrupted, SolveError
from .arguments import NAN, as_count, as_pairs, as_path, as_real, as_vector, as_word
from .model import Model, Value, as_model
from .solution import Solution

_STOPPED = -8
CERTIFIED = (1, NAN, None, 3)  # record: every step, both sides of its jumps, its midpoint


class Call:
    """Arguments of a solution, for repeated runs."""

    __slots__ = ("model", "how", "numbers", "start", "record", "rest", "contacts")

    def __init__(self, model: Model, how: tuple[Any, ...], numbers: tuple[float, ...], start: tuple[Any, Any],
                 record: tuple[Any, ...], rest: tuple[Any, ...], contacts: bool) -> None:
        self.model, self.how, self.numbers, self.start = model, how, numbers, start
        self.record, self.rest, self.contacts = record, rest, contacts

    def run(self, quiet: bool = False) -> Solution:
        """Runs; an error is raised with the partial solution."""
        model = self.model
        scene = model._scene
        if model._fact("inputs"):  # switching events and inputs belong to the scene
            with model._lock:
                data = self._data(scene, quiet)
        else:
            data = self._data(scene, quiet)
        status, message, raised = data.ended()
        sol = Solution(data, model, self)
        if status != 0:
            if isinstance(raised, KeyboardInterrupt):
                raise Interrupted(f"interrupted at t = {sol.t[-1]:g} s; .solution has what was computed", sol) from raised
            if raised is not None:
                raise raised
            raise SolveError(message, status, sol)
        return sol

    def _data(self, scene: _core.Scene, quiet: bool) -> _core.Data:
        return _core.run(scene, self.how, self.numbers, self.start, self.record, self.rest, self.contacts, quiet)

    def again(self, record: tuple[Any, ...]) -> Solution:
        """The same run with other recorded states."""
        return Call(self.model, self.how, self.numbers, self.start, record, self.rest, True).run(True)

    def integrator(self, t_end: float, steps: int) -> Optional[_core.Sim]:
        """Integrator with dense output over the whole motion; None for schemes without it."""
        settings = self.numbers
        if self.rest[1] or self.rest[3] is not None or self.model._names("e"):
            return None
        tol, rtol, atol, until, step, t_start = settings
        start = self.model._fact("start") if t_start != t_start else t_start
        until = self.model._fact("until") if until != until else until
        q0, v0 = self.start if self.start[0] is not None else self.model._scene.start()
        sim = _core.Sim(self.model._scene, self.how, (tol, rtol, atol, step, t_start, until - start), steps + 2, q0, v0,
                        0)
        sim.advance(t_end, 0)
        return sim

    def at(self, times: Any) -> Solution:
        """The same run with states at these times and before and after impacts."""
        return self.again((0, NAN, times, 1))


def solve(model: Union[Model, str, os.PathLike[str]], t_end: Optional[float] = None, tol: Optional[float] = None,
          scheme: Optional[str] = None, *, outputs: Optional[Mapping[str, Any]] = None,
          parameters: Optional[Mapping[str, Value]] = None, events: Optional[Mapping[str, Any]] = None,
          rtol: Optional[float] = None, atol: Optional[float] = None, step: Optional[float] = None,
          options: Optional[Mapping[str, Value]] = None, control: Optional[str] = None,
          control_options: Optional[Mapping[str, Value]] = None, t_start: Optional[float] = None,
          q0: Any = None, v0: Any = None, every: Optional[int] = None, dt: Optional[float] = None,
          times: Any = None, jumps: bool = True, threads: int = 1, whole: bool = False,
          contacts: bool = True, certify: bool = False, stop: Optional[_core.Flag] = None) -> Solution:
    """Integrates a model up to `t_end`.

    Settings that are not given are taken from the scene, then from the defaults of the program: `adaptive` with a
    tolerance of 1e-6. `tol` is rtol = atol, `step` selects fixed steps. The results are bitwise identical to those of
    `saltus run`.

    outputs, events
        additional formulas by name: `outputs={"height": "l*cos(phi)"}`
    parameters
        other values of parameters of the scene: `parameters={"k": 200}`
    options, control, control_options
        options of the scheme; step-size controller and its options
    t_start, q0, v0
        another start
    every, dt, times
        recorded states: every n-th step, at equal intervals [s], or at given times; default: 500 equal intervals for
        schemes that choose their steps, else every step
    jumps
        also record the states before and after impacts
    whole
        tolerances bound the global error instead of the error of a step
    contacts
        False: contacts are not recorded
    certify
        record every step and its midpoint, and raise if the certificate fails, as `saltus run --certify`

    Ctrl-C raises `Interrupted`, a failed run `SolveError`; both have the partial `solution`.

    >>> import saltus
    >>> sol = saltus.solve("scenes/woodpecker.yaml", 1.0, tol=1e-8)
    >>> print(sol)
    woodpecker on a pole: 3 coordinates, 3 contacts, 0 joint rows
      t from 0 to 1 s, 571 states, 464 steps by adaptive, rtol 1e-08, atol 1e-08
      events: 35 impact, 14 close, 14 open, 7 slip, 7 stick
      y = -0.1281691299 m, y' = -0.3350425403
      phiM = -0.1034482759 rad, phiM' = 0
      phiS = -0.13196456 rad, phiS' = -6.30763086
    """
    if not isinstance(model, Model) or parameters:
        model = as_model(model, parameters)
    if outputs or events:
        model = model.with_observers(outputs, events)
    pairs = as_pairs(options, "options") if options is not None else None
    control_pairs = as_pairs(control_options, "control_options") if control_options is not None else None
    numbers = (NAN if tol is None else as_real(tol, "tol"), NAN if rtol is None else as_real(rtol, "rtol"),
               NAN if atol is None else as_real(atol, "atol"), NAN if t_end is None else as_real(t_end, "t_end"),
               NAN if step is None else as_real(step, "step"), NAN if t_start is None else as_real(t_start, "t_start"))
    start = (None, None)
    if q0 is not None or v0 is not None:
        start = as_start(model, q0, v0)
    if times is not None:
        times = np.unique(as_vector(times, "times"))
    record = (0 if every is None else as_count(every, "every", 1, 10**15), NAN if dt is None else as_real(dt, "dt"),
              times, 1 if jumps else 0)
    if certify:
        if every is not None or dt is not None or times is not None or not jumps or not contacts:
            raise ValueError("certify=True keeps every step with all that belongs to it: every, dt, times, jumps and contacts "
                             "have no place beside it")
        record = CERTIFIED
    rest = (threads if threads == 1 else as_count(threads, "threads", 1, 64), whole, stop, None)
    sol = Call(model, (as_word(scheme, "scheme"), pairs, as_word(control, "control"), control_pairs), numbers, start,
               record, rest, contacts).run()
    if certify and not sol.certificate.passed:
        failed = ", ".join(name for name, item in sol.certificate.items.items() if not item["passed"])
        raise SolveError(f"the certificate fails ({failed}); .solution has the run", -1, sol)
    return sol


def as_start(model: Model, q0: Any, v0: Any) -> tuple[Any, Any]:
    """Initial state; missing parts are those of the model."""
    return (model.q0 if q0 is None else as_vector(q0, "q0", model.nq).copy(),
            model.v0 if v0 is None else as_vector(v0, "v0", model.nv).copy())


def resume(snapshot: bytes, t_end: float, *, model: Optional[Model] = None) -> Solution:
    """Continues from `Solution.snapshot` with the internal state of the scheme.

    >>> import saltus
    >>> half = saltus.solve("scenes/ball.yaml", 1.0)
    >>> whole = saltus.solve("scenes/ball.yaml", 2.0)
    >>> bool(saltus.resume(half.snapshot(), 2.0).q[-1] == whole.q[-1])
    True
    """
    if not isinstance(snapshot, bytes):
        raise TypeError(f"a snapshot is bytes, not {type(snapshot).__name__}")
    if model is None:
        text = _core.snapshot_scene(snapshot)
        pairs = [line[8:].split("=", 1) for line in text.splitlines() if line.startswith("# --set ")]
        model = Model.from_text(text, parameters={name: value for name, value in pairs})
    numbers = (NAN, NAN, NAN, as_real(t_end, "t_end"), NAN, NAN)
    return Call(model, (None, None, None, None), numbers, (None, None), (0, NAN, None, 1),
                (1, False, None, snapshot), True).run()


def load(path: Union[str, os.PathLike[str]]) -> Solution:
    """Reads a recording, HDF5 or text, of this package or of the program.

    >>> import saltus, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "run.csv")
    >>> saltus.solve("scenes/ball.yaml", 1.0).save(path)
    >>> saltus.load(path)["q"][0]
    1.0
    """
    return Solution(_core.load(as_path(path)), None, None)


def schemes() -> dict[str, dict[str, Any]]:
    """Schemes by name, with description and options.

    >>> import saltus
    >>> saltus.schemes()["moreau-jean"]["options"][0]["name"]
    'theta'
    """
    return {entry["name"]: entry for entry in _core.lists()[0]}
