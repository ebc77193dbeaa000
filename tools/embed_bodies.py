#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Writes studies/bodies_tables.c from data/reference/bodies/, so that studies read no file.

usage: tools/embed_bodies.py [--check]      --check: only compare, exit 1 when they differ

The numbers are copied as text, digit by digit: time first, then the columns that studies compare.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "data" / "reference" / "bodies"
TARGET = ROOT / "studies" / "bodies_tables.c"

COLUMNS = {
    "andrews": "beta theta gamma phi delta epsilon",
    "bricard": "x y z",
    "flyball": "s alpha phi omega",
    "spatial-slider-crank": "x theta omega",
    "dzhanibekov": "w1 w2 w3 q0 q1 q2 q3",
}

HEAD = """/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_tables.c - made by tools/embed_bodies.py from data/reference/bodies/; do not edit.
 */
#include "bodies_exact.h"

#include <string.h>

/* clang-format off */
"""

TAIL = """/* clang-format on */

const bodies_table* bodies_table_find(const char* name) {
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    if (strcmp(tables[i].name, name) == 0) {
      return &tables[i];
    }
  }
  return NULL;
}
"""


def main():
    text = HEAD
    table = "\nstatic const bodies_table tables[] = {\n"
    for i, (name, wanted) in enumerate(COLUMNS.items()):
        lines = [s for s in (SOURCE / f"{name}.csv").read_text().splitlines() if not s.startswith("#")]
        head = lines[0].split(",")
        places = [head.index(word) for word in ["t"] + wanted.split()]
        rows = [[line.split(",")[k] for k in places] for line in lines[1:]]
        text += f"static const double table_{i}[] = {{\n"
        text += "".join("    " + ", ".join(row) + ",\n" for row in rows) + "};\n"
        table += f'    {{"{name}", {len(places) - 1}, {len(rows)}, table_{i}}},\n'
    text += table + "};\n" + TAIL
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text() == text else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
