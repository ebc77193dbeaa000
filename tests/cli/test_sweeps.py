#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Sweeps as a user meets them: killed and resumed, in shards, over processes, on a disk that is full."""
import csv
import json
import math
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import PROGRAM, SOURCE, Cli, saltus  # noqa: E402

BALL = str(pathlib.Path(SOURCE) / 'scenes' / 'ball.yaml')
LONG = os.environ.get('SALTUS_LONG') == '1'


def over_processes(ranks, *words):
    """mpirun as root too, with more processes than cores, of OpenMPI; others need no leave for that."""
    leave = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1'}
    return subprocess.run(['mpirun', '-n', str(ranks), PROGRAM, *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, **leave}, timeout=300)


MPI = (os.environ.get('SALTUS_MPI') == '1' and shutil.which('mpirun') is not None and
       over_processes(2, '--version').returncode == 0)


def arguments(samples, *more):
    return ['sweep', BALL, '--axis', 'q~uniform(0.5, 2)', '--axis', "q'=0,0.5", '--samples', str(samples), '--seed', '5',
            '--measure', 't=time(accumulation)', '--measure', 'max(q)', '--tol', '1e-8', *more]


def has_opencl():
    """Whether a sweep runs on a device of OpenCL."""
    return saltus('sweep', BALL, '--axis', 'q=1,2', '--scheme', 'moreau-jean', '--step', '0.1', '--measure', 'max(q)', '--backend',
                  'opencl').returncode == 0


def size_of(path):
    """Of a file that another process may remove at any time."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def next_top(lift, pressure, flow, step=5e-4):
    """Lift, pressure, time and impacts from a largest lift of the relief valve to the next one: Hos and Champneys (2012)."""
    def rates(y):
        return y[1], -1.25 * y[1] - (y[0] + 10) + y[2], 20 * (flow - y[0] * y[2] ** 0.5)

    def after(y, h):
        def shifted(k, part):
            return [a + part * h * b for a, b in zip(y, k)]
        k1 = rates(y)
        k2 = rates(shifted(k1, 0.5))
        k3 = rates(shifted(k2, 0.5))
        k4 = rates(shifted(k3, 1))
        return [a + h * (p + 2 * (q + r) + s) / 6 for a, p, q, r, s in zip(y, k1, k2, k3, k4)]

    def root(y, sign):
        low, high = 0.0, step
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if sign(after(y, middle)) else (low, middle)
        return high
    y, t, impacts, rising = [lift, 0.0, pressure], 0.0, 0, False
    while True:
        new = after(y, step)
        if new[0] < 0:
            h = root(y, lambda z: z[0] > 0)
            y, t, impacts, rising = after(y, h), t + h, impacts + 1, True
            y = [0.0, -0.8 * y[1], y[2]]
        elif rising and new[1] < 0:
            h = root(y, lambda z: z[1] > 0)
            y = after(y, h)
            return y[0], y[2], t + h, impacts
        else:
            y, t, rising = new, t + step, rising or new[1] > 0


class Sweep(Cli):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def table(self, samples, *more):
        out = self.folder / 'whole.csv'
        done = saltus(*arguments(samples, '-o', out, *more))
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_bytes()

    def test_a_table_has_what_was_asked(self):
        rows = list(csv.DictReader(self.table(20).decode().splitlines()))
        self.assertEqual(len(rows), 40)
        for i, row in enumerate(rows):
            self.assertEqual((int(row['run']), row['status'], row['reason']), (i, '0', ''))
            q, v = float(row['q']), float(row["q'"])
            self.assertEqual(v, [0.0, 0.5][i % 2])
            # up to q + v^2/4, then from there: t = v/2 + 3 sqrt(q + v^2/4), where it is before the end
            top = q + v * v / 4
            self.assertAlmostEqual(float(row['max(q)']), top, delta=1e-8)
            self.assertAlmostEqual(float(row['t']), v / 2 + 3 * top ** 0.5, delta=1e-7)

    def test_the_summary_counts_and_sums(self):
        done = saltus(*arguments(10, '--json'))
        out = json.loads(done.stdout)
        self.assertEqual((out['runs'], out['failed'], len(out['measures'])), (20, 0, 2))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_sweep_without_a_single_result_fails(self):
        table = self.folder / 'a.csv'
        words = ('sweep', BALL, '--axis', 'q=0.5:1:2', '--until', '1', '-o', table)
        done = saltus(*words, '--measure', 'm=max(log(q - 2))')
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn('all runs failed', done.stderr)
        self.assertEqual(table.read_text().count('is not a number'), 2)
        self.assertEqual(saltus(*words, '--force', '--measure', 'm=max(log(q - 0.9))').returncode, 1)
        self.assertEqual(saltus(*words, '--force', '--measure', 'm=first(log(q - 0.9))').returncode, 0)  # one of two

    def test_shards_and_threads_give_the_same_table(self):
        whole = self.table(60, '--threads', '1')
        two = self.folder / 'two.csv'
        self.assertEqual(saltus(*arguments(60, '-o', two, '--threads', '2')).returncode, 0)
        self.assertEqual(two.read_bytes(), whole)
        parts = []
        for i in range(1, 4):
            part = self.folder / f'part{i}.runs'
            self.assertEqual(saltus(*arguments(60, '-o', part, '--shard', f'{i}/3')).returncode, 0)
            parts.append(part)
        merged = self.folder / 'merged.csv'
        missing = saltus('merge', *parts[:2], '-o', merged)
        self.assertEqual(missing.returncode, 1)
        self.assertIn('40 of 120 runs are missing', missing.stderr)
        (self.folder / 'merged.csv.runs').unlink()
        done = saltus('merge', *parts, '-o', merged)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(merged.read_bytes(), whole)
        other = self.folder / 'other.runs'
        self.assertEqual(saltus(*arguments(61, '-o', other)).returncode, 0)
        refused = saltus('merge', parts[0], other, '-o', self.folder / 'no.csv')
        self.assertEqual(refused.returncode, 2)
        self.assertIn('different sweeps', refused.stderr)

    def test_a_sweep_that_is_killed_goes_on_where_it_was(self):
        samples = 20000 if LONG else 2000
        whole = self.table(samples, '--threads', '2')
        full = self.folder / 'full.runs'
        self.assertEqual(saltus(*arguments(samples, '-o', full, '--threads', '2')).returncode, 0)
        draw = random.Random(3)
        out, table = self.folder / 'killed.csv', self.folder / 'killed.csv.runs'
        kills = 0
        for k in range(10):  # by what is done, not by the clock: each is killed a little later
            enough = (k + draw.uniform(0.1, 1)) / 11 * full.stat().st_size
            process = subprocess.Popen([PROGRAM, *map(str, arguments(samples, '-o', out, '--threads', '2'))],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and size_of(table) <= enough:
                time.sleep(0.001)
            kills += process.poll() is None
            process.kill()
            process.wait()
        self.assertGreater(kills, 0)
        if table.exists() or not out.exists():
            done = saltus(*arguments(samples, '-o', out, '--threads', '2'))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(out.read_bytes(), whole)
        self.assertFalse(table.exists())

    def test_a_killed_sweep_goes_on_with_another_backend(self):
        scenes = (('ball', ('--scheme', 'moreau-jean', '--step', '2e-5', '--axis', 'q~uniform(0.5, 2)', '--measure', 'max(q)')),
                  ('shaken-ball', ('--tol', '1e-9', '--until', '20', '--axis', 'G~uniform(0.9, 1.2)', '--measure', 'mean(y)')))
        first, second = ('opencl', 'c') if has_opencl() else ('c:1', 'c:8')
        for name, options in scenes:
            words = ('sweep', pathlib.Path(BALL).with_name(f'{name}.yaml'), *options, '--samples', '20000', '--threads', '2')
            whole, out = self.folder / f'{name}-whole.csv', self.folder / f'{name}.csv'
            done = saltus(*words, '--backend', second, '-o', whole)
            if done.returncode != 0 and 'compiler' in done.stderr:
                self.skipTest('no C compiler')
            self.assertEqual(done.returncode, 0, done.stderr)
            table = self.folder / f'{name}.csv.runs'
            process = subprocess.Popen([PROGRAM, *map(str, words), '--backend', first, '-o', str(out)], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while process.poll() is None and size_of(table) <= 100000:
                time.sleep(0.001)
            process.kill()
            process.wait()
            self.assertFalse(out.exists())
            done = saltus(*words, '--backend', second, '-o', out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn('of 20000 runs by the interpreter', done.stdout)  # some rows were there
            self.assertEqual(out.read_bytes(), whole.read_bytes())

    @unittest.skipUnless(MPI, 'no MPI, or with sanitizers, which count what it keeps')
    def test_processes_with_devices_give_the_same_table(self):
        if not has_opencl():
            self.skipTest('no OpenCL device')
        for options in (('--scheme', 'moreau-jean', '--step', '0.01'), ('--tol', '1e-8')):
            words = ('sweep', BALL, *options, '--axis', 'q~uniform(0.5, 2)', '--samples', '3000', '--measure', 'max(q)')
            whole, out = self.folder / 'whole.csv', self.folder / 'ranks.csv'
            self.assertEqual(saltus(*words, '--backend', 'c', '-o', whole, '--force').returncode, 0)
            done = over_processes(3, *words, '--backend', 'opencl', '-o', out, '--force')
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(out.read_bytes(), whole.read_bytes())

    def test_a_signal_ends_it_with_what_is_there(self):
        out = self.folder / 'stopped.csv'
        process = subprocess.Popen([PROGRAM, *map(str, arguments(2000000, '-o', out))], stderr=subprocess.PIPE, text=True)
        table = self.folder / 'stopped.csv.runs'
        while size_of(table) <= 100000:
            time.sleep(0.01)
        process.terminate()
        _, text = process.communicate()
        self.assertEqual(process.returncode, 143)
        self.assertIn('the same command continues from there', text)

    def test_a_full_disk_stops_it_and_it_goes_on(self):
        whole = self.table(500)
        out = self.folder / 'full.csv'

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (150000, 150000))
        done = subprocess.run([PROGRAM, *map(str, arguments(500, '-o', out))], preexec_fn=limit, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('File too large', done.stderr)
        self.assertIn('continues from there', done.stderr)
        self.assertFalse(out.exists())
        done = saltus(*arguments(500, '-o', out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('the others follow', done.stderr)
        self.assertEqual(out.read_bytes(), whole)

    def test_another_sweep_in_the_way_is_not_harmed(self):
        out = self.folder / 'kept.runs'
        self.assertEqual(saltus(*arguments(5, '-o', out)).returncode, 0)
        before = out.read_bytes()
        done = saltus(*arguments(6, '-o', out))
        self.assertEqual(done.returncode, 2)
        self.assertIn('another sweep', done.stderr)
        self.assertEqual(out.read_bytes(), before)
        self.assertEqual(saltus(*arguments(6, '-o', out, '--restart')).returncode, 0)

    def test_wrong_arguments_are_refused(self):
        for wrong, text in [(['--shard', '3/2'], 'must be I/N'), (['--seed', '-1'], 'whole number'),
                            (['--sampling', 'gauss'], 'allowed: random, latin, sobol'), (['-o', 'x.txt'], 'must end in'),
                            (['--samples', '0'], '--samples'), (['--axis', 'q=1:2:3'], 'has an axis already'),
                            (['--shard', '1/2'], 'FILE.runs')]:
            words = arguments(2)
            for i in range(0, len(wrong), 2): # options that are given once
                if wrong[i] in words and wrong[i] != '--axis':
                    at = words.index(wrong[i])
                    del words[at:at + 2]
            done = saltus(*words, *wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn(text, done.stderr)
        done = saltus('sweep', BALL)
        self.assertEqual(done.returncode, 2)
        self.assertIn('--axis and one --measure', done.stderr)
        done = saltus('sweep', 'ball', '--axis', 'q=1', '--measure', 'last(q)')
        self.assertEqual(done.returncode, 2)

    def test_figures_of_one_and_two_axes(self):
        for axes in (['q=0.5:2:5'], ['q=0.5:2:5', "q'=0:1:4"], ['q~uniform(1,2)']):
            out = self.folder / f'figure{len(axes)}{axes[0][1]}.svg'
            more = [word for axis in axes for word in ('--axis', axis)]
            done = saltus('sweep', BALL, *more, '--measure', 'max(q)', '--tol', '1e-4', '--figure', out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('</svg>', out.read_text())

    def test_an_orbit_is_found_and_followed(self):
        scene = str(pathlib.Path(SOURCE) / 'scenes' / 'shaken-ball.yaml')
        out = json.loads(saltus('orbit', scene, '--period', '2*pi/w', '--json').stdout)
        (r, i), (r2, i2) = out[0]['multipliers']
        self.assertTrue(out[0]['stable'])
        self.assertAlmostEqual(r * r2 - i * i2, 0.64, delta=1e-8)
        out = json.loads(saltus('orbit', scene, '--period', '2*pi/w', '--follow', 'G=1:1.2:5', '--json').stdout)
        stops = [row for row in out if 'stop' in row]
        self.assertEqual([row['stop'] for row in stops], ['period doubling'])
        # closed form of docs/theory/sensitivity.md
        self.assertAlmostEqual(stops[0]['G'], 1.070836468247907, delta=1e-8)
        done = saltus('orbit', scene)
        self.assertEqual(done.returncode, 2)
        self.assertIn('--period T or --section EVENT', done.stderr)
        done = saltus('orbit', scene, '--section', 'impact of floor')
        self.assertEqual(done.returncode, 2)
        self.assertIn('no contact "floor"', done.stderr)

    def test_a_map_has_its_points(self):
        scene = str(pathlib.Path(SOURCE) / 'scenes' / 'shaken-ball.yaml')
        out = self.folder / 'map.csv'
        done = saltus('map', scene, '--period', '2*pi/w', '--skip', '60', '--points', '4', '--over', 'G=1:1.1:3', '--both', '-o', out)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(out.read_text().splitlines()))
        self.assertEqual([float(r['G']) for r in rows[::4]], [1.0, 1.05, 1.1, 1.1, 1.05, 1.0])
        heights = {float(r['G']): set() for r in rows}
        for r in rows:
            heights[float(r['G'])].add(round(float(r['y']), 6))
        self.assertEqual((len(heights[1.0]), len(heights[1.1])), (1, 2))
        done = saltus('map', BALL, '--section', 'impact of floor', '--skip', '0', '--points', '5')
        times = [float(line.split()[1]) for line in done.stdout.splitlines()[1:]]
        for n, t in enumerate(times, 1):
            self.assertAlmostEqual(t, 3 - 2.0 ** (2 - n), delta=1e-8)

    def test_sections_are_events_of_the_scene_too_and_switches_act(self):
        scene = self.folder / 'switched.yaml'
        scene.write_text("""saltus: 1
parameters: {k: 4, F: 3}
inputs: {driven: 1}
coordinates: {x: {start: 0.2}}
kinetic: x'^2/2
potential: k*x^2/2
forces: {x: F*driven}
events:
  coast: {formula: x - 1, direction: rising, set: {driven: 0}}
  again: {formula: x, direction: falling, set: {driven: 1}}
""")
        done = saltus('map', scene, '--section', 'coast', '--skip', '0', '--points', '2')
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [[float(word) for word in line.split()] for line in done.stdout.splitlines()[1:]]
        self.assertAlmostEqual(rows[0][1], math.acos(0.25 / -0.55) / 2, delta=1e-8)
        # driven by 3 N from x = 0.2 to 1, then from the turn at -R to 1, free in between: v^2 = 2 F way - k (x^2 - x0^2)
        self.assertAlmostEqual(rows[0][3], 0.96 ** 0.5, delta=1e-7)
        R = (1 + 0.96 / 4) ** 0.5
        self.assertAlmostEqual(rows[1][3], (4 * R * R + 6 - 4) ** 0.5, delta=1e-7)
        done = saltus('map', scene, '--section', 'coast', '--over', 'k=4:5:3')
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('switch', done.stderr)
        done = saltus('orbit', scene, '--section', 'coast')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('switch', done.stderr)
        done = saltus('map', BALL, '--section', 'impact of floor', '--skip', '0', '--points', '200')
        self.assertEqual(done.returncode, 1)
        self.assertIn('does not reach its section after t = 3', done.stderr)

    def test_returns_of_the_relief_valve_are_those_of_another_method(self):
        # from each point of the map at a largest lift to the next one by Runge-Kutta's method of order 4
        scene, out = pathlib.Path(BALL).with_name('relief-valve.yaml'), self.folder / 'valve.csv'
        impacts = 0
        for flow in (0.5, 1, 3, 5, 7, 8):
            done = saltus('map', scene, '--section', 'top', '--set', f'q={flow}', '--skip', '50', '--points', '3', '-o', out, '--force')
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out) as file:
                rows = list(csv.DictReader(line for line in file if not line.startswith('#')))
            for start, end in zip(rows, rows[1:]):
                lift, pressure, time_taken, hits = next_top(float(start['x']), float(start["z'"]), flow)
                impacts += hits
                self.assertAlmostEqual(lift, float(end['x']), delta=1e-7)
                self.assertAlmostEqual(pressure, float(end["z'"]), delta=1e-7)
                self.assertAlmostEqual(time_taken, float(end['t']) - float(start['t']), delta=1e-7)
        self.assertGreater(impacts, 6)

    def test_an_orbit_ends_at_grazing(self):
        # x'' + x = F cos(w t) with a wall: free oscillation of amplitude F/|1 - w^2|, which grazes where that is the gap
        scene = self.folder / 'graze.yaml'
        scene.write_text("""saltus: 1
parameters: {w: 2.5, F: 5, gap: 1.05, d: 0.1}
coordinates: {x: {start: -F/(w^2 - 1), velocity: 0}}
kinetic: x'^2/2
potential: x^2/2
forces: {x: F*cos(w*t) - d*x'}
contacts: [{name: wall, gap: gap - x, restitution: 0.8}]
""")
        done = saltus('orbit', scene, '--period', '2*pi/w', '--follow', 'gap=1.05:0.9:16', '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        stops = [row for row in json.loads(done.stdout) if 'stop' in row]
        amplitude = 5 / ((1 - 2.5 ** 2) ** 2 + (0.1 * 2.5) ** 2) ** 0.5
        self.assertEqual(len(stops), 1)
        self.assertIn('grazing', stops[0]['stop'])
        self.assertAlmostEqual(stops[0]['gap'], amplitude, delta=1e-6)

    def test_a_run_says_its_sensitivities(self):
        done = saltus('run', BALL, '--tol', '1e-9', '--until', '2.2', '--sensitivity', 'q')
        self.assertEqual(done.returncode, 0, done.stderr)
        # q = v (t - t2) - (t - t2)^2 with t2 = 2 s, v = s/2, s = sqrt(h): -0.05 at h = 1, t = 2.2
        value = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith('  d q:')]
        self.assertAlmostEqual(float(value[0]), -0.05, delta=1e-8)
        scene = self.folder / 'thrown.yaml'
        scene.write_text("saltus: 1\nparameters: {u: 1}\ncoordinates: {q: {start: 1, velocity: u}}\nkinetic: q'^2/2\n"
                         "potential: 2*q\ncontacts: [{name: floor, gap: q, restitution: 1/2}]\noutputs: {height: q}\n")
        done = saltus('run', scene, '--tol', '1e-10', '--until', '1', '--sensitivity', 'u')
        self.assertEqual(done.returncode, 0, done.stderr)
        # 1 + u t - t^2: top 1 + u^2/4 at u/2, integral 1 + u/2 - 1/3
        value = {line.split(':')[0].strip(): line.split()[2] for line in done.stdout.splitlines() if line.startswith('  d ')}
        self.assertAlmostEqual(float(value['d max(height)']), 0.5, delta=1e-8)
        self.assertAlmostEqual(float(value['d integral(height)']), 0.5, delta=1e-9)
        done = saltus('run', BALL, '--sensitivity', 'q')
        self.assertEqual(done.returncode, 2)
        self.assertIn('--tol', done.stderr)
        done = saltus('run', BALL, '--tol', '1e-9', '--sensitivity', 'p')
        self.assertEqual(done.returncode, 2)

    @unittest.skipUnless(MPI, 'no MPI, or with sanitizers, which count what it keeps')
    def test_processes_give_the_same_table(self):
        whole = self.table(200)
        for ranks in (2, 4):
            out = self.folder / f'mpi{ranks}.csv'
            done = over_processes(ranks, *arguments(200, '-o', out))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(out.read_bytes(), whole)

    @unittest.skipUnless(MPI, 'no MPI, or with sanitizers, which count what it keeps')
    def test_what_processes_refuse_ends_all_of_them(self):
        done = over_processes(3, *arguments(5, '--seed', '7'), '-o', self.folder / 'x.txt')
        self.assertNotEqual(done.returncode, 0)
        out = self.folder / 'other.runs'
        self.assertEqual(saltus(*arguments(6, '-o', out)).returncode, 0)
        done = over_processes(3, *arguments(5, '-o', out))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('another sweep', done.stderr)

    def test_how_a_table_was_made_stands_in_it(self):
        out = self.folder / 'made.runs'
        words = [w for w in arguments(3, '-o', out)]
        at = words.index('--seed')
        del words[at:at + 2]
        self.assertEqual(saltus(*words).returncode, 0)
        self.assertIn(b'--seed 0\n', out.read_bytes())
        self.assertIn(b'name: bouncing ball', out.read_bytes())

    @unittest.skipUnless(LONG, 'make test-long')
    def test_memory_does_not_grow_with_the_runs(self):
        peaks = []
        for samples in (5000, 500000):
            out = self.folder / f'many{samples}.runs'
            text = subprocess.run(['/usr/bin/env', 'time', '-f', '%M', PROGRAM, *map(str, arguments(samples, '-o', out))],
                                  capture_output=True, text=True)
            self.assertEqual(text.returncode, 0, text.stderr)
            peaks.append(int(text.stderr.split()[-1]))
        self.assertLess(peaks[1], peaks[0] + 24000)  # kB; 16 MB are the columns that quantiles are of


if __name__ == '__main__':
    unittest.main()
