# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""`python -m saltus` runs the program `saltus`."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Optional


def program() -> Optional[str]:
    """Path of the program of this package, else of the one in PATH."""
    own = Path(__file__).with_name("bin") / "saltus"
    return str(own) if own.exists() else shutil.which("saltus")


def main() -> int:
    path = program()
    if path is None:
        print("saltus: the program is neither in this package nor on the path", file=sys.stderr)
        return 2
    os.execv(path, ["saltus", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
