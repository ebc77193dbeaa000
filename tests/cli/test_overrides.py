#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Formulas are evaluated with the parameters of the caller: --set, --over, --follow and --axis, in every command."""
import csv
import json
import math
import unittest

import test_cli
from test_cli import saltus

# A forced oscillator with a stop. Without impacts it has the period and the amplitude of its force.
FORCED = """saltus: 1
parameters: {w: 2.8, k: 1, d: 0.1, A: 1, s: 0, e: 0.8, a: 0.1}
coordinates: {x: {start: a}}
kinetic: x'^2/2
potential: k/2*x^2
forces: {x: "A*cos(w*t) - d*x'"}
contacts: [{name: stop, gap: x - s, restitution: e}]
simulate: {until: 100}
"""
DROP = """saltus: 1
parameters: {e: 0.5, h: 1, g: 9.81}
coordinates: {y: {start: h}}
kinetic: y'^2/2
potential: g*y
contacts: [{name: floor, gap: y, restitution: e}]
simulate: {until: 2}
"""


class Overrides(test_cli.Cli):
    def rows(self, *words):
        out = self.folder / 'map.csv'
        done = saltus('map', *words, '-o', out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(out.read_text().splitlines())]

    def test_the_period_of_an_orbit_is_that_of_the_replaced_frequency(self):
        scene = self.scene(FORCED)
        words = ('orbit', scene, '--set', 'e=0.5', '--period', '2*pi/w', '--after', '50', '--json')
        alone = json.loads(saltus(*words, '--set', 'w=2').stdout)
        followed = json.loads(saltus(*words, '--follow', 'w=2:2.2:3').stdout)
        self.assertEqual([row['w'] for row in followed], [2.0, 2.1, 2.2])
        for w, row in [(2.0, alone[0])] + [(row['w'], row) for row in followed]:
            period = 2 * math.pi / w
            self.assertAlmostEqual(row['period'], period, delta=1e-14 * period)
            # phase volume: each impact has the factor e^2, the damping exp(-d t)
            (a, b), (c, d) = row['multipliers']
            volume = 0.25 ** row['impacts'] * math.exp(-0.1 * period)
            self.assertAlmostEqual(complex(a, b) * complex(c, d), volume, delta=1e-7)
        for key in ('q', 'v'):
            self.assertAlmostEqual(alone[0][key][0], followed[0][key][0], delta=1e-9)

    def test_a_map_over_a_frequency_has_the_amplitudes_of_the_linear_oscillator(self):
        scene = self.scene(FORCED)
        rows = self.rows(scene, '--set', 's=-100', '--set', 'd=0.5', '--period', '2*pi/w', '--over', 'w=2:3:3',
                         '--skip', '40', '--points', '2')
        self.assertEqual([row['w'] for row in rows], [2.0, 2.0, 2.5, 2.5, 3.0, 3.0])
        for row in rows:
            w = row['w']
            below = (1 - w * w) ** 2 + (0.5 * w) ** 2
            self.assertAlmostEqual(row['x'], (1 - w * w) / below, delta=1e-7)
            self.assertAlmostEqual(row["x'"], 0.5 * w * w / below, delta=1e-7)
            self.assertAlmostEqual(row['t'] * w / (2 * math.pi), round(row['t'] * w / (2 * math.pi)), delta=1e-9)

    def test_a_map_starts_where_its_first_value_says(self):
        # free oscillation from x = a, seen after half a turn: x = -a
        rows = self.rows(self.scene(FORCED), '--set', 's=-100', '--set', 'd=0', '--set', 'A=0', '--set', 'k=4',
                         '--period', 'pi/sqrt(k)', '--over', 'a=0.3:0.5:2', '--skip', '0', '--points', '1')
        self.assertAlmostEqual(rows[0]['x'], -0.3, delta=1e-8)

    def test_a_period_that_is_not_positive_is_refused_with_its_value(self):
        self.refused('map', self.scene(FORCED), '--period', '2*pi/w', '--over', 'w=0:2:3',
                     says='--period "2*pi/w" is inf s at w = 0')
        self.refused('orbit', self.scene(FORCED), '--set', 'w=-1', '--period', '2*pi/w', says='is -6.28319 s')
        self.refused('orbit', self.scene(FORCED), '--period', '2*pi/v', says='v')

    def test_the_caller_of_verify_replaces_recorded_parameters_and_reads_of_it(self):
        path = self.folder / 'run.h5'
        done = saltus('run', self.scene(DROP), '--tol', '1e-9', '--set', 'e=0.9', '-o', path, '--certify')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for words in ((), ('--set', 'e=0.9'), ('--set', 'e=9/10')):
            judged = saltus('verify', path, *words)
            self.assertEqual((judged.returncode, judged.stderr), (0, ''), judged.stdout)
        for words in (('e=0.1', 'replaces the recorded value 0.9'), ('g=9.5', 'replaces the recorded value 9.81')):
            judged = saltus('verify', path, '--set', words[0])
            self.assertEqual(judged.returncode, 1, judged.stdout)
            self.assertIn('FAILS', judged.stdout)
            self.assertIn(words[1], judged.stderr)

    def test_measures_and_starts_of_a_sweep_have_the_parameters_of_each_run(self):
        out = self.folder / 'sweep.csv'
        done = saltus('sweep', self.scene(DROP), '--set', 'g=2', '--axis', 'h=1:3:3', '--measure', 'c=last(h*g)',
                      '--measure', 't=time(impact)', '--tol', '1e-9', '-o', out)
        self.assertEqual(done.returncode, 0, done.stderr)
        for row in csv.DictReader(out.read_text().splitlines()):
            h = float(row['h'])
            self.assertAlmostEqual(float(row['c']), 2 * h, delta=1e-14)
            self.assertAlmostEqual(float(row['t']), math.sqrt(h), delta=1e-8)

    def test_sensitivities_have_replaced_parameters(self):
        # one impact at sqrt(2 h/g); dt/dh = t/(2 h) with the replaced g and h
        done = saltus('run', self.scene(DROP), '--set', 'g=2', '--set', 'h=4', '--tol', '1e-10', '--until', '2.5',
                      '--sensitivity', 'h')
        self.assertEqual(done.returncode, 0, done.stderr)
        line = [line for line in done.stdout.splitlines() if line.strip().startswith('impact')][0]
        self.assertAlmostEqual(float(line.split('dt:')[1]), 0.25, delta=1e-9)


if __name__ == '__main__':
    unittest.main()
