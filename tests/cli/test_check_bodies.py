#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus check of scenes with bodies: how the start was closed, what it says of the mechanism, the sketch."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = os.environ.get('SALTUS_PROGRAM', 'build/saltus')
SOURCE = pathlib.Path(os.environ.get('SALTUS_SOURCE', '.')).resolve()

# A crank of 1 m at 0 rad, a rod of 2 m and a slider on the x axis: the slider starts at 3 m.
# `off` lifts the rod off its pins, `reach` is where the slider is written.
CRANK = """saltus: 1
name: crank
parameters: {off: 0, reach: 3, allowed: 0.01}
world: {gravity: [0, -9.81]}
bodies:
  crank: {mass: 1, inertia: 1/12, position: [0.3, 0.4], angle: acos(0.6)}
  rod: {mass: 2, inertia: 2/3, position: [0.6 + (sqrt(4 - 0.64))/2, 0.4 + off], angle: -asin(0.4)}
  slider: {mass: 3, inertia: 1, position: [0.6 + sqrt(4 - 0.64) + reach - 3, 0]}
  ground: {fixed: true, position: [1, -1]}
markers:
  o: {point: [0, 0]}
  a: {body: crank, point: [-0.5, 0]}
  b: {body: crank, point: [0.5, 0]}
  c: {body: rod, point: [-1, 0]}
  d: {body: rod, point: [1, 0]}
  e: {body: slider, point: [0, 0]}
joints:
  - {name: main, type: revolute, between: [o, a]DRIVE}
  - {name: pin, type: revolute, between: [b, c]}
  - {name: wrist, type: revolute, between: [d, e]}
  - {name: guide, type: prismatic, between: [o, e]}
simulate: {until: 1, tol: 1e-8, start_tolerance: allowed}
"""


def saltus(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)


class Bodies(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='saltus-bodies-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def scene(self, drive=''):
        path = self.folder / 'crank.yaml'
        path.write_text(CRANK.replace('DRIVE', drive))
        return path

    def mechanism(self, *words, drive=''):
        result = saltus('check', self.scene(drive), '--json', *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)['mechanism'], result.stderr

    def test_it_says_what_the_mechanism_is(self):
        m, said = self.mechanism()
        self.assertEqual(said, '')
        self.assertEqual((m['dimension'], m['mobility'], m['rows'], m['rank'], m['redundant']),
                         (2, 1, 8, 8, 0))
        self.assertEqual(m['mass'], 6)
        root = 3.36 ** 0.5
        # by hand: 1 kg at (0.3, 0.4), 2 kg at (0.6 + root/2, 0.4), 3 kg at (0.6 + root, 0)
        self.assertAlmostEqual(m['centre'][0], (0.3 + 1.2 + root + 1.8 + 3 * root) / 6, 14)
        self.assertAlmostEqual(m['centre'][1], (0.4 + 0.8) / 6, 14)
        self.assertEqual(m['momentum'], [0, 0])
        self.assertEqual([b['kind'] for b in m['bodies']], ['free', 'free', 'free', 'fixed'])
        self.assertEqual([j['type'] for j in m['joints']],
                         ['revolute', 'revolute', 'revolute', 'prismatic'])
        self.assertAlmostEqual(m['joints'][3]['position'], 0.6 + root, 14)
        for joint in m['joints']:
            self.assertLess(joint['defect']['metres'], 1e-15)
            self.assertLess(joint['defect']['radians'], 1e-15)

    def test_the_start_is_closed_by_the_least_movement(self):
        m, said = self.mechanism('--set', 'off=0.004')
        self.assertIn('warning', said)
        before = {j['name']: j['defect_written']['metres'] for j in m['joints']}
        self.assertAlmostEqual(before['pin'], 0.004, 12)
        self.assertAlmostEqual(before['wrist'], 0.004, 12)
        for joint in m['joints']:
            self.assertLess(joint['defect']['metres'], 1e-12)
        moved = {b['name']: b['moved_metres'] for b in m['bodies']}
        self.assertEqual(moved['ground'], 0)
        # the rod comes back most of the way, whatever the others do
        self.assertGreater(moved['rod'], 0.002)
        self.assertLessEqual(max(moved.values()), 0.005)

    def test_text_names_defects_before_and_after(self):
        out = saltus('check', self.scene(), '--set', 'off=0.004').stdout
        self.assertIn('joint pin: revolute', out)
        self.assertIn('open by 0.004 m and 0 rad as written', out)
        self.assertIn('mobility: 1 degree of freedom: 9 velocities, 8 rows of joints of rank 8, 0 redundant',
                      out)
        self.assertIn('bodies: 6 kg that move, centre of mass (', out)
        self.assertIn('moved by 0.00', out)
        self.assertIn('energy at the start: kinetic 0 J', out)
        self.assertIn('body ground: fixed, at (1, -1) m', out)

    def test_velocities_that_nobody_wrote_follow_the_drive(self):
        m, said = self.mechanism(drive=', drive: {speed: 2}')
        self.assertEqual(m['mobility'], 0)
        self.assertEqual(said, '')  # no warning: the scene leaves them to the drive
        # the crank turns by 2 rad/s: its centre, 0.5 m from the pin, by 1 m/s across (0.6, 0.8); the slider
        # at x = cos + sqrt(4 - sin^2) by x' = -2 sin (1 + cos / sqrt(4 - sin^2)), the rod between its ends
        root = 3.36 ** 0.5
        crank = (-0.8, 0.6)
        slider = -2 * 0.8 * (1 + 0.6 / root)
        rod = ((-1.6 + slider) / 2, 0.6)
        momentum = (crank[0] + 2 * rod[0] + 3 * slider, crank[1] + 2 * rod[1])
        self.assertAlmostEqual(m['momentum'][0], momentum[0], 10)
        self.assertAlmostEqual(m['momentum'][1], momentum[1], 10)

    def test_momentum_and_open_joints_are_recorded(self):
        record = self.folder / 'run.csv'
        result = saltus('run', self.scene(), '-o', record, '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        out = json.loads(result.stdout)
        end = out['outputs']
        v, q = out['v'], out['q']
        # sums over the bodies, by hand
        self.assertAlmostEqual(end['momentum.x'], v["crank.x'"] + 2 * v["rod.x'"] + 3 * v["slider.x'"], 12)
        self.assertAlmostEqual(end['momentum.y'], v["crank.y'"] + 2 * v["rod.y'"] + 3 * v["slider.y'"], 12)
        spin = v["crank.angle'"] / 12 + v["rod.angle'"] * 2 / 3 + v["slider.angle'"]
        for body, mass in (('crank', 1), ('rod', 2), ('slider', 3)):
            spin += mass * (q[body + '.x'] * v[body + ".y'"] - q[body + '.y'] * v[body + ".x'"])
        self.assertAlmostEqual(end['angular_momentum.z'], spin, 11)
        self.assertLess(end['joints.open'], 1e-10)
        self.assertLess(end['joints.turned'], 1e-10)
        # joints, by the coordinates of their bodies
        self.assertAlmostEqual(end['main.angle'], q['crank.angle'], 14)
        self.assertAlmostEqual(end["pin.angle'"], v["rod.angle'"] - v["crank.angle'"], 14)
        self.assertAlmostEqual(end['guide.position'], q['slider.x'], 14)
        self.assertAlmostEqual(end["guide.position'"], v["slider.x'"], 12)
        self.assertNotIn('guide.angle', end)
        text = record.read_text()
        for name in ('momentum.x', 'angular_momentum.z', 'joints.open', 'wrist.angle', "guide.position'"):
            self.assertIn(name, text)

    def test_an_open_joint_is_refused_by_name_with_its_gap(self):
        result = saltus('check', self.scene(), '--set', 'off=0.1')
        self.assertEqual(result.returncode, 2)
        self.assertIn('joint "pin"', result.stderr)
        self.assertIn('allowed is 0.01', result.stderr)

    def test_a_contradicting_joint_is_refused_by_name_with_the_gap_it_leaves(self):
        scene = self.folder / 'short.yaml'
        # two rods of 1 m between pins that are 3 m apart, stretched and bent
        scene.write_text("""saltus: 1
parameters: {bend: 0}
bodies:
  left: {mass: 1, inertia: 1, position: [0.5*cos(bend), 0.5*sin(bend)], angle: bend}
  right: {mass: 1, inertia: 1, position: [3 - 0.5*cos(bend), 0.5*sin(bend)], angle: -bend}
markers:
  a: {point: [0, 0]}
  b: {body: left, point: [-0.5, 0]}
  c: {body: left, point: [0.5, 0]}
  d: {body: right, point: [-0.5, 0]}
  e: {body: right, point: [0.5, 0]}
  f: {point: [3, 0]}
joints:
  - {name: one, type: revolute, between: [a, b]}
  - {name: two, type: revolute, between: [c, d]}
  - {name: three, type: revolute, between: [e, f]}
simulate: {until: 1, start_tolerance: 3}
""")
        result = saltus('check', scene)
        self.assertEqual(result.returncode, 2)
        self.assertIn('joints "one", "two" and "three" contradict each other', result.stderr)
        result = saltus('check', scene, '--set', 'bend=1')
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r'joint "(one|two|three)" cannot be closed')
        # the least sum of squares shares 1 m among three joints
        self.assertIn('at best it stays open by 0.333333 m', result.stderr)

    def test_the_sketch_is_a_picture_with_the_names(self):
        for scene, word in ((SOURCE / 'scenes' / 'body-slider-crank.yaml', 'slider'), (self.scene(), 'rod')):
            path = self.folder / 'start.svg'
            result = saltus('check', scene, '--sketch', path, '--force')
            self.assertEqual(result.returncode, 0, result.stderr)
            picture = xml.etree.ElementTree.parse(path).getroot()
            self.assertTrue(picture.tag.endswith('svg'), word)
            self.assertGreater(len(list(picture.iter())), 50)

    def test_a_sketch_needs_bodies_and_a_format(self):
        ball = SOURCE / 'scenes' / 'ball.yaml'
        result = saltus('check', ball, '--sketch', self.folder / 'x.svg')
        self.assertEqual(result.returncode, 2)
        self.assertIn('has no bodies', result.stderr)
        result = saltus('check', self.scene(), '--sketch', self.folder / 'x.gif')
        self.assertEqual(result.returncode, 2)
        self.assertIn('.svg, .pdf or .png', result.stderr)
        self.assertEqual(result.stdout, '')
        result = saltus('check', self.scene(), '--sketch', '/nowhere/x.svg')
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot be written', result.stderr)


if __name__ == '__main__':
    unittest.main()
