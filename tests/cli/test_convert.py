#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus convert: files, exit codes, and the list of what was not taken over."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import SOURCE, Cli, saltus  # noqa: E402

ROBOTS = SOURCE / 'tests' / 'urdf'
ARM = ROBOTS / 'serial-arm.urdf'


class Convert(Cli):
    def test_the_scene_goes_to_the_file_or_to_the_standard_output(self):
        path = self.folder / 'arm.yaml'
        result = saltus('convert', ARM, '-o', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f'{ARM}: 5 links and 4 joints, 3 bodies in {path}', result.stdout)
        self.assertEqual(path.read_text(), saltus('convert', ARM).stdout)

    def test_what_is_not_used_is_listed_with_its_line_everywhere(self):
        path = self.folder / 'arm.yaml'
        text = saltus('convert', ARM, '-o', path).stdout
        notes = json.loads(saltus('convert', ARM, '--json').stdout)['notes']
        lines = [note['line'] for note in notes]
        self.assertEqual(lines, sorted(lines))
        for note in notes:
            self.assertIn(f'{ARM}:{note["line"]}: {note["text"]}\n', text)
            self.assertIn(f'#   line {note["line"]}: {note["text"]}\n', path.read_text())
        wanted = {'<collision>': 19, 'velocity="2"': 43}
        for words, line in wanted.items():
            self.assertIn(line, [n['line'] for n in notes if words in n['text']])

    def test_a_file_that_is_there_is_replaced_only_when_asked(self):
        path = self.folder / 'arm.yaml'
        path.write_text('edited')
        self.refused('convert', ARM, '-o', path, says='exists and is not overwritten; give another name, or --force')
        self.assertEqual(path.read_text(), 'edited')
        self.assertEqual(saltus('convert', ARM, '-o', path, '--force').returncode, 0)
        self.assertIn('saltus: 1', path.read_text())

    def test_bad_robots_leave_no_file(self):
        path = self.folder / 'bad.yaml'
        robot = self.folder / 'bad.urdf'
        for text, says in (('<robot>\n<link', 'bad.urdf:2: not valid XML'),
                           ('<robot>\n<link name="a"/>\n</robot>', 'bad.urdf:2: nothing of this robot moves'),
                           ('<!DOCTYPE r [<!ENTITY a "b">]><robot/>', 'bad.urdf:1: a document type'),
                           ('a\0b', 'zero bytes')):
            robot.write_text(text)
            self.refused('convert', robot, '-o', path, says=says)
            self.assertFalse(path.exists())
        self.refused('convert', self.folder / 'nobody.urdf', says='No such file')
        self.refused('convert', ARM, '--base', 'fixd', says='must be fixed or free; did you mean fixed?')

    def test_a_robot_runs_as_its_scene_does(self):
        path = self.folder / 'arm.yaml'
        self.assertEqual(saltus('convert', ARM, '-o', path).returncode, 0)
        robot, scene = (saltus('run', file, '--scheme', 'moreau-jean', '--step', '1e-3', '--until', '0.1', '--json')
                        for file in (ARM, path))
        self.assertEqual(robot.returncode, 0, robot.stderr)
        self.assertIn('saltus convert lists them', robot.stderr)
        self.assertEqual(json.loads(robot.stdout)['q'], json.loads(scene.stdout)['q'])

    def test_floor_friction_and_coordinates_are_options(self):
        text = saltus('convert', ARM, '--ground', '-1', '--friction', '0.5', '--coordinates', 'joints').stdout
        self.assertIn('coordinates: joints, shapes: [\n  {name: floor, half-space: {}, position: [0, 0, -1]}', text)
        self.assertIn('friction: 0.5', text)
        self.refused('convert', ARM, '--coordinates', 'joint', says='must be bodies or joints')
        self.refused('convert', ARM, '--friction', '-1', says='friction')

    def test_every_robot_is_a_scene_that_runs(self):
        for robot in sorted(ROBOTS.glob('*.urdf')):
            path = self.folder / (robot.stem + '.yaml')
            self.assertEqual(saltus('convert', robot, '-o', path).returncode, 0)
            for words in (('check', path), ('run', path, '--until', '0.1')):
                result = saltus(*words)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_base_is_free_or_fixed(self):
        robot = ROBOTS / 'closed-loop.urdf'
        self.refused('convert', robot, '--base', 'free', says='closed-loop.urdf:5: link "ceiling" is free and has no mass')
        self.assertEqual(saltus('convert', robot, '--base', 'fixed').returncode, 0)


if __name__ == '__main__':
    unittest.main()
