# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Saltus: multibody dynamics with impacts and dry friction.

>>> import saltus
>>> sol = saltus.solve("scenes/ball.yaml", 5.0, tol=1e-8, scheme="adaptive")
>>> round(float(sol["q"][-1]), 6), sol.stats["events"]["accumulation"]
(0.0, 1)
"""
from __future__ import annotations

from . import _core
from ._errors import Error, FileError, InputError, Interrupted, SaltusWarning, SolveError
from .builder import Body, Marker
from .export import export_fmu
from .fitting import Fit, fit
from .live import LiveView
from .model import Model
from .optimizing import Optimum, optimize
from .page import Page
from .problems import Answer, Problem, friction, lcp, read_problem, solvers
from .sensitivity import SensitiveEvent, Sensitivity, sensitivity
from .simulation import Contact, Event, Simulation, rollout
from .solution import Certificate, Contacts, Ledger, Solution, State
from .solver import load, resume, schemes, solve
from .sweeps import Sweep, sweep
from .system import System
from .tools import Comparison, Convergence, compare, converge, verify

__version__: str = _core.version

__all__ = [
    "Answer", "Body", "Certificate", "Comparison", "Contact", "Contacts", "Convergence", "Error", "Event", "FileError", "Fit",
    "InputError", "Interrupted", "Ledger", "LiveView", "Marker", "Model", "Optimum", "Page", "Problem", "SaltusWarning",
    "SensitiveEvent", "Sensitivity",
    "Simulation", "Solution", "SolveError", "State", "Sweep", "System", "compare", "converge", "export_fmu", "fit", "friction", "lcp",
    "load", "optimize", "read_problem", "resume", "rollout", "schemes", "sensitivity", "solve", "solvers", "sweep", "verify",
]
