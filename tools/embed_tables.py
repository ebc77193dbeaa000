#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Writes studies/low_order_tables.c from the appendix of the notes on event capturing (a Markdown file,
given as argument): errors of the low-order schemes on the reference problems, six grids each."""
import re
import sys

PROBLEMS = {
    'E1 ball T=5': ('ball', 5.0),
    'E1 ball T=2.45': ('ball', 2.45),
    'E2 c=0 e=0.8': ('oscillator', 5.0),
    'E2 c=0.1 e=0.5': ('oscillator-damped', 5.0),
    'E2b c=0.5 e=0.5 f0=-20': ('oscillator-preload', 5.0),
}
SCHEMES = {
    'Moreau theta=1/2 gamma=1': ('moreau-jean', 'theta=0.5 gamma=1'),
    'Moreau theta=1 gamma=1': ('moreau-jean', 'theta=1 gamma=1'),
    '(19) with implicit activation theta=1/2 gamma=1': ('moreau-jean-projected', 'theta=0.5 gamma=1'),
    'Schatzman-Paoli theta=0': ('schatzman-paoli', 'theta=0'),
    'splitting RKF45': ('splitting-rkf45', ''),
    'splitting RKF45 with contact force': ('splitting-rkf45-contact', ''),
}

tables = []
for line in open(sys.argv[1]):
    head = re.match(r'\*\*(.+?), (.+)\*\*$', line.strip())
    if head and head.group(1) in PROBLEMS and head.group(2) in SCHEMES:
        tables.append((PROBLEMS[head.group(1)], SCHEMES[head.group(2)], []))
        continue
    row = re.match(r'\| (\d+) \|((?: [\d.e+-]+ \|){9})$', line.strip())
    if row and tables and len(tables[-1][2]) < 6:
        tables[-1][2].append((int(row.group(1)), [float(x) for x in row.group(2).split('|')[1:9]]))

print('''/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * low_order_tables.c - errors of low-order schemes on the reference problems, computed by prototypes
 * that share no code with this project. Written by tools/embed_tables.py.
 */
#include "low_order_tables.h"

#include <stddef.h>

static const low_order_table tables[] = {''')
for (problem, t_end), (scheme, options), rows in tables:
    assert len(rows) == 6, (problem, scheme, len(rows))
    print(f'    {{"{problem}", "{scheme}", "{options}", {t_end:g}, {{')
    for steps, values in rows:
        print(f'        {{{steps}, {{{", ".join(f"{x:.3e}" for x in values)}}}}},')
    print('    }},')
print('''};

const low_order_table* low_order_table_at(int i) {
  return i >= 0 && i < (int)(sizeof tables / sizeof tables[0]) ? &tables[i] : NULL;
}''')
