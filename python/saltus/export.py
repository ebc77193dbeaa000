# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Models for other programs."""
from __future__ import annotations

import os
import shutil
from typing import Optional, Union

from . import _core
from .arguments import NAN, as_path, as_real
from .model import Model, as_model


def _find_binary() -> str:
    """The shared object of all FMUs: in the package, or where the program is installed."""
    program = shutil.which("saltus")
    places = [os.path.join(os.path.dirname(os.path.abspath(_core.__file__)), "data", "saltus_fmu.so")]
    if program is not None:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        machine = ("lib", os.path.join("lib", "x86_64-linux-gnu"), "lib64")
        places += [os.path.join(prefix, name, "saltus", "saltus_fmu.so") for name in machine]
    for place in places:
        if os.path.exists(place):
            return place
    raise FileNotFoundError("saltus_fmu.so is neither in the package nor installed; give binary=")


def export_fmu(model: Union[Model, str, os.PathLike[str]], file: Union[str, os.PathLike[str]], *, fmi: int = 3,
               tol: Optional[float] = None, step: Optional[float] = None, scheme: Optional[str] = None,
               binary: Union[None, str, os.PathLike[str]] = None) -> None:
    """Writes a functional mock-up unit for co-simulation, as `saltus export fmu`.

    `fmi` is the version, 3 or 2. `tol`, `step` and `scheme` replace those of the scene.

    >>> import saltus, tempfile, os, zipfile
    >>> path = os.path.join(tempfile.mkdtemp(), "ball.fmu")
    >>> saltus.export_fmu("scenes/ball.yaml", path, tol=1e-9)
    >>> zipfile.ZipFile(path).namelist()[0]
    'modelDescription.xml'
    """
    if fmi not in (2, 3):
        raise ValueError(f"fmi is {fmi!r}, must be 3 or 2")
    own = as_model(model, None)
    _core.export_fmu(own._scene, as_path(file), own._path, as_path(binary) if binary is not None else _find_binary(),
                     int(fmi), NAN if tol is None else as_real(tol, "tol"), NAN if step is None else as_real(step, "step"),
                     scheme)
