# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Exceptions and warnings of the library, with message and position in a file."""
from __future__ import annotations

import re
import sys
import warnings
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .solution import Solution


class SaltusWarning(UserWarning):
    """Warning of the library.

    >>> import warnings, saltus
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     sol = saltus.solve("scenes/pendulum-wall.yaml", 1.0, scheme="explicit-euler", step=0.02)
    >>> seen[0].category.__name__
    'SaltusWarning'
    """


class Error(Exception):
    """Error of the library; the message has the reason and the allowed values.

    `status` is the number of `saltus_status`; `file`, `line` and `column` are the position of an error in a text.

    >>> import saltus
    >>> try:
    ...     saltus.Model.from_text("saltus: 1\\ncoordinates: {y: 1}\\nkinetic: y'^2/2\\npotential: 9*hight\\n").nq
    ... except saltus.Error as error:
    ...     print(error.line, error.column)
    4 14
    """

    def __init__(self, message: str = "", status: int = -7) -> None:
        super().__init__(message)
        self.status = status
        found = re.match(r"(.*?):(\d+):(\d+): ", message)
        self.file: Optional[str] = found.group(1) if found else None
        self.line: Optional[int] = int(found.group(2)) if found else None
        self.column: Optional[int] = int(found.group(3)) if found else None


class InputError(Error, ValueError):
    """Invalid input: a scene, a name, or a number out of range.

    >>> import saltus
    >>> try:
    ...     saltus.solve("scenes/ball.yaml", 1.0, scheme="adaptve")
    ... except saltus.InputError as error:
    ...     print(str(error).splitlines()[0])
    run: no scheme "adaptve"; did you mean adaptive?; see saltus list schemes
    """


class FileError(Error, OSError):
    """A file that cannot be read or written.

    >>> import saltus
    >>> try:
    ...     saltus.load("no-such-file.h5")
    ... except saltus.FileError as error:
    ...     print("no-such-file.h5" in str(error))
    True
    """


class SolveError(Error, RuntimeError):
    """Failed run; `solution` is the partial solution.

    >>> import saltus
    >>> scene = "saltus: 1\\ncoordinates: {y: 1}\\nkinetic: y'^2/2\\nforces: {y: -1/sqrt(y)}\\n"
    >>> try:
    ...     saltus.solve(saltus.Model.from_text(scene), 5.0)
    ... except saltus.SolveError as error:
    ...     print(0 < error.solution.t[-1] < 5)
    True
    """

    def __init__(self, message: str = "", status: int = -1, solution: Optional[Solution] = None) -> None:
        super().__init__(message, status)
        self.solution = solution


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; `solution` is the partial result: a `Solution`, or a `Sweep` of a sweep.

    >>> import saltus
    >>> issubclass(saltus.Interrupted, KeyboardInterrupt)
    True
    """

    def __init__(self, message: str = "", solution: Any = None) -> None:
        super().__init__(message)
        self.solution = solution


def warn(message: str) -> None:
    """Issues a warning of the library at the first caller outside this package."""
    level = 2
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == "saltus":
        level += 1
        frame = frame.f_back  # type: ignore[assignment]
    warnings.warn(message, SaltusWarning, stacklevel=level)


_MEMORY, _IO, _STOPPED = -2, -9, -8
_INPUTS = (-14, -7, -6, -4, -3)


def make(status: int, message: str) -> BaseException:
    """Exception for a status."""
    if status == _MEMORY:
        return MemoryError(message)
    if status == _IO:
        return FileError(message, status)
    if status in _INPUTS:
        return InputError(message, status)
    return SolveError(message, status)
