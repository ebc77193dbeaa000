# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Simulations advanced by the caller, and many runs in threads."""
from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _core
from ._errors import Interrupted, SolveError
from .arguments import NAN, Array, as_count, as_doubles, as_pairs, as_real, as_vector, as_word
from .model import Model, Value, as_model
from .solution import EVENT_TYPE, KINDS, Solution, State
from .solver import as_start, solve
from .waiting import interruptible

if TYPE_CHECKING:
    from .live import LiveView


class Contact(NamedTuple):
    """Contact of a simulation at its last stored state.

    >>> import saltus
    >>> sim = saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1)
    >>> sim.contacts[0].name, float(sim.contacts[0].gap)
    ('floor', 1.0)
    """

    name: str
    bodies: Optional[tuple[int, int]]  # indices, -1: the world; None: of a contact by formula
    point: Optional[Array]  # m, in the axes of the world
    normal: Optional[Array]
    gap: float  # m
    velocity: float  # m/s, normal
    force: Array  # N, normal first
    impulse: Array  # N s, of impacts


class Event:
    """Event of a contact, or of a user-defined function of the scene.

    >>> import saltus
    >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-8, scheme="adaptive")
    >>> event = sim.advance(5.0, stop="impact")
    >>> event.kind, event.name, round(event.t, 6), round(event.impulse[0], 6)
    ('impact', 'floor', 1.0, 3.0)
    """

    __slots__ = ("kind", "t", "name", "u_before", "u_after", "impulse", "energy_change")

    def __init__(self, raw: Any, contacts: Sequence[str], own: Sequence[str]) -> None:
        self.kind: str = KINDS[int(raw["kind"])]
        self.t = float(raw["t"])
        names = own if self.kind in ("rise", "fall") else contacts
        place = int(raw["contact"])
        self.name: str = names[place] if 0 <= place < len(names) else str(place)
        self.u_before = float(raw["u_before"])
        self.u_after = float(raw["u_after"])
        self.impulse = (float(raw["impulse"]), float(raw["impulse_t1"]), float(raw["impulse_t2"]))
        self.energy_change = float(raw["energy_change"])

    def __repr__(self) -> str:
        return f"<saltus.Event {self.kind} of {self.name} at t = {self.t:.9g} s>"


def as_stop(stop: Union[None, bool, str, Iterable[str]]) -> int:
    """Kinds of events as bits."""
    if stop is None or stop is False:
        return 0
    if stop is True:
        return 0xFFFFFFFF
    kinds = [stop] if isinstance(stop, str) else list(stop)
    bits = 0
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"no events of kind {kind!r}; there are {', '.join(KINDS)}")
        bits |= 1 << KINDS.index(kind)
    return bits


class Simulation:
    """Simulation advanced by the caller, as with CVODE or MuJoCo; created by `model.simulate(...)`.

    The requested times do not influence the steps; fixed-step schemes advance to the first end of a step at or after
    the requested time. In scenes with user-defined events, and with `record`, steps end at the requested times.

    `record=n` stores the state after every n-th step, with contacts, outputs and forces of joints: `contacts`, `outputs`
    and `joint_forces` are those of the last stored state, `solution()` has all of them.

    >>> import saltus
    >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-10, scheme="adaptive")
    >>> sim.advance(0.5)
    >>> print(f"{sim.t} {sim.q[0]:.6f} {sim.v[0]:.6f}")
    0.5 0.750000 -1.000000
    """

    def __init__(self, model: Model, *, tol: Optional[float] = None, scheme: Optional[str] = None,
                 rtol: Optional[float] = None, atol: Optional[float] = None, step: Optional[float] = None,
                 options: Optional[Mapping[str, Value]] = None, control: Optional[str] = None,
                 control_options: Optional[Mapping[str, Value]] = None, t_start: Optional[float] = None,
                 q0: Any = None, v0: Any = None, record: int = 0) -> None:
        self.model = model._alone()
        self._every = as_count(record, "record", 0, 10**9)
        self._view: Optional[LiveView] = None
        how = (as_word(scheme, "scheme"), as_pairs(options, "options"), as_word(control, "control"),
               as_pairs(control_options, "control_options"))
        numbers = tuple(as_real(x, name) for x, name in
                        ((tol, "tol"), (rtol, "rtol"), (atol, "atol"), (step, "step"), (t_start, "t_start")))
        start = as_start(self.model, q0, v0)
        self._sim = _core.Sim(self.model._scene, how, (*numbers, 0.0), 0, *start, self._every)
        self._names = {name: ("q", i) for i, name in enumerate(self.model.coordinates)}
        self._names.update({name: ("v", i) for i, name in enumerate(self.model.velocities)})

    @property
    def t(self) -> float:
        """Current time [s].

        >>> import saltus
        >>> saltus.Model("scenes/ball.yaml").simulate().t
        0.0
        """
        return self._sim.time()

    @property
    def q(self) -> Array:
        """Current positions; setting them restarts the scheme.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate()
        >>> sim.q = [2.0]
        >>> sim.q
        array([2.])
        """
        return np.asarray(self._sim.state()[1])

    @q.setter
    def q(self, q: Any) -> None:
        self.set_state(q=q)

    @property
    def v(self) -> Array:
        """Current velocities, after a jump at this time; setting them restarts the scheme.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate()
        >>> sim.v = [1.0]
        >>> sim.v
        array([1.])
        """
        return np.asarray(self._sim.state()[2])

    @v.setter
    def v(self, v: Any) -> None:
        self.set_state(v=v)

    def set_state(self, t: Optional[float] = None, q: Any = None, v: Any = None) -> None:
        """Sets time and state and restarts the scheme without its history.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate()
        >>> sim.set_state(1.0, [0.5], [0.0])
        >>> sim.t, float(sim.q[0])
        (1.0, 0.5)
        """
        now, q_now, v_now = self._sim.state()
        q = np.asarray(q_now) if q is None else as_vector(q, "q", self.model.nq)
        v = np.asarray(v_now) if v is None else as_vector(v, "v", self.model.nv)
        self._sim.set_state(now if t is None else as_real(t, "t"), q, v)

    def advance(self, t: float, stop: Union[None, bool, str, Iterable[str]] = None) -> Optional[Event]:
        """Advances to the time t, or to the first event of a kind in `stop`, which is returned.

        `stop` is "impact", "stick" or another kind, several of them, or True for all.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-8, scheme="adaptive")
        >>> sim.advance(3.0, stop=["impact", "accumulation"]).kind
        'impact'
        """
        raw = self._sim.advance(as_real(t, "t"), as_stop(stop))
        if self._view is not None:
            self._view.update()
        if raw is None:
            return None
        return self._events(raw)[0]

    def _events(self, raw: bytes) -> list[Event]:
        contacts, own = self.model.contacts, self.model._names("e")
        changing = self.model._fact("changing")
        table = np.frombuffer(raw, dtype=EVENT_TYPE)
        if changing:
            table = table.copy()
            table["contact"] = np.where(table["kind"] < KINDS.index("rise"), table["law"], table["contact"])
        return [Event(entry, contacts, own) for entry in table]

    @property
    def events(self) -> list[Event]:
        """Events up to the current time.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-8, scheme="adaptive")
        >>> sim.advance(2.2)
        >>> [event.kind for event in sim.events]
        ['impact', 'impact']
        """
        return self._events(self._sim.events())

    def __call__(self, t: float, side: str = "right") -> State:
        """State at a time within the last steps, by dense output; for schemes that run to a tolerance.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-10, scheme="adaptive")
        >>> sim.advance(0.9)
        >>> print(f"{sim(0.5)['q']:.6f}")
        0.750000
        """
        if side not in ("left", "right"):
            raise ValueError(f'side is {side!r}, must be "left" or "right"')
        q, v = self._sim.dense(as_real(t, "t"), side == "left")
        return State(t, np.asarray(q), np.asarray(v), self._names)

    def __getitem__(self, name: str) -> float:
        """A coordinate, velocity or input by name."""
        if name in self._names:
            where, i = self._names[name]
            return float((self.q if where == "q" else self.v)[i])
        return self.model._scene.input(name)

    def set_input(self, name: str, value: float) -> None:
        """Sets an input of the scene from the current time on.

        >>> import saltus
        >>> text = '''saltus: 1
        ... inputs: {push: 0}
        ... coordinates: {x: 0}
        ... kinetic: x'^2/2
        ... forces: {x: push}
        ... '''
        >>> sim = saltus.Model.from_text(text).simulate(tol=1e-8)
        >>> sim.set_input("push", 2.0)
        >>> sim.advance(1.0)
        >>> print(f"{sim.q[0]:.6f}")
        1.000000
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of an input is a text, not {type(name).__name__}")
        self.model._scene.set_input(name, as_real(value, name))

    def __setitem__(self, name: str, value: float) -> None:
        self.set_input(name, value)

    def _last(self) -> _core.Data:
        if self._every == 0:
            raise ValueError("contacts, outputs and forces of joints need model.simulate(..., record=1)")
        data = self._sim.data(True)
        if data.about()["count"] == 0:
            raise ValueError("no state has been stored since the snapshot was restored")
        return data

    @property
    def contacts(self) -> list[Contact]:
        """Contacts of the last stored state; forces are means since the stored state before it.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1)
        >>> sim.advance(4.0)
        >>> [(c.name, round(float(c.force[0]), 9)) for c in sim.contacts]
        [('floor', 2.0)]
        """
        data = self._last()
        changing = data.about()["changing"]
        names = [name for name, _ in data.labels("l" if changing else "c")]
        prefix = "table." if changing else ""
        gap, velocity, force, impulse = (np.asarray(data.array(prefix + key)).reshape(-1, *([] if n == 1 else [n]))
                                         for key, n in (("gap", 1), ("velocity", 1), ("force", 3), ("impulse", 3)))
        if not changing:
            return [Contact(names[i], None, None, None, gap[i], velocity[i], force[i], impulse[i])
                    for i in range(len(names))]
        law, bodies, point, normal = (np.asarray(data.array("table." + key))
                                      for key in ("law", "bodies", "point", "normal"))
        return [Contact(names[law[i]], (int(bodies[i, 0]), int(bodies[i, 1])), point[i], normal[i], gap[i], velocity[i],
                        force[i], impulse[i]) for i in range(len(law))]

    @property
    def outputs(self) -> dict[str, float]:
        """Outputs of the scene at the last stored state.

        >>> import saltus
        >>> text = '''saltus: 1
        ... coordinates: {x: {start: 1}}
        ... kinetic: x'^2/2
        ... outputs: {twice: 2*x}
        ... '''
        >>> saltus.Model.from_text(text).simulate(step=1e-3, record=1).outputs
        {'twice': 2.0}
        """
        return self._row("o", "outputs")

    @property
    def joint_forces(self) -> dict[str, float]:
        """N or N m by joint row, mean since the stored state before the last, without impacts.

        >>> import saltus
        >>> sim = saltus.Model("scenes/bodies-pendulum.yaml").simulate(step=1e-3, record=1)
        >>> sim.advance(0.1)
        >>> len(sim.joint_forces) > 0
        True
        """
        return self._row("j", "joint_force")

    def _row(self, kind: str, name: str) -> dict[str, float]:
        data = self._last()
        labels = [label for label, _ in data.labels(kind)]
        return {label: float(x) for label, x in zip(labels, np.asarray(data.array(name)).ravel())} if labels else {}

    def solution(self) -> Solution:
        """All stored states and events as a solution, for plots, animation and arrays.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(step=1e-2, record=10)
        >>> sim.advance(1.0)
        >>> len(sim.solution())
        11
        """
        self._last()
        return Solution(self._sim.data(False), self.model, None)

    def view(self, port: int = 0, show: bool = True) -> LiveView:
        """Live view of the simulation in a browser on this machine: each `advance` moves the picture. `show=False` opens
        no browser; the address is `view.url`.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(step=1e-3, record=1)
        >>> with sim.view(show=False) as view:
        ...     sim.advance(0.5)
        ...     view.url.startswith("http://127.0.0.1:")
        True
        """
        from .live import LiveView
        if self._view is not None:
            self._view.close()
        self._last()
        self._view = LiveView(self, as_count(port, "port", 0, 65535), show)
        return self._view

    def snapshot(self) -> bytes:
        """Complete state of the simulation as bytes.

        >>> import saltus
        >>> sim = saltus.Model("scenes/woodpecker.yaml").simulate(tol=1e-8)
        >>> sim.advance(0.1)
        >>> kept = sim.snapshot()
        >>> sim.advance(0.2)
        >>> there = sim.q
        >>> sim.restore(kept)
        >>> sim.t
        0.1
        >>> sim.advance(0.2)
        >>> bool((sim.q == there).all())
        True
        """
        return self._sim.snapshot()

    def restore(self, snapshot: bytes) -> None:
        """Restores a snapshot of a simulation of the same model and settings; the continuation is bitwise identical.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate()
        >>> start = sim.snapshot()
        >>> sim.advance(1.0)
        >>> sim.restore(start)
        >>> sim.t
        0.0
        """
        if not isinstance(snapshot, bytes):
            raise TypeError(f"a snapshot is bytes, not {type(snapshot).__name__}")
        self._sim.restore(snapshot)

    @property
    def stats(self) -> dict[str, Any]:
        """Scheme, tolerances, steps and evaluations up to the current time.

        >>> import saltus
        >>> sim = saltus.Model("scenes/ball.yaml").simulate(tol=1e-8, scheme="adaptive")
        >>> sim.advance(1.5)
        >>> sim.stats["steps"] > 0
        True
        """
        return self._sim.about()

    def __repr__(self) -> str:
        return f"<saltus.Simulation of {self.model.name!r} at t = {self.t:g} s>"


def _starts(values: Any, name: str, count: Optional[int], width: int) -> Optional[Array]:
    if values is None:
        return None
    array = as_doubles(values, name)
    if array.ndim != 2 or array.shape[1] != width or (count is not None and array.shape[0] != count):
        raise ValueError(f"{name} has the shape {array.shape}, must have a row of {width} for each run")
    return array


def rollout(model: Union[Model, str, os.PathLike[str]], t_end: Optional[float] = None, *, q0: Any = None,
            v0: Any = None, parameters: Optional[Sequence[Mapping[str, Value]]] = None,
            workers: Optional[int] = None, **settings: Any) -> list[Solution]:
    """Many runs of a model in threads: a row of `q0` and `v0`, or a mapping of `parameters`, for each.

    `settings` are those of `saltus.solve`. The results are bitwise identical to those of sequential runs. A failed
    run raises as in `solve`, after all others have been stopped. Ctrl-C raises `Interrupted`, whose `solution` is a
    list with the partial solution of each run, or None for runs that have not started.

    >>> import saltus
    >>> heights = [[1.0], [2.0], [3.0]]
    >>> runs = saltus.rollout("scenes/ball.yaml", 1.0, q0=heights, v0=[[0.0]] * 3, tol=1e-8)
    >>> [float(run.q[0, 0]) for run in runs]
    [1.0, 2.0, 3.0]
    """
    made = as_model(model, None)
    cases = list(parameters) if parameters is not None else None
    count = len(cases) if cases is not None else None
    q = _starts(q0, "q0", count, made.nq)
    v = _starts(v0, "v0", count if count is not None else None if q is None else len(q), made.nv)
    total: int = count if count is not None else len(q) if q is not None else len(v) if v is not None else 0
    flag = settings.pop("stop", None) or _core.Flag()
    workers = min(max(total, 1), os.cpu_count() or 1) if workers is None else as_count(workers, "workers", 1, 1024)
    shared = not made.inputs

    runs: list[Optional[Solution]] = [None] * total
    stopped: list[bool] = []  # not empty: start no further runs

    def one(i: int) -> None:
        if stopped:
            return
        case = made.with_parameters(cases[i]) if cases is not None else made
        try:
            runs[i] = solve(case if shared else case._alone(), t_end, q0=None if q is None else q[i],
                            v0=None if v is None else v[i], stop=flag, **settings)
        except SolveError as error:
            stopped.append(True)
            runs[i] = error.solution
            raise

    if cases is not None:
        for case in cases:  # validate all parameters before the first run
            as_pairs(case, "parameters")

    def work(flag: _core.Flag) -> list[Solution]:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            futures: list[Future[None]] = [pool.submit(one, i) for i in range(total)]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                stopped.append(True)
                flag.set()
                raise
        return [run for run in runs if run is not None]

    done, pressed = interruptible(work, flag)
    if done is None or (pressed and len(done) < total):
        complete = sum(run is not None for run in runs)
        raise Interrupted(f"interrupted; .solution has what was computed of {complete} of {total} runs", runs)
    return done


__all__ = ["Contact", "Event", "Simulation", "rollout", "NAN"]
