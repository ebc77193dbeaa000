#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Files that trust nobody: altered recordings, snapshots and tables are refused with a message, nothing that is there is
replaced or deleted, and signals are obeyed."""
import json
import os
import pathlib
import random
import resource
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import PROGRAM, SANITIZED, SCENES, SOURCE, Cli, saltus, some, worked  # noqa: E402
from test_report_page import VIEWER  # noqa: E402

try:
    import h5py
except ImportError:
    h5py = None

OUTSIDE = SOURCE.parent / 'shared' / 'data' / 'hostile'
SWEEP = ('--axis', 'y=0.5:2:3', '--measure', 'top=max(y)', '--until', '0.5', '--threads', '1')


class Recordings(Cli):
    """A recording without a part that belongs to it is refused by name; no command ends by a signal."""

    def record(self, name, *options):
        path = self.folder / name
        result = saltus('run', self.scene(), '--until', '2', '-o', path, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def read_all(self, path):
        """Exit codes and messages of every command that reads a recording."""
        commands = [('info', path), ('verify', path), ('plot', path, '-o', self.folder / 'x.svg', '--force'),
                    ('compare', path, path)]
        commands += [('report', path, '-o', self.folder / 'x.html', '--force')] if VIEWER else []
        for words in commands:
            result = saltus(*words)
            self.assertIn(result.returncode, (0, 1, 2), f'{words}: {result.stderr}')
            yield words[0], result

    def test_a_table_without_a_column_is_refused(self):
        path = self.record('run.csv')
        lines = path.read_text().splitlines()
        head = next(i for i, line in enumerate(lines) if not line.startswith('#'))
        names = lines[head].split(',')
        self.assertGreater(len(names), 15)
        for k, name in enumerate(names):
            cut = [line if line.startswith('#') else ','.join(line.split(',')[:k] + line.split(',')[k + 1:]) for line in lines]
            path.write_text('\n'.join(cut) + '\n')
            result = saltus('info', path)
            said = 'floor.friction_work' in name or name.startswith(('energy_', 'floor.impact_work')) and 'drive' not in name
            self.assertIn(result.returncode, (0, 2), name)
            if said:
                self.assertEqual(result.returncode, 2, name)
                self.assertIn('is missing', result.stderr, name)
            if name.startswith('energy_impact'):
                for command, result in self.read_all(path):
                    self.assertEqual(result.returncode, 2, command)
                    self.assertIn('"energy_impact" is missing', result.stderr)

    @unittest.skipUnless(h5py, 'no h5py')
    def test_a_file_without_a_dataset_or_with_one_of_another_length_is_refused(self):
        whole = self.record('whole.h5').read_bytes()
        path = self.folder / 'run.h5'
        path.write_bytes(whole)
        names = []
        with h5py.File(path) as file:
            file.visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) else None)
        changes = ('shorter', 'longer', 'rank')
        for k, name in enumerate(names):
            for change in ('deleted', changes[k % 3]):
                path.write_bytes(whole)
                with h5py.File(path, 'r+') as file:
                    values, about = file[name][...], dict(file[name].attrs)
                    del file[name]
                    if change != 'deleted':
                        made = {'shorter': values[:-1], 'longer': [*values, *values], 'rank': values[..., None]}[change]
                        file.create_dataset(name, data=made, dtype=values.dtype)
                        for key, value in about.items():
                            file[name].attrs[key] = value
                result = saltus('info', path)
                if name in ('energy/drive', 'events') and change != 'rank':
                    self.assertIn(result.returncode, (0, 2), (name, change))
                else:
                    self.assertEqual(result.returncode, 2, (name, change, result.stderr))
                    self.assertIn(name, result.stderr)
            if name in ('energy/impact', 'contacts/impact_work', 'q'):
                for command, result in self.read_all(path):
                    self.assertEqual(result.returncode, 2, command)

    def test_pipes_are_refused_and_not_waited_for(self):
        for name, command in (('x.h5', 'info'), ('x.csv', 'verify'), ('x.snapshot', 'resume'), ('x.runs', 'merge')):
            path = self.folder / name
            os.mkfifo(path)
            words = [command, path] + (['-o', self.folder / 'out.csv'] if command == 'merge' else [])
            result = saltus(*words, timeout=60)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn('is no regular file', result.stderr)

    def test_pipes_are_refused_as_texts_too(self):
        scene = self.folder / 'part.yaml'
        scene.write_text('saltus: 1\nworld: {dimension: 3}\nbodies:\n  b: {density: 1, shapes: [{mesh: {file: part.stl}}]}\n')
        (self.folder / 'body.yaml').write_text('saltus: 1\nworld: {dimension: 3}\nbodies: {b: {flexible: body.h5}}\n')
        commands = [('run', 'x.yaml'), ('check', 'x.yaml'), ('sweep', 'y.yaml', *SWEEP), ('solve', 'fc3d_x.dat'),
                    ('convert', 'x.urdf', '-o', self.folder / 'made.yaml'), ('check', 'part.yaml'),
                    ('check', 'body.yaml')]
        for command, name, *more in commands:
            pipe = self.folder / {'part.yaml': 'part.stl', 'body.yaml': 'body.h5'}.get(name, name)
            if not pipe.exists():
                os.mkfifo(pipe)
            result = saltus(command, self.folder / name, *more, timeout=60)
            self.assertEqual(result.returncode, 2, (command, name, result.stderr))
            self.assertIn('is no regular file', result.stderr, (command, name))


class Snapshots(Cli):
    def test_no_byte_can_be_changed(self):
        for scheme in (('--scheme', 'moreau-jean'), ('--tol', '1e-6')):
            kept = self.folder / 'kept.snapshot'
            result = saltus('run', self.scene(), *scheme, '--until', '2', '--snapshot', kept, '--force')
            self.assertEqual(result.returncode, 0, result.stderr)
            whole = kept.read_bytes()
            draw = random.Random(5)
            places = [whole.index(b'e: 1/2') + 3, whole.index(b'\nstate: ') + 60, len(whole) - 1]
            places += [draw.randrange(len(whole)) for _ in range(8)]  # tests/fuzz/snapshots.c has the many
            for place in places:
                changed = bytearray(whole)
                changed[place] ^= 1 << draw.randrange(8)
                kept.write_bytes(changed)
                result = saltus('resume', kept, '--until', '3')
                self.assertEqual(result.returncode, 2, (scheme, place, result.stdout))
                self.assertIn('snapshot', result.stderr)


class Kept(Cli):
    """Nothing that is there is replaced without --force, and foreign files stay."""

    def commands(self):
        """Words of each command that writes a file, with its name last."""
        path, ball = self.folder / 'run.h5', self.scene()
        self.assertEqual(saltus('run', ball, '--until', '1', '-o', path).returncode, 0)
        short = ('run', ball, '--until', '0.1')
        yield (*short, '--events'), 'events.csv'
        yield (*short, '--events'), 'events.json'
        yield (*short, '--snapshot'), 'run.snapshot'
        yield ('plot', path, '-o'), 'run.svg'
        yield ('compare', path, path, '-o'), 'both.svg'
        yield ('check', SCENES / 'body-slider-crank.yaml', '--sketch'), 'start.svg'
        yield ('map', SCENES / 'shaken-ball.yaml', '--period', '2*pi/w', '--skip', '1', '--points', '2', '-o'), 'map.csv'
        yield ('sweep', ball, *SWEEP, '-o'), 'sweep.csv'
        yield ('sweep', ball, *SWEEP, '-o'), 'sweep.h5'
        yield ('sweep', ball, *SWEEP, '--figure'), 'sweep.svg'
        yield ('study', 'converge', ball, '--steps', '20,40', '--report'), 'study.json'

    def test_files_that_are_there_are_replaced_when_asked_to_and_keep_their_mode(self):
        for words, name in self.commands():
            path = self.folder / name
            path.write_text('my own work')
            path.chmod(0o640)
            result = saltus(*words, path)
            self.assertEqual(result.returncode, 2, (words, result.stderr))
            self.assertIn('is not overwritten; give another name, or --force', result.stderr)
            self.assertEqual(path.read_text(), 'my own work')
            result = saltus(*words, path, '--force')
            self.assertEqual(result.returncode, 0, (words, result.stderr))
            self.assertNotEqual(path.read_bytes(), b'my own work')
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640, words)
            path.unlink()
        self.assertEqual([f.name for f in self.folder.iterdir() if '.part' in f.name or f.name.endswith('.runs')], [])

    def test_the_figure_beside_a_recording_is_not_replaced(self):
        path, figure = self.folder / 'run.h5', self.folder / 'run.svg'
        saltus('run', self.scene(), '--until', '1', '-o', path)
        figure.write_text('my own work')
        self.refused('plot', path, says='is not overwritten')
        self.assertEqual(figure.read_text(), 'my own work')

    def test_a_recording_is_not_resumed_into_itself(self):
        for name in ('run.h5', 'run.csv'):
            path = self.folder / name
            saltus('run', self.scene(), '--until', '1', '-o', path)
            before = path.read_bytes()
            self.refused('resume', path, '--until', '2', '-o', path, says='names')
            link = self.folder / ('link-' + name)
            link.symlink_to(path)
            self.refused('resume', path, '--until', '2', '-o', link, says='names')
            self.assertEqual(path.read_bytes(), before)
            self.assertEqual(saltus('resume', path, '--until', '2', '-o', path, '--force').returncode, 0)

    def test_files_with_the_names_of_helpers_stay(self):
        path = self.folder / 'run.h5'
        foreign = [self.folder / f'run.h5{end}' for end in ('.back', '.spare', '.lock', '.head')]
        for file in foreign:
            file.write_text('mine')
        result = saltus('run', self.scene(), '--until', '1', '-o', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([file.read_text() for file in foreign], ['mine'] * 4)
        for end in ('.saltus-back', '.saltus-spare', '.saltus-lock'):
            own = self.folder / f'run.h5{end}'
            own.write_text('mine')
            result = saltus('run', self.scene(), '--until', '1', '-o', path)
            self.assertEqual(result.returncode, 2, end)
            self.assertIn('cannot write the recording', result.stderr)
            self.assertEqual(own.read_text(), 'mine')
            own.unlink()
        (self.folder / 'run.h5.saltus-back').write_bytes(b'\x89HDF\r\n\x1a\nleft by a run that was killed')
        self.assertEqual(saltus('run', self.scene(), '--until', '1', '-o', path).returncode, 0)
        self.assertFalse((self.folder / 'run.h5.saltus-back').exists())

    def test_recordings_keep_their_mode(self):
        for name in ('run.h5', 'run.csv'):
            path = self.folder / name
            for mode in (0o640, 0o600):
                saltus('run', self.scene(), '--until', '1', '-o', path)
                path.chmod(mode)
                self.assertEqual(saltus('run', self.scene(), '--until', '2', '-o', path).returncode, 0)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode)

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_a_report_that_cannot_be_written_leaves_the_old_one(self):
        path, page = self.folder / 'run.h5', self.folder / 'run.html'
        saltus('run', self.scene(), '--until', '1', '-o', path)
        self.assertEqual(saltus('report', path).returncode, 0)
        before = page.read_bytes()
        self.assertIn(b'three.js authors', before)
        self.assertIn(b'Leon Sorokin', before)

        def little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))

        result = saltus('report', path, preexec_fn=little)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(page.read_bytes(), before)
        self.assertEqual(sorted(f.name for f in self.folder.iterdir()), ['run.h5', 'run.html', 'scene.yaml'])


class Tables(Cli):
    def shards(self):
        for i in (1, 2):
            result = saltus('sweep', self.scene(), *SWEEP, '--shard', f'{i}/2', '-o', self.folder / f'{i}.runs')
            self.assertEqual(result.returncode, 0, result.stderr)
        return [self.folder / '1.runs', self.folder / '2.runs']

    def test_a_head_that_disagrees_with_itself_is_refused(self):
        first = self.shards()[0]
        whole = first.read_bytes()
        line = whole.split(b'\n')[1]
        room, axes, measures, runs, grid, mark = line.split()[1:]
        # the last two have as many runs as they say, of which none is there
        for runs, grid, code in ((b'9000000000000000', b'1', 2), (b'9000000000000000', grid, 2), (b'6', b'6', 2)):
            size = b' '.join((b'size', room, axes, measures, runs, grid, mark))
            table = whole.replace(line, size, 1)
            head = table[:int(room) + len(table) - len(whole)]
            first.write_bytes(head[:int(room) - 8].ljust(int(room) - 8, b'\0') + whole[int(room) - 8:])
            result = saltus('merge', first, '-o', self.folder / 'all.csv', timeout=60)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn('disagree', result.stderr)

    def test_a_merge_that_was_killed_can_be_repeated(self):
        first, second = self.shards()
        result = saltus('merge', first, '-o', self.folder / 'all.csv')  # as far as it came
        self.assertEqual(result.returncode, 1)
        self.assertTrue((self.folder / 'all.csv.runs').exists())
        result = saltus('merge', first, second, '-o', self.folder / 'all.csv')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse((self.folder / 'all.csv.runs').exists())
        self.assertEqual(len((self.folder / 'all.csv').read_text().splitlines()), 4)

    def test_restart_removes_tables_alone(self):
        table = self.folder / 'x.runs'
        table.write_text('my own work')
        result = saltus('sweep', self.scene(), *SWEEP, '-o', table, '--restart')
        self.assertEqual(result.returncode, 2)
        self.assertEqual(table.read_text(), 'my own work')


class Numbers(Cli):
    def test_forces_beyond_all_numbers_are_an_error(self):
        text = "saltus: 1\ncoordinates: {q: {start: 1}}\nkinetic: q'^2/2\npotential: 1.7e308*q\nsimulate: {until: 1, tol: 1e-6}\n"
        for scheme in ('adaptive', 'adaptive-dopri5', 'adaptive-radau5'):
            result = saltus('run', self.scene(text), '--scheme', scheme)
            self.assertIn(result.returncode, (1, 2), result.stdout)
            self.assertIn("at t = 0 s the acceleration along v1, q' is -1.7e+308", result.stderr)

    def test_forces_whose_squares_overflow_are_an_error_of_every_scheme(self):
        text = ("saltus: 1\ncoordinates: {q: {start: 1}}\nkinetic: q'^2/2\npotential: 1e308*q\n"
                "contacts: [{name: floor, gap: q, restitution: 1/2}]\nsimulate: {until: 1}\n")
        scene = self.scene(text)
        schemes = [s['name'] for s in json.loads(saltus('list', 'schemes', '--json').stdout)['schemes']]
        self.assertGreater(len(schemes), 30)
        for scheme in some(schemes):
            result = saltus('run', scene, '--scheme', scheme, '--step', '0.01')
            self.assertEqual(result.returncode, 1, (scheme, result.stdout))
            self.assertNotEqual(result.stderr, '', scheme)

    def test_negative_masses_are_an_error(self):
        for kinetic in ("-q'^2/2", "q'^2/2 - p'^2/2", "q'^2/2 + p'^2/2 + 2*q'*p'"):
            text = f'saltus: 1\ncoordinates: {{q: {{start: 1}}, p: {{start: 0}}}}\nkinetic: {kinetic}\npotential: q\nsimulate: {{until: 1, tol: 1e-6}}\n'
            result = saltus('run', self.scene(text))
            self.assertIn(result.returncode, (1, 2), result.stdout)
            self.assertIn('mass', result.stderr)


class Lists(Cli):
    def test_the_limits_of_schatzman_paoli_are_listed(self):
        """Impacts with rolling friction are an error there (docs/laws.md)."""
        schemes = {s['name']: s for s in json.loads(saltus('list', 'schemes', '--json').stdout)['schemes']}
        self.assertIn('impacts without rolling, drilling, patches and bonds', schemes['schatzman-paoli']['summary'])


class Signals(Cli):
    def test_a_search_of_curved_contacts_obeys_sigterm(self):
        """A torus on a cone at 1e-8: SIGTERM was obeyed after 58 s; 5 s leave time for a busy machine."""
        scene = SCENES.parent / 'tests' / 'scenes' / 'failing' / 'torus-on-cone.yaml'
        run = subprocess.Popen([PROGRAM, 'run', str(scene), '--tol', '1e-8'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        worked(run, 1.0)
        self.assertIsNone(run.poll())
        start = time.monotonic()
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 5.0)
        self.assertEqual(run.returncode, 143)

    def test_map_ends_as_shells_expect(self):
        words = ('map', SCENES / 'shaken-ball.yaml', '--period', '2*pi/w', '--points', '1000000', '-o', self.folder / 'map.csv')
        run = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        worked(run, 0.3)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertFalse((self.folder / 'map.csv').exists())


@unittest.skipUnless(OUTSIDE.is_dir(), 'no ../shared')
class Outside(Cli):
    """Files with which trials from outside crashed the program, blocked it or misled it."""

    def test_recordings_without_a_column(self):
        files = [*sorted(OUTSIDE.glob('h5/*.h5')), OUTSIDE / 'csv' / 'without-energy_impact.csv']
        self.assertGreater(len(files), 5)
        for path in some(files):
            column = path.stem.removeprefix('missing-').removeprefix('without-').replace('-', '/')
            for words in (('info', path), ('verify', path), ('plot', path, '-o', self.folder / 'x.svg'),
                          ('resume', path, '--until', '9')):
                result = saltus(*words, timeout=60)
                self.assertEqual(result.returncode, 2, (words, result.stderr))
                self.assertIn(column, result.stderr, words)

    def test_tables_scenes_and_certificates(self):
        result = saltus('merge', OUTSIDE / 'merge' / 'huge.runs', '-o', self.folder / 'o.csv', timeout=60)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn('disagree', result.stderr)
        result = saltus('run', OUTSIDE / 'overflow' / 'force-1.7e308-does-not-move.yaml', timeout=60)
        self.assertEqual(result.returncode, 1, result.stdout)
        result = saltus('verify', OUTSIDE / 'locale' / 'forged15.h5', timeout=60)
        self.assertEqual(result.returncode, 1, result.stdout)

    @unittest.skipIf(SANITIZED, 'runtimes of sanitizers come first in the list of libraries')
    def test_code_of_the_current_folder_does_not_run(self):
        compiled = subprocess.run(['cc', '-shared', '-fPIC', str(OUTSIDE / 'rpath' / 'evil.c'), '-o',
                                   str(self.folder / 'libfyaml.so.0')], capture_output=True)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)
        result = saltus('--version', cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=1)
