# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Parameter studies: many runs of a model, with measures of each."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Interrupted
from .arguments import NAN, Array, as_count, as_formula, as_pairs, as_real, as_word
from .model import Model, Value, as_model
from .waiting import interruptible

_SAMPLINGS = ("random", "latin", "sobol")


class Sweep:
    """A table of runs: a row for each, with a column for each axis and each measure.

    Measures of a failed run are NaN, and `failures[run]` is the reason; `done` marks the computed runs, all of them
    unless interrupted. Run i is sample i // grid at point i % grid of the grid, whose first axis changes fastest.

    >>> import saltus
    >>> table = saltus.sweep("scenes/ball.yaml", {"q": [1, 4]}, {"t": "time(impact of floor)"}, t_end=2.5, tol=1e-9)
    >>> table.columns, [round(float(t), 9) for t in table["t"]]
    (('q', 't'), [1.0, 2.0])
    >>> len(table), table.failures
    (2, {})
    """

    __slots__ = ("columns", "axes", "grid", "samples", "values", "done", "failures")

    def __init__(self, facts: dict[str, Any]) -> None:
        self.columns: tuple[str, ...] = tuple(facts["columns"])
        self.axes = self.columns[:facts["axes"]]
        self.grid: int = facts["grid"]
        self.samples: int = facts["samples"]
        self.values: Array = np.asarray(facts["values"]).reshape(-1, len(self.columns))
        self.done: npt.NDArray[np.bool_] = np.frombuffer(facts["done"], dtype=np.bool_)
        self.failures: dict[int, tuple[int, str]] = facts["failures"]

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.values[:, self.columns.index(name)]

    def __len__(self) -> int:
        return len(self.values)

    def frame(self) -> Any:
        """The computed runs as a pandas DataFrame.

        >>> import saltus
        >>> table = saltus.sweep("scenes/ball.yaml", {"q": "1:2:3"}, ["max(q)"], t_end=0.5, tol=1e-6)
        >>> table.frame()["max(q)"].tolist()
        [1.0, 1.5, 2.0]
        """
        import pandas
        return pandas.DataFrame(self.values, columns=list(self.columns))[self.done]

    def __repr__(self) -> str:
        return (f"<saltus.Sweep of {len(self)} runs over {', '.join(self.axes)}: {int(self.done.sum())} computed, "
                f"{len(self.failures)} failed>")


def _axis(name: str, values: Any) -> str:
    """An axis in the syntax of the program."""
    if not isinstance(name, str):
        raise TypeError(f"names of axes are texts, not {type(name).__name__}")
    if isinstance(values, str):
        return f"{name}{values}" if values.startswith("~") else f"{name}={values}"
    if not isinstance(values, (list, tuple, np.ndarray, range)):
        raise TypeError(f"axis {name!r} is a list of numbers or a text, not {type(values).__name__}")
    return f"{name}={','.join(as_formula(value, name) for value in values)}"


def _named(entries: Union[Mapping[str, str], Sequence[str]]) -> tuple[str, ...]:
    made = tuple(f"{name}={formula}" for name, formula in entries.items()) if isinstance(entries, Mapping) else tuple(entries)
    if isinstance(entries, (str, bytes)) or not all(isinstance(entry, str) for entry in made):
        raise TypeError("measures are formulas, by name or in a list")
    return made


def sweep(model: Union[Model, str, os.PathLike[str]], axes: Mapping[str, Any],
          measures: Union[Mapping[str, str], Sequence[str]], *, t_end: Optional[float] = None, tol: Optional[float] = None,
          scheme: Optional[str] = None, rtol: Optional[float] = None, atol: Optional[float] = None,
          step: Optional[float] = None, options: Optional[Mapping[str, Value]] = None, samples: int = 1,
          sampling: str = "random", seed: int = 0, time_limit: float = 0.0, threads: Optional[int] = None,
          backend: Optional[str] = None, devices: Optional[Sequence[int]] = None) -> Sweep:
    """Runs a scene over ranges, lists and random values, and keeps measures of every run, as `saltus sweep`.

    axes
        by name of a parameter, of the initial value x or velocity x' of a coordinate: a list of numbers, a range "0.1:0.9:81"
        ("1:100:5 log" by equal factors), or "~normal(1, 0.01)", "~uniform(a, b)", ..., drawn `samples` times
    measures
        formulas of the page on sweeps, {"top": "max(q)"} or ["max(q)"]
    sampling
        "random", "latin" or "sobol"; `seed` selects the sequence
    time_limit
        limit of the computing time of one run [s]; a run that exceeds it fails
    threads
        number of threads, default all processors; the results do not depend on it
    backend
        "interpreter" (default), "c", "opencl", "cuda": members compiled for the processor or for devices; "auto": where
        possible; "c-fast", "opencl-fast", "cuda-fast": products and sums are contracted, and a sample is compared.
        `devices` are numbers of devices, default all

    Failed runs have rows, too. Ctrl-C raises `Interrupted`, whose `solution` is the partial table.

    >>> import saltus
    >>> table = saltus.sweep("scenes/ball.yaml", {"q": "0.5:2:4"}, {"top": "max(q)"}, t_end=1.0, tol=1e-6)
    >>> table["top"].tolist()
    [0.5, 1.0, 1.5, 2.0]
    """
    made = as_model(model, None)
    if not isinstance(axes, Mapping):
        raise TypeError(f"axes are a mapping, not {type(axes).__name__}")
    if sampling not in _SAMPLINGS:
        raise ValueError(f"sampling is {sampling!r}, must be one of {', '.join(_SAMPLINGS)}")
    numbers = tuple(NAN if value is None else as_real(value, name) for value, name in (
        (tol, "tol"), (rtol, "rtol"), (atol, "atol"), (step, "step"), (t_end, "t_end")))
    workers = os.cpu_count() or 1 if threads is None else as_count(threads, "threads", 1, 1024)
    chosen = None if devices is None else ",".join(str(as_count(d, "devices", 0, 999)) for d in devices)
    drawn = (as_count(samples, "samples", 1, 10**9), _SAMPLINGS.index(sampling), as_count(seed, "seed", 0, 2**64 - 1),
             as_real(time_limit, "time_limit"), min(workers, 64), as_word(backend, "backend"), chosen)
    source = (made._path, made.text, made._pairs)
    how = (as_word(scheme, "scheme"), as_pairs(options, "options"))
    lines = tuple(_axis(name, values) for name, values in axes.items())
    formulas = _named(measures)

    def work(flag: _core.Flag) -> dict[str, Any]:
        return _core.sweep(source, how, numbers, lines, formulas, drawn, flag)

    facts, pressed = interruptible(work)
    if pressed or facts is None or facts["stopped"]:
        raise Interrupted("interrupted; .solution has the runs that were computed",
                          Sweep(facts) if facts is not None else None)
    return Sweep(facts)
