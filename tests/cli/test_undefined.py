#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Formulas without a value, and the memory of long runs."""
import json
import os
import re
import subprocess
import unittest

import test_cli
from test_cli import BALL, PROGRAM, SANITIZED, SOURCE, saltus, some


class Undefined(test_cli.Cli):
    """A formula without a value is named, with its text and the values; no NaN leaves the program."""
    FREE = BALL.replace('reference: ball\n', '')

    def schemes(self):
        return [s['name'] for s in json.loads(saltus('list', 'schemes', '--json').stdout)['schemes']]

    def test_formulas_undefined_at_the_start_are_refused(self):
        cases = ((self.FREE.replace('m*g*y', 'log(-1)'), 'the potential, log(-1), is nan at t = 0 s, y = 1 m'),
                 (self.FREE.replace('m*g*y', 'log(y - 2)'), 'the potential, log(y - 2), is nan'),
                 (self.FREE.replace('m*g*y', 'm*g*sqrt(y - 1)'), 'the force on coordinate "y" is infinite at the start'),
                 (self.FREE.replace('gap: y', 'gap: acos(y + 1)'),
                  'scene.yaml:8:24: the gap of contact "floor" is undefined at the start'),
                 (self.FREE.replace("m/2*y'^2", "m/2*y'^2/(y - 1)"), 'the mass matrix is not positive definite'),
                 (self.FREE.replace('contacts:', 'forces: {y: asin(2*y)}\ncontacts:'),
                  'the force on coordinate "y" is undefined at the start'))
        for text, says in cases:
            scene = self.scene(text)
            self.refused('check', scene, says=says)
            self.refused('run', scene, says=says)
            self.refused('run', scene, '--tol', '1e-6', says=says)

    def test_a_motion_that_an_explicit_method_makes_up_is_an_error(self):
        # x'' = -1e4 x': steps of 10 ms multiply the speed by some 1e8 each, where it has to vanish
        scene = self.scene("saltus: 1\nname: damper\ncoordinates: {x: {velocity: 1}}\nkinetic: x'^2/2\n"
                           "forces: {x: -1e4*x'}\nsimulate: {until: 1, step: 1e-2}\n")
        result = saltus('run', scene, '--scheme', 'splitting-rkf45', '--json')
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r'the motion diverges: by t = \S+ s its energy has grown by \S+ J')
        out = json.loads(result.stdout)
        self.assertLess(out['t'], 0.1)
        result = saltus('run', scene, '--scheme', 'moreau-jean', '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        # the midpoint rule: (1 - 50) / (1 + 50) a step
        self.assertAlmostEqual(json.loads(result.stdout)['v']["x'"], (49 / 51)**100, delta=1e-13)

    def test_a_motion_that_diverges_in_stiff_springs_is_an_error(self):
        # above the stability limit of the chain: 99 % of the 1e11 J are potential energy
        result = saltus('run', SOURCE / 'scenes' / 'machine-valve-train.yaml', '--scheme', 'trapezoidal-implicit-mean',
                        '--step', '1e-3', '--until', '0.02')
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn('the motion diverges', result.stderr)

    def test_a_formula_that_becomes_undefined_is_named_by_every_scheme(self):
        # log has a derivative where it has no value, so forces stay finite; sqrt takes them along
        for potential in ('m*g*y + 1e-3*log(y - 0.5)', 'm*g*y + 1e-3*sqrt(y - 0.5)'):
            scene = self.scene(self.FREE.replace('m*g*y', potential))
            for scheme in some(self.schemes()):
                path = self.folder / 'run.h5'
                result = saltus('run', scene, '--scheme', scheme, '--step', '0.01', '-o', path, '--json')
                what = (scheme, result.stderr)
                if result.returncode == 2 and 'scheme' in result.stderr:
                    continue  # it does not run such a scene at all
                self.assertEqual(result.returncode, 1, what)
                self.assertIn(potential, result.stderr, what)
                self.assertRegex(result.stderr, r'is -?(nan|inf) at t = \S+ s, y = ', what)
                at = float(re.search(r'is -?(nan|inf) at t = (\S+) s', result.stderr).group(2))
                # y = 1 - t^2 = 0.5 at t = 0.7071, but for the pull of the small term
                self.assertLess(abs(at - 0.707), 0.03, what)
                out = json.loads(result.stdout)
                self.assertIsNotNone(out['energy']['end'], what)
                self.assertIsNotNone(out['ledger']['remainder'], what)
                csv = self.folder / 'run.csv'
                saltus('run', scene, '--scheme', scheme, '--step', '0.01', '-o', csv)
                numbers = [line for line in csv.read_text().splitlines() if line[0].isdigit()]
                self.assertGreater(len(numbers), 2)
                self.assertNotIn('nan', ''.join(numbers))
                self.assertNotIn('inf', ''.join(numbers))

    def test_an_energy_that_overflows_is_no_result(self):
        scene = self.scene(self.FREE.replace('start: 1,', 'start: 1, velocity: 1e160,'))
        self.refused('run', scene, '--scheme', 'moreau-jean', '--step', '0.01', says='kinetic energy')


@unittest.skipIf(SANITIZED, 'what a sanitizer keeps is counted too')
class Memory(test_cli.Cli):
    def peak(self, *words):
        """Largest resident memory of a run, bytes."""
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, _ = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024, json.loads(out)

    def test_events_are_kept_only_for_those_who_ask(self):
        words = ('run', self.scene(BALL.replace('reference: ball\n', '')), '--set', 'e=1', '--set', 'g=2e5',
                 '--step', '1e-3', '--json')
        short, few = self.peak(*words, '--until', '1')
        much, many = self.peak(*words, '--until', '2400')
        self.assertGreater(many['impacts'], 3e5)
        self.assertGreater(many['impacts'], 100 * few['impacts'])
        # a list of that many events would take 20 MB and more beyond what this program here has
        self.assertLess(much - short, 4e6)
        asked, _ = self.peak(*words, '--until', '2400', '--events', self.folder / 'events.csv')
        self.assertGreater(asked - much, 1e7)  # so the measurement can see it


if __name__ == '__main__':
    unittest.main()
