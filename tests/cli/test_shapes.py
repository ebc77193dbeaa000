#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""What the program says about runs with shapes."""
import os
import subprocess
import unittest

PROGRAM = os.environ['SALTUS_PROGRAM']

FALLING = """saltus: 1
world: {dimension: 3, shapes: [{name: plate, box: {size: [1, 1, 0.01]}}]}
bodies: {b: {density: 1000, shapes: [{name: ball, sphere: {radius: 0.02}}], position: [0, 0, 2]}}
simulate: {until: 0.8, scheme: moreau-jean, step: 0.01}
"""


def run(text, *options):
    done = subprocess.run([PROGRAM, 'run', '-', *options], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Shapes(unittest.TestCase):
    def test_every_step_is_watched_for_passages(self):
        """A ball at 6 m/s goes farther in a step than it and the plate are thick, between two frames."""
        for every in ('1', '1000'):
            code, _, said = run(FALLING, '--every', every)
            self.assertEqual(code, 0, said)
            self.assertEqual(said.count('may pass through each other'), 1, said)
            self.assertIn('shapes ball and plate', said)


if __name__ == '__main__':
    unittest.main()
