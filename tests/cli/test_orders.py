#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Orders that saltus study converge measures are those of the methods, on grids that do not nest."""
import json
import math
import unittest

import test_cli
from test_cli import SCENES, saltus, some

# A double pendulum whose tip strikes a wall at 0.79276 s, without a reference: compared with finer runs. Grids have no instant
# so near to it that it lies between the impacts of two runs.
PENDULUM = """saltus: 1
parameters: {g: 9.81, wall: -0.3}
coordinates: {th1: {start: pi/2, unit: rad}, th2: {start: pi/2, unit: rad}}
kinetic: th1'^2/2 + (th1'^2 + th2'^2 + 2*th1'*th2'*cos(th1 - th2))/2
potential: -2*g*cos(th1) - g*cos(th2)
contacts:
  - {name: tip, gap: sin(th1) + sin(th2) - wall, restitution: 0.8}
"""
NORMS = ('inf', 'L1', 'L2', 'hausdorff')


class Orders(test_cli.Cli):
    def rows(self, *words):
        done = saltus('study', 'converge', *words, '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)['rows']

    def slope(self, rows, of, norm):
        x = [math.log(row['h']) for row in rows]
        y = [math.log(row['error'][of][norm]) for row in rows]
        mean = sum(x) / len(x), sum(y) / len(y)
        return (sum((a - mean[0]) * (b - mean[1]) for a, b in zip(x, y)) / sum((a - mean[0]) ** 2 for a in x))

    def test_methods_through_an_impact_have_their_order_in_every_norm(self):
        for scheme, order in some((('radau-iia-5', 5), ('rk4', 4), ('heun-3', 3), ('midpoint', 2))):
            rows = self.rows(self.scene(PENDULUM), '--until', '1.4', '--scheme', scheme, '--steps', '50,101,211,400')
            for of in 'qv':
                for norm in NORMS:
                    with self.subTest(scheme=scheme, of=of, norm=norm):
                        self.assertAlmostEqual(self.slope(rows, of, norm), order, delta=0.7)  # measured: within 0.6, grids are coarse

    def test_a_body_in_space_has_its_order_in_every_norm(self):
        # 7 positions, 6 velocities
        rows = self.rows(SCENES / 'bodies-heavy-top.yaml', '--until', '0.4', '--scheme', 'radau-iia-5', '--steps', '23,41,83')
        for of in 'qv':
            for norm in NORMS:
                with self.subTest(of=of, norm=norm):
                    self.assertAlmostEqual(self.slope(rows, of, norm), 5, delta=0.4)

    def test_steps_are_counts(self):
        self.refused('study', 'converge', 'ball', '--scheme', 'rk4', '--steps', '0.1,0.05', says='numbers of steps')


if __name__ == '__main__':
    unittest.main()
