#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus lab impact, and what other commands say of impact laws."""
import json
import re
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import PROGRAM, SCENES, Cli, saltus  # noqa: E402,F401

KANE = str(pathlib.Path(SCENES) / 'kane.yaml')
CHAIN = """saltus: 1
coordinates: {x1: {start: -0.1, velocity: 1}, x2: 0, x3: 0}
kinetic: (x1'^2 + x2'^2 + x3'^2)/2
contacts:
  - {name: c1, gap: x2 - x1, restitution: 1}
  - {name: c2, gap: x3 - x2, restitution: 1}
simulate: {until: 1}
"""


class Lab(Cli):
    def laws(self, *arguments):
        out = json.loads(saltus('lab', 'impact', *arguments, '--json').stdout)
        return out, {law['law']: law for law in out['laws']}

    def test_kane_has_all_laws_side_by_side(self):
        out, laws = self.laws(KANE)
        self.assertEqual(out['region'], 'R-reverse')
        for law, change in (('newton', 0.040743904553), ('poisson', -0.009947567369), ('poisson-printed', -0.009853799569),
                            ('energetic', -0.009270438743), ('path-newton', -0.000163335726),
                            ('path-poisson', -0.009929221381)):
            self.assertAlmostEqual(laws[law]['energy_change'], change, delta=1e-11)
            self.assertEqual(laws[law]['creates_energy'], change > 0)
        self.assertEqual(laws['energetic']['phases'].count('|'), 1)
        self.assertIn('reverse', laws['energetic']['phases'])

    def test_an_impact_of_several_contacts_is_taken_from_a_scene(self):
        out, laws = self.laws(self.scene(CHAIN))
        self.assertAlmostEqual(out['time'], 0.1, delta=1e-9)
        self.assertEqual([c['name'] for c in out['contacts']], ['c1', 'c2'])
        # P1 = 1 - v1, P2 = v3 of the chain
        for law, P in (('newton', (4 / 3, 2 / 3)), ('energetic', (1, 1)), ('lzb, linear', (1.130261695065, 0.980032125630)),
                       ('lzb, Hertz', (1.0709523537, 0.9945493146))):
            for a, b in zip(laws[law]['impulses'], P):
                self.assertAlmostEqual(a, b, delta=2e-10)

    def test_later_impacts_can_be_asked_for(self):
        out, _ = self.laws(str(pathlib.Path(SCENES) / 'ball.yaml'), '--impact', '3')
        self.assertAlmostEqual(out['time'], 2.5, delta=1e-8)
        self.assertAlmostEqual(out['U'][0], -0.5, delta=1e-8)

    def test_schemes_say_which_friction_they_have(self):
        words = {line.split()[0]: line for line in saltus('list', 'schemes').stdout.splitlines() if line.strip()}
        for scheme, friction in (('rattle', 'all friction, all laws'), ('schatzman-paoli', 'all friction, all laws'),
                                 ('rk4', 'all slip and bonds, all laws'), ('event-driven', 'all slip and bonds, all laws'),
                                 ('splitting-rkf45-contact', 'curves of slip, all laws'),
                                 ('dg-minus', 'spatial friction, all laws')):
            self.assertIn(friction, words[scheme])

    def test_substituted_steps_are_announced_and_counted(self):
        pin = self.scene("""saltus: 1
coordinates: {x: {velocity: 1}, z: {start: 0.1}}
kinetic: (x'^2 + z'^2)/2
potential: 10*z
contacts: [{name: floor, gap: z, slip: x', friction: {static: 0.4, kinetic: 0.2}}]
simulate: {until: 0.5, step: 0.001}
""")
        for scheme, some in (('dg-minus', True), ('trapezoidal-implicit-end', True), ('rk4', False)):
            done = saltus('run', pin, '--scheme', scheme)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual('friction of contact "floor" is not in its steps' in done.stderr, some)
            counted = re.search(r'Substituted steps: (\d+) of 500 are those of moreau-extrapolated', done.stdout)
            self.assertEqual(counted is not None, some)
            if some:  # it falls for sqrt(0.02) s
                self.assertAlmostEqual(int(counted[1]), 500 - 141, delta=2)

    def test_events_of_dry_friction_are_counted(self):
        pin = self.scene("""saltus: 1
coordinates: {th: {start: 2}}
kinetic: th'^2/2
potential: -9.81*cos(th)
dry_friction: [{name: pin, rate: th', force: 1}]
simulate: {until: 12}
""")
        # seven turns, then it sticks
        self.assertIn('Dry friction of joints began to slip, stuck or turned 8 times.', saltus('run', pin, '--tol', '1e-8', '--verbose').stdout)

    def test_a_law_that_was_replaced_is_in_the_summary(self):
        text = pathlib.Path(KANE).read_text() + 'impacts: {energy: poisson}\n'
        for scheme in ('moreau-jean', 'radau-iia-5', 'dg-minus'):
            out = saltus('run', self.scene(text), '--scheme', scheme, '--step', '1e-5').stdout
            self.assertRegex(out, "another law than the contact's own decided at 1 impact.*0.0407")

    def test_numbers_are_enough(self):
        _, laws = self.laws('--W', '1,0,0,3.5', '--U=-1,1', '--mu', '1', '--e', '1', '--e-T', '1')
        self.assertAlmostEqual(1 + laws['newton']['impulses'][1], 3 / 7, delta=1e-14)

    def test_the_impulse_plane_is_drawn(self):
        path = self.folder / 'plane.svg'
        saltus('lab', 'impact', KANE, '-o', str(path))
        text = path.read_text()
        self.assertEqual(text.count('stroke-dasharray'), 2)  # end of compression, there and in the legend
        for colour in ('rgb(83.529412%,36.862745%,0%)', 'rgb(0%,44.705882%,69.803922%)'):  # Newton's end, the path
            self.assertTrue(colour in text)

    def test_what_makes_no_sense_is_refused(self):
        for arguments, says in ((('--U=-1,1', '--W', '1,2'), 'square'), (('--U=-1,1', '--W', '1,2,3,4'), 'symmetric'),
                                (('--U=-1', '--W', 'one'), 'numbers'), ((self.scene(CHAIN), '--impact', '9'), 'no impact'),
                                ((self.scene(CHAIN), '-o', 'x.svg'), 'one tangent')):
            done = saltus('lab', 'impact', *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(says, done.stderr)

    def test_a_gain_is_reported_with_law_and_parts(self):
        text = saltus('run', KANE, '--scheme', 'adaptive').stdout
        self.assertIn('law newton; normals -0.0184511, friction against the last slip -0.00202695, along the first 0.061222 J',
                      text)
        self.assertIn('impacts can create energy', saltus('check', KANE).stdout)

    def test_friction_against_slip_and_spin(self):
        out = json.loads(saltus('lab', 'friction', 'friction: {curve: 1/(1 + 3*s)}', '--force', '2', '--json').stdout)
        for row in out['slip']:
            self.assertAlmostEqual(row['force'], 2 / (1 + 3 * row['speed']), delta=1e-14)
        out = json.loads(saltus('lab', 'friction', "friction: 1, patch: {radius: 2, rate: a', pressure: hertz}", '--json').stdout)
        row = next(r for r in out['patch'] if r['ratio'] == 0.5)
        self.assertAlmostEqual(row['force'], 0.5522330836388, delta=1e-12)
        self.assertAlmostEqual(row['moment'], 2 * 0.4555922940020, delta=1e-12)
        out = json.loads(saltus('lab', 'friction', 'friction: {along: 0.4, across: 0.2}', '--json').stdout)
        row = out['directions'][3]  # slip at 45 degrees: F = -(mu1^2, mu2^2) / |(mu1, mu2)|
        self.assertAlmostEqual(row['force_1'], -0.16 / 0.2 ** 0.5, delta=1e-14)
        self.assertAlmostEqual(row['force_2'], -0.04 / 0.2 ** 0.5, delta=1e-14)

    def test_friction_is_drawn_and_what_makes_no_sense_is_refused(self):
        path = self.folder / 'law.svg'
        saltus('lab', 'friction', 'friction: {static: 0.4, kinetic: 0.2, speed: 0.1}', '-o', str(path))
        ends = re.findall(r'stroke:rgb\(83\.5\d*%,36\.8\d*%,0%\)[^>]* d="M (\S+) (\S+) L (\S+) (\S+) ?"', path.read_text())
        self.assertTrue(any(x0 == x1 and y0 != y1 for x0, y0, x1, y1 in ends), 'what sticks is a line at no slip')
        for arguments, says in ((('friction: {kinetic: 0.2}',), 'no coefficient of sticking'), ((), 'give a scene'),
                                ((self.scene(CHAIN),), 'no contact has friction'),
                                (('friction: 0.3', '--contact', 'wall'), 'there is no contact "wall"'),
                                (('friction: {static: 0.2, kinetic: 0.4}',), 'kinetic is 0.4, must be at least 0, at most')):
            done = saltus('lab', 'friction', *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(says, done.stderr)

    def test_schemes_and_laws_are_listed(self):
        self.assertIn('stribeck', saltus('list', 'laws').stdout)
        self.assertIn('all laws', saltus('list', 'schemes').stdout)
        self.assertIn('energetic', saltus('list', 'laws').stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
