# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Interruptible calls of the library: Ctrl-C sets a flag that the library tests."""
from __future__ import annotations

import _thread
import threading
from typing import Callable, Optional, TypeVar

from . import _core

T = TypeVar("T")


def interruptible(work: Callable[[_core.Flag], T], given: Optional[_core.Flag] = None) -> tuple[Optional[T], bool]:
    """Returns the result of `work(flag)`, or None if it was interrupted without a result, and whether Ctrl-C set the
    flag. The work runs in a thread, because Python handles signals in the main thread only, between calls of the
    library.
    """
    flag = _core.Flag() if given is None else given
    if threading.current_thread() is not threading.main_thread():
        return work(flag), False
    found: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work(flag))
        except BaseException as error:
            raised.append(error)
        done.set()

    done = threading.Event()
    pressed = begun = False
    while True:
        try:  # Ctrl-C can come after any call; waiting for a thread to start or to end is not safe from it (Python 3.11)
            if not begun:
                begun = True
                _thread.start_new_thread(run, ())
            while not done.wait(0.05):
                pass
            break
        except KeyboardInterrupt:
            pressed = True
            flag.set()
    if raised and not pressed:
        raise raised[0]
    return (found[0] if found else None), pressed
