# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Construction of models entry by entry. Keys and formulas are those of docs/scene.md; the library reads the
resulting scene and reports errors in it."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from .document import node, read, write

Point = Sequence[Union[float, str]]


class Marker(str):
    """Name of a marker: a frame on a body or in the world.

    >>> import saltus
    >>> m = saltus.Model()
    >>> pin = m.marker("pin", [0, 1])
    >>> pin
    'pin'
    """


class Body(str):
    """Name of a body, with methods for its markers and shapes.

    >>> import saltus
    >>> m = saltus.Model()
    >>> crank = m.body("crank", mass=1, inertia="L^2/12")
    >>> crank, crank.marker([0.5, 0], name="tip")
    ('crank', 'tip')
    """

    _builder: Builder

    def marker(self, point: Optional[Point] = None, *, name: Optional[str] = None, **more: Any) -> Marker:
        """Adds a marker on this body; `point` is relative to its centre of mass, in body axes.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.body("rod", mass=1, inertia=1).marker([0.5, 0])
        'rod_marker_1'
        """
        return self._builder.marker(name, point, body=self, **more)

    def shape(self, kind: str, *, name: Optional[str] = None, material: Optional[str] = None, position: Any = None,
              angle: Any = None, orientation: Any = None, groups: Any = None, **description: Any) -> Body:
        """Adds a collision shape to this body; `kind` and keys as in scenes.

        >>> import saltus
        >>> m = saltus.Model()
        >>> ball = m.body("ball", density=1000).shape("circle", radius=0.1)
        >>> print(m.text.splitlines()[-1])
        bodies: {ball: {density: 1000, shapes: [{circle: {radius: 0.1}}]}}
        """
        self._builder._shape(self, kind, description, name=name, material=material, position=position, angle=angle,
                             orientation=orientation, groups=groups)
        return self


class Builder:
    """Methods of `Model` that add entries to its scene."""

    _text: Optional[str]
    _document: Optional[dict[str, Any]]

    @property
    def text(self) -> str:
        """The scene as text."""
        raise NotImplementedError

    def _changed(self) -> None:
        raise NotImplementedError

    def _doc(self) -> dict[str, Any]:
        """The scene as data, for modification."""
        if self._document is None:
            self._document = read(self.text)
        self._changed()
        return self._document

    def _mapping(self, key: str) -> dict[str, Any]:
        there = self._doc().setdefault(key, {})
        if not isinstance(there, dict):
            raise ValueError(f"{key} of the scene is no mapping")
        return there

    def _list(self, key: str) -> list[Any]:
        there = self._doc().setdefault(key, [])
        if not isinstance(there, list):
            raise ValueError(f"{key} of the scene is no list")
        return there

    @staticmethod
    def _entry(**given: Any) -> dict[str, Any]:
        made = node({key: value for key, value in given.items() if value is not None}, "entry")
        assert isinstance(made, dict)
        return made

    def _put(self, section: str, name: str, **given: Any) -> str:
        if not isinstance(name, str):
            raise TypeError(f"a name is a text, not {type(name).__name__}")
        entry = self._entry(**given)
        there = self._mapping(section)
        if name in there:
            raise ValueError(f"{section} has {name!r} already")
        there[name] = entry
        return name

    def describe(self, name: Optional[str] = None, description: Optional[str] = None) -> None:
        """Sets name and description of the scene.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.describe("my pendulum")
        >>> print(m.text.splitlines()[1])
        name: my pendulum
        """
        self._doc().update(self._entry(name=name, description=description))

    def parameter(self, name: str, value: Any) -> str:
        """Adds a named constant, a number or a formula; returns its name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.parameter("g", 9.81)
        'g'
        """
        self._mapping("parameters")[str(name)] = node(value, str(name))
        return str(name)

    def input(self, name: str, value: Any = 0) -> str:
        """Adds an input, a value set by the program between steps; returns its name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.input("motor", 1)
        'motor'
        """
        self._mapping("inputs")[str(name)] = node(value, str(name))
        return str(name)

    def coordinate(self, name: str, start: Any = 0, velocity: Any = None, *, unit: Optional[str] = None,
                   **more: Any) -> str:
        """Adds a generalized coordinate; returns its name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.coordinate("phi", "pi/4", unit="rad")
        'phi'
        """
        return self._put("coordinates", name, start=start, velocity=velocity, unit=unit, **more)

    def energies(self, kinetic: Any = None, potential: Any = None) -> None:
        """Sets formulas of the kinetic and potential energy of the coordinates [J].

        >>> import saltus
        >>> m = saltus.Model()
        >>> y = m.coordinate("y", 1)
        >>> m.energies(kinetic="y'^2/2", potential="9.81*y")
        >>> m.nq
        1
        """
        self._doc().update(self._entry(kinetic=kinetic, potential=potential))

    def force(self, on: str, force: Any = None, *, torque: Any = None, **more: Any) -> None:
        """Adds a force on a coordinate (one formula), or a force and torque at a marker or body (lists).

        >>> import saltus
        >>> m = saltus.Model()
        >>> x = m.coordinate("x")
        >>> m.energies("x'^2/2")
        >>> m.force(x, "-0.1*x'")
        >>> print(m.text.splitlines()[-1])
        forces: [{coordinate: x, force: -0.1*x'}]
        """
        document = self._doc()
        forces = document.get("forces", [])
        if isinstance(forces, dict):
            forces = [{"coordinate": key, "force": value} for key, value in forces.items()]
        document["forces"] = forces
        where = "coordinate" if on in document.get("coordinates", {}) else "at"
        forces.append(self._entry(**{where: on}, force=force, torque=torque, **more))

    def world(self, dimension: Optional[int] = None, gravity: Optional[Point] = None) -> Body:
        """Sets dimension and gravity of a scene with bodies; returns the world, which can have markers and shapes.

        >>> import saltus
        >>> m = saltus.Model()
        >>> floor = m.world(2, gravity=[0, -9.81]).shape("half-plane")
        >>> floor
        'world'
        """
        self._mapping("world").update(self._entry(dimension=dimension, gravity=gravity))
        made = Body("world")
        made._builder = self
        return made

    def body(self, name: str, *, mass: Any = None, inertia: Any = None, position: Optional[Point] = None,
             angle: Any = None, velocity: Optional[Point] = None, angular_velocity: Any = None, **more: Any) -> Body:
        """Adds a rigid body; `more` are other keys of scenes: orientation, density, fixed, driven, frame, ...

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.body("disc", mass=2, inertia=0.1, position=[0, 1])
        'disc'
        """
        made = Body(self._put("bodies", name, mass=mass, inertia=inertia, position=position, angle=angle,
                              velocity=velocity, angular_velocity=angular_velocity, **more))
        made._builder = self
        return made

    def marker(self, name: Optional[str] = None, point: Optional[Point] = None, *, body: Optional[str] = None,
               **more: Any) -> Marker:
        """Adds a frame in the world or on a body.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.marker("pin", [0, 0])
        'pin'
        """
        if name is None:
            stem = body if body is not None else "world"
            there = self._mapping("markers")
            name = next(word for i in range(1, len(there) + 2) if (word := f"{stem}_marker_{i}") not in there)
        body = None if body == "world" else body
        if body is None and point is None and not more:
            point = [0, 0, 0] if self._mapping("world").get("dimension") == "3" else [0, 0]
        return Marker(self._put("markers", name, body=body, point=point, **more))

    def _ends(self, ends: Sequence[str]) -> list[str]:
        """Names of markers; a body stands for its centre of mass."""
        return [end.marker() if isinstance(end, Body) else str(end) for end in ends]

    def joint(self, kind: str, a: str, b: str, *, name: Optional[str] = None, **more: Any) -> str:
        """Adds a joint between two markers or bodies: revolute, prismatic, spherical, ...; returns its name.

        `more` are keys of scenes: drive, limits, spring, damping, actuator, dry_friction, ...

        >>> import saltus
        >>> m = saltus.Model()
        >>> arm = m.body("arm", mass=1, inertia=1, position=[0.5, 0])
        >>> m.joint("revolute", m.marker("pin", [0, 0]), arm.marker([-0.5, 0]), name="hinge")
        'hinge'
        """
        joints = self._list("joints")
        name = f"joint {len(joints) + 1}" if name is None else name
        between = {"joints": [str(a), str(b)]} if kind in ("gear", "rack-and-pinion") else {"between": self._ends((a, b))}
        joints.append(self._entry(name=name, type=kind, **between, **more))
        return name

    def revolute(self, a: str, b: str, *, name: Optional[str] = None, **more: Any) -> str:
        """Adds a revolute joint between two markers or bodies.

        >>> import saltus
        >>> m = saltus.Model()
        >>> arm = m.body("arm", mass=1, inertia=1, position=[0.5, 0])
        >>> m.revolute(m.marker("pin", [0, 0]), arm.marker([-0.5, 0]))
        'joint 1'
        """
        return self.joint("revolute", a, b, name=name, **more)

    def prismatic(self, a: str, b: str, *, name: Optional[str] = None, **more: Any) -> str:
        """Adds a prismatic joint between two markers or bodies, in the plane along x of the first.

        >>> import saltus
        >>> m = saltus.Model()
        >>> block = m.body("block", mass=1, inertia=1)
        >>> m.prismatic(m.marker("rail", [0, 0]), block, name="guide")
        'guide'
        """
        return self.joint("prismatic", a, b, name=name, **more)

    def constraint(self, formula: str, *, name: Optional[str] = None) -> str:
        """Adds a joint by a formula that stays zero; returns its name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.constraint("x^2 + y^2 - 1", name="circle")
        'circle'
        """
        joints = self._list("joints")
        name = f"joint {len(joints) + 1}" if name is None else name
        joints.append(self._entry(name=name, constraint=formula))
        return name

    def contact(self, gap: str, *, name: Optional[str] = None, restitution: Any = None, slip: Any = None,
                friction: Any = None, **more: Any) -> str:
        """Adds a contact by its gap formula, with impact and friction laws; returns its name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> y = m.coordinate("y", 1)
        >>> m.energies("y'^2/2", "9.81*y")
        >>> floor = m.contact("y", name="floor", restitution=0.5)
        >>> m.contacts
        ('floor',)
        """
        contacts = self._list("contacts")
        name = f"contact {len(contacts) + 1}" if name is None else name
        contacts.append(self._entry(name=name, gap=gap, slip=slip, friction=friction, restitution=restitution, **more))
        return name

    def element(self, kind: str, a: str, b: str, *, name: Optional[str] = None, **more: Any) -> str:
        """Adds a machine element between two markers: journal, guide, stop, rope, cam, gear-pair, ...; returns its
        name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> shaft = m.body("shaft", mass=1, inertia=0.01)
        >>> m.element("journal", m.marker("bearing", [0, 0]), shaft, clearance=1e-4, radius=0.01)
        'element 1'
        """
        elements = self._list("elements")
        name = f"element {len(elements) + 1}" if name is None else name
        ends = [str(a), str(b)] if kind == "gear-pair" else self._ends((a, b))
        elements.append(self._entry(name=name, type=kind, between=ends, **more))
        return name

    def spring(self, a: Optional[str] = None, b: Optional[str] = None, *, elongation: Optional[str] = None,
               stiffness: Any = None, damping: Any = None, **more: Any) -> None:
        """Adds a spring and damper between two markers, or along a formula.

        >>> import saltus
        >>> m = saltus.Model()
        >>> block = m.body("block", mass=1, inertia=1, position=[1, 0])
        >>> m.spring(m.marker("wall", [0, 0]), block, stiffness=100, length=1)
        >>> print(m.text.splitlines()[-1])
        springs: [{between: [wall, block_marker_1], stiffness: 100, length: 1}]
        """
        between = self._ends((a, b)) if a is not None and b is not None else None
        self._list("springs").append(self._entry(between=between, elongation=elongation, stiffness=stiffness,
                                                 damping=damping, **more))

    def material(self, name: str, *, friction: Any = None, restitution: Any = None, **more: Any) -> str:
        """Adds a material of shapes; returns its name.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.material("steel", friction=0.3, restitution=0.5)
        'steel'
        """
        return self._put("materials", name, friction=friction, restitution=restitution, **more)

    def contact_pair(self, a: str, b: str, **more: Any) -> None:
        """Adds contact settings of a pair of shapes, bodies, groups or materials.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.contact_pair("steel", "rubber", friction=0.9)
        >>> print(m.text.splitlines()[-1])
        contact_pairs: [{between: [steel, rubber], friction: 0.9}]
        """
        self._list("contact_pairs").append(self._entry(between=[str(a), str(b)], **more))

    def dry_friction(self, rate: str, **more: Any) -> None:
        """Adds Coulomb friction of a velocity other than contact slip.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.dry_friction("phi'", force=0.1)
        >>> print(m.text.splitlines()[-1])
        dry_friction: [{rate: phi', force: 0.1}]
        """
        self._list("dry_friction").append(self._entry(rate=rate, **more))

    def impacts(self, **laws: Any) -> None:
        """Sets the law of impacts with several contacts.

        >>> import saltus
        >>> m = saltus.Model()
        >>> m.impacts(order="sequential")
        >>> print(m.text.splitlines()[-1])
        impacts: {order: sequential}
        """
        self._mapping("impacts").update(self._entry(**laws))

    def output(self, name: str, formula: str, *, unit: Optional[str] = None) -> str:
        """Adds an output, a recorded formula.

        >>> import saltus
        >>> m = saltus.Model("scenes/ball.yaml")
        >>> m.output("power", "-2*q'", unit="W")
        'power'
        >>> "power" in saltus.solve(m, 0.1).names
        True
        """
        return self._put("outputs", name, formula=formula, unit=unit)

    def event(self, name: str, formula: str, *, direction: Optional[str] = None,
              set: Optional[Mapping[str, Any]] = None) -> str:
        """Adds a user-defined event at the roots of a formula, which may set inputs.

        >>> import saltus
        >>> m = saltus.Model("scenes/ball.yaml")
        >>> m.event("half", "q - 1/2", direction="falling")
        'half'
        """
        return self._put("events", name, formula=formula, direction=direction, set=set)

    def defaults(self, **settings: Any) -> None:
        """Sets default settings of runs: until, tol, scheme, step, options, ...

        >>> import saltus
        >>> m = saltus.Model("scenes/ball.yaml")
        >>> m.defaults(until=1.5)
        >>> float(saltus.solve(m).t[-1])
        1.5
        """
        self._mapping("simulate").update(self._entry(**settings))

    def recorded(self, every: Optional[int] = None, dt: Any = None) -> None:
        """Sets the recorded states: every n-th step, or at intervals [s].

        >>> import saltus
        >>> m = saltus.Model("scenes/ball.yaml")
        >>> m.recorded(every=10)
        >>> len(saltus.solve(m, 1.0, scheme="moreau-jean", step=0.01, jumps=False))
        11
        """
        self._mapping("record").update(self._entry(every=every, dt=dt))

    def draw(self, kind: str, **description: Any) -> None:
        """Adds an object drawn by formulas in `Solution.animate`: point, line, circle, box, spring, text or contact.

        Bodies and shapes are drawn automatically.

        >>> import saltus
        >>> m = saltus.Model()
        >>> y = m.coordinate("y", 1)
        >>> m.energies("y'^2/2", "9.81*y")
        >>> m.draw("circle", at=[0, y], radius=0.1)
        >>> print(m.text.splitlines()[-1])
        view: [{type: circle, at: [0, y], radius: 0.1}]
        """
        self._list("view").append(self._entry(type=kind, **description))

    def _shape(self, body: str, kind: str, description: Mapping[str, Any], **more: Any) -> None:
        document = self._doc()
        owner = document.setdefault("world", {}) if body == "world" else document["bodies"][body]
        described = node(dict(description), "shape")
        owner.setdefault("shapes", []).append({str(kind): described, **self._entry(**more)})

    def _written(self) -> str:
        return write(self._document or {})
