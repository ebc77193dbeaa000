# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Parameters of a scene that minimise a measure of its motion."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._errors import Interrupted
from .arguments import NAN, Array, as_count, as_pairs, as_real, as_word
from .model import Model, Value, as_model
from .sweeps import _SAMPLINGS, _axis, _named
from .waiting import interruptible


class Optimum:
    r"""Best values of the variables, and the measures there.

    `values` and `measures` are by name; `gradient` has a row for each measure and a column for each variable, None
    without derivatives, for which `note` has the reason; `bracket` are the ends of the last interval of `find`;
    `history` has a row for each evaluation: variables, then measures.

    >>> import saltus
    >>> ball = saltus.Model("scenes/ball.yaml")
    >>> best = saltus.optimize(ball, {"q": (0.5, 2)}, find="time(impact of floor) = 1.2", t_end=2, tol=1e-10, tolerance=1e-9)
    >>> round(best.values["q"], 6), best.converged
    (1.44, True)
    """

    __slots__ = ("values", "measures", "gradient", "bracket", "history", "method", "note", "runs", "feasible", "converged")

    def __init__(self, facts: dict[str, Any]) -> None:
        names, texts = facts["names"], facts["texts"]
        self.values: dict[str, float] = dict(zip(names, np.asarray(facts["values"]).tolist()))
        self.measures: dict[str, float] = dict(zip(texts, np.asarray(facts["results"]).tolist()))
        gradient = np.asarray(facts["gradient"])
        self.gradient: Optional[Array] = gradient.reshape(len(texts), len(names)) if gradient.size else None
        low, high = np.asarray(facts["bracket"]).tolist()
        self.bracket: tuple[float, float] = (low, high)
        self.history: Array = np.asarray(facts["history"]).reshape(-1, len(names) + len(texts))
        self.method: str = facts["method"]
        self.note: str = facts["note"]
        self.runs: int = facts["runs"]
        self.feasible: bool = facts["feasible"]
        self.converged: bool = facts["converged"]

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.values.items())
        return f"<saltus.Optimum of {self.runs} runs: {values}>"


def _variable(name: str, bounds: Any) -> str:
    if isinstance(bounds, str):
        return f"{name}={bounds}"
    low, high = bounds
    return f"{name}={as_real(low, name)!r}:{as_real(high, name)!r}"


def optimize(model: Union[Model, str, os.PathLike[str]], variables: Optional[Mapping[str, Any]] = None, *,
             minimize: Optional[str] = None, maximize: Optional[str] = None, find: Optional[str] = None,
             constraints: Sequence[str] = (), random: Optional[Mapping[str, str]] = None, samples: int = 0,
             sampling: str = "random", seed: int = 0, method: Optional[str] = None, tolerance: float = 0.0,
             evaluations: int = 0, t_end: Optional[float] = None, tol: Optional[float] = None,
             scheme: Optional[str] = None, step: Optional[float] = None, options: Optional[Mapping[str, Value]] = None,
             time_limit: float = 0.0, threads: Optional[int] = None) -> Optimum:
    r"""Minimises a measure of a scene under constraints, or locates the edge of a condition, as `saltus optimize`.

    variables
        bounds by name of a parameter, or of the initial value x or velocity x' of a coordinate: (0.1, 2) or "0.1:2 log";
        default those of the section `optimize` of the scene
    minimize, maximize, find
        a measure, or for `find` a condition such as "count(open of follower) = 0"; default that of the scene
    constraints
        conditions, "max(q) <= 1"
    random
        distributions by name, {"mu": "~normal(0.2, 0.02)"}, drawn `samples` times; measures are means over the samples,
        or "quantile 0.95 of max(q)"
    method
        "auto", "gradient", "local" or "global"
    tolerance, evaluations
        least change of the variables in parts of their bounds, default 1e-6; most evaluations of a search, default 1000
    threads
        number of threads, default all processors; the results do not depend on it

    A run that fails raises its error with the values. Ctrl-C raises `Interrupted`, whose `solution` has the best values.

    >>> import saltus
    >>> saltus.optimize("scenes/ball.yaml", {"q": (0.5, 2)}, find="count(impact of floor) >= 1", t_end=1.1, tol=1e-9,
    ...                 tolerance=1e-8).values["q"] <= 1.21
    True
    """
    made = as_model(model, None)
    if sampling not in _SAMPLINGS:
        raise ValueError(f"sampling is {sampling!r}, must be one of {', '.join(_SAMPLINGS)}")
    numbers = tuple(NAN if value is None else as_real(value, name) for value, name in (
        (tol, "tol"), (step, "step"), (t_end, "t_end")))
    workers = os.cpu_count() or 1 if threads is None else as_count(threads, "threads", 1, 1024)
    limits = (as_count(samples, "samples", 0, 10**6), _SAMPLINGS.index(sampling), as_count(seed, "seed", 0, 2**64 - 1),
              as_real(tolerance, "tolerance"), as_count(evaluations, "evaluations", 0, 10**7),
              as_real(time_limit, "time_limit"), min(workers, 64))
    source = (made._path, made.text, made._pairs)
    how = (as_word(scheme, "scheme"), as_pairs(options, "options"), as_word(method, "method"))
    goal = (as_word(minimize, "minimize"), as_word(maximize, "maximize"), as_word(find, "find"))
    lines = tuple(_variable(name, bounds) for name, bounds in (variables or {}).items())
    axes = tuple(_axis(name, values) for name, values in (random or {}).items())
    conditions = _named(constraints)

    def work(flag: _core.Flag) -> dict[str, Any]:
        return _core.optimize(source, how, numbers, goal, lines, conditions, axes, limits, flag)

    facts, pressed = interruptible(work)
    if pressed or facts is None or facts["stopped"]:
        raise Interrupted("interrupted; .solution has the best values so far",
                          Optimum(facts) if facts is not None else None)
    return Optimum(facts)
