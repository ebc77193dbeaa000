#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every command, scene and script of the README runs as printed; its pictures exist and its animations move."""
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ['SALTUS_SOURCE'])
PROGRAM = os.environ['SALTUS_PROGRAM']
TEXT = (SOURCE / 'README.md').read_text()
TARGETS = set(re.findall(r'^([a-z-]+):', (SOURCE / 'Makefile').read_text(), re.M))


def blocks(language):
    return re.findall(rf'^```{language}\n(.*?)^```', TEXT, re.S | re.M)


class Readme(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        os.symlink(SOURCE / 'scenes', self.folder / 'scenes')

    def run_here(self, words, **options):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300, **options)
        self.assertEqual(done.returncode, 0, f'{words}: {done.stderr}')
        return done.stdout

    def test_commands_run(self):
        lines = [line for block in blocks('sh') for line in block.splitlines()]
        self.assertGreaterEqual(len(lines), 3)
        for line in lines:
            words = shlex.split(line)
            self.assertEqual(words[0], 'build/saltus')
            self.run_here([PROGRAM, *words[1:]])

    def test_commands_within_sentences_run(self):
        prose = re.sub(r'^```.*?^```', '', TEXT, flags=re.S | re.M)
        commands = [shlex.split(text) for text in re.findall(r'`(build/saltus [^`]*)`', prose)]
        self.assertTrue(commands)
        for words in commands:
            if words[1] == 'view':  # opens a browser at the end
                words = words + ['--no-open']
            self.run_here([PROGRAM, *words[1:]], env={**os.environ, 'TMPDIR': str(self.folder)})

    def test_targets_of_make_exist(self):
        named = set(re.findall(r'(?:^|`)make ([a-z-]+)', TEXT, re.M))
        self.assertLessEqual({'demo', 'test', 'python', 'docs'}, named)
        self.assertLessEqual(named, TARGETS)

    def test_the_scene_comes_to_rest_at_its_zeno_point(self):
        (scene,) = blocks('yaml')
        (self.folder / 'ball.yaml').write_text(scene)
        self.run_here([PROGRAM, 'run', 'ball.yaml', '-o', 'ball.csv'])
        rows = [line.split(',') for line in (self.folder / 'ball.csv').read_text().splitlines() if line[:1].isdigit()]
        resting = [float(row[1]) for row in rows if float(row[0]) >= 3]  # impacts accumulate at 3 s, docs/theory/problems.md
        self.assertTrue(resting)
        self.assertLess(max(map(abs, resting)), 1e-8)

    def test_python_runs(self):
        path = pathlib.Path(PROGRAM).parent / 'python-path'
        if not (path / 'saltus').is_dir():
            self.skipTest('the Python package is not built')
        (script,) = blocks('python')
        self.assertEqual(len(script.splitlines()), 6)
        if importlib.util.find_spec('matplotlib') is None:
            print('matplotlib is absent: the plot of the README is not drawn', file=sys.stderr)
            script = '\n'.join(line for line in script.splitlines() if '.plot(' not in line)
        environment = {**os.environ, 'PYTHONPATH': str(path), 'MPLBACKEND': 'Agg', 'PYTHONDONTWRITEBYTECODE': '1'}
        out = self.run_here(['/usr/bin/python3', '-c', script], env=environment)
        self.assertIn('woodpecker on a pole: 3 coordinates, 3 contacts', out)

    def test_pictures_exist_and_move(self):
        pictures = re.findall(r'<img src="([^"]+)"', TEXT)
        self.assertEqual(len(pictures), 3)
        for name in pictures:
            data = (SOURCE / name).read_bytes()
            self.assertTrue(data.startswith(b'GIF89a'))
            self.assertGreater(data.count(b'\x21\xf9\x04'), 20)  # graphic control extensions: one a frame
            self.assertLess(len(data), 400_000)

    def test_it_is_short(self):
        self.assertLessEqual(len(TEXT.splitlines()), 150)


if __name__ == '__main__':
    unittest.main()
