#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The first screen of saltus run: at most 25 lines, no warnings for shipped scenes, joints and contacts by count and name."""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import BALL, SCENES, Cli, saltus  # noqa: E402

LINES = 25
# scene, arguments that shorten it, joints
SHIPPED = (('woodpecker', (), 0), ('woodpecker', ('--tol', '1e-8'), 0), ('carts', (), 0), ('kane', (), 0), ('painleve-rod', (), 0),
           ('machine-ratchet', ('--until', '0.1'), 2), ('machine-breaker', ('--until', '0.002'), 5), ('machine-slider-crank', (), 3),
           ('machine-cam-follower', ('--until', '0.1'), 1), ('machine-four-bar', (), 1), ('bodies-bricard', ('--until', '0.5'), 6),
           ('bodies-andrews', ('--until', '0.01'), 10), ('contact-turntable', ('--until', '0.1'), 0),
           ('shapes/rover', ('--until', '0.2'), 5), ('shapes/pawl', ('--until', '0.01'), 1), ('shapes/dominoes', ('--until', '0.1'), 0))

DRIVEN = """saltus: 1
bodies:
  crank: {mass: 1, inertia: 1, position: [0.5, 0]}
markers: {pin: {point: [0, 0]}, end: {body: crank, point: [-0.5, 0]}}
joints: [{name: motor, type: revolute, between: [pin, end], drive: {speed: 2}}]
simulate: {until: 0.1, tol: 1e-8}
"""


class Summary(Cli):
    def test_shipped_scenes_fit_a_screen_and_do_not_warn(self):
        for scene, arguments, _ in SHIPPED:
            done = saltus('run', pathlib.Path(SCENES) / f'{scene}.yaml', *arguments)
            with self.subTest(scene=scene):
                self.assertEqual((done.returncode, done.stderr), (0, ''))
                self.assertNotIn('arning', done.stdout)
                self.assertLessEqual(done.stdout.count('\n'), LINES, done.stdout)

    def test_joints_are_counted_not_their_rows(self):
        for scene, arguments, joints in SHIPPED[5:13]:  # mechanisms
            done = saltus('run', pathlib.Path(SCENES) / f'{scene}.yaml', *(arguments or ('--until', '0.01')))
            noun = 'joint' if joints == 1 else 'joints'
            self.assertIn(f', {joints} {noun}, scheme ', done.stdout)
        path = self.folder / 'run.h5'
        out = json.loads(saltus('run', pathlib.Path(SCENES) / 'bodies-bricard.yaml', '--until', '0.01', '-o', path, '--json').stdout)
        self.assertEqual((out['joints'], out['joint_rows']), (6, 30))
        self.assertIn(', 6 joints\n', saltus('info', path).stdout)

    def test_verbose_has_options_limits_work_and_residuals(self):
        ratchet = pathlib.Path(SCENES) / 'machine-ratchet.yaml'
        short, long = (saltus('run', ratchet, '--until', '0.05', *v).stdout for v in ((), ('--verbose',)))
        for words in ('rtol=1e-08', 'Steps limited by: ', 'Work: ', 'Largest residuals of all steps:', 'Output momentum.x = ', 'pawl.angle = '):
            self.assertIn(words, long)
            self.assertNotIn(words, short)
        for line in short.splitlines()[2:]:  # nothing of the first screen is missing but counts of further lines
            self.assertTrue(line in long or '... and ' in line, line)

    def test_velocities_left_to_a_drive_are_a_note(self):
        scene = self.scene(DRIVEN)
        self.assertEqual(saltus('run', scene).stderr, '')
        self.assertIn('note: ', saltus('run', scene, '--verbose').stderr)

    def test_a_start_that_is_moved_beyond_rounding_is_a_warning(self):
        scene = self.scene(BALL.replace('{start: 1, unit: m}', '{start: -0.005, unit: m}').replace('reference: ball\n', ''))
        self.assertIn('warning: ', saltus('run', scene).stderr)

    def test_contacts_of_shapes_have_names_in_every_line(self):
        out = saltus('run', pathlib.Path(SCENES) / 'shapes' / 'pawl.yaml', '--until', '0.01', '--verbose').stdout
        self.assertRegex(out, r'Zeno point: impacts of contact pawl\S* .* on .* accumulate at t = ')
        self.assertIsNone(re.search(r'contact \d+\b', out), out)


if __name__ == '__main__':
    unittest.main()
