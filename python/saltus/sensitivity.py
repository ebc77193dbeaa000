# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Derivatives of motions with impacts and friction with respect to parameters and initial values."""
from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._errors import Interrupted
from .arguments import Array, as_real
from .model import Model, Value, as_model
from .waiting import interruptible


class SensitiveEvent(NamedTuple):
    """Event with the derivatives `dt` of its time, one for each name. `derivative` is "exists", "limit" (through a
    Zeno point), "simultaneous" or "grazing"; after the last two the derivatives are not reliable.

    >>> import saltus
    >>> event = saltus.sensitivity("scenes/ball.yaml", 1.5, "q").events[0]
    >>> event.kind, event.contact, round(event.t, 9), round(float(event.dt[0]), 9), event.derivative
    ('impact', 'floor', 1.0, 0.5, 'exists')
    """

    kind: str
    contact: str
    t: float
    dt: Array
    derivative: str


class Sensitivity:
    """Result of `sensitivity`. Rows of `dq`, `dv` and `doutputs` belong to `names`, columns to coordinates, velocities and
    outputs, all at the fixed time `t`; `s["e"]` are the derivatives with respect to e by name. `derivative` is the
    worst kind in the run ("exists", "limit", "simultaneous", "grazing"), `derivative_t` the time of its first
    occurrence.

    `integral`, `highest` and `lowest` map outputs to (value, derivatives) over the whole run; the extremes are None
    if a long run without events exceeds the memory limit.

    `q_at`, `v_at`, `dq_at` and `dv_at` are states and derivatives at the requested `times`, one time a row, before an event
    at the same time; NaN inside an accumulation of impacts.

    The ball of this scene falls from q in the time T = sqrt(q) and keeps half of its velocity: later it is at
    T (t - T) - (t - T)^2, whose derivative at q = 1 and t = 1.5 is 1/4.

    >>> import saltus
    >>> s = saltus.sensitivity("scenes/ball.yaml", 1.5, ["q", "q'"])
    >>> print(f"{s['q']['q']:.9f} {s.dv[0, 0]:.9f}")
    0.250000000 1.500000000
    """

    __slots__ = ("names", "t", "q", "v", "dq", "dv", "outputs", "doutputs", "events", "derivative", "derivative_t",
                 "integral", "highest", "lowest", "times", "q_at", "v_at", "dq_at", "dv_at", "_columns")

    def __init__(self, model: Model, names: tuple[str, ...], facts: dict[str, Any], times: Array) -> None:
        scene = model._scene
        self.names = names
        self.t: float = facts["t"]
        self.q: Array = np.asarray(facts["q"])
        self.v: Array = np.asarray(facts["v"])
        self.outputs: Array = np.asarray(facts["outputs"])
        self.dq: Array = np.asarray(facts["dq"]).reshape(len(names), -1)
        self.dv: Array = np.asarray(facts["dv"]).reshape(len(names), -1)
        self.doutputs: Array = np.asarray(facts["doutputs"]).reshape(len(names), len(self.outputs))
        self.events = tuple(
            SensitiveEvent(kind, name, t, np.asarray(dt), derivative)
            for kind, name, t, dt, derivative in facts["events"])
        self.derivative: str = facts["derivative"]
        self.derivative_t: float = facts["derivative_t"]
        records = np.asarray(facts["records"]).reshape(len(times), 1 + len(names), len(self.q) + len(self.v))
        self.times = times
        self.q_at: Array = records[:, 0, :len(self.q)]
        self.v_at: Array = records[:, 0, len(self.q):]
        self.dq_at: Array = records[:, 1:, :len(self.q)]
        self.dv_at: Array = records[:, 1:, len(self.q):]
        outputs = [name for name, _ in scene.labels("o")]

        def by_output(key: str) -> Optional[dict[str, tuple[float, Array]]]:
            if facts[key] is None:
                return None
            rows = np.asarray(facts[key]).reshape(-1, len(outputs))
            return {name: (float(rows[0, k]), rows[-len(names):, k]) for k, name in enumerate(outputs)}

        self.integral = by_output("integrals") or {}
        self.highest = by_output("highest")
        self.lowest = by_output("lowest")
        self._columns = tuple(name for kind in "qvo" for name, _ in scene.labels(kind))

    def __getitem__(self, name: str) -> dict[str, float]:
        if name not in self.names:
            raise KeyError(name)
        row = self.names.index(name)
        values = np.concatenate([self.dq[row], self.dv[row], self.doutputs[row]])
        return {column: float(value) for column, value in zip(self._columns, values)}

    def __repr__(self) -> str:
        return f"<Sensitivity with respect to {', '.join(self.names)} at t = {self.t:g} s: {self.derivative}>"


def sensitivity(model: Union[Model, str, os.PathLike[str]], t_end: float, names: Union[str, Iterable[str]], *,
                tol: float = 1e-11, parameters: Optional[Mapping[str, Value]] = None,
                times: Iterable[float] = ()) -> Sensitivity:
    """Derivatives of a motion, its outputs and its event times with respect to parameters, initial values `x` and
    initial velocities `x'` of a scene, by variational equations with saltation at every event; also at ascending `times`
    on the way.

    Unsupported models (friction laws other than Coulomb's, dry friction of joints) raise `SolveError` with the reason.

    >>> import saltus
    >>> s = saltus.sensitivity("scenes/ball.yaml", 2.2, "q")
    >>> round(s["q"]["q"], 9), [round(float(e.dt[0]), 9) for e in s.events]
    (-0.05, [0.5, 1.0])
    >>> saltus.sensitivity("scenes/ball.yaml", 2.2, "q", times=[0.5, 1.5]).dq_at[:, 0, 0].round(9).tolist()
    [1.0, 0.25]
    """
    chosen = as_model(model, parameters)
    words = (names,) if isinstance(names, str) else tuple(names)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"names are texts, not {type(word).__name__}")
    end, accuracy = as_real(t_end, "t_end"), as_real(tol, "tol")
    moments = np.ascontiguousarray(list(times), dtype=float)
    facts, pressed = interruptible(
        lambda flag: _core.sensitivity(chosen._scene, words, end, accuracy, moments, flag))
    if pressed or facts is None:
        raise Interrupted("interrupted; derivatives are known after a complete run")
    return Sensitivity(chosen, words, facts, moments)
