# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Parameters of a scene from measured motions."""
from __future__ import annotations

import os
from typing import Any, Optional, Union

import numpy as np

from . import _core
from ._errors import Interrupted
from .arguments import Array, as_count, as_real
from .model import Model, as_model
from .waiting import interruptible


class Fit:
    r"""Values of the unknown parameters, their uncertainty, and errors of every experiment.

    `parameters` has the values by name; `errors` and `held_out` (None without folds) are means over experiments;
    `scores` has a row for each experiment: id, window_position, window_rotation, position, rotation, face; `failures` has
    the reasons of failed runs by id; `samples` has the values of the fits of a bootstrap, a row for each.

    >>> import pathlib, saltus, tempfile
    >>> data = pathlib.Path(tempfile.mkdtemp()) / "fall.csv"
    >>> _ = data.write_text("t,y\n0,1\n0.1,0.951\n0.2,0.804\n0.3,0.559\n0.4,0.216\n")
    >>> model = saltus.Model("saltus: 1\nparameters: {g: 9}\ncoordinates: {y: {start: 1}}\nkinetic: y'^2/2\n"
    ...                      "potential: g*y\nsimulate: {until: 1, tol: 1e-10}\nfit:\n  data: {file: fall.csv}\n"
    ...                      "  measured: [{value: y, columns: [y]}]\n  unknown: {g: {bounds: [5, 15]}}\n")
    >>> fit = saltus.fit(model, data=str(data))
    >>> round(fit.parameters["g"], 6), fit.scores.shape
    (9.8, (1, 6))
    """

    __slots__ = ("parameters", "covariance", "errors", "held_out", "scores", "failures", "samples", "loss", "condition",
                 "weakest", "iterations", "fallbacks", "runs", "converged", "_factor")

    def __init__(self, facts: dict[str, Any]) -> None:
        names = facts["names"]
        self.parameters: dict[str, float] = dict(zip(names, np.asarray(facts["values"]).tolist()))
        self.covariance: Array = np.asarray(facts["covariance"]).reshape(len(names), len(names))
        self.weakest: dict[str, float] = dict(zip(names, np.asarray(facts["weakest"]).tolist()))
        self.errors: dict[str, float] = facts["errors"]
        self.held_out: Optional[dict[str, float]] = facts["held_out"] if facts["held_out"]["experiments"] else None
        self.scores: Array = np.asarray(facts["scores"]).reshape(-1, 6)
        self.failures: dict[float, str] = facts["failures"]
        self.samples: Array = np.asarray(facts["samples"]).reshape(-1, max(len(names), 1))
        self.loss: float = facts["loss"]
        self.condition: float = facts["condition"]
        self.iterations: int = facts["iterations"]
        self.fallbacks: int = facts["fallbacks"]
        self.runs: int = facts["runs"]
        self.converged: bool = facts["converged"]
        self._factor: float = facts["factor"]

    def interval(self, name: str, by: str = "covariance") -> tuple[float, float]:
        r"""The 95 % interval of a parameter by "covariance" or "bootstrap"; NaN where it is not identified.

        >>> import pathlib, saltus, tempfile
        >>> data = pathlib.Path(tempfile.mkdtemp()) / "fall.csv"
        >>> _ = data.write_text("t,y\n0,1\n0.1,0.951\n0.2,0.804\n0.3,0.559\n0.4,0.216\n")
        >>> model = saltus.Model("saltus: 1\nparameters: {g: 9}\ncoordinates: {y: {start: 1}}\nkinetic: y'^2/2\n"
        ...                      "potential: g*y\nsimulate: {until: 1, tol: 1e-10}\nfit:\n  data: {file: fall.csv}\n"
        ...                      "  measured: [{value: y, columns: [y]}]\n  unknown: {g: {bounds: [5, 15]}}\n")
        >>> low, high = saltus.fit(model, data=str(data)).interval("g")
        >>> low <= 9.800001 and high >= 9.799999
        True
        >>> low, high = saltus.fit(model, data=str(data), bootstrap=3).interval("g", by="bootstrap")
        >>> round(low, 6), round(high, 6)
        (9.8, 9.8)
        """
        if name not in self.parameters:
            raise KeyError(f"no parameter {name!r}; there are {', '.join(self.parameters)}")
        at = list(self.parameters).index(name)
        if by == "bootstrap":
            if len(self.samples) == 0:
                raise ValueError("no samples; fit with bootstrap=100")
            drawn = np.sort(self.samples[:, at])
            last = len(drawn) - 1
            return float(drawn[int(0.025*last + 0.5)]), float(drawn[int(0.975*last + 0.5)])
        if by != "covariance":
            raise ValueError(f'by is {by!r}, must be "covariance" or "bootstrap"')
        half = self._factor * float(np.sqrt(self.covariance[at, at]))
        return self.parameters[name] - half, self.parameters[name] + half

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.parameters.items())
        return f"<saltus.Fit of {len(self.scores)} experiments: {values}>"


def fit(model: Union[Model, str, os.PathLike[str]], *, window: Optional[str] = None, where: Optional[str] = None,
        data: Optional[str] = None, evaluate: bool = False, folds: int = 0, bootstrap: int = 0, seed: int = 1,
        time_limit: float = 0.0, threads: Optional[int] = None) -> Fit:
    r"""Estimates the parameters in the section `fit` of a scene, as `saltus fit`.

    window, where, data
        instead of those of the scene: "contact:10" or "start:all", a condition for experiments, the file of the data
    evaluate
        no fit: errors of the present values
    folds
        parts for the errors of experiments that are held out; `seed` selects them
    bootstrap
        number of fits to experiments drawn with replacement, for `Fit.interval(name, by="bootstrap")`
    time_limit
        limit of the computing time of one run [s], default 10; a run that exceeds it fails
    threads
        number of threads, default all processors; the results do not depend on it

    Ctrl-C raises `Interrupted`, whose `solution` has the values so far.

    >>> import pathlib, saltus, tempfile
    >>> data = pathlib.Path(tempfile.mkdtemp()) / "fall.csv"
    >>> _ = data.write_text("t,y\n0,1\n0.1,0.951\n0.2,0.804\n0.3,0.559\n0.4,0.216\n")
    >>> model = saltus.Model("saltus: 1\nparameters: {g: 9}\ncoordinates: {y: {start: 1}}\nkinetic: y'^2/2\n"
    ...                      "potential: g*y\nsimulate: {until: 1, tol: 1e-10}\nfit:\n  data: {file: fall.csv}\n"
    ...                      "  measured: [{value: y, columns: [y]}]\n  unknown: {g: {bounds: [5, 15]}}\n")
    >>> saltus.fit(model, data=str(data), evaluate=True).parameters
    {'g': 9.0}
    """
    made = as_model(model, None)
    workers = os.cpu_count() or 1 if threads is None else as_count(threads, "threads", 1, 1024)
    numbers = (int(evaluate), as_count(folds, "folds", 0, 10**6),
               as_count(bootstrap, "bootstrap", 0, 10**5), as_count(seed, "seed", 0, 2**32 - 1),
               as_real(time_limit, "time_limit"), min(workers, 64))
    source = (made._path, made.text, made._pairs)

    def work(flag: _core.Flag) -> dict[str, Any]:
        return _core.fit(source, (window, where, data), numbers, flag)

    facts, pressed = interruptible(work)
    if pressed or facts is None or facts["stopped"]:
        raise Interrupted("interrupted; .solution has the values so far", Fit(facts) if facts is not None else None)
    return Fit(facts)
