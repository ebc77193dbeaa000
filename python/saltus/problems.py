# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Contact problems as plain data: linear complementarity, friction with the exact cone, files of Siconos and FCLIB."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _core
from .arguments import Array, as_count, as_doubles, as_matrix, as_pairs, as_path, as_real, as_vector, as_word
from .model import Value

_MOST = 2**31 - 1


class Answer:
    """Solution of a contact problem: impulses, velocities, residuals.

    `x` is z or r, `y` is w or u; `outcome` is "solved", "no solution" or "unsolved" (also without convergence).
    Residuals are computed from `x` alone, independently of the solver.

    >>> import saltus
    >>> answer = saltus.lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    >>> answer.solved, [round(float(x), 6) for x in answer.z]
    (True, [1.333333, 2.333333])
    """

    __slots__ = ("x", "y", "outcome", "residual", "residual_velocity", "residual_impulse", "iterations", "stages")

    def __init__(self, x: Array, y: Array, facts: Mapping[str, Any]) -> None:
        self.x, self.y = x, y
        self.outcome: str = facts["outcome"]
        self.residual: float = facts["residual"]
        self.residual_velocity: float = facts["residual_velocity"]
        self.residual_impulse: float = facts["residual_impulse"]
        self.iterations: int = facts["iterations"]
        self.stages: str = facts["stages"]

    @property
    def solved(self) -> bool:
        """True if the residual does not exceed the tolerance.

        >>> import saltus
        >>> saltus.lcp([[1.0]], [-1.0]).solved
        True
        """
        return self.outcome == "solved"

    @property
    def z(self) -> Array:
        """Unknowns of a complementarity problem, z >= 0.

        >>> import saltus
        >>> saltus.lcp([[1.0]], [-1.0]).z
        array([1.])
        """
        return self.x

    @property
    def w(self) -> Array:
        """Slacks of a complementarity problem, w = M z + q.

        >>> import saltus
        >>> saltus.lcp([[1.0]], [1.0]).w
        array([1.])
        """
        return self.y

    @property
    def r(self) -> Array:
        """Impulses of a friction problem, normal first [N s].

        >>> import saltus, numpy
        >>> abs(saltus.friction(numpy.eye(3), [-1.0, 0.0, 0.0], [0.5]).r)
        array([1., 0., 0.])
        """
        return self.x

    @property
    def u(self) -> Array:
        """Relative velocities of a friction problem, u = W r + q [m/s].

        >>> import saltus, numpy
        >>> saltus.friction(numpy.eye(3), [1.0, 0.0, 0.0], [0.5]).u
        array([1., 0., 0.])
        """
        return self.y

    def __repr__(self) -> str:
        return f"<saltus.Answer {self.outcome}, residual {self.residual:.3g}: {self.stages}>"


def _is_sparse(matrix: Any) -> bool:
    return hasattr(matrix, "tocsr") and hasattr(matrix, "nnz")


def _answer(parts: tuple[_core.Memory, _core.Memory, dict[str, Any]]) -> Answer:
    return Answer(np.asarray(parts[0]), np.asarray(parts[1]), parts[2])


def _ints(values: Any, name: str) -> npt.NDArray[np.int32]:
    array = np.asarray(values)
    if array.size and (array.min() < 0 or array.max() > _MOST):
        raise ValueError(f"{name} is too large")
    return np.ascontiguousarray(array, dtype=np.int32)


def _rows(matrix: Any, name: str, rows: int, columns: int) -> Any:
    """A sparse matrix of SciPy as compressed rows with ascending columns."""
    if tuple(matrix.shape) != (rows, columns):
        raise ValueError(f"{name} has the shape {tuple(matrix.shape)}, must have ({rows}, {columns})")
    made = matrix.tocsr()
    if not made.has_canonical_format:
        made = made.copy()
        made.sum_duplicates()
    return made


def lcp(M: Any, q: Any, *, bilateral: int = 0, solver: Optional[str] = None,
        options: Optional[Mapping[str, Value]] = None, tol: float = 1e-12, guess: Any = None) -> Answer:
    """Solves 0 <= w = M z + q, z >= 0, z w = 0; the first `bilateral` rows are equalities with z free.

    M is an array or a sparse matrix of SciPy, which stays sparse.

    >>> import saltus
    >>> answer = saltus.lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, 6.0])
    >>> [float(x) for x in answer.z], [float(x) for x in answer.w]
    ([2.5, 0.0], [0.0, 8.5])
    """
    vector = as_vector(q, "q")
    n = vector.shape[0]
    rows = as_count(bilateral, "bilateral", 0, n)
    first = None if guess is None else as_vector(guess, "guess", n)
    start = column = None
    if _is_sparse(M):
        made = _rows(M, "M", n, n)
        values = as_doubles(made.data, "M")
        start, column = _ints(made.indptr, "M"), _ints(made.indices, "M")
    else:
        values = as_matrix(M, "M", n, n)
    return _answer(_core.lcp(as_word(solver, "solver"), as_pairs(options, "options"), values, start, column, vector,
                             rows, as_real(tol, "tol"), first))


def _blocks(W: Any, d: int, n: int) -> tuple[Any, ...]:
    """Blocks of one size by rows: offset, start, unit, place, values. Diagonal blocks are always present."""
    units = n // d
    if _is_sparse(W):
        from scipy import sparse  # installed: the argument is one of its matrices
        rows = _rows(W, "W", n, n)
        pattern = sparse.csr_matrix((np.zeros(n), (np.arange(n), np.arange(n))), shape=(n, n))
        made = (rows + pattern).tobsr(blocksize=(d, d))
        present = {(i, i) for i in range(units)}
        for i in range(units):
            present -= {(i, int(j)) for j in made.indices[made.indptr[i]:made.indptr[i + 1]] if j == i}
        if present:
            raise ValueError("W has contacts without a diagonal block")
        made.sort_indices()
        start, unit, values = made.indptr, made.indices, made.data
    else:
        dense = as_matrix(W, "W", n, n)
        tiles = np.ascontiguousarray(dense.reshape(units, d, units, d).transpose(0, 2, 1, 3))
        there = (tiles != 0).any(axis=(2, 3)) | np.eye(units, dtype=bool)
        start = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        unit = np.nonzero(there)[1]
        values = tiles[there]
    count = len(unit)
    return (_ints(np.arange(units + 1) * d, "W"), _ints(start, "W"), _ints(unit, "W"),
            _ints(np.arange(count + 1) * (d * d), "W"), as_doubles(values, "W").reshape(-1))


def friction(W: Any, q: Any, mu: Any, *, dimension: int = 3, solver: Optional[str] = None,
             options: Optional[Mapping[str, Value]] = None, tol: float = 1e-10, guess: Any = None) -> Answer:
    """Solves u = W r + q with Coulomb's law and the exact cone at each contact of `dimension` rows, normal first.

    W is an array or a sparse matrix of SciPy; mu has a coefficient for each contact, or is one for all.

    >>> import saltus, numpy
    >>> slides = saltus.friction(numpy.eye(3), [-1.0, 1.0, 0.0], 0.5)
    >>> [round(float(x), 9) for x in slides.r[:2]]
    [1.0, -0.5]
    """
    d = as_count(dimension, "dimension", 1, 3)
    vector = as_vector(q, "q")
    n = vector.shape[0]
    if n == 0 or n % d:
        raise ValueError(f"q has {n} numbers, must have {d} for each contact")
    coefficients = as_doubles(mu, "mu")
    if coefficients.ndim == 0:
        coefficients = np.full(n // d, float(coefficients))
    coefficients = as_vector(coefficients, "mu", n // d)
    if (coefficients < 0).any():
        raise ValueError("mu has a negative entry")
    first = None if guess is None else as_vector(guess, "guess", n)
    return _answer(_core.friction(as_word(solver, "solver"), as_pairs(options, "options"), _blocks(W, d, n), vector,
                                  coefficients, None, as_real(tol, "tol"), first))


class Problem:
    """Contact problem of a file: `kind` and its data.

    kind "friction" has W, q, mu; "global friction" M, H, f, w, mu; "linear complementarity" and the mixed one M and
    q, bilateral rows first. Matrices are sparse matrices of SciPy if it is installed, else arrays.

    >>> import saltus
    >>> problem = saltus.read_problem("tests/problems/fc3d_stack_4_rest.dat")
    >>> problem.kind, problem.dimension, len(problem.mu)
    ('friction', 3, 16)
    >>> problem.solve().solved
    True
    """

    __slots__ = ("_problem", "_data", "kind", "dimension")

    def __init__(self, problem: _core.Problem) -> None:
        self._problem = problem
        self._data = problem.data()
        self.kind: str = self._data["kind"]
        self.dimension: int = self._data["dimension"]

    def _array(self, name: str) -> Any:
        if name not in self._data:
            raise AttributeError(f"a problem of kind {self.kind!r} has no {name}")
        return np.asarray(self._data[name])

    @property
    def q(self) -> Array:
        """m/s, or the vector of a complementarity problem.

        >>> import saltus
        >>> len(saltus.read_problem("tests/problems/lcp_murty_10.dat").q)
        10
        """
        found: Array = self._array("q")
        return found

    @property
    def mu(self) -> Array:
        """Friction coefficients.

        >>> import saltus
        >>> float(saltus.read_problem("tests/problems/fc3d_stack_4_rest.dat").mu[0]) > 0
        True
        """
        found: Array = self._array("mu")
        return found

    @property
    def f(self) -> Array:
        """N s, of a global problem.

        >>> import saltus
        >>> len(saltus.read_problem("tests/problems/gfc3d_stack_4_rest.dat").f)
        24
        """
        found: Array = self._array("f")
        return found

    @property
    def w(self) -> Array:
        """m/s, of a global problem.

        >>> import saltus
        >>> len(saltus.read_problem("tests/problems/gfc3d_stack_4_rest.dat").w)
        48
        """
        found: Array = self._array("w")
        return found

    @property
    def bilateral(self) -> int:
        """Number of leading rows that are equalities.

        >>> import saltus
        >>> saltus.read_problem("tests/problems/lcp_murty_10.dat").bilateral
        0
        """
        return int(self._data.get("bilateral", 0))

    @property
    def W(self) -> Any:
        """kg^-1, of a friction problem.

        >>> import saltus
        >>> problem = saltus.read_problem("tests/problems/fc3d_stack_4_rest.dat")
        >>> problem.W.shape
        (48, 48)
        """
        d, n = self.dimension, len(self.q)
        start, unit = self._array("start"), self._array("unit")
        tiles = self._array("values").reshape(-1, d, d)
        try:
            from scipy import sparse
        except ImportError:
            dense = np.zeros((n // d, n // d, d, d))
            for i in range(n // d):
                dense[i, unit[start[i]:start[i + 1]]] = tiles[start[i]:start[i + 1]]
            return dense.transpose(0, 2, 1, 3).reshape(n, n)
        return sparse.bsr_matrix((tiles, unit, start), shape=(n, n))

    def _csr(self, name: str, columns: int) -> Any:
        start, column, values = (self._array(f"{name}_{part}") for part in ("start", "column", "values"))
        rows = len(start) - 1
        try:
            from scipy import sparse
        except ImportError:
            dense = np.zeros((rows, columns))
            for i in range(rows):
                dense[i, column[start[i]:start[i + 1]]] = values[start[i]:start[i + 1]]
            return dense
        return sparse.csr_matrix((values, column, start), shape=(rows, columns))

    @property
    def M(self) -> Any:
        """Matrix of a complementarity problem, or mass matrix of a global one.

        >>> import saltus
        >>> saltus.read_problem("tests/problems/lcp_murty_10.dat").M.shape
        (10, 10)
        """
        if "M" in self._data:
            n = len(self.q)
            return self._array("M").reshape(n, n)
        return self._csr("M", len(self._array("M_start")) - 1)

    @property
    def H(self) -> Any:
        """Matrix from impulses to generalized impulses of a global problem.

        >>> import saltus
        >>> saltus.read_problem("tests/problems/gfc3d_stack_4_rest.dat").H.shape
        (24, 48)
        """
        return self._csr("H", len(self.w))

    def reduced(self) -> Problem:
        """Local problem of a global one, W = H^T M^-1 H.

        >>> import saltus
        >>> saltus.read_problem("tests/problems/gfc3d_stack_4_rest.dat").reduced().kind
        'friction'
        """
        return Problem(self._problem.reduced())

    def solve(self, **settings: Any) -> Answer:
        """Solves the problem; settings as in `saltus.lcp` and `saltus.friction`. A global problem is reduced first.

        >>> import saltus
        >>> saltus.read_problem("tests/problems/lcp_definite_30.dat").solve(solver="lemke").solved
        True
        """
        if self.kind == "global friction":
            return self.reduced().solve(**settings)
        if self.kind != "friction":
            return lcp(self.M, self.q, bilateral=self.bilateral, **settings)
        guess = settings.pop("guess", None)
        blocks = tuple(self._array(name) for name in ("offset", "start", "unit", "place", "values"))
        tol = as_real(settings.pop("tol", 1e-10), "tol")
        solver, options = settings.pop("solver", None), settings.pop("options", None)
        if settings:
            raise TypeError(f"no settings {', '.join(settings)}")
        first = None if guess is None else as_vector(guess, "guess", len(self.q))
        return _answer(_core.friction(as_word(solver, "solver"), as_pairs(options, "options"), blocks, self.q, self.mu,
                                      None, tol, first))

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the problem as text, or as FCLIB if the name ends in .hdf5.

        >>> import saltus, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "copy.hdf5")
        >>> problem = saltus.read_problem("tests/problems/fc3d_stack_4_rest.dat")
        >>> problem.save(path)
        >>> bool((saltus.read_problem(path).q == problem.q).all())
        True
        """
        self._problem.write(as_path(path))

    def __repr__(self) -> str:
        return f"<saltus.Problem of kind {self.kind}, dimension {self.dimension}>"


def read_problem(path: Union[str, os.PathLike[str]]) -> Problem:
    """Reads a contact problem in the text format of Siconos or the HDF5 format of FCLIB.

    >>> import saltus
    >>> saltus.read_problem("tests/problems/fc2d_two_sliding.dat").dimension
    2
    """
    return Problem(_core.read_problem(as_path(path)))


def solvers() -> dict[str, dict[str, dict[str, Any]]]:
    """Solvers of contact problems by name, with their options.

    >>> import saltus
    >>> sorted(saltus.solvers())
    ['friction', 'lcp']
    """
    lists = _core.lists()
    return {"friction": {entry["name"]: entry for entry in lists[1]}, "lcp": {entry["name"]: entry for entry in lists[2]}}
