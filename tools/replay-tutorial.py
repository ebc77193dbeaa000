#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Replays a document: YAML, Python, XML and sed blocks are saved as the file named before them, lines that start with $
are run, and their output must equal the printed one, computing times aside. build/python/bin/python of a document is
/usr/bin/python3 with the package beside PROGRAM.

usage: replay-tutorial.py PROGRAM DOCUMENT [--update] [--keep FOLDER]       --keep: files are written there
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


keep = sys.argv[sys.argv.index('--keep') + 1] if '--keep' in sys.argv else None
folder = pathlib.Path(keep or tempfile.mkdtemp(prefix='saltus-tutorial-'))
(folder / 'build' / 'python' / 'bin').mkdir(parents=True)
os.symlink(program, folder / 'build' / 'saltus')
python = folder / 'build' / 'python' / 'bin' / 'python'
python.write_text(f'#!/bin/sh\nPYTHONPATH="{program.parent}/python-path" PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$@"\n')
python.chmod(0o755)
for name in ('scenes', 'data'):
    os.symlink(pathlib.Path(__file__).resolve().parent.parent / name, folder / name)

parts = re.split(r'^(```\w*\n.*?^```$)', document.read_text(), flags=re.S | re.M)
scene = None
wrong = 0
runs = 0
for i, part in enumerate(parts):
    if not part.startswith('```'):
        named = re.findall(r'`([\w-]+\.(?:yaml|py|urdf|sed))`', part)
        scene = named[-1] if named else scene
        continue
    head, body = part.split('\n', 1)
    body = body[:-3]
    if head in ('```yaml', '```python', '```xml', '```sed') and scene:
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
