# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The table of docs/papers.md: its counts, and that every study, test, scene and page in it exists; with --run, that
every command in it ends with exit code 0.

usage: papers.py BUILD SOURCE [--run]"""
import os
import re
import shlex
import subprocess
import sys

build, source = sys.argv[1:3]
text = open(os.path.join(source, 'docs/papers.md'), encoding='utf-8').read()
rows = re.findall(r'^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$', text, re.M)
faults = []


def count(words):
    return sum(row[5].split(':')[0] == words for row in rows)


if [int(row[0]) for row in rows] != list(range(1, len(rows) + 1)) or len(rows) < 144:
    faults.append(f'{len(rows)} rows, or numbers that are not consecutive')
stated = re.search(r'Of (\d+) rows (\d+) work, (\d+) work partly, with the reason, and (\d+) are open', text)
counted = (len(rows), count('works'), count('partly'), count('open'))
if stated is None or tuple(map(int, stated.groups())) != counted or sum(counted[1:]) != len(rows):
    faults.append(f'counts in the text are not {counted}')


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


studies = set(re.findall(r'^(\S+)', output(f'{build}/saltus', 'list', 'studies'), re.M))
tests = set(re.findall(r'Test +#\d+: (\S+)', output('ctest', '--test-dir', build, '-N')))
commands = {}
for number, _, content, _, command, status in rows:
    if command == '–':
        if status == 'works' or ':' not in status:
            faults.append(f'row {number} ({content}): neither a command nor a reason')
        continue
    words = shlex.split(command.strip('`'))
    study = words[:2] == ['build/saltus', 'study'] and words[2] in studies
    test = words[:4] == ['ctest', '--test-dir', 'build', '-R'] and words[4].strip('^$') in tests
    run = words[:2] == ['build/saltus', 'run'] and os.path.exists(os.path.join(source, words[2]))
    if not (study or test or run):
        faults.append(f'row {number}: {command} names nothing that exists')
    commands[tuple(words)] = number

if '--run' in sys.argv and not faults:
    for words, number in commands.items():
        real = [w.replace('build/saltus', f'{build}/saltus') if w == 'build/saltus' else build if w == 'build' else w
                for w in words]
        done = subprocess.run(real, cwd=source, capture_output=True, text=True)
        if done.returncode != 0:
            faults.append(f'row {number}: {shlex.join(words)} ends with {done.returncode}: {done.stderr[-300:]}')
        print(f'row {number}: {shlex.join(words)}: {done.returncode}', flush=True)

for fault in faults:
    print(fault, file=sys.stderr)
print(f'{len(rows)} rows, {len(commands)} commands, {len(faults)} faults')
sys.exit(1 if faults else 0)
