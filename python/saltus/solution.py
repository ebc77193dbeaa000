# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Results of a run or a recording. Arrays are views of memory of the library; attributes are computed on first
access."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _core
from .arguments import Array, as_count, as_doubles, as_path
from .model import Model, as_model, as_text_lines

if TYPE_CHECKING:
    from .page import Page
    from .solver import Call

Integers = npt.NDArray[np.int64]

KINDS: tuple[str, ...] = tuple(_core.lists()[3])
_fields, _event_bytes = _core.event_fields()
EVENT_TYPE = np.dtype({"names": [f[0] for f in _fields], "formats": [f[1] for f in _fields],
                       "offsets": [f[2] for f in _fields], "itemsize": _event_bytes})


class State:
    """Positions and velocities at one or several times.

    >>> import saltus
    >>> sol = saltus.solve("scenes/ball.yaml", 0.5, tol=1e-8, scheme="adaptive")
    >>> state = sol(0.25)
    >>> print(f"{state['q']:.6f} {state.v[0]:.6f}")
    0.937500 -0.500000
    """

    __slots__ = ("t", "q", "v", "_names")

    def __init__(self, t: Any, q: Array, v: Array, names: Mapping[str, tuple[str, int]]) -> None:
        self.t = t
        self.q = q
        self.v = v
        self._names = names

    def __getitem__(self, name: str) -> Any:
        where, i = self._names[name]
        return (self.q if where == "q" else self.v)[..., i]

    def __repr__(self) -> str:
        return f"State(t={self.t!r}, q={self.q!r}, v={self.v!r})"


class Contacts:
    """Gaps, forces and impulses of contacts, frame by frame.

    For a fixed contact set arrays have a column for each contact; `contacts["floor"]` is one of them. For
    time-varying contact sets there is a table with the rows `start[i]:start[i + 1]` of frame i. Forces are means
    since the previous frame, impulses sums of impacts since then, normal first.

    >>> import saltus
    >>> sol = saltus.solve("scenes/ball.yaml", 1.5, tol=1e-8, scheme="adaptive")
    >>> sol.contacts.names
    ('floor',)
    >>> print(f"{sol.contacts['floor'].impulse[:, 0].sum():.6f}")
    3.000000
    """

    __slots__ = ("_data", "_column", "names", "changing")

    def __init__(self, data: _core.Data, column: Optional[int] = None) -> None:
        self._data = data
        self._column = column
        self.changing: bool = bool(data.about()["changing"])
        self.names: tuple[str, ...] = tuple(n for n, _ in data.labels("l" if self.changing else "c"))

    def __getitem__(self, name: str) -> Contacts:
        if self.changing or self._column is not None:
            raise KeyError("time-varying contacts have no columns; see table()")
        if name not in self.names:
            raise KeyError(f"no contact {name!r}; there are {', '.join(self.names) or 'none'}")
        return Contacts(self._data, self.names.index(name))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def _series(self, name: str) -> Array:
        array = _series(self._data, "table." + name if self.changing else name)
        return array if self._column is None else array[:, self._column]

    @property
    def gap(self) -> Array:
        """m; NaN for a contact that no longer exists.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0, tol=1e-6).contacts.gap[0]
        array([1.])
        """
        return self._series("gap")

    @property
    def velocity(self) -> Array:
        """m/s, normal relative velocity.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0, tol=1e-6).contacts.velocity[0]
        array([0.])
        """
        return self._series("velocity")

    @property
    def force(self) -> Array:
        """N, mean since the previous frame without impacts; normal first.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 4.0, tol=1e-6).contacts.force[-1, 0]
        array([2., 0., 0.])
        """
        return self._series("force")

    @property
    def impulse(self) -> Array:
        """N s, sum of impacts since the previous frame; normal first.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0, tol=1e-6).contacts.impulse.shape[1:]
        (1, 3)
        """
        return self._series("impulse")

    @property
    def friction_work(self) -> Array:
        """J, work of friction since the start; in a table since the previous frame.

        >>> import saltus
        >>> float(saltus.solve("scenes/ball.yaml", 1.0, tol=1e-6).contacts.friction_work[-1, 0])
        0.0
        """
        return self._series("friction_work")

    @property
    def impact_work(self) -> Array:
        """J, work of normal impulses since the start; in a table since the previous frame.

        >>> import saltus
        >>> print(f"{saltus.solve('scenes/ball.yaml', 1.5, tol=1e-8).contacts.impact_work[-1, 0]:.6f}")
        -1.500000
        """
        return self._series("impact_work")

    def table(self) -> dict[str, npt.NDArray[Any]]:
        """Time-varying contacts as columns of one table.

        >>> import saltus
        >>> sol = saltus.solve("scenes/shapes/ball-on-slope.yaml", 0.1)
        >>> sorted(sol.contacts.table())[:4]
        ['bodies', 'force', 'friction_work', 'gap']
        """
        if not self.changing:
            raise ValueError("the set of contacts is fixed: gap, force and the like have a column for each")
        names = ("start", "identity", "law", "bodies", "point", "normal", "gap", "velocity", "force", "impulse",
                 "friction_work", "impact_work")
        return {name: _series(self._data, "table." + name) for name in names}

    def __repr__(self) -> str:
        return f"<saltus.Contacts {', '.join(self.names) or 'none'}>"


class Ledger:
    """Energy balance at each frame: change = external + drive + friction + impact + remainder.

    >>> import saltus
    >>> ledger = saltus.solve("scenes/ball.yaml", 1.5, tol=1e-8, scheme="adaptive").ledger
    >>> print(f"{ledger.impact[-1]:.6f} {abs(ledger.remainder[-1]) < 1e-7}")
    -1.500000 True
    """

    NAMES = ("kinetic", "potential", "external", "drive", "friction", "impact", "remainder", "created")
    __slots__ = ("_data",)

    def __init__(self, data: _core.Data) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Array:
        if name not in Ledger.NAMES:
            raise AttributeError(name)
        return _series(self._data, name)

    @property
    def energy(self) -> Array:
        """J, sum of kinetic and potential energy.

        >>> import saltus
        >>> float(saltus.solve("scenes/ball.yaml", 0.5, tol=1e-6).ledger.energy[0])
        2.0
        """
        total: Array = _series(self._data, "kinetic") + _series(self._data, "potential")
        return total

    def last(self) -> dict[str, float]:
        """Final values.

        >>> import saltus
        >>> sorted(saltus.solve("scenes/ball.yaml", 0.5, tol=1e-6).ledger.last())[:2]
        ['created', 'drive']
        """
        return {name: float(_series(self._data, name)[-1]) for name in Ledger.NAMES}

    def __repr__(self) -> str:
        return "<saltus.Ledger " + ", ".join(f"{k} {v:.6g} J" for k, v in self.last().items()) + ">"


class Certificate:
    """Independent verification of a run.

    `every_step` is False if a recording lacks some of its steps; checks that need all steps are then omitted.

    >>> import saltus
    >>> certificate = saltus.solve("scenes/ball.yaml", 5.0, tol=1e-8, scheme="adaptive").certificate
    >>> certificate.passed, certificate.complete
    (True, True)
    >>> certificate["momentum"]["passed"]
    True
    """

    __slots__ = ("passed", "complete", "every_step", "span", "followed", "balanced", "unfollowed", "items")

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.passed: bool = facts["passed"]
        self.complete: bool = facts["complete"]
        self.every_step: bool = facts["every_step"]
        self.span: float = facts["span"]
        self.followed: float = facts["followed"]
        self.balanced: float = facts["balanced"]
        self.unfollowed: str = facts["unfollowed"]
        self.items: dict[str, dict[str, Any]] = {item["name"]: item for item in facts["items"]}

    def __bool__(self) -> bool:
        return self.passed and self.complete

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.items[name]

    def __repr__(self) -> str:
        word = ("FAILS" if not self.passed else "passes" if self.complete
                else "not certified; the recording does not hold every step (certify=True)" if not self.every_step
                else "all checked items hold, but not over the whole time")
        lines = [f"Certificate: {word}"]
        for item in self.items.values():
            if item["checked"]:
                lines.append(f"  {item['name']:<16} {'holds' if item['passed'] else 'FAILS'} "
                             f"{item['value']:10.3g} of {item['limit']:.3g} {item['unit']}")
        return "\n".join(lines)


def _series(data: _core.Data, name: str) -> npt.NDArray[Any]:
    memory = data.array(name)
    if memory is None:
        raise AttributeError(f"the recording has no {name}")
    return np.asarray(memory)


class Solution:
    """A computed or recorded motion.

    `t`, `q` and `v` are read-only arrays on memory of the library; names select columns:

    >>> import saltus
    >>> sol = saltus.solve("scenes/woodpecker.yaml", 0.2, tol=1e-8)
    >>> sol.q.shape[1], sol["phiM"].shape == sol.t.shape, sol["phiM'"][0] == sol.v[0, 1]
    (3, True, True)
    >>> sol.success
    True
    """

    __slots__ = ("_data", "_model", "_call", "_cache", "__weakref__")

    def __init__(self, data: _core.Data, model: Optional[Model], call: Optional[Call]) -> None:
        self._data = data
        self._model = model
        self._call = call
        self._cache: dict[str, Any] = {}

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = make()
        return found

    @property
    def t(self) -> Array:
        """Times of the recorded states [s]; equal times at velocity jumps.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).t[-1]
        1.0
        """
        array: Array = self._kept("t", lambda: _series(self._data, "t"))
        return array

    @property
    def q(self) -> Array:
        """Positions, a row for each time.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).q[0]
        array([1.])
        """
        array: Array = self._kept("q", lambda: _series(self._data, "q"))
        return array

    @property
    def v(self) -> Array:
        """Velocities, a row for each time.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).v[0]
        array([0.])
        """
        array: Array = self._kept("v", lambda: _series(self._data, "v"))
        return array

    @property
    def outputs(self) -> Array:
        """Outputs of the scene, a row for each time.

        >>> import saltus
        >>> sol = saltus.solve("scenes/ball.yaml", 1.0, outputs={"power": "-2*q'"})
        >>> sol.outputs.shape == (len(sol.t), 1)
        True
        """
        array: Array = self._kept("outputs", lambda: _series(self._data, "outputs"))
        return array

    @property
    def _places(self) -> dict[str, tuple[str, int]]:
        def make() -> dict[str, tuple[str, int]]:
            places: dict[str, tuple[str, int]] = {}
            for kind, where in (("o", "outputs"), ("v", "v"), ("q", "q")):
                for i, (name, _) in enumerate(self._data.labels(kind)):
                    places[name] = (where, i)
            return places
        places: dict[str, tuple[str, int]] = self._kept("places", make)
        return places

    @property
    def names(self) -> tuple[str, ...]:
        """Names accepted by `sol[name]`.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).names
        ('t', 'q', "q'")
        """
        labels = [name for kind in "qvo" for name, _ in self._data.labels(kind)]
        return ("t", *labels)

    def unit(self, name: str) -> str:
        """Unit of a column, from the scene.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).unit("q")
        'm'
        """
        if name == "t":
            return "s"
        where, i = self._place(name)
        return self._data.labels(where[0])[i][1]

    def _place(self, name: str) -> tuple[str, int]:
        place = self._places.get(name)
        if place is None:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.names)}")
        return place

    def __getitem__(self, name: str) -> Array:
        if name == "t":
            return self.t
        where, i = self._place(name)
        column: Array = _series(self._data, where)[:, i]
        return column

    def __len__(self) -> int:
        return len(self.t)

    def __call__(self, t: Any, side: str = "right") -> State:
        """State at any time of the run, by the dense output of the scheme.

        At velocity jumps `side` selects the limit, "left" or "right". For schemes without dense output the states are
        interpolated linearly.

        >>> import saltus
        >>> sol = saltus.solve("scenes/ball.yaml", 2.0, tol=1e-10, scheme="adaptive")
        >>> impact = sol.event_array["t"][0]
        >>> print(f"{sol(impact, 'left').v[0]:.6f} {sol(impact).v[0]:.6f}")
        -2.000000 1.000000
        """
        from .dense import evaluate
        return evaluate(self, t, side)

    @property
    def event_array(self) -> npt.NDArray[Any]:
        """The events as a structured array; `kind` is an index into `saltus.solution.KINDS`.

        >>> import saltus
        >>> sol = saltus.solve("scenes/ball.yaml", 2.2, tol=1e-8, scheme="adaptive")
        >>> [round(float(t), 6) for t in sol.event_array["t"]]
        [1.0, 2.0]
        """
        return np.frombuffer(self._data.events(), dtype=EVENT_TYPE)  # type: ignore[call-overload,no-any-return]

    @property
    def events(self) -> Any:
        """The events as a table: a pandas DataFrame, or without pandas a structured array.

        >>> import saltus
        >>> sol = saltus.solve("scenes/ball.yaml", 2.2, tol=1e-8, scheme="adaptive")
        >>> list(sol.events["kind"]), list(sol.events["contact"])
        (['impact', 'impact'], ['floor', 'floor'])
        """
        return self._kept("events", self._make_events)

    def _make_events(self) -> Any:
        raw = self.event_array
        contacts = [name for name, _ in self._data.labels("c")]
        laws = [name for name, _ in self._data.labels("l")]
        own = [name for name, _ in self._data.labels("e")]
        kinds = np.array(KINDS, dtype=object)
        columns: dict[str, Any] = {"t": raw["t"], "kind": kinds[raw["kind"]]}
        rise = KINDS.index("rise")
        columns["contact"] = np.array(
            [_name_of(own, c) if k >= rise else _name_of(laws, law) if laws else _name_of(contacts, c)
             for k, c, law in zip(raw["kind"], raw["contact"], raw["law"])], dtype=object)
        for name in EVENT_TYPE.names or ():
            if name not in ("t", "kind", "contact", "law"):
                columns[name] = raw[name]
        try:
            import pandas
        except ImportError:
            kind = np.dtype([(name, column.dtype) for name, column in columns.items()])
            table = np.empty(len(raw), dtype=kind)
            for name, column in columns.items():
                table[name] = column
            return table
        return pandas.DataFrame(columns)

    @property
    def contacts(self) -> Contacts:
        """Gaps, forces and impulses.

        >>> import saltus
        >>> len(saltus.solve("scenes/ball.yaml", 1.0).contacts)
        1
        """
        contacts: Contacts = self._kept("contacts", lambda: Contacts(self._data))
        return contacts

    @property
    def joint_forces(self) -> Array:
        """N, forces of joint rows, mean since the previous frame, without impacts.

        >>> import saltus
        >>> sol = saltus.solve("scenes/body-slider-crank.yaml", 0.1)
        >>> sol.joint_forces.shape == (len(sol.t), len(sol.model.joints))
        True
        """
        return _series(self._data, "joint_force")

    @property
    def joint_impulses(self) -> Array:
        """N s, impulses of joint rows at impacts since the previous frame.

        >>> import saltus
        >>> sol = saltus.solve("scenes/body-slider-crank.yaml", 0.1)
        >>> float(abs(sol.joint_impulses).max())
        0.0
        """
        return _series(self._data, "joint_impulse")

    @property
    def ledger(self) -> Ledger:
        """Energy balance.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).ledger.kinetic[0]
        0.0
        """
        return Ledger(self._data)

    @property
    def certificate(self) -> Certificate:
        """Independent verification of the run, without code of the schemes.

        A certificate needs every step and its midpoint; without `certify=True` the run is repeated with them.

        >>> import saltus
        >>> bool(saltus.solve("scenes/woodpecker.yaml", 0.2, tol=1e-8).certificate)
        True
        """
        from .tools import certify
        found: Certificate = self._kept("certificate", lambda: certify(self))
        return found

    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of the run: steps, rejections, evaluations, events by kind, energies.

        >>> import saltus
        >>> stats = saltus.solve("scenes/ball.yaml", 1.5, tol=1e-6).stats
        >>> stats["events"]["impact"], stats["steps"] > 0
        (1, True)
        """
        def make() -> dict[str, Any]:
            if self._call is None:
                about = self._data.about()
                return {"status": about["status"], "steps": about["steps"], "frames": about["count"]}
            return self._data.stats()
        stats: dict[str, Any] = self._kept("stats", make)
        return stats

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the run: scheme, options, tolerances, steps.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).settings["scheme"]
        'moreau-jean'
        """
        if self._call is None:
            about = self._data.about()
            return {"scheme": about["scheme"], "options": about["options"]}
        return self._data.settings()

    @property
    def success(self) -> bool:
        """True if the run reached its end.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).success
        True
        """
        return bool(self._data.about()["status"] == "complete")

    @property
    def model(self) -> Model:
        """Model of the run; for a recording the scene in it.

        >>> import saltus
        >>> saltus.solve("scenes/ball.yaml", 1.0).model.name
        'bouncing ball'
        """
        if self._model is None:
            text = str(self._data.about()["scene"])
            if not text:
                raise ValueError("the recording holds no scene")
            pairs = [line[8:].split("=", 1) for line in text.splitlines() if line.startswith("# --set ")]
            self._model = Model.from_text(text, parameters={name: value for name, value in pairs})
        return self._model

    def save(self, path: Union[str, os.PathLike[str]], *, force: bool = False) -> None:
        """Writes a recording in the format of the program: HDF5 (.h5) or text (.csv).

        >>> import saltus, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "run.h5")
        >>> sol = saltus.solve("scenes/ball.yaml", 1.0)
        >>> sol.save(path)
        >>> bool((saltus.load(path).q == sol.q).all())
        True
        """
        if self._call is None:
            raise ValueError("a recording that was loaded is already a file")
        model = self.model
        self._data.save(as_path(path), model.name, model.text + as_text_lines(model.parameters.items()), bool(force))

    def snapshot(self) -> bytes:
        """Complete state at the end as bytes, for `saltus.resume`.

        >>> import saltus
        >>> half = saltus.solve("scenes/ball.yaml", 1.0)
        >>> whole = saltus.resume(half.snapshot(), 2.0)
        >>> whole.t[-1]
        2.0
        """
        if self._call is None:
            raise ValueError("a recording has no snapshot")
        model = self.model
        return self._data.snapshot(model._path or "scene", model.text + as_text_lines(model.parameters.items()))

    def plot(self, *names: str, show: bool = False) -> Any:
        """Draws columns over time with matplotlib (default: positions and velocities); returns the figure.

        Impacts are marked below. `show=True` opens a window.

        >>> import saltus
        >>> figure = saltus.solve("scenes/ball.yaml", 2.0, tol=1e-6).plot("q")
        >>> len(figure.axes)
        1
        """
        from .plotting import draw
        return draw(self, names, show)

    def animate(self, height: int = 640) -> Page:
        """Page of the viewer: a notebook displays it with a height of `height` pixels, `show()` opens a browser.

        >>> import saltus
        >>> page = saltus.solve("scenes/ball.yaml", 1.5, tol=1e-6).animate()
        >>> b"<!-- saltus report -->" in page.html[:100]
        True
        """
        from .page import Page
        with_scene = self._model is not None or bool(self._data.about()["scene"])
        return Page(_core.page(self._data, self.model._scene if with_scene else None, False),
                    as_count(height, "height", 1, 100000))

    def __repr__(self) -> str:
        from .report import describe
        return describe(self)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a solution is saved by sol.save(path) and read by saltus.load(path)")


def _name_of(names: list[str], place: int) -> str:
    return names[place] if 0 <= place < len(names) else str(place)


def as_times(t: Any) -> Array:
    """Times of any shape."""
    return as_doubles(t, "t")


__all__ = ["Certificate", "Contacts", "Ledger", "Solution", "State", "KINDS", "as_model", "as_times"]
