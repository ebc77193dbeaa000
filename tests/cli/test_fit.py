#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus fit as a user meets it: text, JSON, page with figures, equal bits for every number of threads."""
import json
import math
import random
import unittest

import test_cli
from test_cli import saltus

SCENE = '''saltus: 1
parameters: {g: 9, e: 0.4, idle: 0.5}
coordinates: {y: {start: 1}}
kinetic: y'^2/2
potential: g*y
contacts: [{name: ground, gap: y, restitution: e}]
simulate: {until: 1, tol: 1e-10}
fit:
  data: {file: ball-*.csv}
  measured: [{value: y, columns: [y], noise: 0.001}]
  unknown: {g: {bounds: [5, 15]}, e: {bounds: [0.1, 0.95]}, idle: {bounds: [0, 1]}}
'''


class Fits(test_cli.Cli):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        first = math.sqrt(2/9.81)
        for i in range(20):
            with open(self.folder / f'ball-{i:02d}.csv', 'w') as file:
                file.write('t,y\n')
                for k in range(30):
                    t, s = 0.025*k, 0.025*k - first
                    y = 1 - 9.81*t*t/2 if s < 0 else 0.6*9.81*first*s - 9.81*s*s/2
                    file.write(f'{t!r},{y + draw.gauss(0, 1e-3)!r}\n')
        self.scene = self.folder / 'ball.yaml'
        self.scene.write_text(SCENE)

    def test_samples_and_profiles_agree_with_the_covariance(self):
        done = saltus('fit', self.scene, '--bootstrap', '60', '--profile', 'g,e,idle', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        for k, name in enumerate(('g', 'e')):
            value, profile = made['parameters'][name], made['profiles'][name]
            drawn = sorted(made['bootstrap'][k::3])
            half = value['high'] - value['value']
            self.assertEqual(len(drawn), 60)
            self.assertLess(abs(drawn[30] - value['value']), 0.5*half)
            self.assertGreater(drawn[58] - drawn[1], 1.2*half)  # 2 for a normal distribution
            self.assertLess(drawn[58] - drawn[1], 2.8*half)
            self.assertLess(abs(profile['high'] - value['high']), 0.03*half)
            self.assertLess(abs(profile['low'] - value['low']), 0.03*half)
        self.assertIsNone(made['profiles']['idle']['threshold'])

    def test_a_page_has_the_text_and_a_figure_for_each_profile(self):
        page = self.folder / 'fit.html'
        done = saltus('fit', self.scene, '--profile', 'e', '--folds', '4', '--report', page)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertEqual(text.count('<svg'), 2)
        self.assertIn('held out, 4 folds: 20 experiments, 0 failed', text)
        self.assertIn(done.stdout.split('\n')[1], text)
        self.assertNotEqual(saltus('fit', self.scene, '--report', page).returncode, 0)  # is there

    def test_bits_do_not_depend_on_threads(self):
        words = ('fit', self.scene, '--bootstrap', '3', '--profile', 'e', '--folds', '4', '--json')
        made = [json.loads(saltus(*words, '--threads', n).stdout) for n in ('1', '2')]
        for one in made:
            for name in ('errors', 'held_out'):
                del one[name]['window_cpu']
        self.assertEqual(*made)

    def test_a_profile_of_no_unknown_is_refused(self):
        done = saltus('fit', self.scene, '--profile', 'm')
        self.assertEqual(done.returncode, 2)
        self.assertIn('"m" is no unknown of the fit', done.stderr)


if __name__ == '__main__':
    unittest.main()
