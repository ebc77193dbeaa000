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
STUDIES = ['acary2009-fig2', 'acary2009-fig6', 'acary2008-higher-order', 'schindler2011-fig4', 'dg-stability', 'capobianco-fig2',
           'potra2006-table1', 'tolerance-proportionality', 'woodpecker-limit-cycle']
WHEN_DRAWN = ['work-precision', 'order-through-events', 'random-systems']  # minutes: only where results/ has them
LABORATORY = [
    ('lab-kane', ['lab', 'impact', 'scenes/kane.yaml'], "Kane's pendulum under all impact laws"),
    ('lab-stribeck', ['lab', 'friction', 'friction: {static: 0.4, kinetic: 0.3, speed: 0.1}'], 'A friction law with a falling curve'),
]
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
page = ('# Gallery\n\nFigures as the program draws them, with the commands. They are vectors: open one to see all of it.\n'
        + section('Motions', list(motions())) + section('Mechanisms', list(sketches()))
        + section('Studies', list(studies())) + section('Laboratory', list(laboratory())))
(OUT / 'gallery.md').write_text(page)
print('\n'.join(failed) if failed else f'{page.count("<figure>")} figures in {OUT}')
sys.exit(1 if failed else 0)
