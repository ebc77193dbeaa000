# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Judging and comparing runs."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from .arguments import NAN
from .solution import Certificate

if TYPE_CHECKING:
    from .solution import Solution


def certify(sol: Solution) -> Certificate:
    """`Solution.certificate`."""
    data = sol._data
    call = sol._call
    own_start = True
    if call is not None:
        if call.rest[3] is not None:
            raise ValueError("a run that was resumed has no certificate of its own: its first steps are not there")
        own_start = call.start[0] is None and call.numbers[5] != call.numbers[5]
        every = sol.settings["record_every"] == 1 and not sol.settings["record_dt"] > 0 and call.record[2] is None
        if not (every and call.contacts):
            data = call.again((1, NAN, None, True))._data
    return Certificate(_core.verify(data, sol.model._scene, own_start))
