#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Certificates as a user meets them: text, JSON, exit codes; runs that were stopped, files that do not fit."""
import hashlib
import json
import resource
import signal
import subprocess
import time
import unittest

import test_cli
from test_cli import BALL, PROGRAM, SCENES, saltus, worked


class Certificate(test_cli.Cli):
    def test_a_certified_run_says_so_in_text_and_json(self):
        path = self.folder / 'run.h5'
        words = ('run', SCENES / 'double-pendulum.yaml', '--tol', '1e-6', '-o', path, '--certify')
        text = saltus(*words)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn('run.h5: passes', text.stdout)
        again = saltus(*words, '--json')
        self.assertEqual(again.returncode, 0, again.stderr)
        made = json.loads(again.stdout)['certificate']
        alone = json.loads(saltus('verify', path, '--json').stdout)
        self.assertEqual(made, alone)
        self.assertTrue(made['passed'] and made['complete'])
        self.assertGreater(made['followed'], 0.9 * made['span'])
        items = {item['name']: item for item in made['items']}
        self.assertEqual(len(items), len(made['items']))
        for name in ('momentum', 'positions', 'impact momentum', 'impact law', 'provenance', 'ledger', 'joints'):
            self.assertGreater(items[name]['checked'], 0, name)
            self.assertLessEqual(items[name]['value'], items[name]['limit'])
        scene = subprocess.run([PROGRAM, 'info', str(path), '--scene'], capture_output=True).stdout
        self.assertEqual(made['scene_sha256'], hashlib.sha256(scene).hexdigest())

    def test_steps_that_end_at_one_time_have_their_impacts_each(self):
        # two corners bounce in turn until time stands still: dozens of impacts at one time, in several steps
        scene = SCENES.parent / 'tests' / 'scenes' / 'failing' / 'impacts-in-turn.yaml'
        result = saltus('run', scene, '--tol', '1e-8', '-o', self.folder / 'run.h5', '--certify')
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_certified_run_has_the_middle_of_every_step(self):
        path = self.folder / 'run.csv'
        result = saltus('run', SCENES / 'turning-force.yaml', '--tol', '1e-6', '-o', path, '--certify', '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        steps = json.loads(result.stdout)['steps']
        frames = json.loads(saltus('info', path, '--json').stdout)['states']
        self.assertGreaterEqual(frames, 2 * steps + 1)

    def test_a_stopped_run_has_no_certificate(self):
        path = self.folder / 'run.h5'
        run = subprocess.Popen([PROGRAM, 'run', str(self.scene()), '--step', '1e-7', '-o', str(path), '--certify'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 20
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        worked(run, 0.3)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertIn('no certificate', err)
        self.assertNotIn('passes', out)
        judged = saltus('verify', path)
        self.assertEqual(judged.returncode, 1, judged.stdout)
        self.assertIn('the run itself is not complete, status failed: stopped by SIGINT', judged.stdout)
        self.assertNotIn(': passes', judged.stdout)

    def test_a_file_that_does_not_fit_gets_no_certificate(self):
        for name, size in (('run.csv', 300000), ('run.h5', 3000000)):
            path = self.folder / name
            result = subprocess.run([PROGRAM, 'run', str(self.scene()), '--step', '1e-5', '-o', str(path), '--certify'],
                                    capture_output=True, text=True,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn('File too large', result.stderr)
            self.assertIn('no certificate: the recording does not contain a complete run', result.stderr)
            self.assertNotIn('Certificate', result.stdout)

    def test_a_recording_without_all_steps_is_no_whole_certificate(self):
        path = self.folder / 'run.h5'
        self.assertEqual(saltus('run', self.scene(), '--tol', '1e-6', '--output-dt', '0.7', '-o', path).returncode, 0)
        judged = saltus('verify', path)
        self.assertEqual(judged.returncode, 0, judged.stdout)
        self.assertIn('not all of the time was checked', judged.stdout)

    def test_a_right_run_does_not_fail_for_steps_that_were_not_recorded(self):
        path = self.folder / 'run.h5'
        scene = SCENES / 'machine-woodpecker.yaml'
        words = ('run', scene, '--tol', '1e-8', '--until', '0.3', '-o', path)
        self.assertEqual(saltus(*words).returncode, 0)
        judged = saltus('verify', path)
        self.assertEqual(judged.returncode, 0, judged.stdout)
        self.assertIn('not certified; record with --certify', judged.stdout)
        self.assertRegex(judged.stdout, r'momentum +- +not checked: needs every step')
        made = json.loads(saltus('verify', path, '--json').stdout)
        self.assertFalse(made['every_step'] or made['complete'])
        items = {item['name']: item for item in made['items']}
        for name in ('positions', 'momentum', 'forces', 'slip', 'open contacts'):
            self.assertEqual(items[name]['checked'], 0, name)
            self.assertIsNone(items[name]['value'])
        for name in ('impact law', 'joints', 'friction cone', 'ledger', 'penetration'):
            self.assertGreater(items[name]['checked'], 0, name)
        # what every frame shows alone is judged as before
        other = saltus('verify', path, scene, '--set', 'hM=6e-3')
        self.assertEqual(other.returncode, 1, other.stdout)
        self.assertEqual(saltus(*words, '--certify').returncode, 0)
        self.assertIn(': passes', saltus('verify', path).stdout)

    def test_certify_needs_a_recording_of_every_step(self):
        self.refused('run', self.scene(), '--certify', says='--certify needs a recording: -o FILE')
        for words in (('--every', '2'), ('--output-dt', '0.1')):
            self.refused('run', self.scene(), '-o', self.folder / 'run.h5', '--certify', *words,
                         says=f'--certify cannot go with {words[0]}')

    def test_replaced_parameters_belong_to_the_recording(self):
        path = self.folder / 'run.h5'
        for text in (BALL, BALL.rstrip('\n')):  # a file that does not end with its last line
            self.assertEqual(saltus('run', self.scene(text), '--set', 'e=0.3', '--tol', '1e-6', '-o', path,
                                    '--certify').returncode, 0)
            judged = saltus('verify', path)
            self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)

    def test_the_verdict_states_what_was_claimed_and_granted(self):
        path = self.folder / 'run.h5'
        self.assertEqual(saltus('run', self.scene(), '--tol', '1e-6', '-o', path, '--certify').returncode, 0)
        judged = saltus('verify', path)
        self.assertIn('claimed rtol = 1e-06, atol = 1e-06; granted rtol = 1e-06, atol = 1e-06', judged.stdout)
        self.assertRegex(judged.stdout, r'no contact of separated bodies can have been missed over')
        made = json.loads(saltus('verify', path, '--tol', '1e-15', '--json').stdout)
        self.assertEqual((made['claimed']['rtol'], made['granted']['rtol']), (1e-6, 1e-15))
        self.assertFalse(made['passed'])  # steps of a run at 1e-6 are not that accurate
        self.refused('verify', path, '--tol', '2', says='--tol')

    def test_a_body_that_tunnels_is_found(self):
        path = self.folder / 'run.h5'
        post = ('saltus: 1\ncoordinates: {x: {start: 0, velocity: 100}}\nkinetic: x\'^2/2\n'
                'contacts: [{name: post, gap: "(x - 1.053)^2 - 0.001^2", restitution: 0.5}]\n'
                'simulate: {until: 0.2}\n')
        run = saltus('run', self.scene(post, 'post.yaml'), '--scheme', 'variational', '--step', '1e-3', '-o', path,
                     '--certify')
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertRegex(run.stdout, r'missed contacts +FAILS .* contact post at t = 0.011 s')

    def test_frames_inside_of_steps_do_not_fail_for_dense_output(self):
        path = self.folder / 'run.h5'
        for words in ((), ('--output-dt', '0.01'), ('--every', '1')):
            run = saltus('run', SCENES / 'coulomb-block.yaml', '--tol', '1e-7', *words, '-o', path, '--force')
            self.assertEqual(run.returncode, 0, run.stderr)
            judged = saltus('verify', path)
            self.assertEqual(judged.returncode, 0, judged.stdout)

    def test_another_scene_is_found_or_refused(self):
        path = self.folder / 'run.h5'
        self.assertEqual(saltus('run', self.scene(), '--tol', '1e-6', '-o', path, '--certify').returncode, 0)
        other = saltus('verify', path, self.scene(BALL, 'other.yaml'), '--set', 'e=0.6')
        self.assertEqual(other.returncode, 1)
        self.assertRegex(other.stdout, r'impact law +FAILS')
        self.refused('verify', path, SCENES / 'double-pendulum.yaml', says='cannot be verified')


if __name__ == '__main__':
    unittest.main()
