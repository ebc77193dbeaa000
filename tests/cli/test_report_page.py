#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus report and saltus view: pages, what they replace, what is refused, and what is in them against the recording."""
import base64
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SALTUS = os.environ['SALTUS_PROGRAM']
SCENES = Path(os.environ['SALTUS_SOURCE']) / 'scenes'


def saltus(*args, **options):
    return subprocess.run([SALTUS, *map(str, args)], capture_output=True, text=True, **options)


def document(page):
    """Head and arrays of the document in a page."""
    packed = re.search(r'id="saltus-document">([A-Za-z0-9+/=]*)</script>', page.read_text()).group(1)
    data = base64.b64decode(packed, validate=True)
    assert data[:8] == b'SALTUSV1'
    length = struct.unpack('<Q', data[8:16])[0]
    head = json.loads(data[16:16 + length])
    arrays = {}
    for name, place in head['arrays'].items():
        count = 1
        for n in place['shape']:
            count *= n
        letter = {'f64': 'd', 'f32': 'f', 'i32': 'i', 'u32': 'I'}[place['type']]
        arrays[name] = struct.unpack_from(f'<{count}{letter}', data, 16 + length + place['offset'])
    return head, arrays


def columns(table):
    lines = [line for line in table.read_text().splitlines() if not line.startswith('#')]
    names = [re.sub(r' \[.*\]$', '', name) for name in lines[0].split(',')]
    rows = [line.split(',') for line in lines[1:]]
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(names)}


VIEWER = 'has no viewer' not in saltus('report', 'nothing.h5').stderr


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def recorded(self, scene, *options):
        path = self.folder / f'{scene}.csv'
        result = saltus('run', SCENES / f'{scene}.yaml', '-o', path, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    @unittest.skipIf(VIEWER, 'there is a viewer')
    def test_without_a_viewer_it_says_what_is_missing_and_leaves_no_file(self):
        result = saltus('report', self.recorded('ball'), '-o', self.folder / 'ball.html')
        self.assertEqual(result.returncode, 1)
        self.assertIn('node and npm', result.stderr)
        self.assertFalse((self.folder / 'ball.html').exists())

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_the_page_has_the_numbers_of_the_recording(self):
        path = self.recorded('machine-breaker-arm', '--certify')
        result = saltus('report', path)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        page = self.folder / 'machine-breaker-arm.html'
        head, arrays = document(page)
        given = columns(path)
        self.assertEqual(list(arrays['t']), given['t'])
        self.assertEqual(head['shown'], len(given['t']))
        for i, label in enumerate(head['q']):
            self.assertEqual(list(arrays['q'][i::len(head['q'])]), given[label['name']])
        body = head['mechanism']['bodies'][0]
        width = 7 * sum(one['pose'] >= 0 for one in head['mechanism']['bodies'])
        place = arrays['pose'][7 * body['pose']::width]
        for got, expected in zip(place, given[f"{body['name']}.x"]):
            self.assertAlmostEqual(got, expected, delta=1e-15)
        self.assertTrue(head['certificate']['passed'])
        self.assertEqual(head['scene'], (SCENES / 'machine-breaker-arm.yaml').read_text())
        self.assertIn("connect-src 'none'", page.read_text()[:2000])

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_measured_values_are_in_the_page_and_need_times(self):
        path = self.recorded('ball')
        table, page = self.folder / 'measured.csv', self.folder / 'measured.html'
        table.write_text('# sensor 3\nq [m],t,noise\n1,0,7\n0.5,0.25,8\n')
        result = saltus('report', path, '--measured', table, '--no-certificate', '-o', page)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        head, arrays = document(page)
        self.assertEqual(head['measured'], [{'name': 'q', 'unit': 'm'}, {'name': 'noise', 'unit': ''}])
        self.assertEqual((arrays['measured_t'], arrays['measured']), ((0, 0.25), (1, 0.5, 7, 8)))
        for text, words in (('q,noise\n1,2\n', 'no column t'), ('t,q\n0,x\n', 'none.csv:2: column q'), (None, 'none.csv')):
            table = self.folder / 'none.csv'
            if text is not None:
                table.write_text(text)
            page.unlink(missing_ok=True)
            result = saltus('report', path, '--measured', table, '--no-certificate', '-o', page)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertFalse(page.exists())
            table.unlink(missing_ok=True)

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_only_certified_recordings_have_a_certificate(self):
        # between the frames of this recording the foot closes and opens: momentum cannot be followed
        path = self.recorded('machine-woodpecker', '--tol', '1e-8', '--until', '0.3')
        page = self.folder / 'plain.html'
        self.assertEqual(saltus('report', path, '-o', page).returncode, 0)
        self.assertNotIn('certificate', document(page)[0])
        self.assertIn('record with --certify', page.read_text())
        path = self.recorded('machine-woodpecker', '--tol', '1e-8', '--until', '0.3', '--certify')
        self.assertEqual(saltus('report', path, '-o', page).returncode, 0)
        self.assertTrue(document(page)[0]['certificate']['passed'])

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_only_reports_are_replaced(self):
        path = self.recorded('ball')
        page = self.folder / 'own.html'
        page.write_text('my own page')
        result = saltus('report', path, '-o', page)
        self.assertEqual(result.returncode, 2)
        self.assertIn('not a report', result.stderr)
        self.assertEqual(page.read_text(), 'my own page')
        self.assertEqual(saltus('report', path, '-o', page, '--force').returncode, 0)
        self.assertEqual(saltus('report', path, '-o', page).returncode, 0)

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_the_page_has_parameters_elements_and_the_design_of_the_run(self):
        path = self.recorded('machine-valve-train', '--until', '0.002')
        page = self.folder / 'train.html'
        self.assertEqual(saltus('report', path, '-o', page, '--no-certificate').returncode, 0)
        head = document(page)[0]
        run = saltus('run', SCENES / 'machine-valve-train.yaml', '--until', '0.002', '--design', '--json')
        expected = json.loads(run.stdout)['design']
        design = json.loads(head['answers'])['design']
        self.assertEqual(set(design), set(expected))
        for name, joint in expected['joints'].items():
            self.assertAlmostEqual(design['joints'][name]['peak_force'], joint['peak_force'], delta=0.02 * joint['peak_force'])
            self.assertGreaterEqual(joint['peak_torque'], joint['mean_torque'])
        parameters = {one['name']: one['value'] for one in head['parameters']}
        self.assertEqual(parameters['w'], 3000 * 2 * math.pi / 60)
        cam = next(one for one in head['mechanism']['elements'] if one['type'] == 'cam')
        for angle, radius in cam['points']:
            lobe = max(0.0, math.cos(angle + math.pi / 2) - math.cos(1)) / (1 - math.cos(1))
            self.assertAlmostEqual(radius, 0.02 + 0.007 * lobe ** 3, delta=1e-15)

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_pages_are_printed_and_other_files_are_kept(self):
        path = self.recorded('ball')
        out = self.folder / 'ball.pdf'
        out.write_text('my own file')
        result = saltus('report', path, '--pdf', out)
        self.assertEqual((result.returncode, out.read_text()), (2, 'my own file'))
        result = saltus('report', path, '--pdf', out, '--force', env=dict(os.environ, PATH=str(self.folder)))
        self.assertEqual(result.returncode, 1)
        self.assertIn('needs chromium', result.stderr)
        if shutil.which('chromium') is None:
            self.skipTest('chromium is not installed')
        result = saltus('report', path, '--pdf', out, '--force')
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(out.read_bytes().startswith(b'%PDF'))

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_what_is_no_recording_is_refused(self):
        for target in ('missing.h5', SCENES / 'ball.yaml'):
            result = saltus('report', target, '-o', self.folder / 'x.html')
            self.assertEqual(result.returncode, 2, target)
            self.assertFalse((self.folder / 'x.html').exists())

    @unittest.skipUnless(VIEWER, 'built without the viewer')
    def test_view_runs_a_scene_and_leaves_the_page_alone(self):
        environment = dict(os.environ, TMPDIR=str(self.folder))
        result = saltus('view', SCENES / 'ball.yaml', '--tol', '1e-6', '--until', '2', '--no-open', env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        left = [path.name for path in self.folder.glob('saltus-*/*')]
        self.assertEqual(left, ['ball.html'])
        head, arrays = document(next(self.folder.glob('saltus-*/ball.html')))
        self.assertEqual(head['scheme'], 'adaptive')
        self.assertEqual(arrays['t'][-1], 2.0)
        self.assertEqual([item['type'] for item in head['view']['items']], ['line', 'circle', 'contact'])


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]])
