#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The program as a user meets it: what it prints, its exit codes, and the files it leaves."""
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM = os.environ.get('SALTUS_PROGRAM', 'build/saltus')
SOURCE = pathlib.Path(os.environ.get('SALTUS_SOURCE', '.')).resolve()
SCENES = SOURCE / 'scenes'

BALL = """saltus: 1
name: a ball
parameters: {m: 1, g: 2, e: 1/2}
coordinates: {y: {start: 1, unit: m}}
kinetic: m/2*y'^2
potential: m*g*y
contacts:
  - {name: floor, gap: y, restitution: e}
simulate: {until: 5, scheme: moreau-jean, step: 0.01}
reference: ball
"""


def saltus(*words, **options):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, **options)


# Programs with sanitizers are several times slower and look for faults of memory and of arithmetic, not of numbers.
SANITIZED = os.environ.get('SALTUS_SANITIZED', '0') == '1'


def some(cases):
    """All cases; with sanitizers every third of them."""
    cases = list(cases)
    return cases[::3] if SANITIZED else cases


def worked(process, seconds):
    """Waits until the process has used so much processor time, however busy the machine is, or has ended; the time
    it has used."""
    while process.poll() is None:
        fields = pathlib.Path(f'/proc/{process.pid}/stat').read_text().rpartition(')')[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
        if used >= seconds:
            return used
        time.sleep(0.02)
    return 0


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='saltus-cli-'))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def scene(self, text=BALL, name='scene.yaml'):
        path = self.folder / name
        path.write_text(text)
        return path

    def refused(self, *words, says, code=2):
        """Exactly one message, which contains the words, and the exit code."""
        result = saltus(*words)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stderr.count('saltus: '), 1, result.stderr)
        return result


class Words(Cli):
    def test_help_names_every_command_and_every_command_has_help(self):
        text = saltus('--help').stdout
        for command in ('run', 'check', 'info', 'plot', 'study', 'list'):
            self.assertIn(f'  {command} ', text)
            result = saltus(command, '--help')
            self.assertEqual(result.returncode, 0)
            self.assertIn(f'usage: saltus {command}', result.stdout)
            self.assertIn('--help', result.stdout)

    def test_without_a_command_the_help_is_printed_and_the_exit_code_is_2(self):
        result = saltus()
        self.assertEqual(result.returncode, 2)
        self.assertIn('usage: saltus COMMAND', result.stdout)

    def test_the_version_is_that_of_the_header(self):
        header = (SOURCE / 'include/saltus/version.h').read_text()
        parts = re.findall(r'SALTUS_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)', header)
        self.assertEqual(saltus('--version').stdout.split(), ['saltus', '.'.join(parts)])

    def test_wrong_words_are_refused_with_a_suggestion(self):
        self.refused('rnu', says='no command "rnu"; did you mean run?')
        self.refused('run', 'ball', '--stpe', '1', says='no option "--stpe"; did you mean --step?')
        self.refused('run', says='usage: saltus run MODEL')
        self.refused('run', 'ball', '--step', says='--step needs a value H')
        self.refused('run', 'ball', '--json=1', says='--json takes no value')
        self.refused('run', 'ball', 'ball', says='unexpected argument "ball"')
        self.refused('run', 'ball', '--step', '1', '--step', '2', says='--step is given twice')
        self.refused('run', 'ball', '--step', '0', says='--step is 0, must be positive and finite')
        self.refused('run', 'ball', '--step', 'fast', says='--step is "fast"')
        self.refused('run', 'ball', '--step', 'nan', says='--step is "nan"')
        self.refused('run', 'ball', '--step', '0.1', '--until', '-1', says='the end -1 s is not after')
        self.refused('run', 'ball', '--scheme', 'moreau-jean', says='no step; give --step H')
        self.refused('run', 'bal', '--step', '0.1', says='"bal"')
        self.refused('run', 'ball', '--scheme', 'moreau-jaen', '--step', '0.1',
                     says='no scheme "moreau-jaen"; did you mean moreau-jean?')
        self.refused('run', 'ball', '--option', 'theta=2', '--step', '0.1',
                     says='option "theta" is "2", allowed: 0 .. 1')
        self.refused('run', 'ball', '--option', 'theta', '--step', '0.1', says='must be name=value')
        self.refused('run', 'ball', '--set', 'm=2', '--step', '0.1', says='"ball" is a reference problem')
        self.refused('run', 'ball', '--step', '0.1', '--every', '1.5', says='must be a whole number')
        self.refused('study', 'acary', says='no study "acary"')
        self.refused('study', 'converge', says='usage: saltus study converge MODEL')
        self.refused('study', 'converge', 'ball', '--steps', '10,x', says='--steps is "10,x"')
        self.refused('list', 'things', says='no list of "things"; there are: schemes')
        self.refused('run', '/no/such/scene.yaml', says='/no/such/scene.yaml: No such file')
        self.refused('info', '/no/such/file.h5', says='/no/such/file.h5')

    def test_lists_are_text_and_json(self):
        for kind in ('schemes', 'problems', 'studies', 'functions'):
            text = saltus('list', kind)
            self.assertEqual(text.returncode, 0)
            entries = json.loads(saltus('list', kind, '--json').stdout)[kind]
            self.assertGreater(len(entries), 0)
            for entry in entries:
                self.assertIn(entry['name'], text.stdout)
                self.assertTrue(entry['summary'])

    def test_the_completion_is_valid_shell_and_completes(self):
        script = self.folder / 'saltus.bash'
        script.write_text(saltus('--completion').stdout)
        command = (f'source {script}; COMP_WORDS=(saltus run --sch); COMP_CWORD=2; _saltus; '
                   'echo "${COMPREPLY[@]}"')
        result = subprocess.run(['bash', '-c', command], capture_output=True, text=True)
        self.assertEqual(result.stdout.strip(), '--scheme', result.stderr)

    def test_the_manual_names_every_option(self):
        page = saltus('--manual').stdout.replace('\\-', '-')
        self.assertTrue(page.startswith('.TH SALTUS 1'))
        for command in ('run', 'check', 'info', 'plot', 'study', 'list'):
            for option in re.findall(r'^  (--?[a-z]+)', saltus(command, '--help').stdout, re.M):
                self.assertIn(option, page)


class Run(Cli):
    def test_a_problem_runs_to_its_end_and_says_its_error(self):
        result = saltus('run', 'ball', '--step', '0.0125', '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        out = json.loads(result.stdout)
        self.assertEqual((out['steps'], out['t'], out['status']), (400, 5.0, 'complete'))
        self.assertLess(out['error']['inf'], 2e-2)
        self.assertLess(out['residual']['velocity'], 1e-14)
        text = saltus('run', 'ball', '--step', '0.0125')
        self.assertIn('Against the exact solution', text.stdout)
        self.assertIn('400 steps', text.stdout)
        self.assertEqual(text.stderr, '')  # no progress bar in a pipe

    def test_a_scene_and_its_problem_give_the_same_numbers(self):
        a = json.loads(saltus('run', self.scene(), '--json').stdout)
        b = json.loads(saltus('run', 'ball', '--step', '0.01', '--json').stdout)
        self.assertEqual(list(a['q'].values()), list(b['q'].values()))
        self.assertEqual(a['error'], b['error'])

    def test_parameters_and_options_can_be_overridden(self):
        scene = self.scene()
        bouncy = json.loads(saltus('run', scene, '--set', 'e=1', '--json').stdout)
        self.assertEqual(bouncy['closes'], 0)
        self.assertGreater(bouncy['q']['y'] + abs(bouncy['v']["y'"]), 0.1)
        late = json.loads(saltus('run', scene, '--option', 'theta=1', '--json').stdout)
        self.assertIn('theta=1', late['options'])
        self.refused('run', scene, '--set', 'mm=1', says='has no parameter "mm"; did you mean "m"?')
        self.refused('run', scene, '--set', 'm', says='must be name=value')
        self.refused('run', scene, '--set', 'm=(1', says='--set m')

    def test_a_step_that_does_not_divide_the_time_is_shortened(self):
        out = json.loads(saltus('run', 'ball', '--step', '0.3', '--json').stdout)
        self.assertEqual(out['steps'], 17)
        self.assertEqual(out['t'], 5.0)

    def test_a_run_that_fails_exits_with_1_and_keeps_what_it_has(self):
        scene = self.scene(BALL.replace('m*g*y', 'm*g*y + 1e-3*log(0.5 + y - t/4)').replace('reference: ball\n', ''))
        path = self.folder / 'failed.h5'
        result = self.refused('run', scene, '-o', path, says='log(0.5 + y - t/4), is nan at t =', code=1)
        self.assertIn('steps', result.stdout)
        info = json.loads(saltus('info', path, '--json').stdout)
        self.assertTrue(info['status'].startswith('failed'), info)
        self.assertGreater(info['states'], 10)

    def test_friction_in_the_plane_is_treated_by_every_scheme(self):
        text = BALL.replace('coordinates: {', 'coordinates: {x: {start: 0, velocity: 2}, ')
        text = text.replace("m/2*y'^2", "m/2*(x'^2 + y'^2)").replace(
            'restitution: e', "slip: x', friction: 0.3").replace('reference: ball\n', '')
        for line in saltus('list', 'schemes').stdout.splitlines():
            name = line.split(' ')[0]
            if not name or name == 'saltus':
                continue
            step = [] if name.startswith('adaptive') else ['--step', '0.01']
            result = saltus('run', self.scene(text), '--scheme', name, '--json', *step)
            self.assertEqual(result.returncode, 0, result.stderr)
            # the impact with 2 m/s takes mu times that, then mu g = 0.6 m/s^2 until rest: 2 + 1.4^2 / 1.2 m;
            # half a step of 2 m/s, and what a body that sinks is pressed less
            self.assertAlmostEqual(json.loads(result.stdout)['q']['x'], 2 + 1.4 ** 2 / 1.2, delta=0.02, msg=name)


    def test_the_energy_ledger_is_reported_and_kept(self):
        path = self.folder / 'kane.h5'
        result = saltus('run', SCENES / 'kane.yaml', '-o', path, '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        ledger = json.loads(result.stdout)['ledger']
        self.assertEqual(ledger['impacts_that_created'], 1)
        self.assertAlmostEqual(ledger['created'], 0.0407439, 6)
        terms = sum(ledger[key] for key in ('external', 'drive', 'friction', 'impact', 'remainder'))
        self.assertAlmostEqual(ledger['change'], terms, 12)
        kept = json.loads(saltus('info', path, '--json').stdout)['ledger']
        for key in ('external', 'drive', 'friction', 'impact', 'remainder', 'created'):
            self.assertEqual(kept[key], ledger[key])
        self.assertIn('creates energy', saltus('run', SCENES / 'kane.yaml').stdout)

    def test_a_recording_without_a_ledger_is_read(self):
        path = self.folder / 'old.csv'
        saltus('run', self.scene(), '-o', path)
        comments, table = [], []
        for line in path.read_text().splitlines():
            (comments if line.startswith('#') else table).append(line)
        head = table[0].split(',')
        keep = [i for i, name in enumerate(head) if not ('energy_' in name or '_work' in name)]
        self.assertEqual(len(head) - len(keep), 8)
        rows = [','.join(line.split(',')[i] for i in keep) for line in table]
        path.write_text('\n'.join(comments + rows) + '\n')
        info = json.loads(saltus('info', path, '--json').stdout)
        self.assertNotIn('ledger', info)
        self.assertGreater(info['states'], 10)
        self.assertEqual(saltus('plot', path, '-o', self.folder / 'old.svg').returncode, 0)


class Check(Cli):
    def test_a_model_is_explained(self):
        result = saltus('check', self.scene())
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ('coordinate y [m]', 'mass matrix', 'contact floor: gap 1', 'The model is valid'):
            self.assertIn(words, result.stdout)
        out = json.loads(saltus('check', self.scene(), '--json').stdout)
        self.assertEqual(out['mass'], [1.0])
        self.assertLess(out['derivative_error'], 1e-10)
        kink = saltus('check', SOURCE / 'tests' / 'scenes' / 'failing' / 'sign-friction.yaml')  # sign(x') at x' = 0
        self.assertIn('a formula has a kink, or a derivative is wrong', kink.stdout)
        self.assertNotIn('The model is valid', kink.stdout)

    def test_settings_that_a_run_rejects_are_rejected(self):
        for settings in ('scheme: schatzman-paoli, tol: 1e-6', 'scheme: rk4, tol: 1e-6', 'scheme: rattle, step: 1e-3',
                         'scheme: trapezoidal-implicit-end, tol: 1e-6, control: richardson'):
            scene = self.scene(BALL.split('simulate:')[0] + f'simulate: {{until: 0.01, {settings}}}\n')
            check, run = saltus('check', scene), saltus('run', scene)
            with self.subTest(settings=settings):
                self.assertEqual(check.returncode, run.returncode, check.stderr)
                self.assertEqual(check.returncode, 0 if 'step' in settings else 2, check.stderr)

    def test_every_scene_of_the_project_is_valid(self):
        scenes = sorted(SCENES.glob('*.yaml'))
        self.assertGreater(len(scenes), 10)
        for scene in some(scenes):
            result = saltus('check', scene, '--json')
            self.assertEqual(result.returncode, 0, f'{scene}: {result.stderr}')
            self.assertLess(json.loads(result.stdout)['derivative_error'], 1e-10, scene)

    def test_messages_point_at_the_character(self):
        scene = self.scene(BALL.replace("m/2*y'^2", "m/2*z'^2"))
        result = saltus('check', scene)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"{scene}:5:14: kinetic: unknown name \"z\"", result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(lines[-1].index('^'), lines[-2].index('z'))


class Tolerance(Cli):
    """Scenes run to a tolerance, as with solve_ivp."""

    def run_json(self, scene, *words):
        result = saltus('run', scene, '--json', *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_a_tolerance_needs_neither_scheme_nor_step(self):
        for tol in (1e-3, 1e-6, 1e-10):
            out = self.run_json(self.scene(), '--tol', tol)
            self.assertEqual(out['scheme'], 'adaptive')
            self.assertEqual((out['tolerance']['rtol'], out['tolerance']['atol']), (tol, tol))
            # impacts at 3 - 2^(1-n) accumulate at 3; 6e-15 at every tolerance by another program
            self.assertAlmostEqual(out['last_accumulation'], 3.0, delta=1e-13)
            self.assertLess(out['error']['inf'], 1e-13)
            self.assertLess(out['steps'], 12)

    def test_adaptive_is_the_default_without_scheme_and_step(self):
        bare = BALL.replace(', scheme: moreau-jean, step: 0.01', '')
        out = self.run_json(self.scene(bare))
        self.assertEqual((out['scheme'], out['tolerance']['rtol']), ('adaptive', 1e-6))
        self.assertEqual(self.run_json(self.scene(bare), '--step', 0.1)['scheme'], 'moreau-jean')
        self.assertEqual(self.run_json('ball')['scheme'], 'adaptive')
        reported = BALL.replace('scheme: moreau-jean, step: 0.01', 'tol: 1e-9')
        out = self.run_json(self.scene(reported))
        self.assertEqual((out['scheme'], out['tolerance']['atol']), ('adaptive', 1e-9))
        self.assertEqual(self.run_json(self.scene(reported), '--tol', 1e-4)['tolerance']['atol'], 1e-4)

    def test_relative_and_absolute_tolerances_are_set_apart(self):
        out = self.run_json('ball', '--rtol', 1e-7, '--atol', 1e-9)
        self.assertEqual((out['tolerance']['rtol'], out['tolerance']['atol']), (1e-7, 1e-9))
        out = self.run_json('ball', '--scheme', 'adaptive-dopri5', '--tol', 1e-7)
        self.assertEqual(list(out['methods']), ['dopri5'])
        self.assertEqual(sum(out['methods'].values()), out['steps'])
        self.assertEqual(sum(out['limits'].values()), out['steps'])

    def test_a_named_scheme_keeps_its_controller_or_says_that_it_has_no_tolerance(self):
        out = self.run_json(self.scene(), '--scheme', 'moreau-jean', '--tol', 1e-3)
        self.assertEqual((out['scheme'], out['control']), ('moreau-jean', 'variable-order'))
        self.refused('run', self.scene(), '--scheme', 'schatzman-paoli', '--tol', 1e-6,
                     says='scheme schatzman-paoli has no tolerance, it needs a constant step')
        self.refused('run', self.scene(), '--scheme', 'moreau-jean', '--rtol', 1e-6,
                     says='--rtol is a tolerance of schemes that choose their steps')
        self.refused('run', 'ball', '--tol', 'fine', says='--tol is "fine"')
        self.refused('run', 'ball', '--tol', '0.5', says='--tol is 0.5, must be a number between 1e-14 and 0.1')

    def test_the_summary_says_what_was_asked_and_what_limited_the_run(self):
        text = saltus('run', SCENES / 'block-stick-slip.yaml', '--tol', '1e-8', '--verbose').stdout
        for words in ('rtol = 1e-08, atol = 1e-08', 'by Dormand-Prince 8(5,3); ', 'rejected',
                      'Steps limited by: ', 'the error of the impulse of contact table',
                      'events (7)', 'slip 3 times, stick 4 times', 'force evaluations'):
            self.assertIn(words, text)
        text = saltus('run', 'ball', '--tol', '1e-8').stdout
        self.assertIn('Zeno point: impacts of contact floor accumulate at t = 3 s.', text)
        text = saltus('run', SCENES / 'painleve-rod.yaml', '--tol', '1e-8').stdout
        self.assertIn("Painleve: no or several forces of contact tip satisfy Coulomb's law at t = ", text)

    def test_tolerances_of_single_coordinates_are_logged(self):
        scene = """saltus: 1
coordinates: {x: {start: 1%s}, z: {start: 1}}
kinetic: x'^2/2 + z'^2/2
potential: 5000*x^2 + z^2/2
simulate: {until: 10}
"""
        usual = self.run_json(self.scene(scene % ''), '--tol', 1e-8)
        coarse = ', tolerance: 10, velocity_tolerance: 1000'
        loose = self.run_json(self.scene(scene % coarse), '--rtol', 1e-8, '--atol', 1e-8)
        self.assertEqual(loose['tolerance']['x'], 10)
        self.assertEqual(loose['tolerance']["x'"], 1000)
        # the fast oscillation of x is not asked for: the slow one of z is still right
        self.assertLess(5 * loose['steps'], usual['steps'])
        self.assertAlmostEqual(loose['q']['z'], -0.8390715290764524, delta=1e-7)
        text = saltus('run', self.scene(scene % coarse)).stdout
        self.assertIn("of x 10, of x' 1000", text)
        self.refused('run', self.scene(scene % ', tolerance: 0'), says='tolerance is 0, must be positive')

    def rows(self, path):
        lines = [line for line in path.read_text().splitlines() if not line.startswith('#')]
        names = [name.split(' [')[0] for name in lines[0].split(',')]
        return [dict(zip(names, map(float, line.split(',')))) for line in lines[1:]]

    def test_recordings_have_both_sides_of_jumps_at_no_cost(self):
        plain = self.run_json('ball', '--tol', 1e-8)
        path = self.folder / 'ball.csv'
        out = self.run_json('ball', '--tol', 1e-8, '--output-dt', 0.03, '-o', path)
        self.assertEqual((out['steps'], out['work']['force_evaluations']),
                         (plain['steps'], plain['work']['force_evaluations']))
        rows = self.rows(path)
        times = [row['t'] for row in rows]
        self.assertEqual(times, sorted(times))
        for k in range(5):  # the n-th impact turns -2^(1-n) into 2^-n
            t = 3 - 2.0 ** (1 - k)
            pair = [row for row in rows if abs(row['t'] - t) < 1e-12]
            self.assertEqual(len(pair), 2, t)
            self.assertAlmostEqual(pair[0]['v'], -2.0 ** (1 - k), delta=1e-9)
            self.assertAlmostEqual(pair[1]['v'], 2.0 ** -k, delta=1e-9)
            self.assertAlmostEqual(pair[1]['floor.impulse_N'], 3 * 2.0 ** -k, delta=1e-9)
            self.assertEqual(pair[0]['floor.impulse_N'], 0.0)
        # atoms and forces together carry the weight: 2 N over 5 s, the ball is at rest again
        given = sum(row['floor.impulse_N'] for row in rows)
        given += sum(row['floor.force_N'] * (row['t'] - before['t'])
                     for before, row in zip(rows, rows[1:]))
        self.assertAlmostEqual(given, 10.0, delta=1e-9)
        for row in rows:  # at rest the force is the weight, wherever steps end
            if row['t'] > 3.04:
                self.assertAlmostEqual(row['floor.force_N'], 2.0, delta=1e-9)

    def test_forces_between_steps_are_functions_of_time(self):
        # a block pressed by 10 + 5 sin(t) on a table: the mean force of a frame is that of its interval
        scene = """saltus: 1
coordinates: {y: {start: 0}}
kinetic: y'^2/2
potential: (10 + 5*sin(t))*y
contacts: [{name: table, gap: y}]
simulate: {until: 6, tol: 1e-8}
record: {dt: 0.1}
"""
        path = self.folder / 'press.csv'
        self.run_json(self.scene(scene), '-o', path)
        rows = self.rows(path)
        self.assertEqual(len(rows), 61)
        import math
        for before, row in zip(rows, rows[1:]):
            a, b = before['t'], row['t']
            mean = 10 - 5 * (math.cos(b) - math.cos(a)) / (b - a)
            # the impulse is known to the tolerance of the velocity, here over an interval of 0.1 s
            self.assertAlmostEqual(row['table.force_N'], mean, delta=1e-8 * 11 / 0.1 * 2)

    def test_events_come_as_a_table_as_csv_and_as_json(self):
        path = self.folder / 'ball.h5'
        csv, js = self.folder / 'e.csv', self.folder / 'e.json'
        table = saltus('run', 'ball', '--tol', 1e-6, '-o', path, '--events', '-').stdout
        self.assertRegex(table, r'\n +1  impact +floor +-2 +1 +3 +-1.5\n')
        self.assertEqual(saltus('run', 'ball', '--tol', 1e-6, '--events', csv).returncode, 0)
        self.assertEqual(saltus('run', 'ball', '--tol', 1e-6, '--events', js).returncode, 0)
        self.assertEqual(saltus('info', path, '--events', '--csv').stdout, csv.read_text())
        self.assertEqual(saltus('info', path, '--events', '--json').stdout, js.read_text())
        events = json.loads(js.read_text())
        self.assertEqual(events[0]['kind'], 'impact')
        self.assertEqual([e['kind'] for e in events[-2:]], ['accumulation', 'close'])
        self.assertAlmostEqual(events[0]['energy_change'], -1.5, delta=1e-12)
        self.assertIn(saltus('info', path, '--events').stdout, table)
        self.refused('run', 'ball', '--events', 'e.txt', says='must end in .csv or .json')
        self.refused('run', 'ball', '--json', '--events', '-', says='both write to the standard output')
        self.refused('info', path, '--csv', says='--csv is a format of --events')

    def test_events_are_marked_in_the_figure(self):
        """Events get a panel of their own: before the first impact at 1 s there is none."""
        heights = []
        for until in ('0.5', '5'):
            path, figure = self.folder / 'ball.h5', self.folder / 'ball.svg'
            saltus('run', 'ball', '--tol', 1e-6, '--until', until, '-o', path)
            self.assertEqual(saltus('plot', path, '-o', figure, '--force').returncode, 0)
            heights.append(float(re.search(r'height="([0-9.]+)pt"', figure.read_text())[1]))
        self.assertGreater(heights[1], heights[0] + 20)


class Recordings(Cli):
    def record(self, name, *words):
        path = self.folder / name
        result = saltus('run', self.scene(), '-o', path, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_both_formats_are_written_and_read(self):
        for name in ('run.h5', 'run.csv'):
            path = self.record(name)
            info = json.loads(saltus('info', path, '--json').stdout)
            self.assertEqual((info['states'], info['t_last'], info['contacts']), (501, 5.0, 1))
            self.assertIn('501 states', saltus('info', path).stdout)
        self.assertEqual(saltus('info', self.folder / 'run.h5', '--scene').stdout, BALL)
        head = (self.folder / 'run.csv').read_text().splitlines()
        names = next(line for line in head if not line.startswith('#'))
        self.assertIn('y [m]', names)
        self.assertIn('N s', names)

    def test_the_same_run_gives_the_same_bytes(self):
        for name in ('a.h5', 'a.csv'):
            first = self.record(name).read_bytes()
            self.assertEqual(first, self.record('again-' + name).read_bytes())

    def test_every_n_th_state_and_the_last_are_recorded(self):
        info = json.loads(saltus('info', self.record('few.h5', '--every', '7'), '--json').stdout)
        self.assertEqual((info['states'], info['t_last']), (1 + 500 // 7 + 1, 5.0))

    def test_states_at_requested_times_are_recorded(self):
        path = self.folder / 'times.csv'
        result = saltus('run', 'pendulum-wall', '--scheme', 'radau-iia-5', '--step', '0.02',
                        '--output-dt', '0.007', '-o', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path) as file:
            rows = [line.split(',') for line in file if line[0].isdigit()]
        times = [float(row[0]) for row in rows]
        self.assertEqual(len(times), 1 + 428 + 1)
        for k, t in enumerate(times[:-1]):
            self.assertAlmostEqual(t, 0.007 * k, delta=1e-15 * max(k, 1))
        self.assertEqual(times[-1], 3.0)
        self.refused('run', 'ball', '--step', '0.1', '--output-dt', '0.01',
                     says='has no dense output: it can be recorded every n-th step')
        self.refused('run', 'ball', '--step', '0.1', '--output-dt', '0', says='--output-dt is')
        self.refused('run', 'ball', '--step', '0.1', '--output-dt', '1', '--every', '2',
                     says='exclude each other')

    def test_a_path_that_cannot_be_written_is_refused_before_the_run(self):
        self.refused('run', self.scene(), '-o', self.folder / 'no/run.h5', says='run.h5')
        self.refused('run', self.scene(), '-o', self.folder / 'run.txt', says='.h5')

    def test_h5py_reads_what_was_written(self):
        python = shutil.which('python3', path='/usr/bin')
        probe = subprocess.run([python, '-c', 'import h5py'], capture_output=True) if python else None
        if probe is None or probe.returncode != 0:
            self.skipTest('no python3 with h5py')
        script = ('import h5py, sys; f = h5py.File(sys.argv[1], "r"); '
                  'print(f["t"].shape[0], f["contacts/impulse"].shape, f["q"].attrs["columns"][0])')
        result = subprocess.run([python, '-c', script, self.record('h.h5')], capture_output=True, text=True)
        self.assertIn('501 (501, 1, 3)', result.stdout, result.stderr)

    def test_a_recording_is_drawn_in_every_format(self):
        path = self.record('run.h5')
        for kind, start in (('svg', b'<?xml'), ('pdf', b'%PDF'), ('png', b'\x89PNG')):
            out = self.folder / f'figure.{kind}'
            result = saltus('plot', path, '-o', out)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(out.read_bytes().startswith(start))
        xml.etree.ElementTree.parse(self.folder / 'figure.svg')
        self.assertEqual(saltus('plot', path).returncode, 0)
        self.assertTrue((self.folder / 'run.svg').exists())
        self.refused('plot', path, '-o', self.folder / 'figure.gif', says='.svg')

    def long_run(self, path):
        return subprocess.Popen([PROGRAM, 'run', str(self.scene()), '--step', '1e-8', '-o', str(path)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_states(self, path, process):
        deadline = time.time() + 60
        while time.time() < deadline and process.poll() is None:
            result = saltus('info', path, '--json')
            if result.returncode == 0 and json.loads(result.stdout)['states'] > 100:
                return
            time.sleep(0.2)
        self.fail('the recording does not grow')

    def test_kill_9_leaves_a_readable_recording(self):
        path = self.folder / 'killed.h5'
        process = self.long_run(path)
        self.wait_for_states(path, process)
        process.kill()
        process.communicate()
        info = json.loads(saltus('info', path, '--json').stdout)
        self.assertEqual(info['status'], 'running')
        self.assertGreater(info['states'], 100)

    def test_ctrl_c_ends_the_run_cleanly(self):
        path = self.folder / 'stopped.h5'
        process = self.long_run(path)
        self.wait_for_states(path, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn('stopped at t =', err)
        self.assertIn('then stopped', out)
        info = json.loads(saltus('info', path, '--json').stdout)
        self.assertIn('stop', info['status'])

    def test_a_full_disk_is_reported_and_the_file_stays_readable(self):
        mount = self.folder / 'small'
        mount.mkdir()
        made = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', str(mount)],
                              capture_output=True)
        if made.returncode != 0:
            self.skipTest('mounting a small disk needs root')
        self.addCleanup(subprocess.run, ['umount', str(mount)], capture_output=True)
        path = mount / 'run.h5'
        result = saltus('run', self.scene(), '--step', '1e-6', '-o', path)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn('disk full', result.stderr)
        info = json.loads(saltus('info', path, '--json').stdout)
        self.assertGreater(info['states'], 0)
        subprocess.run(['dd', 'if=/dev/zero', f'of={mount}/rest', 'bs=4k'], capture_output=True)
        for name in ('b.h5', 'b.csv'):  # full from the start
            self.assertEqual(saltus('run', self.scene(), '--step', '1e-3', '-o', mount / name).returncode, 1)


class Studies(Cli):
    def test_a_study_has_the_promised_shape_and_its_claims_hold(self):
        result = saltus('study', 'acary2009-fig2', '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        out = json.loads(result.stdout)
        self.assertEqual(sorted(out), ['claims', 'measurements', 'rows', 'source', 'study'])
        row = next(r for r in out['rows'] if r['problem'] == 'ball' and r['steps'] == 401)
        self.assertEqual(sorted(row['error']['q']), ['L1', 'L2', 'hausdorff', 'inf'])
        self.assertEqual(sorted(row['error']), ['q', 'v'])
        self.assertEqual(sorted(row['work']), ['contact_solves', 'cpu_s', 'force_evaluations', 'steps'])
        self.assertAlmostEqual(row['error']['q']['inf'], 1.111e-2, delta=0.02 * 1.111e-2)
        self.assertTrue(all(claim['holds'] for claim in out['claims']))
        self.assertGreater(len(out['claims']), 50)

    def test_text_and_report_come_from_one_run(self):
        path = self.folder / 'report.json'
        result = saltus('study', 'bodies-free-rotation', '--report', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        claims = json.loads(path.read_text())['claims']
        self.assertIn(f'{len(claims)} of {len(claims)} claims hold.', result.stdout)
        result = saltus('study', 'bodies-free-rotation', '--report', self.folder / 'none' / 'report.json')
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot write', result.stderr)

    def test_any_scene_can_be_measured(self):
        figure = self.folder / 'order.svg'
        result = saltus('study', 'converge', self.scene(), '--steps', '211,401,809', '--json', '-o', figure)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)['rows']
        self.assertEqual([r['steps'] for r in rows], [211, 401, 809])
        self.assertAlmostEqual(rows[1]['error']['q']['L1'], 8.284e-3, delta=1e-5)
        self.assertIsNone(rows[0]['rate']['q']['inf'])
        self.assertTrue(figure.exists())

    def test_a_finer_run_or_a_table_can_be_the_reference(self):
        scene = SCENES / 'pendulum-wall.yaml'
        table = SOURCE / 'data/reference/double-pendulum-wall-e3.csv'
        errors = []
        for reference in ('fine', table, 'exact'):
            result = saltus('study', 'converge', scene, '--steps', '480,960', '--until', '3',
                            '--option', 'jump=start', '--reference', reference, '--json')
            self.assertEqual(result.returncode, 0, result.stderr)
            errors.append(json.loads(result.stdout)['rows'][0]['error']['q']['L1'])
        self.assertAlmostEqual(errors[1], errors[2], delta=1e-9)
        self.assertAlmostEqual(errors[1], 1.22e-2, delta=0.05e-2)
        self.assertAlmostEqual(errors[0], errors[1], delta=0.3 * errors[1])

    def test_without_a_reference_the_user_is_reported_what_to_give(self):
        scene = self.scene(BALL.replace('reference: ball\n', ''))
        self.refused('study', 'converge', scene, '--reference', 'exact', says='--reference fine')


if __name__ == '__main__':
    unittest.main(verbosity=1)
