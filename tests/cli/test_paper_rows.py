#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Rows of docs/papers.md whose claims are about runs of the program: each test names its paper and section."""
import cmath
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

    # Acary 2009, section 3.1: Newton's law after several steps of Schatzman and Paoli's scheme
    def test_the_rebound_of_schatzman_and_paoli_takes_two_steps(self):
        scene = self.scene("""saltus: 1
coordinates: {y: {start: 1, velocity: -1, unit: m}}
kinetic: y'^2/2
contacts: [{name: floor, gap: y, restitution: 0.5}]
""")
        for scheme, expected in (('schatzman-paoli', [-1, -0.25, 0.5]), ('moreau-jean', [-1, 0.5, 0.5])):
            path = self.folder / 'rebound.csv'
            self.run_scene(scene, '--scheme', scheme, '--step', '0.3', '--until', '3', '-o', path, '--force')
            with open(path, encoding='utf-8', newline='') as file:
                rows = list(csv.reader(line for line in file if line[0].isdigit()))
            with self.subTest(scheme=scheme):
                for row, velocity in zip(rows[3:], expected):
                    self.assertAlmostEqual(float(row[2]), velocity, delta=1e-12)

    # Acary 2009, section 1: curve squeal
    def squeal(self, mu, until):
        """Deviation of x from its equilibrium by the linear equations of the slipping rim; stiffness over mass."""
        k11, k12, k22, kc, push = 1e6, -2e5, 3e5, 8e5, 1e-3
        a, b, c, d = k11, k12 + mu * kc, k12, k22 + kc
        root = cmath.sqrt((a - d) ** 2 / 4 + b * c)
        squares = ((a + d) / 2 + root, (a + d) / 2 - root)
        w1, w2 = cmath.sqrt(squares[0]), cmath.sqrt(squares[1])
        # x'' = -a x - b y, y'' = -c x - d y from x' = push: x = p1 sin(w1 t)/w1 + p2 sin(w2 t)/w2
        p1 = push * (a - squares[1]) / (squares[0] - squares[1])
        p2 = push - p1
        self.assertAlmostEqual(max(w1.imag, -w1.imag) > 0, k12 * b + (a - d) ** 2 / 4 < 0)
        return (p1 * cmath.sin(w1 * until) / w1 + p2 * cmath.sin(w2 * until) / w2).real

    def test_modes_of_a_wheel_flutter_by_constant_friction(self):
        scene = SCENES / 'curve-squeal.yaml'
        for mu in some((0.2, 0.26, 0.27, 0.4)):
            end = self.run_scene(scene, '--tol', '1e-12', '--until', '0.05', '--set', f'mu={mu}')['q']
            start = self.run_scene(scene, '--tol', '1e-12', '--until', '0.05', '--set', f'mu={mu}', '--set',
                                   'push=0')['q']
            exact = self.squeal(mu, 0.05)
            with self.subTest(mu=mu):
                self.assertAlmostEqual(end['x'] - start['x'], exact, delta=1e-5 * abs(exact) + 1e-11)

    def test_squeal_ends_in_stick_and_slip(self):
        loud = self.run_scene(SCENES / 'curve-squeal.yaml', '--tol', '1e-8')
        quiet = self.run_scene(SCENES / 'curve-squeal.yaml', '--tol', '1e-8', '--set', 'mu=0.2')
        self.assertGreater(loud['events']['stick'], 0)
        self.assertEqual(quiet['events']['stick'], 0)
        self.assertLess(abs(quiet['v']["x'"]), 2e-3)

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
