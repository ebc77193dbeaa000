# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Models: scenes from files and texts."""
from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _core
from .arguments import as_pairs, as_path
from .builder import Builder
from .document import observers, with_entries

if TYPE_CHECKING:
    from .simulation import Simulation

Array = npt.NDArray[np.float64]
Value = Union[float, int, str]


class Model(Builder):
    """A mechanical system: a scene file, a scene as text, or a model built entry by entry.

    A text with line ends is a scene, any other text the path of a file. `parameters` replaces values of the scene by
    numbers or formulas. The scene is read on first use; an invalid scene raises `InputError` with file, line and
    column.

    >>> import saltus
    >>> ball = saltus.Model("scenes/ball.yaml")
    >>> ball.nq, ball.coordinates, ball.contacts
    (1, ('q',), ('floor',))
    >>> print(ball.name)
    bouncing ball

    Without a source it is empty, and built by its methods; so can a scene that was read be changed, which needs PyYAML:

    >>> m = saltus.Model()
    >>> crank = m.body("crank", mass=1, inertia=1/12, position=[0.5, 0])
    >>> m.revolute(m.marker("pin", [0, 0]), crank.marker([-0.5, 0]), name="hinge")
    'hinge'
    >>> print(m.text, end="")
    saltus: 1
    bodies: {crank: {mass: 1, inertia: 0.08333333333333333, position: [0.5, 0]}}
    markers: {pin: {point: [0, 0]}, crank_marker_1: {body: crank, point: [-0.5, 0]}}
    joints: [{name: hinge, type: revolute, between: [pin, crank_marker_1]}]
    """

    def __init__(self, source: Union[str, os.PathLike[str], None] = None, *,
                 parameters: Optional[Mapping[str, Value]] = None, separate: bool = False) -> None:
        self._path: Optional[str] = None
        self._text: Optional[str] = None
        if isinstance(source, str) and "\n" in source:
            self._text = source
        elif source is not None:
            self._path = as_path(source)
        self._document: Optional[dict[str, Any]] = {"saltus": "1"} if source is None else None
        self._pairs = as_pairs(parameters, "parameters")
        self._separate = bool(separate)
        self._lock = threading.Lock()
        self._made: Optional[_core.Scene] = None
        self._facts: Optional[dict[str, Any]] = None
        self._variants: dict[tuple[tuple[str, str], ...], Model] = {}

    @classmethod
    def from_text(cls, text: str, *, parameters: Optional[Mapping[str, Value]] = None,
                  path: Union[str, os.PathLike[str], None] = None, separate: bool = False) -> Model:
        """Model from the text of a scene; `path` is its name in messages and the base of relative file names.

        >>> import saltus
        >>> saltus.Model.from_text("saltus: 1\\ncoordinates: {y: 1}\\nkinetic: y'^2/2").nv
        1
        """
        if not isinstance(text, str):
            raise TypeError(f"the text of a scene is a str, not {type(text).__name__}")
        model = Model(None, parameters=parameters, separate=separate)
        model._text, model._document = text, None
        model._path = as_path(path) if path is not None else None
        return model

    def with_parameters(self, parameters: Optional[Mapping[str, Value]] = None, **more: Value) -> Model:
        """Copy of the model with other parameter values.

        >>> import saltus
        >>> pendulum = saltus.Model("scenes/spring-pendulum.yaml")
        >>> stiff = pendulum.with_parameters(k=200)
        >>> stiff.parameters
        {'k': '200'}
        """
        pairs = dict(self._pairs)
        pairs.update(as_pairs(parameters, "parameters"))
        pairs.update(as_pairs(more, "parameters"))
        key = tuple(pairs.items())
        if key == self._pairs:
            return self
        found = self._variants.get(key)
        if found is None:
            found = Model.__new__(type(self))
            found._copy_from(self, key)
            if len(self._variants) >= 16:
                self._variants.pop(next(iter(self._variants)), None)
            self._variants[key] = found
        return found

    def _copy_from(self, other: Model, pairs: tuple[tuple[str, str], ...]) -> None:
        self._path, self._text, self._document = other._path, other._text, None
        if other._document is not None:
            self._text = other.text
        self._pairs, self._separate = pairs, other._separate
        self._lock = threading.Lock()
        self._made = None
        self._facts = None
        self._variants = {}

    def with_observers(self, outputs: Optional[Mapping[str, Any]] = None,
                       events: Optional[Mapping[str, Any]] = None) -> Model:
        """Copy of the model with additional outputs and events: formulas by name, or mappings as in scenes.

        >>> import saltus
        >>> ball = saltus.Model("scenes/ball.yaml").with_observers(events={"half": "q - 1/2"})
        >>> sol = saltus.solve(ball, 1.0, tol=1e-8)
        >>> list(sol.events["contact"])[0], round(float(sol.events["t"][0]), 6)
        ('half', 0.707107)
        """
        more = {"outputs": observers(outputs, "outputs"), "events": observers(events, "events")}
        made = Model.__new__(type(self))
        made._copy_from(self, self._pairs)
        made._text = with_entries(self.text, {key: value for key, value in more.items() if value})
        return made

    @property
    def _scene(self) -> _core.Scene:
        made = self._made
        if made is None:
            text = self._written() if self._document is not None else self._text
            made = self._made = _core.Scene(self._path, text, self._pairs, self._separate)
        return made

    def _fact(self, name: str) -> Any:
        if self._facts is None:
            self._facts = self._scene.about()
        return self._facts[name]

    @property
    def text(self) -> str:
        """The scene as text.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").text.splitlines()[0]
        'saltus: 1'
        """
        if self._document is not None:
            return self._written()
        return str(self._fact("text")) if self._text is None else self._text

    def _changed(self) -> None:
        self._text = self._made = self._facts = None
        self._variants = {}

    @property
    def name(self) -> str:
        """Name of the scene, else of its file.

        >>> import saltus
        >>> saltus.Model("scenes/woodpecker.yaml").name
        'woodpecker on a pole'
        """
        return str(self._fact("name")) or self._path or "scene"

    @property
    def description(self) -> str:
        """Description of the scene.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").description.split()[:4]
        ['A', 'unit', 'mass', 'under']
        """
        return str(self._fact("description"))

    @property
    def parameters(self) -> dict[str, str]:
        """Replaced parameters, as formulas.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").parameters
        {}
        """
        return dict(self._pairs)

    @property
    def nq(self) -> int:
        """Number of position coordinates.

        >>> import saltus
        >>> saltus.Model("scenes/woodpecker.yaml").nq
        3
        """
        return int(self._fact("nq"))

    @property
    def nv(self) -> int:
        """Number of velocities.

        >>> import saltus
        >>> saltus.Model("scenes/woodpecker.yaml").nv
        3
        """
        return int(self._fact("nv"))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of the scene.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").inputs
        ()
        """
        return tuple(self._fact("inputs"))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates.

        >>> import saltus
        >>> saltus.Model("scenes/woodpecker.yaml").coordinates
        ('y', 'phiM', 'phiS')
        """
        return self._names("q")

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the velocities.

        >>> import saltus
        >>> saltus.Model("scenes/woodpecker.yaml").velocities
        ("y'", "phiM'", "phiS'")
        """
        return self._names("v")

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts; for contacts between shapes, names of their laws.

        >>> import saltus
        >>> saltus.Model("scenes/woodpecker.yaml").contacts
        ('beak', 'sleeve low', 'sleeve high')
        """
        return self._names("l" if self._fact("changing") else "c")

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the rows of joints.

        >>> import saltus
        >>> len(saltus.Model("scenes/body-slider-crank.yaml").joints) > 0
        True
        """
        return self._names("j")

    def _names(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name, _ in self._scene.labels(kind))

    @property
    def q0(self) -> Array:
        """Initial positions, consistent with joints and contacts.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").q0
        array([1.])
        """
        return np.asarray(self._scene.start()[0])

    @property
    def v0(self) -> Array:
        """Initial velocities.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").v0
        array([0.])
        """
        return np.asarray(self._scene.start()[1])

    def _state(self, q: Any, v: Any) -> tuple[Array, Array]:
        start = self._scene.start()
        return tuple(np.ascontiguousarray(start[k] if x is None else x, dtype=float)  # type: ignore[return-value]
                     for k, x in enumerate((q, v)))

    def mass_matrix(self, q: Any = None, t: float = 0.0) -> Array:
        """Mass matrix M(q), by default at the start.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").mass_matrix()
        array([[1.]])
        """
        q, v = self._state(q, None)
        return np.asarray(self._scene.dynamics(t, q, v)[0]).reshape(self.nv, self.nv)

    def forces(self, q: Any = None, v: Any = None, t: float = 0.0) -> Array:
        """F(t, q, v) of M v' = F without contacts and joints that have rows: applied forces less inertial ones.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").forces()
        array([-2.])
        """
        return np.asarray(self._scene.dynamics(t, *self._state(q, v))[1])

    def inverse_dynamics(self, acceleration: Any, q: Any = None, v: Any = None, t: float = 0.0) -> Array:
        """Generalized forces M a - F that, in addition to those of the scene, give the accelerations `v' = a`.

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").inverse_dynamics([1.0])
        array([3.])
        """
        mass, force = (np.asarray(x) for x in self._scene.dynamics(t, *self._state(q, v)))
        return mass.reshape(self.nv, self.nv) @ np.asarray(acceleration, dtype=float) - force

    def frame(self, name: str, q: Any = None, t: float = 0.0) -> tuple[Array, Array]:
        """Position [m] of a body (its centre of mass) or marker, and its axes as columns.

        >>> import saltus
        >>> saltus.Model("scenes/body-pendulum.yaml").frame("rod")[0].shape
        (3,)
        """
        values = np.asarray(self._scene.frame(name, t, self._state(q, None)[0]))
        return values[:3], values[3:12].reshape(3, 3)

    def jacobian(self, name: str, q: Any = None, t: float = 0.0) -> Array:
        """6 x nv: velocity of the frame of a body or marker and its angular velocity, world axes, from `v`.

        >>> import saltus
        >>> saltus.Model("scenes/body-pendulum.yaml").jacobian("rod").shape
        (6, 3)
        """
        values = np.asarray(self._scene.frame(name, t, self._state(q, None)[0]))
        return values[12:].reshape(6, self.nv)

    def _alone(self) -> Model:
        """This model, or a copy with its own scene if it has inputs."""
        if not self.inputs:
            return self
        made = Model.__new__(type(self))
        made._copy_from(self, self._pairs)
        return made

    def simulate(self, **settings: Any) -> Simulation:
        """Simulation of this model, advanced by the caller; settings as in `saltus.Simulation`.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-8, scheme="adaptive")
        >>> sim.advance(2.0, stop="impact").kind
        'impact'
        """
        from .simulation import Simulation
        return Simulation(self, **settings)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the scene to a file.

        >>> import saltus, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "copy.yaml")
        >>> saltus.Model("scenes/ball.yaml").save(path)
        >>> saltus.Model(path).name
        'bouncing ball'
        """
        with open(as_path(path), "w", encoding="utf-8") as file:
            file.write(self.text)

    def __repr__(self) -> str:
        return (f"<saltus.Model {self.name!r}: {self.nq} coordinates, {self._fact('nc')} contacts, "
                f"{self._fact('nj')} joint rows>")

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self._path, "text": self.text, "pairs": self._pairs, "separate": self._separate}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._path, self._text, self._document = state["path"], state["text"], None
        self._pairs, self._separate = state["pairs"], state["separate"]
        self._lock = threading.Lock()
        self._made = None
        self._facts = None
        self._variants = {}


def as_model(model: Any, parameters: Optional[Mapping[str, Value]]) -> Model:
    """Model from a model, a path or a text."""
    if not isinstance(model, Model):
        if not isinstance(model, (str, os.PathLike)):
            raise TypeError(f"a model, a path or a text is needed, not {type(model).__name__}")
        model = Model(model)
    made: Model = model.with_parameters(parameters) if parameters else model
    return made


def as_text_lines(pairs: Iterable[tuple[str, str]]) -> str:
    """Replaced parameters as comment lines, as in recordings of the program."""
    return "".join(f"# --set {name}={value}\n" for name, value in pairs)
