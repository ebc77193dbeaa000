# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""What the tests share: where scenes are, the program, how much is run."""
import os
import pathlib
import signal
import subprocess
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENES = ROOT / "scenes"
PROGRAM = pathlib.Path(os.environ.get("SALTUS_PROGRAM", ROOT / "build" / "saltus"))
SHORT = bool(os.environ.get("SALTUS_SHORT"))
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
LONG = bool(os.environ.get("SALTUS_LONG"))

os.chdir(ROOT)
warnings.simplefilter("ignore")
# a shell starts jobs in the background with SIGINT ignored, and Python keeps that: tests of Ctrl-C would wait for ever
signal.signal(signal.SIGINT, signal.default_int_handler)


def scene(name):
    return str(SCENES / f"{name}.yaml")


def program(*arguments):
    """Runs the program; its answer."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run([str(PROGRAM), *map(str, arguments)], capture_output=True, text=True, env=environment)


not_sanitized = unittest.skipIf(SANITIZED, "sanitizers keep memory and time of their own")
not_short = unittest.skipIf(SHORT, "not in make test")
long_only = unittest.skipUnless(LONG, "in make test-long")
