# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Systems of functions: Python functions on arrays, or C functions by address."""
from __future__ import annotations

import ctypes
import threading
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _core
from .arguments import as_count, as_doubles, as_vector
from .model import Model, Value

_C_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]  # base class of function pointers of ctypes


def _as_function(value: Any, name: str, keeps: list[Any]) -> Any:
    """A function, its address, a constant array, or None."""
    if value is None:
        return None
    if isinstance(value, _C_FUNCTION):
        keeps.append(value)
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    address = getattr(value, "address", None)
    if isinstance(address, int) and not isinstance(value, type):  # numba's cfunc
        keeps.append(value)
        return address
    if callable(value):
        return value
    if isinstance(value, (int, bool)) and not isinstance(value, np.ndarray):
        raise TypeError(f"{name} is a function or an array; addresses come as functions of ctypes or numba")
    return as_doubles(value, name).reshape(-1)


class System(Model):
    """A system by functions of time t, positions q and velocities v, with q' = v:

        M(t, q) v' = F(t, q, v) + forces of joints g(t, q) = 0 and of contacts with gaps g(t, q) >= 0.

    mass, force
        M [n, n] or a constant array, and F [n]
    gap, normals, tangents
        gaps [nc], their rows G [nc, n], and tangent rows [nc, 1 or 2, n] with friction; default of normals:
        differences of gaps
    drift, convective
        parts b and c of relative velocities G v + b and of their rates G v' + c, [nc, 1 + tangents]: b for surfaces
        with prescribed motion; default of c: a difference
    joint, joint_rows, joint_drift, joint_convective
        the same for joints, [nj]
    restitution, friction, tangential_restitution
        for each contact, or one value for all
    potential, kinetic
        energies [J], for the energy balance
    force_q, force_v
        derivatives of F, for implicit schemes; default: differences

    Functions receive copies of arrays and return numbers in any form accepted by NumPy. Their exceptions propagate to
    the caller of the run. C functions, by ctypes or numba's cfunc, have the signature
    `void f(double t, const double *q, const double *v, double *out)`and run without the interpreter lock.
    Rows of contacts are then [nc, 1 + tangents, n], given as `normals`.

    >>> import saltus
    >>> ball = saltus.System([1.0], [0.0], mass=[[1.0]], force=lambda t, q, v: [-2.0], gap=lambda t, q: q,
    ...                      normals=[[1.0]], restitution=0.5, potential=lambda t, q: 2 * q[0])
    >>> sol = saltus.solve(ball, 2.2, tol=1e-8)
    >>> [round(float(t), 6) for t in sol.event_array["t"]]
    [1.0, 2.0]
    """

    def __init__(self, q0: Any, v0: Any, *, mass: Any, force: Any, gap: Any = None, normals: Any = None,
                 tangents: Any = None, drift: Any = None, convective: Any = None, joint: Any = None,
                 joint_rows: Any = None, joint_drift: Any = None, joint_convective: Any = None,
                 restitution: Any = 0.0, friction: Any = 0.0, tangential_restitution: Any = 0.0, potential: Any = None,
                 kinetic: Any = None, force_q: Any = None, force_v: Any = None, contacts: Optional[int] = None,
                 joints: Optional[int] = None, slips: Optional[int] = None, names: Optional[Sequence[str]] = None,
                 contact_names: Optional[Sequence[str]] = None, name: str = "system") -> None:
        q, v = as_vector(q0, "q0"), as_vector(v0, "v0")
        if len(q) != len(v) or len(q) == 0:
            raise ValueError(f"q0 has {len(q)} numbers and v0 {len(v)}, must have the same number of them")
        keeps: list[Any] = []
        nc = _count(gap, q, contacts, "contacts")
        nj = _count(joint, q, joints, "joints")
        k = _slips(tangents, q, nc, slips)
        rows = _rows(normals, tangents, nc, k, len(q))
        functions = tuple(_as_function(function, word, keeps) for function, word in (
            (mass, "mass"), (force, "force"), (gap, "gap"), (rows, "normals"), (drift, "drift"),
            (convective, "convective"), (joint, "joint"), (joint_rows, "joint_rows"), (joint_drift, "joint_drift"),
            (joint_convective, "joint_convective"), (potential, "potential"), (kinetic, "kinetic"),
            (force_q, "force_q"), (force_v, "force_v")))
        laws = np.zeros((nc, 3))
        for column, (values, word) in enumerate(((restitution, "restitution"), (friction, "friction"),
                                                 (tangential_restitution, "tangential_restitution"))):
            laws[:, column] = np.broadcast_to(as_doubles(values, word), (nc,))
        if k == 0 and laws[:, 1].any():
            raise ValueError("friction needs tangents")
        words = tuple(names) if names is not None else tuple(f"q{i + 1}" for i in range(len(q)))
        own = tuple(contact_names) if contact_names is not None else tuple(f"contact{i + 1}" for i in range(nc))
        if len(words) != len(q) or len(own) != nc:
            raise ValueError("names have to be as many as coordinates, contact_names as many as contacts")
        labels = words + tuple(f"{word}'" for word in words) + own
        scene = _core.system((len(q), nc, nj, k), functions, laws, labels, q, v, (keeps, functions))
        self._start_alone(scene, str(name))

    def _start_alone(self, scene: _core.Scene, name: str) -> None:
        self._path, self._text, self._pairs, self._separate = name, "", (), False
        self._document = None
        self._lock = threading.Lock()
        self._made = scene
        self._facts = None
        self._variants = {}

    def with_parameters(self, parameters: Optional[Mapping[str, Value]] = None, **more: Value) -> Model:
        """Rejected: a system of functions has no parameters.

        >>> import saltus
        >>> mass = saltus.System([0.0], [1.0], mass=[[1.0]], force=[0.0])
        >>> try:
        ...     mass.with_parameters(k=1)
        ... except TypeError as error:
        ...     print(error)
        a system of functions has no parameters
        """
        raise TypeError("a system of functions has no parameters")

    def with_observers(self, outputs: Optional[Mapping[str, Any]] = None,
                       events: Optional[Mapping[str, Any]] = None) -> Model:
        """Rejected: formulas cannot refer to a system of functions.

        >>> import saltus
        >>> mass = saltus.System([0.0], [1.0], mass=[[1.0]], force=[0.0])
        >>> try:
        ...     mass.with_observers({"x": "q1"})
        ... except TypeError as error:
        ...     print(error)
        a system of functions has no formulas
        """
        raise TypeError("a system of functions has no formulas")

    def _doc(self) -> dict[str, Any]:
        raise TypeError("a system of functions is no scene")

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a system of functions cannot be pickled; a model by a scene can")


def _count(function: Any, q: Any, given: Optional[int], name: str) -> int:
    """Number of contacts or joints: as given, or the number of values that the function returns at the start."""
    if function is None:
        return 0
    if given is not None:
        return as_count(given, name, 1, 100000)
    if isinstance(function, _C_FUNCTION) or hasattr(function, "address"):
        raise ValueError(f"{name}: how many there are has to be said where functions are of C")
    value = function(0.0, q.copy()) if callable(function) else function
    return int(np.asarray(value).size)


def _slips(tangents: Any, q: Any, nc: int, given: Optional[int]) -> int:
    if given is not None:
        return as_count(given, "slips", 0, 2)
    if tangents is None or nc == 0:
        return 0
    value = np.asarray(tangents(0.0, q.copy()) if callable(tangents) else tangents)
    if value.size % (nc * len(q)) or not 1 <= value.size // (nc * len(q)) <= 2:
        raise ValueError(f"tangents have {value.size} numbers, must have {nc * len(q)} or twice that")
    return int(value.size // (nc * len(q)))


def _rows(normals: Any, tangents: Any, nc: int, k: int, n: int) -> Any:
    """Normals and tangents as one function or array of rows, contact by contact."""
    if k == 0 or tangents is None:
        return normals
    if normals is None:
        raise ValueError("tangents need normals beside them")

    def both(normal: Any, tangent: Any) -> Any:
        return np.concatenate([np.asarray(normal, dtype=float).reshape(nc, 1, n),
                               np.asarray(tangent, dtype=float).reshape(nc, k, n)], axis=1)

    if not callable(normals) and not callable(tangents):
        return both(normals, tangents)
    return lambda t, q: both(normals(t, q) if callable(normals) else normals,
                             tangents(t, q) if callable(tangents) else tangents)
