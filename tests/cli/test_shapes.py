#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""What the program says about runs with shapes."""
import csv
import json
import math
import os
import pathlib
import subprocess
import tempfile
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

    def test_events_name_the_features_that_touch(self):
        """A can falls flat on a table: eight points of its rim carry it; a ball beside it."""
        scene = """saltus: 1
world: {dimension: 3, shapes: [{name: table, box: {size: [2, 2, 0.2]}}]}
bodies:
  can: {density: 500, position: [0.3, 0, 0.21], shapes: [{cylinder: {radius: 0.1, length: 0.2}}]}
  ball: {density: 500, position: [-0.3, 0, 0.22], shapes: [{name: marble, sphere: {radius: 0.1}}]}
simulate: {until: 0.1, scheme: adaptive, tol: 1e-6}
"""
        code, text, said = run(scene, '--events', '-')
        self.assertEqual(code, 0, said)
        for point in range(1, 9):
            self.assertIn(f'close         can.1 lower rim point {point} on table face 6', text)
        self.assertIn('impact        marble surface on table face 6', text)
        self.assertNotIn('?', text)

    def test_a_can_comes_down_on_a_box_that_is_free(self):
        """Its rim slides with ten times the weight of all: the box holds by friction of all corners together, though not if these
        shared it evenly. Another scheme says where the can is."""
        scene = """saltus: 1
world: {dimension: 3, shapes: [{half-space: {}}]}
materials: {default: {friction: 0.4, restitution: 0.2}}
bodies:
  box: {density: 500, shapes: [{box: {size: [0.4, 0.4, 0.1]}}], position: [0, 0, 0.05]}
  can: {density: 500, shapes: [{cylinder: {radius: 0.05, length: 0.12}}], position: [0.02, 0.01, 0.2], orientation: {axis: [1, 0.3, 0], angle: 0.3}}
outputs: {x: can.x, y: can.y, z: can.z, slip: sqrt(box.x^2 + box.y^2)}
simulate: {until: 0.1455}
"""
        outputs = []
        for how in (('--tol', '1e-7'), ('--scheme', 'moreau-jean', '--step', '1e-5')):
            code, text, said = run(scene, *how, '--json')
            self.assertEqual(code, 0, said)
            outputs.append(json.loads(text)['outputs'])
        for name in 'xyz':
            self.assertAlmostEqual(outputs[0][name], outputs[1][name], delta=5e-6)
        self.assertLess(outputs[0]['slip'], 1e-9)

    def test_costs_are_told_by_kinds_of_shapes_and_by_bodies(self):
        """Two balls and a box on the floor, far from each other but for one ball on the box."""
        scene = """saltus: 1
world: {dimension: 3, shapes: [{half-space: {}}]}
bodies:
  a: {density: 1000, shapes: [{sphere: {radius: 0.1}}], position: [0, 0, 0.1]}
  b: {density: 1000, shapes: [{sphere: {radius: 0.1}}], position: [2, 0, 0.3]}
  c: {density: 1000, shapes: [{box: {size: [0.4, 0.4, 0.2]}}], position: [2, 0, 0.1]}
simulate: {until: 0.2, scheme: moreau-jean, step: 0.01}
"""
        code, text, said = run(scene, '--costs')
        self.assertEqual(code, 0, said)
        self.assertIn('box and half-space: 1 pairs near each other and 4 contacts a step', text)
        self.assertIn('sphere and box: 1 pairs near each other and 1 contacts a step', text)
        self.assertIn('By pair of bodies, the most expensive 3 of 3 pairs:', text)
        self.assertIn('c and world: 4 contacts a step', text)
        code, text, said = run(scene, '--costs', '--json')
        costs = {(c['first'], c['second']): c for c in json.loads(text)['costs']}
        self.assertEqual(costs['box', 'half-space']['contacts'], 4)
        self.assertGreater(costs['sphere', 'half-space']['seconds'], 0)
        bodies = {(c['first'], c['second']): c for c in json.loads(text)['body_costs']}
        self.assertEqual(set(bodies), {('a', 'world'), ('c', 'world'), ('b', 'c')})  # b is far from the floor
        self.assertEqual(bodies['c', 'world']['contacts'], 4)
        self.assertEqual(bodies['b', 'c']['contacts'], 1)
        self.assertAlmostEqual(sum(c['seconds'] for c in bodies.values()), sum(c['seconds'] for c in costs.values()), delta=1e-9)
        code, text, said = run(scene, '--json')
        self.assertNotIn('costs', json.loads(text))

    def test_costs_of_contact_problems_are_counted_by_bodies(self):
        """A ball that lies alone and a column of balls. Few bodies are one problem: each of its contacts has all iterations. Of many
        the lone ball is a problem of its own, which is solved at once, and iterations are those of the column. Counts are the same in every run."""
        def scene(balls):
            column = '\n'.join(f'  s{i}: {{density: 1000, shapes: [{{sphere: {{radius: 0.125}}}}], position: [2, 0, {0.125 + 0.25 * i}]}}'
                               for i in range(balls))
            return f"""saltus: 1
world: {{dimension: 3, shapes: [{{half-space: {{}}}}]}}
materials: {{default: {{friction: 0.5}}}}
bodies:
  a: {{density: 1000, shapes: [{{sphere: {{radius: 0.125}}}}], position: [0, 0, 0.125]}}
{column}
simulate: {{until: 0.2, scheme: moreau-jean, step: 0.01, options: {{warm_start: no}}}}
"""

        def costs(text, *how):
            code, text, said = run(text, '--costs', '--json', *how)
            self.assertEqual(code, 0, said)
            result = json.loads(text)
            self.assertEqual(result['other_iterations'], 0)
            return {(c['first'], c['second']): c['iterations'] for c in result['body_costs'] if c['iterations'] > 0}, result['work']
        column = {('s0', 'world')} | {(f's{i}', f's{i + 1}') for i in range(7)}
        pairs, work = costs(scene(1))
        self.assertGreaterEqual(work['contact_iterations'], work['contact_solves'])
        self.assertEqual(pairs, {pair: work['contact_iterations'] for pair in (('a', 'world'), ('s0', 'world'))})
        pairs, work = costs(scene(8))
        self.assertGreater(work['contact_iterations'], work['contact_solves'])
        self.assertEqual(pairs, {('a', 'world'): work['contact_solves'], **{pair: work['contact_iterations'] for pair in column}})
        self.assertEqual(costs(scene(8))[0], pairs)
        pairs, work = costs(scene(8), '--scheme', 'adaptive', '--tol', '1e-6')
        self.assertEqual(set(pairs), column | {('a', 'world')})
        code, text, said = run(scene(8), '--costs')
        self.assertIn('parts of finding contacts, and of contact problems (contacts times iterations,', text)

    def test_contacts_that_are_closed_but_for_rounding_have_a_gap(self):
        """A box falls on its corner and lies down. Gaps of what carries it are zero to rounding, of either sign, and were NaN where positive; NaN have those
        that acted since the last frame and have left."""
        scene = """saltus: 1
world: {dimension: 3, shapes: [{half-space: {}}]}
materials: {default: {friction: 0.3, restitution: 0.3}}
bodies:
  b: {density: 500, shapes: [{box: {size: [0.3, 0.2, 0.1]}}], position: [0, 0, 0.2], orientation: {axis: [1, 2, 3], angle: 0.3}}
simulate: {until: 1.0, scheme: adaptive, tol: 1e-6}
"""
        with tempfile.TemporaryDirectory() as folder:
            code, _, said = run(scene, '-o', f'{folder}/box.csv')
            self.assertEqual(code, 0, said)
            lines = [line for line in pathlib.Path(folder, 'box.contacts.csv').read_text(encoding='utf-8').splitlines() if not line.startswith('#')]
        rows = list(csv.DictReader(lines))
        positive = 0
        for row in rows:
            gap, height = float(row['gap [m]']), float(row['point_z [m]'])
            positive += gap > 0
            if math.isnan(gap):
                self.assertGreater(2 * height, 1e-12)  # the point is in the middle
            else:
                self.assertLess(abs(gap), 1e-6)  # the tolerance: other corners may be near
                self.assertLessEqual(abs(float(row['velocity [m/s]'])), 10)
        self.assertGreater(positive, 10)
        last = [row for row in rows if row['frame'] == rows[-1]['frame']]
        self.assertEqual(len(last), 4)
        self.assertLess(max(abs(float(row['gap [m]'])) for row in last), 1e-12)
        self.assertFalse(any(math.isnan(float(row['gap [m]'])) for row in last))


if __name__ == '__main__':
    unittest.main()
