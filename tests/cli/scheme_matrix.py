# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every scheme on twenty machines, with steps h, h/4, h/16 and so on: each pair converges to the motion of `adaptive`, or is
rejected before the first step with the reason. The table is that of docs/schemes/matrix.md (make test-long).

usage: scheme_matrix.py SALTUS SOURCE [--scene WORD] [--scheme WORD] [--jobs N] [--page LOG | --check]

A number is the largest distance of positions at 21 instants from the reference with the smallest step taken, divided by
the largest change of a coordinate of the same kind (length or angle) in the reference. Each pair is printed as one line;
--page writes the page from such lines, --check verifies that the page has every scheme and machine."""
import argparse
import concurrent.futures
import csv
import os
import re
import resource
import subprocess
import sys
import tempfile

# scene, end time [s], step h [s]. The end is before motions of equal start separate exponentially.
MACHINES = [
    ('machine-breaker', 4e-4, 8e-7),
    ('machine-breaker-arm', 0.08, 1e-4),
    ('machine-cam-follower', 0.19, 1e-4),
    ('machine-cradle', 0.05, 2e-5),
    ('machine-dimer', 0.1, 2e-5),
    ('machine-dominoes', 0.2, 1e-4),
    ('machine-four-bar-ideal', 0.3, 1e-4),
    ('machine-four-bar', 0.01, 5e-6),
    ('machine-press', 0.25, 1e-4),
    ('machine-ratchet', 0.1, 5e-5),
    ('machine-rolling-ball', 1.0, 5e-4),
    ('machine-slider-crank', 0.0026, 2e-6),
    ('machine-walker', 2.0, 1e-3),
    ('machine-woodpecker', 0.2, 5e-5),
    ('shapes/rover', 1.0, 2e-3),
    ('shapes/pawl', 1e-3, 1e-6),
    ('contact-turntable', 1.0, 1e-3),
    ('contact-groove', 0.5, 5e-4),
    ('double-pendulum-rough', 1.0, 1e-3),
    ('bodies-slider-crank', 1.0, 5e-4),
]
SAMPLES = 20
REFINEMENTS = (1, 4, 16, 64, 256)  # as many as it takes to show convergence, two at least
LARGEST = 2e-2  # of the motion, with the smallest step
ROUNDING = 1e-6  # differences below are not required to fall: tolerances of events and of the reference
FALL = 0.6  # the last difference is at most this part of the first; impacts fall anywhere in steps

# Options of schemes. event-driven stops at accumulations by default, with an error that names this option; contacts of
# trapezoidal-* are closed at gaps below 1e-8 m, 3e-6 of the motion of the dimer and 2e-5 of that of the pawl.
OPTIONS = {'event-driven': ['--option', 'at_accumulation=capture']}
CLOSER = {(machine, 'trapezoidal'): ['--option', 'contact_gap=1e-12'] for machine in ('machine-dimer', 'shapes/pawl')}


def command(args, scene, until, out, *more):
    file = os.path.join(args.source, 'scenes', scene + '.yaml')
    return [args.saltus, 'run', file, '--until', repr(until), '-o', out, '--force', *more]


def positions(path, until):
    """Names, and the rows at the end of each of the equal parts of the time; the last where there are several."""
    with open(path, encoding='utf-8', newline='') as file:
        rows = list(csv.reader(line for line in file if not line.startswith('#')))
    rows = rows if rows[0][0].startswith('t') else rows[1:]
    values = [[float(x) if x else 0.0 for x in r] for r in rows[1:]]
    start = values[0][0]
    part = (until - start) / SAMPLES
    kept = {}
    for row in values:
        place = round((row[0] - start) / part)
        if abs(row[0] - start - place * part) < 1e-6 * part:
            kept[place] = row
    return rows[0], [kept[k] for k in sorted(kept)]


def execute(args, job, *more, seconds=100):
    scene, until = job

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'm.csv')
        done = subprocess.run(command(args, scene, until, out, *more), capture_output=True, text=True,
                              preexec_fn=limit)
        if done.returncode < 0:
            return 'time', f'not ended in {seconds} s of processor time', None
        text = [line for line in done.stderr.splitlines() if 'warning' not in line]
        reason = text[-1] if text else ''
        if done.returncode != 0:
            steps = os.path.exists(out)
            return ('stops' if steps else 'refused'), reason, None
        return 'ends', done.stderr, positions(out, until)


def distance(names, scale, a, b):
    if len(a) != len(b):
        return float('inf')
    worst = 0.0
    for x, y in zip(a, b):
        for name, u, v in zip(names, x, y):
            if name in scale:
                worst = max(worst, abs(u - v) / scale[name])
    return worst


def scales(names, rows):
    """The largest change of the coordinates of the same unit, for each coordinate: those before the first rate."""
    coordinates = names[1:next(k for k, name in enumerate(names) if "'" in name)]
    unit = {name: name.partition(' ')[2] for name in coordinates}
    change = {name: max(abs(r[k + 1] - rows[0][k + 1]) for r in rows) for k, name in enumerate(coordinates)}
    most = max(change.values())
    return {name: max([change[n] for n in coordinates if unit[n] == unit[name]] + [1e-3 * most])
            for name in coordinates}


def converges(errors):
    return len(errors) > 1 and errors[-1] < LARGEST and errors[-1] < max(FALL * errors[0], ROUNDING)


def page_of(args):
    return os.path.join(args.source, 'docs/schemes/matrix.md')


def cell(kind, text, errors, notes):
    if kind == 'ends':
        return f'{errors[-1]:.0e}'.replace('e-0', 'e-').replace('e+00', '')
    if text not in notes:
        notes.append(text)
    return f'[{notes.index(text) + 1}]'


def write(args, schemes):
    """The page, from the lines that a run has printed; later lines of a pair replace earlier ones."""
    found = {}
    for line in open(args.page, encoding='utf-8'):
        match = re.match(r'(\S+) (\S+) (ends|refused|stops|time) \[(.*?)\] ?(.*)$', line)
        if match:
            errors = [float(x) for x in match[4].split(',') if x.strip()]
            found[match[1], match[2]] = match[3], match[5].removeprefix('saltus: '), errors
    names = [m[0] for m in MACHINES]
    head = open(page_of(args), encoding='utf-8').read().split('| scheme |')[0]
    lines = ['| scheme | ' + ' | '.join(str(i + 1) for i in range(len(names))) + ' |',
             '| --- |' + ' --- |' * len(names)]
    notes = []
    for scheme in schemes:
        cells = [cell(*found[name, scheme], notes) for name in names]
        lines.append(f'| `{scheme}` | ' + ' | '.join(cells) + ' |')
    lines += [''] + [f'{i + 1}. {note}' for i, note in enumerate(notes)]
    with open(page_of(args), 'w', encoding='utf-8') as file:
        file.write(head + '\n'.join(lines) + '\n')
    return 0


def check(args, schemes):
    text = open(page_of(args), encoding='utf-8').read()
    rows = re.findall(r'^\| `([a-z0-9-]+)` \| (.*) \|$', text, re.M)
    faults = [] if [r[0] for r in rows] == schemes else ['rows are not the schemes of the program']
    for scheme, cells in rows:
        values = cells.split(' | ')
        if len(values) != len(MACHINES) or not all(v[0] == '[' or 0.0 <= float(v) <= LARGEST for v in values):
            faults.append(f'{scheme}: {cells}')
    for i, machine in enumerate(MACHINES):
        if not re.search(rf'^\| {i + 1} \| `{machine[0]}` \|', text, re.M):
            faults.append(f'machine {i + 1} is not {machine[0]}')
    for fault in faults:
        print('FAULT', fault)
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('saltus')
    parser.add_argument('source')
    parser.add_argument('--page')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--scene', default='')
    parser.add_argument('--scheme', default='')
    parser.add_argument('--jobs', type=int, default=1)
    args = parser.parse_args()
    listed = subprocess.run([args.saltus, 'list', 'schemes'], capture_output=True, text=True, check=True).stdout
    schemes = [s for s in re.findall(r'^(\S+)  ', listed, re.M) if re.search(args.scheme, s)]
    machines = [m for m in MACHINES if re.search(args.scene, m[0])]
    if args.check:
        return check(args, schemes)
    if args.page:
        return write(args, schemes)
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)

    start = {'machine-cam-follower': -0.01}

    def reference(machine):
        return execute(args, machine[:2], '--scheme', 'adaptive', '--tol', '1e-10', '--output-dt',
                       repr((machine[1] - start.get(machine[0], 0.0)) / SAMPLES))

    found = {}
    faults = []
    for machine, (kind, text, motion) in zip(machines, pool.map(reference, machines)):
        scene, until, h = machine
        if kind != 'ends':
            faults.append(f'{scene}: no reference: {text}')
            continue
        names, rows = motion
        scale = scales(names, rows)

        def pair(scheme):
            part = (until - rows[0][0]) / SAMPLES
            errors = []
            for n in REFINEMENTS:
                if scheme.startswith('adaptive'):
                    setting = ['--tol', repr(1e-6 / n ** 2), '--output-dt', repr(part)]
                else:
                    setting = ['--step', repr(h / n), '--every', str(round(part / h) * n)]
                kind, text, motion = execute(args, (scene, until), '--scheme', scheme, *setting,
                                             *OPTIONS.get(scheme, []),
                                             *CLOSER.get((scene, scheme.partition('-')[0]), []))
                if kind != 'ends':
                    return kind, text, errors
                errors.append(distance(names, scale, rows, motion[1]))
                if converges(errors):
                    break
            return 'ends', text, errors

        for scheme, result in zip(schemes, pool.map(pair, schemes)):
            found[scene, scheme] = result
            kind, text, errors = result
            print(f'{scene} {scheme} {kind} {errors} {text if kind != "ends" else ""}', flush=True)
            if kind == 'ends' and not converges(errors):
                faults.append(f'{scene} with {scheme} does not converge: {errors}')
            if kind in ('stops', 'time'):
                faults.append(f'{scene} with {scheme} {kind}: {text}')
    for fault in faults:
        print('FAULT', fault)
    return 1 if faults else 0


sys.exit(main())
