#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus compare as a user meets it: table, JSON, figure, refusals."""
import json
import unittest
import xml.etree.ElementTree

import test_cli
from test_cli import BALL, SCENES, saltus


class Compare(test_cli.Cli):
    def recorded(self, name, *words, scene=None):
        path = self.folder / name
        result = saltus('run', scene or self.scene(), '-o', path, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_a_scheme_with_fixed_steps_is_near_the_motion_to_a_tolerance(self):
        fine = self.recorded('fine.h5', '--tol', '1e-8')
        coarse = self.recorded('coarse.csv', '--step', '1e-3')
        out = json.loads(saltus('compare', fine, coarse, '--json').stdout)
        self.assertEqual((out['start'], out['end']), (0, 5))
        self.assertLess(out['position'], 5e-3)  # impacts at the ends of steps: some steps times 1 m/s
        self.assertGreater(out['position'], 1e-5)
        self.assertLess(out['velocity_graph'], 1e-2)
        first = out['events'][0]
        self.assertEqual((first['kind'], first['of']), ('impact', 'floor'))
        self.assertLessEqual(abs(first['dt']), 2e-3)
        self.assertEqual(out['matched'] + out['only_a'] + out['only_b'], len(out['events']))
        text = saltus('compare', fine, coarse).stdout
        for words in ('A: ', 'B: ', 'Positions at', 'Hausdorff', 'Events: ', 'only in A'):
            self.assertIn(words, text)

    def test_a_finer_tolerance_moves_impacts_by_no_more_than_it(self):
        a = self.recorded('a.h5', '--tol', '1e-5')
        b = self.recorded('b.h5', '--tol', '1e-10')
        out = json.loads(saltus('compare', a, b, '--json').stdout)
        self.assertLess(out['position'], 1e-4)
        self.assertLess(out['event_time'], 1e-4)
        self.assertGreaterEqual(out['matched'], 8)

    def test_parameters_may_differ_and_scenes_may_not(self):
        a = self.recorded('a.h5', '--tol', '1e-8', '--until', '1.5')
        b = self.recorded('b.h5', '--tol', '1e-8', '--until', '1.5', '--set', 'e=1/4')
        result = saltus('compare', a, b)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('with e=1/4', result.stdout)
        out = json.loads(saltus('compare', a, b, '--json').stdout)
        self.assertAlmostEqual(out['position'], 0.25, 7)  # y = 2 e s - s^2 after the impact at 1 s
        other = self.recorded('c.h5', '--tol', '1e-8', scene=self.scene(BALL.replace('g: 2', 'g: 3'), 'other.yaml'))
        self.refused('compare', a, other, says='they are of different scenes')
        self.assertEqual(saltus('compare', a, other, '--any').returncode, 0)
        self.refused('compare', a, self.recorded('d.h5', '--tol', '1e-4', scene=SCENES / 'double-pendulum.yaml'),
                     '--any', says='not the same')
        self.refused('compare', a, self.folder / 'none.h5', says='none.h5')
        self.refused('compare', a, b, '--match', '-1', says='match is -1')

    def test_the_figure_is_one(self):
        a = self.recorded('a.h5', '--tol', '1e-5')
        b = self.recorded('b.h5', '--tol', '1e-7')
        path = self.folder / 'both.svg'
        result = saltus('compare', a, b, '-o', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, '')
        xml.etree.ElementTree.parse(path)
        self.refused('compare', a, b, '-o', self.folder / 'both.txt', says='both.txt')

    def test_turning_bodies_are_compared(self):
        scene = SCENES / 'bodies-free-rotation.yaml'
        a = self.recorded('a.h5', '--tol', '1e-6', '--until', '2', scene=scene)
        b = self.recorded('b.h5', '--tol', '1e-9', '--until', '2', scene=scene)
        out = json.loads(saltus('compare', a, b, '--json').stdout)
        self.assertLess(out['position'], 1e-4)
        self.assertEqual(out['events'], [])


if __name__ == '__main__':
    unittest.main()
