# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Conversion and validation of user arguments for the extension."""
from __future__ import annotations

import math
import numbers
import os
from typing import Any, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
NAN = math.nan


def as_path(path: Union[str, os.PathLike[str]]) -> str:
    """A path as text."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is a text, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError("a path holds no null character")
    return text


def as_real(value: Any, name: str) -> float:
    """A number, NaN for None."""
    if value is None:
        return NAN
    if isinstance(value, (bool, str, bytes)) or not isinstance(value, (numbers.Real, np.generic, np.ndarray)):
        raise TypeError(f"{name} is a number, not {type(value).__name__}")
    real = float(value)  # type: ignore[arg-type]
    if math.isnan(real):
        raise ValueError(f"{name} is not a number")
    return real


def as_word(value: Optional[str], name: str) -> Optional[str]:
    """A text or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    return value


def as_formula(value: Any, name: str) -> str:
    """A number or a formula as text; numbers keep all their digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (numbers.Integral, np.integer)):
        return str(int(value))
    if isinstance(value, (numbers.Real, np.floating)):
        real = float(value)
        if not math.isfinite(real):
            raise ValueError(f"{name} is {real}, must be finite")
        return repr(real)
    raise TypeError(f"{name} is a number or a formula, not {type(value).__name__}")


def as_pairs(values: Optional[Mapping[str, Any]], name: str) -> tuple[tuple[str, str], ...]:
    """A mapping as pairs of texts."""
    if not values:
        if values is None or isinstance(values, Mapping):
            return ()
        raise TypeError(f"{name} is a mapping, not {type(values).__name__}")
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} is a mapping, not {type(values).__name__}")
    for key in values:
        if not isinstance(key, str):
            raise TypeError(f"keys of {name} are texts, not {type(key).__name__}")
    return tuple((key, as_formula(value, f"{name}[{key!r}]")) for key, value in values.items())


def as_vector(values: Any, name: str, count: Optional[int] = None) -> Array:
    """Contiguous vector of finite doubles."""
    array = as_doubles(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions, must have 1")
    if count is not None and array.shape[0] != count:
        raise ValueError(f"{name} has {array.shape[0]} numbers, {count} are needed")
    return array


def as_matrix(values: Any, name: str, rows: Optional[int] = None, columns: Optional[int] = None) -> Array:
    """Contiguous matrix of finite doubles."""
    array = as_doubles(values, name)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, must have 2")
    for have, want, what in ((array.shape[0], rows, "rows"), (array.shape[1], columns, "columns")):
        if want is not None and have != want:
            raise ValueError(f"{name} has {have} {what}, {want} are needed")
    return array


def as_doubles(values: Any, name: str) -> Array:
    """Contiguous array of finite doubles, any shape."""
    if values is None or isinstance(values, (str, bytes, Mapping, set)):
        raise TypeError(f"{name} is an array, not {type(values).__name__}")
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has entries of type {array.dtype}, real numbers are needed")
    array = np.asarray(array, dtype=np.float64, order="C")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has entries that are not finite")
    return array


def as_count(value: Any, name: str, least: int, most: int) -> int:
    """Integer within its range."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Integral, np.integer)):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
    count = int(value)
    if not least <= count <= most:
        raise ValueError(f"{name} is {count}, must be from {least} to {most}")
    return count


def as_answer(value: Any, name: str) -> Array:
    """Result of a user function as doubles. NaN is allowed; the library reports its position."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} returned entries of type {array.dtype}, real numbers are needed")
    return np.asarray(array, dtype=np.float64, order="C")
