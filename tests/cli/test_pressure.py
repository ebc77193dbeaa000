#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The program under pressure: signals, times at the edge of the numbers, full disks, hostile names."""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

import test_cli
from test_cli import BALL, PROGRAM, SOURCE, saltus, worked

# Processor time after a signal, of what is obeyed within 0.2 s; sanitizers are up to eight times slower.
STALL_LIMIT = 2.0


def children():
    """Processor time of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Signals(test_cli.Cli):
    def stop(self, words, number, after=0.15):
        """Starts the program, sends the signal; exit code, processor time until the end, both outputs."""
        before = children()
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        used = worked(process, after)
        if process.poll() is not None:
            self.fail(f'it ended before the signal: {process.communicate()}')
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        process.stdout.close()
        process.stderr.close()
        return process.returncode, children() - before - used, out, err

    def test_dense_output_is_interrupted_with_the_last_state_recorded(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            for name in ('run.h5', 'run.csv'):
                path = self.folder / name
                words = ('run', self.scene(), '--tol', '1e-6', '--output-dt', '1e-12', '-o', path)
                got, seconds, out, err = self.stop(words, number)
                self.assertEqual(got, code, err)
                self.assertLess(seconds, STALL_LIMIT)
                at = re.search(r'stopped at t = (\S+)', err)
                self.assertTrue(at, err)
                self.assertIn('then stopped', out)
                info = json.loads(saltus('info', path, '--json').stdout)
                name = {130: 'SIGINT (Ctrl-C)', 143: 'SIGTERM'}[code]
                self.assertIn(f'failed: stopped by {name} at t = ', info['status'])
                self.assertEqual(info['t_last'], float(at.group(1)))

    def test_a_run_with_steps_is_interrupted_with_the_last_state_recorded(self):
        path = self.folder / 'run.csv'
        words = ('run', self.scene(), '--step', '1e-8', '--every', '100000007', '-o', path)
        code, seconds, _, err = self.stop(words, signal.SIGTERM)
        self.assertEqual(code, 143, err)
        self.assertLess(seconds, STALL_LIMIT)
        t = float(re.search(r'stopped at t = (\S+)', err).group(1))
        self.assertGreater(t, 0)
        rows = [line for line in path.read_text().splitlines() if line[0].isdigit()]
        self.assertEqual(len(rows), 2)
        self.assertEqual(float(rows[-1].split(',')[0]), t)

    def test_every_command_ends_at_once(self):
        many = SOURCE / 'tests/problems'
        for words in (('study', 'work-precision'), ('study', 'converge', 'ball', '--scheme', 'moreau-jean',
                                                    '--steps', '90000001,100000000'),
                      ('bench', 'solvers', many), ('run', 'ball', '--step', '1e-9')):
            for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                got, seconds, _, err = self.stop(words, number)
                self.assertEqual(got, code, (words, err))
                self.assertLess(seconds, STALL_LIMIT)

    def test_a_second_signal_ends_it_whatever_it_does(self):
        # the reader at the other end of the pipe is asleep, so the table of events cannot be written
        process = subprocess.Popen([PROGRAM, 'run', str(self.scene()), '--step', '1e-5', '--set', 'e=1',
                                    '--set', 'g=2e8', '--events', '-'], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        worked(process, 0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)  # its reader sleeps for ever
        process.stdout.close()
        process.stderr.close()


class Times(test_cli.Cli):
    def test_a_step_below_the_resolution_of_time_is_refused(self):
        scene = self.scene()
        self.refused('run', scene, '--step', '1e-20', says='the step 1e-20 s is below the resolution of time')
        self.refused('run', scene, '--step', '1', '--until', '1e300', says='below the resolution of time')
        self.refused('run', scene, '--tol', '1e-6', '--output-dt', '1e-20',
                     says='1e-20 s is below the resolution of time')
        late = self.scene(BALL.replace('until: 5', 'start: 1e6, until: 1000003'))
        self.refused('run', late, '--step', '1e-11', says='at t = 1000003 s')
        self.assertEqual(saltus('run', late, '--step', '1e-3').returncode, 0)

    def test_ends_at_the_edge_of_the_numbers_run_or_are_refused(self):
        scene = self.scene(BALL.replace('reference: ball\n', ''))
        for end in ('0', '-1', 'nan', 'inf', '-inf', '1e400', ''):
            self.refused('run', scene, f'--until={end}', says='the end' if end in ('0', '-1') else '--until is')
        for words in (('--until', '1e-30', '--step', '1e-32'), ('--until', '1e-30', '--tol', '1e-6'),
                      ('--until', '1e-12', '--tol', '1e-6'), ('--until', '1e-6', '--tol', '1e-6'),
                      ('--until', '1e-12', '--scheme', 'moreau-jean', '--tol', '1e-6'),
                      ('--until', '1e-9', '--scheme', 'radau-iia-5', '--step', '1e-10')):
            result = saltus('run', scene, *words, '--json', timeout=60)
            if result.returncode != 0:
                self.assertEqual(result.returncode, 2, (words, result.stderr))
                self.assertIn('the run lasts 1e-30 s', result.stderr)
                continue
            out = json.loads(result.stdout)
            t = float(words[1])
            self.assertEqual(out['t'], t)
            self.assertGreater(out['steps'], 0)
            self.assertAlmostEqual(out['v']["y'"] / (-2 * t), 1, 9)
            self.assertAlmostEqual(out['q']['y'], 1 - t * t, 15)

    def test_steps_and_frames_longer_than_the_run_are_one(self):
        out = json.loads(saltus('run', 'ball', '--until', '1', '--step', '7', '--json').stdout)
        self.assertEqual((out['steps'], out['t']), (1, 1.0))
        path = self.folder / 'run.csv'
        result = saltus('run', 'ball', '--until', '0.5', '--tol', '1e-6', '--output-dt', '7', '-o', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(saltus('info', path, '--json').stdout)['states'], 2)

    def test_a_fixed_step_run_does_not_know_the_unit_of_time(self):
        # t in units of 2^-100 s: every product is the same up to a power of two, so bits agree
        scale = 2.0 ** -100
        text = BALL.replace('reference: ball\n', '')
        slow = json.loads(saltus('run', self.scene(text), '--json').stdout)
        fast = json.loads(saltus('run', self.scene(text), '--set', f'g={2 / scale**2!r}', '--until',
                                 repr(5 * scale), '--step', repr(0.01 * scale), '--json').stdout)
        self.assertEqual(fast['steps'], slow['steps'])
        self.assertEqual(fast['q'], slow['q'])
        self.assertEqual(fast['v']["y'"] * scale, slow['v']["y'"])
        self.assertEqual(fast['impacts'], slow['impacts'])


class Files(test_cli.Cli):
    def states(self, path):
        return json.loads(saltus('info', path, '--json').stdout)['states']

    def test_two_runs_do_not_share_a_recording(self):
        scene = self.scene()
        link = self.folder / 'link.h5'
        link.symlink_to(self.folder / 'run.h5')
        for name, other in (('run.h5', 'run.h5'), ('run.h5', 'link.h5'), ('run.csv', 'run.csv')):
            path = self.folder / name
            first = subprocess.Popen([PROGRAM, 'run', str(scene), '--step', '1e-8', '--every', '1000', '-o',
                                      str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(first.kill)
            deadline = time.monotonic() + 20
            while not path.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            worked(first, 0.15)
            self.refused('run', scene, '-o', self.folder / other,
                         says=f'{other}: another run is recording to this file')
            first.terminate()
            first.communicate(timeout=20)
            self.assertEqual(first.returncode, 143)
            self.assertGreater(self.states(path), 0)
            # the lock has gone with the run, a killed one included
            self.assertEqual(saltus('run', scene, '-o', path).returncode, 0)
            self.assertEqual(self.states(path), 501)
        self.assertEqual(sorted(f.name for f in self.folder.iterdir()),
                         ['link.h5', 'run.csv', 'run.events.csv', 'run.h5', 'scene.yaml'])

    def test_a_killed_run_leaves_no_lock_behind(self):
        path = self.folder / 'run.h5'
        first = subprocess.Popen([PROGRAM, 'run', str(self.scene()), '--step', '1e-8', '--every', '1000', '-o',
                                  str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        worked(first, 0.15)
        first.kill()
        first.communicate()
        self.assertEqual(saltus('run', self.scene(), '-o', path).returncode, 0)
        self.assertEqual(self.states(path), 501)
        self.assertFalse((self.folder / 'run.h5.lock').exists())

    def test_only_recordings_are_replaced(self):
        scene = self.scene()
        for name in ('run.h5', 'run.csv'):
            path = self.folder / name
            path.write_text('a thesis')
            self.refused('run', scene, '-o', path, says=f'{name}: is no recording and is not replaced')
            self.assertEqual(path.read_text(), 'a thesis')
            self.assertEqual(saltus('run', scene, '-o', path, '--force').returncode, 0)
            self.assertEqual(self.states(path), 501)
            self.assertEqual(saltus('run', scene, '--step', '0.1', '-o', path).returncode, 0)
            self.assertEqual(self.states(path), 51)
        events = self.folder / 'other.events.csv'
        events.write_text('t,remarks\n')
        self.refused('run', scene, '-o', self.folder / 'other.csv', says='other.events.csv: is no recording')
        self.assertFalse((self.folder / 'other.csv').exists())
        self.assertEqual(events.read_text(), 't,remarks\n')
        foreign = self.folder / 'table.csv'
        foreign.write_text('t,y\n0,1\n')  # a table, but not of ours
        self.refused('run', scene, '-o', foreign, says='is no recording')

    def test_the_events_do_not_go_where_the_recording_is(self):
        for events in ('run.csv', 'run.events.csv'):
            self.refused('run', self.scene(), '-o', self.folder / 'run.csv', '--events', self.folder / events,
                         says='give --events another name')

    def test_a_large_recording_is_announced(self):
        for name in ('run.h5', 'run.csv'):
            process = subprocess.Popen([PROGRAM, 'run', str(self.scene()), '--step', '1e-7', '-o',
                                        str(self.folder / name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
            worked(process, 0.15)
            process.terminate()
            err = process.communicate(timeout=20)[1]
            size = re.search(r'warning: .* will have 5e\+07 states and take about (\S+) GB', err)
            self.assertTrue(size, err)
            # at least t, y and y', at most all columns of a table with 25 letters each
            self.assertTrue(1.2 <= float(size.group(1)) <= 50, err)
        quiet = saltus('run', self.scene(), '-o', self.folder / 'small.h5')
        self.assertEqual(quiet.stderr, '')

    def limited(self, *words, size):
        """The program where no file may have more bytes, as under ulimit -f."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, preexec_fn=limit)

    def test_what_fits_of_a_table_is_kept(self):
        path = self.folder / 'run.csv'
        result = self.limited('run', self.scene(), '--step', '1e-4', '-o', path, size=200000)
        self.assertEqual(result.returncode, 1, result.stderr)
        reported = re.search(r'File too large; the recording holds everything up to t = (\S+) s', result.stderr)
        self.assertTrue(reported, result.stderr)
        self.assertIn('only up to t =', result.stdout)
        self.assertLessEqual(path.stat().st_size, 200000)
        info = json.loads(saltus('info', path, '--json').stdout)
        self.assertGreater(info['states'], 500)  # 200 kB are more than 500 lines
        self.assertAlmostEqual(info['t_last'], float(reported.group(1)), 8)
        self.assertEqual(saltus('plot', path, '-o', self.folder / 'run.svg').returncode, 0)

    def test_a_table_without_room_for_a_row_is_removed(self):
        path = self.folder / 'run.csv'
        result = self.limited('run', self.scene(), '--step', '1e-4', '-o', path, size=600)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn('nothing was kept and the file is removed', result.stderr)
        self.assertNotIn('draws it', result.stdout)
        self.assertFalse(path.exists())
        self.assertFalse((self.folder / 'run.events.csv').exists())

    def test_limits_of_files_are_messages_and_not_signals(self):
        path = self.folder / 'run.h5'
        result = self.limited('run', self.scene(), '--step', '1e-4', '-o', path, size=100000)
        self.assertIn(result.returncode, (1, 2), result.stderr)
        self.assertIn('File too large', result.stderr)
        self.assertNotIn('draws it', result.stdout)
        result = self.limited('run', self.scene(), '--events', self.folder / 'events.csv', '--set', 'e=1',
                              '--set', 'g=8e4', '--step', '1e-3', size=4096)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn('events.csv could not be written: File too large', result.stderr)
        self.assertEqual(saltus('run', self.scene(), '-o', self.folder / 'good.h5').returncode, 0)
        for kind in ('svg', 'pdf', 'png'):
            result = self.limited('plot', self.folder / 'good.h5', '-o', self.folder / f'figure.{kind}', size=4096)
            self.assertIn(result.returncode, (1, 2), (kind, result.stderr))
            self.assertIn(f'figure.{kind}', result.stderr)

    def test_a_full_standard_output_is_reported(self):
        if not os.path.exists('/dev/full'):
            self.skipTest('there is no /dev/full')
        for words in (('run', self.scene()), ('run', self.scene(), '--json'), ('list', 'schemes'), ('--help',),
                      ('check', self.scene())):
            with open('/dev/full', 'w') as full:
                result = subprocess.run([PROGRAM, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode, 1, words)
            self.assertIn('the standard output could not be written: No space left on device', result.stderr)


class Names(test_cli.Cli):
    """Names come from anywhere: what steers a terminal is shown, not sent."""
    ESCAPES = '\x1b]0;title\x07\x1b[2J\x9b31m\x7f'  # title, clear, and the eight-bit form of a colour

    def clean(self, text):
        found = re.search(r'[^\n\t -~\xa0-\U0010ffff]', text)
        self.assertIsNone(found, repr(text[max(0, found.start() - 40):][:100]) if found else '')

    def hostile(self):
        quoted = self.ESCAPES.replace('\x1b', '\\e').replace('\x07', '\\a').replace('\x9b', '\\x9b').replace(
            '\x7f', '\\x7f')
        text = BALL.replace('a ball', f'"{quoted}\\nsaltus: all is well é 球"').replace(
            'name: floor', f'name: "floor {quoted}\\nit"').replace('unit: m', f'unit: "m{quoted}"')
        return self.scene(text.replace('reference: ball\n', ''))

    def test_what_is_printed_is_visible(self):
        scene = self.hostile()
        h5, csv = self.folder / 'run.h5', self.folder / 'run.csv'
        for words in (('check', scene), ('check', scene, '--json'), ('run', scene, '-o', h5),
                      ('run', scene, '-o', csv, '--json'), ('run', scene, '--tol', '1e-6', '--events', '-'),
                      ('info', h5), ('info', csv), ('info', h5, '--json'), ('info', h5, '--events'),
                      ('info', h5, '--events', '--csv'), ('info', h5, '--events', '--json'),
                      ('run', scene, '--events', self.folder / 'e.csv'), ('plot', h5, '-o', self.folder / 'f.svg'),
                      ('run', scene, '--set', f'g=log({self.ESCAPES})'), ('run', f'no{self.ESCAPES}.yaml'),
                      ('run', scene, '--scheme', self.ESCAPES), ('run', scene, '-o', f'{self.ESCAPES}.txt'),
                      (self.ESCAPES,), ('info', f'{self.ESCAPES}.h5'), ('solve', f'{self.ESCAPES}.dat')):
            result = saltus(*words)
            self.clean(result.stdout)
            self.clean(result.stderr)
            self.assertNotIn('\nsaltus: all is well', result.stdout)
            if '--json' in words and result.returncode == 0:
                json.loads(result.stdout)
        summary = saltus('run', scene).stdout
        self.assertIn('\\x1b]0;title\\x07\\x1b[2J', summary)
        self.assertIn('é 球', summary)  # letters are letters
        self.assertEqual(json.loads(saltus('check', scene, '--json').stdout)['name'],
                         self.ESCAPES + '\nsaltus: all is well é 球')
        for name in ('run.csv', 'run.events.csv', 'e.csv'):
            self.clean((self.folder / name).read_text().replace('\\e', ''))
        xml.etree.ElementTree.parse(self.folder / 'f.svg')

    def test_a_scene_comes_back_as_it_was(self):
        scene = self.scene(BALL.replace('\n', '\r\n') + '# é 球\r\n')
        path = self.folder / 'run.h5'
        self.assertEqual(saltus('run', scene, '-o', path).returncode, 0)
        out = subprocess.run([PROGRAM, 'info', str(path), '--scene'], capture_output=True).stdout
        self.assertEqual(out, scene.read_bytes())


if __name__ == '__main__':
    unittest.main()
