#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Figures of the gallery: runs scenes and studies and draws them into build/figures, with a page that shows them and the commands
that made them. Studies that `make studies` has drawn already (results/) are taken from there.

usage: figures.py [PROGRAM]     default build/saltus
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build' / 'saltus').resolve()
OUT = ROOT / 'build' / 'figures'

MOTIONS = [
    ('ball', 'A ball that comes to rest after infinitely many impacts'),
    ('pendulum-wall', 'A double pendulum at a wall: 27 impacts, an accumulation, sliding, detachment'),
    ('woodpecker', 'The woodpecker toy'),
    ('rocking-block', 'A block rocks between its corners'),
    ('carts', 'Two carts with a stiff damper and a stopper'),
    ('belt', 'A block on a belt sticks and slips'),
    ('contact-corner-plane', 'A square falls on its corner'),
    ('machine-breaker', 'A circuit breaker opens'),
]
SKETCHES = [
    ('body-slider-crank', 'A slider-crank'),
    ('bodies-bricard', "Bricard's mechanism: one row is redundant"),
    ('bodies-andrews', "Andrews' squeezer"),
    ('contact-arch', 'An arch of twenty voussoirs'),
    ('machine-breaker', 'A circuit breaker'),
    ('machine-woodpecker', 'The woodpecker by bodies and shapes'),
]
# Name of a scene, one sentence; pictures are docs/images/view-NAME.png, drawn by `tools/viewer-test pictures`.
CARDS = [
    ('woodpecker', 'A toy descends its pole by stick, slip and three kinds of impact.'),
    ('machine-breaker', 'Seven parts of a circuit breaker open within 25 ms when a latch lets go.'),
    ('machine-slider-crank', 'A piston rattles in its cylinder because of a clearance of a millimetre.'),
    ('machine-four-bar', 'Three pins with clearance turn one degree of freedom into seven.'),
    ('machine-press', 'A ram strikes an anvil on a spring, given in millimetres, revolutions a minute and kilonewtons.'),
    ('machine-ratchet', 'A pawl clicks over saw teeth and locks the wheel against rotation back.'),
    ('machine-cam-follower', 'A follower leaves its cam at high speed and bounces.'),
    ('machine-valve-train', 'Push rod and spring are elastic: the spring surges and the valve bounces on its seat.'),
    ('machine-dominoes', 'Six dominoes on pivots knock each other over.'),
    ('machine-dimer', 'Two beads on a rod move sideways on a plate that shakes up and down.'),
    ('machine-walker', 'A passive walker steps down a slope without a motor.'),
    ('bodies-flyball', 'A governor spreads its balls as it turns faster.'),
    ('contact-corner-cube', 'A cube lands on its corner, an edge, and a face.'),
    ('double-pendulum-rough', 'A double pendulum hits a rough wall, sticks and slides.'),
    ('contact-arch', 'An arch of twenty stones stands by friction alone.'),
    ('shapes/stack', 'Ten cubes rest on each other, with the forces between them.'),
    ('shapes/jacks', 'Eight jacks of capsules fall into a box and settle.'),
    ('shapes/galton', 'Discs fall through rows of pins.'),
    ('shapes/rover', 'A rover of four driven wheels carries its load.'),
    ('flexible-slider-crank', 'The connecting rod is an elastic beam.'),
]
SHORT = {'shapes/galton': '0.4', 'shapes/jacks': '0.4', 'bodies-flyball': '2'}  # s; the whole runs take minutes
STUDIES = ['acary2009-fig2', 'acary2009-fig6', 'acary2008-higher-order', 'schindler2011-fig4', 'dg-stability', 'capobianco-fig2',
           'potra2006-table1', 'tolerance-proportionality', 'woodpecker-limit-cycle']
WHEN_DRAWN = ['work-precision', 'order-through-events', 'random-systems']  # minutes: only where results/ has them
LABORATORY = [
    ('lab-kane', ['lab', 'impact', 'scenes/kane.yaml'], "Kane's pendulum under all impact laws"),
    ('lab-stribeck', ['lab', 'friction', 'friction: {static: 0.4, kinetic: 0.3, speed: 0.1}'], 'A friction law with a falling curve'),
]
VIEWER = 'no viewer' not in subprocess.run([str(PROGRAM), 'report', 'none.h5'], capture_output=True, text=True).stderr
failed = []


def run(*arguments):
    """Draws anew; a study whose claim does not hold is a failure here too."""
    if arguments[-1] in OUT.glob('*.svg'):
        arguments[-1].unlink()
    result = subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    if result.returncode != 0:
        failed.append(' '.join(map(str, arguments)) + ': ' + (result.stderr or result.stdout).strip().splitlines()[-1])
    return result.returncode == 0


def figure(name, caption, command):
    return (f'<figure><a href="{name}.svg"><img src="{name}.svg" alt="{caption}" loading="lazy"></a>\n'
            f'<figcaption>{caption}<br><code>{command}</code></figcaption></figure>\n')


def cards():
    """Machines and experiments: picture, sentence, scene, report."""
    for name, sentence in CARDS:
        stem = name.replace('shapes/', '')
        recording, report, picture = OUT / f'{stem}.h5', OUT / f'report-{stem}.html', f'view-{stem}.png'
        until = ['--until', SHORT[name]] if name in SHORT else []
        shutil.copyfile(ROOT / 'docs' / 'images' / picture, OUT / picture)
        if not run('run', f'scenes/{name}.yaml', *until, '-o', recording):
            continue
        links = f'<a href="../../scenes/{name}.yaml">scene</a>'
        if VIEWER and run('report', recording, '--no-certificate', '-o', report):
            links += f' · <a href="{report.name}">report</a>'
        recording.unlink(missing_ok=True)
        yield (f'<figure class="card"><img src="{picture}" alt="" loading="lazy">\n'
               f'<figcaption>{sentence}<br>{links} · <code>saltus view scenes/{name}.yaml</code></figcaption></figure>\n')


def section(title, figures):
    return f'\n## {title}\n\n<div class="gallery">\n{"".join(figures)}</div>\n' if figures else ''


def motions():
    for name, caption in MOTIONS:
        recording = OUT / f'{name}.h5'
        if run('run', f'scenes/{name}.yaml', '-o', recording) and run('plot', recording, '-o', OUT / f'{name}.svg'):
            yield figure(name, caption, f'saltus run scenes/{name}.yaml -o {name}.h5; saltus plot {name}.h5')
        recording.unlink(missing_ok=True)


def sketches():
    for name, caption in SKETCHES:
        if run('check', f'scenes/{name}.yaml', '--sketch', OUT / f'sketch-{name}.svg'):
            yield figure(f'sketch-{name}', caption, f'saltus check scenes/{name}.yaml --sketch')


def studies():
    for name in STUDIES + WHEN_DRAWN:
        drawn = ROOT / 'results' / f'{name}.svg'
        if drawn.exists():
            shutil.copyfile(drawn, OUT / f'{name}.svg')
        elif name in WHEN_DRAWN or not run('study', name, '-o', OUT / f'{name}.svg'):
            continue
        yield figure(name, f'Study {name}', f'saltus study {name} -o {name}.svg')


def laboratory():
    for name, command, caption in LABORATORY:
        if run(*command, '-o', OUT / f'{name}.svg'):
            yield figure(name, caption, 'saltus ' + ' '.join(f'"{c}"' if ' ' in c else c for c in command))


shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)
page = ('# Gallery\n\nTwenty machines and experiments, then figures as the program draws them, with the commands.\n'
        + section('Machines and experiments', list(cards())) + section('Motions', list(motions())) + section('Mechanisms', list(sketches()))
        + section('Studies', list(studies())) + section('Laboratory', list(laboratory())))
(OUT / 'gallery.md').write_text(page)
print('\n'.join(failed) if failed else f'{page.count("<figure>")} figures in {OUT}')
sys.exit(1 if failed else 0)
