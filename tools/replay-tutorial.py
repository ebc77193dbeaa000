#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Replays a document: YAML and Python blocks become the files named before them, lines that start with $ run, and what
they print has to be what the document shows, computing times aside.

usage: replay-tutorial.py PROGRAM DOCUMENT [--update]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program = pathlib.Path(sys.argv[1]).resolve()
document = pathlib.Path(sys.argv[2])
update = '--update' in sys.argv


def mask(text):
    """Times differ from run to run."""
    return re.sub(r'[\d.e+-]+ s of computing time', 'T s of computing time', text).strip()


folder = pathlib.Path(tempfile.mkdtemp(prefix='saltus-tutorial-'))
(folder / 'build').mkdir()
os.symlink(program, folder / 'build' / 'saltus')
for name in ('scenes', 'data'):
    os.symlink(pathlib.Path(__file__).resolve().parent.parent / name, folder / name)

parts = re.split(r'^(```\w*\n.*?^```$)', document.read_text(), flags=re.S | re.M)
scene = None
wrong = 0
runs = 0
for i, part in enumerate(parts):
    if not part.startswith('```'):
        named = re.findall(r'`([\w-]+\.(?:yaml|py))`', part)
        scene = named[-1] if named else scene
        continue
    head, body = part.split('\n', 1)
    body = body[:-3]
    if head in ('```yaml', '```python') and scene:
        (folder / scene).write_text(body)
    if head != '```' or '$ ' not in body:
        continue
    shown = ''
    for piece in re.split(r'^(?=\$ )', body, flags=re.M):
        if not piece.startswith('$ '):
            shown += piece
            continue
        command, _, expected = piece[2:].partition('\n')
        result = subprocess.run(['bash', '-c', command], cwd=folder, capture_output=True, text=True,
                                env=dict(os.environ, PATH='/usr/bin:' + os.environ['PATH']))
        printed = result.stderr + result.stdout
        runs += 1
        if mask(printed) != mask(expected):
            wrong += 1
            print(f'$ {command}\n--- shown\n{expected}--- printed\n{printed}')
        shown += f'$ {command}\n{printed}' if mask(printed) != mask(expected) else piece
    if update:
        parts[i] = f'{head}\n{shown}```'
if update:
    document.write_text(''.join(parts))
print(f'{runs} commands, {wrong} with other output')
sys.exit(1 if wrong and not update else 0)
