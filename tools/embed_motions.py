#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Writes studies/motions.c from data/reference/motions.csv, so that studies read no file.

usage: tools/embed_motions.py [--check]      --check: only compare, exit 1 when they differ

The numbers are copied as text, digit by digit.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "data" / "reference" / "motions.csv"
TARGET = ROOT / "studies" / "motions.c"

HEAD = """/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * motions.c - made by tools/embed_motions.py from data/reference/motions.csv; do not edit.
 */
#include "motions.h"

#include <string.h>

/* clang-format off */
"""

TAIL = """/* clang-format on */

const motion* motion_find(const char* name) {
  for (size_t i = 0; i < sizeof motions / sizeof motions[0]; i++) {
    if (strcmp(motions[i].name, name) == 0) {
      return &motions[i];
    }
  }
  return NULL;
}

double motion_time(const motion* known, int k) {
  return known->t_end * (k + 1) / MOTION_INSTANTS;
}

const double* motion_q(const motion* known, int k) {
  return known->q + (size_t)k * (size_t)known->nq;
}
"""


def main():
    motions = {}
    accuracy = {}
    for line in SOURCE.read_text().splitlines()[1:]:
        if line.startswith("#"):
            continue
        name, t, error, *q = line.split(",")
        name = name.replace(";", ",")
        motions.setdefault(name, []).append((t, q))
        accuracy[name] = error
    text = HEAD
    for i, rows in enumerate(motions.values()):
        assert len(rows) == 16
        text += f"static const double motion_{i}[] = {{\n"
        text += "".join("    " + ", ".join(q) + ",\n" for _, q in rows) + "};\n"
    text += "\nstatic const motion motions[] = {\n"
    for i, (name, rows) in enumerate(motions.items()):
        text += f'    {{"{name}", {rows[-1][0]}, {len(rows[0][1])}, {accuracy[name]}, motion_{i}}},\n'
    text += "};\n" + TAIL
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text() == text else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
