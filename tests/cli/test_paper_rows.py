#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Rows of docs/papers.md whose claims are about runs of the program: each test names its paper and section."""
import csv
import json
import math
import unittest

import test_cli
from test_cli import SCENES, saltus, some


class PaperRows(test_cli.Cli):
    def run_scene(self, scene, *words):
        done = saltus('run', scene, '--json', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def errors(self, *words):
        done = saltus('study', 'converge', *words, '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(row['h'], row['error']['q']['inf']) for row in json.loads(done.stdout)['rows']]

    def order(self, *words):
        (h0, e0), (h1, e1) = self.errors(*words)
        return math.log(e0 / e1) / math.log(h0 / h1)

    # Acary 2008, perspectives: Moreau's step without external forces at an event
    def test_impulses_alone_at_events_keep_the_order(self):
        for scheme, order in some((('rk4', 4), ('radau-iia-3', 3), ('gauss-4', 4), ('heun-3', 3))):
            measured = self.order('oscillator', '--until', '1.9', '--scheme', scheme, '--steps', '50,200',
                                  '--option', 'forces=off')
            with self.subTest(scheme=scheme):
                self.assertAlmostEqual(measured, order, delta=0.4)

    def test_impulses_alone_keep_the_energy_of_elastic_impacts_in_wide_brackets(self):
        # a ball that rebounds with e = 1, in brackets of 8 ms: eleven impacts, and not one with a force
        scene = self.scene("""saltus: 1
coordinates: {y: {start: 1, unit: m}}
kinetic: y'^2/2
potential: 10*y
contacts: [{name: floor, gap: y, restitution: 1}]
""")
        end = self.run_scene(scene, '--until', '10', '--scheme', 'midpoint', '--step', '0.02', '--option', 'bracket=1e3',
                             '--option', 'forces=off')
        self.assertAlmostEqual(10 * end['q']['y'] + end['v']["y'"] ** 2 / 2, 10, delta=1e-11)
        self.assertEqual(end['impacts'], 11)

    # Acary 2009, section 6: implicit methods where the acceleration of a closed contact jumps
    def test_implicit_methods_pass_jumps_of_the_acceleration(self):
        exact = self.run_scene(SCENES / 'machine-cam-follower.yaml', '--until', '0.19', '--tol', '1e-9')['q']
        for scheme, bound in some((('radau-iia-5', 1e-6), ('lobatto-iiia-2', 1e-4), ('radau-iia-1', 2e-2))):
            end = self.run_scene(SCENES / 'machine-cam-follower.yaml', '--until', '0.19', '--scheme', scheme,
                                 '--step', '1e-4')['q']
            with self.subTest(scheme=scheme):
                for name, value in exact.items():
                    self.assertAlmostEqual(end[name], value, delta=bound)


if __name__ == '__main__':
    unittest.main()
