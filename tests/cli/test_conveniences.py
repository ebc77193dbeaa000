#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Outputs and events of a scene, choices of figures, and other conveniences, as a user meets them."""
import csv
import hashlib
import json
import math
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import BALL, PROGRAM, SCENES, Cli, saltus, worked  # noqa: E402

OWN = BALL.replace('simulate: {until: 5, scheme: moreau-jean, step: 0.01}', """outputs:
  depth: {formula: 1 - y, unit: m}
  power: -m*g*y'
events:
  halfway: y - 1/5
  top: {formula: y', direction: falling}
simulate: {until: 2.4, tol: 1e-9}""")

# y = 1/5 in the flights 1 - t^2 and (t-1) - (t-1)^2; tops at 1.5 and 2.25
HALFWAY = [math.sqrt(0.8), 1.5 - 0.5 * math.sqrt(0.2), 1.5 + 0.5 * math.sqrt(0.2)]
TOPS = [1.5, 2.25]


class Observables(Cli):
    def test_outputs_and_events_are_counted_and_listed(self):
        out = json.loads(saltus('run', self.scene(OWN), '--json').stdout)
        self.assertEqual(out['own_events'], {'halfway': {'rise': 1, 'fall': 2}, 'top': {'rise': 0, 'fall': 2}})
        self.assertAlmostEqual(out['outputs']['depth'], 1 - out['q']['y'], delta=1e-15)
        text = saltus('run', self.scene(OWN)).stdout
        self.assertIn('Event halfway: 3 times, 1 rising and 2 falling.', text)
        self.assertIn('Event top: 2 times.', text)
        self.assertIn('Output depth = ', text)
        check = saltus('check', self.scene(OWN)).stdout
        self.assertIn('output depth: 0 m at the start', check)
        self.assertIn('event halfway: 0.8 at the start', check)

    def test_a_recording_holds_them_in_both_formats(self):
        for name in ('run.h5', 'run.csv'):
            path = self.folder / name
            self.assertEqual(saltus('run', self.scene(OWN), '-o', path).returncode, 0)
            info = saltus('info', path).stdout
            self.assertRegex(info, r'output depth +from 0 to 1 m')
            self.assertRegex(info, r'event halfway +3 times')
            events = json.loads(saltus('info', path, '--events', '--json').stdout)
            own = [(e['contact_name'], e['t']) for e in events if e['kind'] in ('rise', 'fall')]
            for found, wanted in ((HALFWAY, 'halfway'), (TOPS, 'top')):
                times = [t for name, t in own if name == wanted]
                self.assertEqual(len(times), len(found))
                for t, exact in zip(times, found):
                    self.assertAlmostEqual(t, exact, delta=1e-12)
        with open(self.folder / 'run.csv') as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith('#')))
        for row in rows:
            self.assertAlmostEqual(float(row['depth [m]']), 1 - float(row['y [m]']), delta=1e-15)


WALL = """saltus: 1
coordinates: {x: {start: 1}}
kinetic: x'^2/2
potential: x^2/2
contacts: [{name: wall, gap: x, restitution: 1}]
simulate: {until: 30, tol: 1e-6}
"""


class Signals(Cli):
    def test_the_search_for_events_ends_with_the_run(self):
        words = ['run', str(self.scene(OWN)), '--output-dt', '1e-9']
        run = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        worked(run, 0.3)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=20)
        self.assertEqual(run.returncode, 143)


class GlobalErrors(Cli):
    """An oscillator that rebounds from a wall without loss: x = |cos t|."""

    def run_wall(self, *words):
        result = saltus('run', self.scene(WALL), '--global-error', '--json', *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_the_estimate_is_the_error_to_a_fifth(self):
        for tol in ('1e-6', '1e-8', '1e-10'):
            out = self.run_wall('--tol', tol)
            estimate = out['global_error']['q']['x']
            exact = abs(out['q']['x'] - abs(math.cos(30.0)))
            # the second run has a tenth of the error itself
            self.assertAlmostEqual(estimate['end'] / exact, 1.0, delta=0.2)
            self.assertGreaterEqual(estimate['largest'], estimate['end'])
            # atol + rtol |x|, |x| up to 1
            self.assertAlmostEqual(estimate['tolerance'], 2 * float(tol), delta=1e-3 * float(tol))

    def test_velocities_are_compared_away_from_impacts(self):
        out = self.run_wall('--output-dt', '0.01')
        error = out['global_error']
        self.assertEqual(error['states'], 3001)
        # v jumps by 2 m/s at an impact: one state between the impacts of the two runs would show it
        self.assertLess(error['v']["x'"]['largest'], 1e-4)

    def test_it_is_printed_beside_the_tolerance(self):
        text = saltus('run', self.scene(WALL), '--global-error').stdout
        self.assertRegex(text, r"\n  x: largest \d\.\d+e-06 at t = .* s, at the end .*; tolerance of a step 2.00e-06\n")

    def test_it_needs_a_tolerance_that_can_be_tightened(self):
        self.refused('run', self.scene(), '--global-error', says='is run with a fixed step. Give --tol X')
        self.refused('run', self.scene(WALL), '--global-error', '--tol', '5e-14',
                     says='needs a tolerance of at least 1e-13')

    def test_a_controlled_scheme_has_one_too(self):
        result = saltus('run', self.scene(WALL), '--scheme', 'dopri5', '--tol', '1e-7', '--global-error', '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        error = json.loads(result.stdout)['global_error']
        self.assertGreater(error['states'], 1)


CHAOS = """saltus: 1
coordinates: {a: {start: 2.5}, b: {start: 2}}
kinetic: a'^2 + b'^2/2 + a'*b'*cos(a - b)
potential: -9.81*(2*cos(a) + cos(b))
contacts: [{name: wall, gap: 1.6 - sin(a) - sin(b), restitution: 0.9}]
simulate: {until: 30, tol: 1e-6, global: true}
"""


class TolerancesOfTheMotion(Cli):
    def test_the_error_is_below_the_tolerance_and_both_are_reported(self):
        for tol in ('1e-5', '1e-7'):
            result = saltus('run', self.scene(WALL), '--tol', tol, '--global', '--json')
            self.assertEqual(result.returncode, 0, result.stderr)
            out = json.loads(result.stdout)
            self.assertLess(abs(out['q']['x'] - abs(math.cos(30.0))), float(tol))
            found = out['accuracy']
            self.assertTrue(found['known'])
            self.assertLessEqual(found['error'], 1)
            self.assertEqual(found['rtol'], float(tol))
            self.assertEqual(found['runs'][0]['part'], 1)
            self.assertIsNone(found['runs'][-1]['distance'])
            self.assertGreaterEqual(len(found['runs']), 3)

    def test_recordings_know_it_and_resumed_runs_keep_the_tolerance_of_steps(self):
        for name in ('run.h5', 'run.csv'):
            path = self.folder / name
            snapshot = self.folder / 'run.snapshot'
            result = saltus('run', self.scene(WALL), '--global', '-o', path, '--snapshot', snapshot, '--force')
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r'Error of the motion, estimated by \d+ runs .*\.\nSteps have ')
            about = json.loads(saltus('info', path, '--json').stdout)
            self.assertRegex(about['accuracy'], r'^error=\S+ of rtol=1e-06 atol=1e-06, part=\S+ amplification=')
            self.assertIn('accuracy of the motion: error=', saltus('info', path).stdout)
            self.assertNotIn('rtol=1e-06', about['options'])
            for again in (path, snapshot):
                on = saltus('resume', again, '--until', '31', '--json')
                self.assertEqual(on.returncode, 0, on.stderr)
                on = json.loads(on.stdout)
                self.assertEqual(on['options'], about['options'])
                self.assertNotIn('accuracy', on)

    def test_a_motion_that_cannot_be_known_ends_with_1_and_leaves_no_file(self):
        path = self.folder / 'run.h5'
        result = saltus('run', self.scene(CHAOS), '-o', path, '--json')
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r'a global error of 1e-06 cannot be reached up to t = 30 s in double precision, only up to '
                                        r't = [78]\.\d+ s: .*\. Give an earlier end')
        self.assertFalse(path.exists())
        out = json.loads(result.stdout)
        self.assertEqual(out['status'], 'the requested accuracy cannot be reached')
        self.assertFalse(out['accuracy']['known'])
        self.assertGreater(out['accuracy']['predictable'], 5)
        self.assertEqual(saltus('run', self.scene(CHAOS), '--until', '5').returncode, 0)

    def test_it_is_refused_where_steps_are_fixed(self):
        self.refused('run', self.scene(), '--global', says='--global needs a scheme that chooses its steps')


SWITCHED = """saltus: 1
inputs: {u: 0}
coordinates: {x: {start: 0, velocity: 1}}
kinetic: x'^2/2
forces: {x: -3*u}
events: {e1: {formula: x - 0.5, direction: rising, set: {u: 1}}}
simulate: {until: 2}
"""

BOND = """saltus: 1
parameters: {F: 10}
coordinates: {x: {start: 0}}
kinetic: x'^2/2
forces: {x: -5 + F*sin(3*t)}
contacts: [{name: c, gap: x, adhesion: 4}]
simulate: {until: 3}
"""

BEAD = """saltus: 1
coordinates: {x: {start: 1}, y: {start: -cos(1)}}
kinetic: (x'^2 + y'^2)/2
potential: 9.81*y
joints: [{name: wire, constraint: y + cos(x)}]
simulate: {until: 2, scheme: moreau-jean, step: 0.01}
"""


class Constraints(Cli):
    def run_bead(self, *words):
        result = saltus('run', self.scene(BEAD), '--json', *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_the_drift_of_joints_is_that_of_the_recorded_states(self):
        path = self.folder / 'run.csv'
        out = self.run_bead('-o', path)
        with open(path) as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith('#')))
        drift = max(abs(float(row['y']) + math.cos(float(row['x']))) for row in rows)
        self.assertGreater(drift, 1e-6)
        self.assertAlmostEqual(out['joint_drift'], drift, delta=1e-15)
        self.assertEqual(out['projection'], 0)
        self.assertIn('Joints drift by up to ', saltus('run', self.scene(BEAD)).stdout)

    def test_projections_say_how_far_they_move_positions(self):
        out = self.run_bead('--scheme', 'moreau-jean-projected')
        self.assertLess(out['joint_drift'], 1e-14)
        # without them a step of 0.01 s drifts by about the third power of its length
        self.assertGreater(out['projection'], 1e-8)
        self.assertLess(out['projection'], 1e-4)
        out = self.run_bead('--tol', '1e-8')
        self.assertLess(out['joint_drift'], 1e-14)
        self.assertLess(out['projection'], 2e-8)
        self.assertIn('rojections move positions by up to ',
                      saltus('run', self.scene(BEAD), '--tol', '1e-8').stdout)


def sealed(snapshot):
    """A snapshot whose bytes were changed, with the check sum that they have now."""
    head, line, rest = snapshot.split(b'\n', 2)
    assert line.startswith(b'sha256: ')
    return b'\n'.join((head, b'sha256: ' + hashlib.sha256(rest).hexdigest().encode(), rest))


class Resumed(Cli):
    def state(self, *words):
        result = saltus(*words, '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        out = json.loads(result.stdout)
        return out['t'], out['q'], out['v']

    def rows(self, name):
        lines = (self.folder / name).read_text().splitlines()
        return [line for line in lines if line and line[0] in '0123456789']

    def test_a_snapshot_goes_on_to_the_same_bits(self):
        for scheme in ('moreau-jean', 'schatzman-paoli', 'rattle', 'radau-iia-5', 'dg-minus'):
            start = ('run', self.scene(), '--scheme', scheme, '--set', 'e=0.7')
            kept = self.folder / 'kept.snapshot'
            whole = self.state(*start, '--until', '5', '-o', self.folder / 'whole.csv')
            self.state(*start, '--until', '2', '--snapshot', kept, '--force')
            self.assertEqual(self.state('resume', kept, '--until', '5', '-o', self.folder / 'rest.csv'), whole)
            rest = self.rows('rest.csv')
            self.assertEqual(len(rest), 300)
            self.assertEqual(rest, self.rows('whole.csv')[-300:])
            text = saltus('resume', kept, '--until', '5').stdout
            self.assertIn('at t = 2 s with the memory of the scheme: bitwise identical to an uninterrupted run', text)

    def test_an_interrupted_run_to_a_tolerance_goes_on_to_the_same_bits(self):
        words = ('run', SCENES / 'woodpecker.yaml', '--tol', '1e-9', '--until', '100', '--output-dt', '1')
        kept = self.folder / 'kept.snapshot'
        run = subprocess.Popen([PROGRAM, *map(str, words), '--snapshot', str(kept)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        worked(run, 0.1)
        run.send_signal(signal.SIGINT)
        run.communicate()
        self.assertIn(run.returncode, (0, 130))
        if run.returncode == 0:
            self.skipTest('the run was faster than the signal')
        result = saltus('resume', kept, '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        out = json.loads(result.stdout)
        self.assertEqual(out['t'], 100)
        self.assertEqual((out['t'], out['q'], out['v']), self.state(*words))

    def test_a_recording_goes_on_from_its_last_state_and_says_that_it_starts_anew(self):
        for name in ('first.h5', 'first.csv'):
            path = self.folder / name
            whole = self.state('run', self.scene(), '--tol', '1e-9', '--until', '2.4', '--set', 'g=3')
            self.state('run', self.scene(), '--tol', '1e-9', '--until', '1.3', '--set', 'g=3', '-o', path)
            t, q, v = self.state('resume', path, '--until', '2.4')
            self.assertEqual(t, 2.4)
            # parabolas are integrated exactly, with the parameter that was set
            self.assertAlmostEqual(q['y'], whole[1]['y'], delta=1e-13)
            self.assertAlmostEqual(v["y'"], whole[2]["y'"], delta=1e-13)
            self.assertIn('at t = 1.3 s; the scheme starts without memory, so results are not bitwise those of',
                          saltus('resume', path, '--until', '2.4').stdout)

    def test_a_recording_goes_on_with_the_inputs_that_its_events_have_set(self):
        # x = t up to 1/2, then with -3: x(2) = 1/2 + 1.5 - 3/2 1.5^2
        scene = self.scene(SWITCHED)
        for name in ('first.h5', 'first.csv'):
            path, rest = self.folder / name, self.folder / ('rest-' + name)
            self.state('run', scene, '--tol', '1e-9', '--until', '1', '-o', path)
            self.assertAlmostEqual(self.state('resume', path, '--until', '2')[1]['x'], -1.375, delta=1e-9)
            kept = self.folder / 'kept.snapshot'
            self.state('resume', path, '--until', '1.5', '-o', rest, '--snapshot', kept, '--force')
            self.assertAlmostEqual(self.state('resume', kept, '--until', '2')[1]['x'], -1.375, delta=1e-9)
            self.refused('resume', rest, '--until', '2', says='which inputs its events have set is not part of a recording')
        (self.folder / 'first.events.csv').unlink()
        self.refused('resume', path, '--until', '2', says='a recording without events; a snapshot keeps it')

    def test_a_broken_bond_stays_broken(self):
        # a bond of 4 N at x = 0 under -5 + 10 sin(3 t) N
        scene = self.scene(BOND)
        whole = self.state('run', scene, '--tol', '1e-9', '--until', '3')[1]['x']
        self.assertAlmostEqual(whole, 0.8719, delta=1e-4)
        for name in ('first.h5', 'first.csv'):
            path = self.folder / name
            for until in ('0.3', '0.5'):  # bonded still, and apart
                self.state('run', scene, '--tol', '1e-9', '--until', until, '-o', path, '--force')
                self.assertAlmostEqual(self.state('resume', path, '--until', '3')[1]['x'], whole, delta=1e-8)
            self.state('run', scene, '--tol', '1e-9', '--until', '2', '-o', path, '--force')
            self.refused('resume', path, '--until', '3', says='whether a bond holds is not part of a recording')
        self.refused('map', scene, '--period', '2*pi/3', '--over', 'F=10:11:2', says='bonds (adhesion)')
        self.refused('orbit', scene, '--period', '2*pi/3', says='bonds (adhesion)')

    def test_what_cannot_go_on_is_refused(self):
        kept = self.folder / 'kept.snapshot'
        self.state('run', self.scene(), '--until', '2', '--snapshot', kept)
        self.refused('resume', kept, says='ends at t = 2 s; give --until with a later time')
        self.refused('run', self.scene(), '--snapshot', 'kept', says='must end in .snapshot')
        whole = kept.read_bytes()
        for cut in (10, 40, 200, 700, len(whole) - 1):
            kept.write_bytes(whole[:cut])
            self.refused('resume', kept, '--until', '3', says='not a snapshot that can be read')
        edits = ((b'scheme: moreau-jean', b'scheme: moreau-jane', 'a scheme that this program does not have'),
                 (b'theta=0.5', b'theta=0.6', 'do not belong to this simulation'),
                 (b'until: 0x1p+1', b'until: -0x1p+1', 'its times are missing, not numbers, or in no order'),
                 (b't: 0x1p+1', b't: 0x1.8p+0', 'its head is at t = 1.5 s, its state at 2 s'))
        for before, after, says in edits:
            self.assertIn(before, whole)
            kept.write_bytes(whole.replace(before, after))
            self.refused('resume', kept, '--until', '3', says='its bytes were changed')
            kept.write_bytes(sealed(whole.replace(before, after)))
            self.refused('resume', kept, '--until', '3', says=says)
        self.refused('resume', self.folder / 'none.snapshot', '--until', '3', says='No such file')

    def test_a_scene_comes_from_the_standard_input(self):
        out = json.loads(saltus('run', '-', '--json', input=BALL).stdout)
        self.assertEqual((out['model'], out['name'], out['steps']), ('standard input', 'a ball', 500))
        self.assertIn('The model is valid', saltus('check', '-', '--set', 'g=3', input=BALL).stdout)
        result = saltus('run', '-', input=BALL.replace('gap: y', 'gap: z'))
        self.assertEqual(result.returncode, 2)
        self.assertIn('standard input:8:24: gap of contact "floor": unknown name "z"', result.stderr)
        self.assertEqual(saltus('check', '-', input='').returncode, 2)


class Completion(Cli):
    def options(self, command):
        return re.findall(r'^  (--?[A-Za-z][A-Za-z-]*)', saltus(command, '--help').stdout, re.M)

    def test_every_shell_knows_every_option_of_every_command(self):
        commands = re.findall(r'^  ([a-z]+) ', saltus('--help').stdout, re.M)
        self.assertIn('resume', commands)
        zsh = saltus('--completion', 'zsh').stdout
        fish = saltus('--completion', 'fish').stdout
        for command in commands:
            self.assertIn(f"    '{command}:", zsh)
            self.assertIn(f'-n __fish_use_subcommand -a {command} -d', fish)
            part = zsh.split(f'    {command}) _arguments')[1].split(';;')[0]
            for option in self.options(command):
                self.assertRegex(part, rf"'\*?{option}\[")
                dashes = f'-l {option[2:]}' if option.startswith('--') else f'-s {option[1:]}'
                self.assertIn(f"'__fish_seen_subcommand_from {command}' {dashes} ", fish)
        self.assertEqual(saltus('--completion', 'bash').stdout, saltus('--completion').stdout)
        self.refused('--completion', 'tcsh', says='there are: bash, zsh, fish')

    def test_the_shells_that_are_there_take_their_scripts(self):
        for shell in ('bash', 'zsh', 'fish'):
            if shutil.which(shell) is None:
                continue
            script = self.folder / f'saltus.{shell}'
            script.write_text(saltus('--completion', shell).stdout)
            result = subprocess.run([shell, '-n', str(script)], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ''))


class StudyFigures(Cli):
    def title(self, *words):
        """SVG texts are outlines; equal titles give equal figures, so they are compared by their bytes."""
        figure = self.folder / 'study.svg'
        result = saltus('study', 'converge', *words, '--steps', '50,100', '-o', figure, '--force')
        self.assertEqual(result.returncode, 0, result.stderr)
        return figure.read_bytes()

    def test_a_figure_says_scene_and_scheme(self):
        scene = self.scene()
        one = self.title(scene)
        self.assertEqual(one, self.title(scene))
        # another name with the same numbers: only the title differs
        self.assertNotEqual(one, self.title(self.scene(BALL.replace('name: a ball', 'name: the ball'))))


class Figures(Cli):
    def record(self, text=OWN):
        path = self.folder / 'run.h5'
        self.assertEqual(saltus('run', self.scene(text), '-o', path).returncode, 0)
        return path

    def draw(self, *words):
        figure = self.folder / 'figure.svg'
        result = saltus('plot', self.folder / 'run.h5', '-o', figure, '--force', *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return figure.read_text()

    def test_only_the_chosen_series_are_drawn(self):
        self.record()
        whole = len(self.draw())
        one = len(self.draw('--series', 'y'))
        two = len(self.draw('--series', 'y,depth', '--series', 'floor.impulse'))
        self.assertLess(one, two)
        self.assertLess(two, whole)
        self.assertLess(len(self.draw('--series', 'y', '--from', '1', '--to', '1.2')), one)

    def test_a_wrong_choice_says_what_there_is(self):
        path = self.record()
        self.refused('plot', path, '--series', 'dept', says='did you mean depth?')
        self.refused('plot', path, '--series', 'roof.force', says="there are: y, y', depth, power, positions")
        self.refused('plot', path, '--phase', 'depth', says='only a position has a velocity beside it')
        self.refused('plot', path, '--phase', 'y,z', says='the recording has no "z"')
        self.refused('plot', path, '--from', '9', says='those from 0 s to 2.4 s')
        self.refused('plot', path, '--phase', 'y', '--series', 'y', says='exclude each other')

    def test_a_phase_plane_is_drawn_as_every_format(self):
        path = self.record()
        for extension, start in (('svg', b'<?xml'), ('pdf', b'%PDF'), ('png', b'\x89PNG')):
            for pair in ('y', "y,power", "depth,y'"):
                figure = self.folder / f'phase.{extension}'
                self.assertEqual(saltus('plot', path, '--phase', pair, '-o', figure, '--force').returncode, 0)
                self.assertEqual(figure.read_bytes()[:len(start)], start)


if __name__ == '__main__':
    unittest.main(verbosity=1)
