#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Writes src/measure/e3_reference.c from the reference samples, so that the library reads no file.

usage: tools/embed_reference.py [--check]      --check: only compare, exit 1 when they differ

The numbers are copied as text, digit by digit.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "data" / "reference" / "double-pendulum-wall-e3.csv"
TARGET = ROOT / "src" / "measure" / "e3_reference.c"

HEAD = """/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * e3_reference.c - made by tools/embed_reference.py from
 * data/reference/double-pendulum-wall-e3.csv; do not edit.
 */
#include "measure/e3_reference.h"

/* clang-format off */
"""


def table(name, size, rows):
    lines = "".join("    %s,\n" % ", ".join(row) for row in rows)
    return "const double %s[%s] = {\n%s};\n" % (name, size, lines)


def main():
    lines = [s for s in SOURCE.read_text().splitlines() if s and not s.startswith("#")]
    rows = [s.split(",") for s in lines[1:]]
    assert lines[0] == "t,q1,q2,v1,v2" and all(len(r) == 5 for r in rows)
    text = HEAD + "\n".join(
        [
            table("saltusi_e3_t", "SALTUSI_E3_COUNT", [r[:1] for r in rows]),
            table("saltusi_e3_q", "2 * SALTUSI_E3_COUNT", [r[1:3] for r in rows]),
            table("saltusi_e3_v", "2 * SALTUSI_E3_COUNT", [r[3:5] for r in rows]),
        ]
    )
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text() == text else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
