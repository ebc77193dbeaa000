#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Recordings of contacts that come and go, as a user meets them: tests/recordings/pads-2, five balls of 2 kg between two rows
of pads (tests/support/pads.h), forty impacts of 4 N s, each with another pad."""
import csv
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import SOURCE, Cli, saltus  # noqa: E402

FOLDER = pathlib.Path(SOURCE) / 'tests' / 'recordings'
FORMATS = ['pads-2.csv', 'pads-2.h5']


def formats():
    hdf5 = saltus('info', FOLDER / 'pads-2.h5').returncode == 0
    return FORMATS if hdf5 else FORMATS[:1]


class Changing(Cli):
    def test_info_counts_contacts_and_rows(self):
        for name in formats():
            text = saltus('info', FOLDER / name).stdout
            self.assertIn('a time-varying contact set', text)
            self.assertIn('time-varying contacts: 48, in 72 rows', text)
            self.assertIn('and 28 more (--contacts prints all)', text)
            out = json.loads(saltus('info', FOLDER / name, '--json').stdout)
            self.assertEqual((out['contacts'], out['contact_rows'], out['impacts']), (48, 72, 40))
            self.assertTrue(out['changing_contacts'])

    def test_info_says_between_how_many_shapes_contacts_are(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / 'box.csv'
            scene = pathlib.Path(SOURCE) / 'scenes' / 'shapes' / 'box-on-corner.yaml'
            self.assertEqual(saltus('run', scene, '--until', '0.01', '-o', out).returncode, 0)
            self.assertIn('contacts between 2 shapes', saltus('info', out).stdout)
            self.assertEqual(json.loads(saltus('info', out, '--json').stdout)['shapes'], 2)

    def test_rows_have_the_impulse_of_each_contact(self):
        for name in formats():
            text = saltus('info', FOLDER / name, '--contacts', '--csv').stdout
            rows = list(csv.DictReader(io.StringIO(text)))
            self.assertEqual(len(rows), 72)
            sums = {}
            for row in rows:
                self.assertGreater(int(row['identity']), 2 ** 63)
                sums[row['identity']] = sums.get(row['identity'], 0.0) + float(row['impulse_N [N s]'])
            self.assertEqual(sorted(set(sums.values())), [0.0, 4.0])
            self.assertEqual(sum(sums.values()), 160.0)
            listed = json.loads(saltus('info', FOLDER / name, '--contacts', '--json').stdout)
            self.assertEqual([r['identity'] for r in listed], [r['identity'] for r in rows])
            events = json.loads(saltus('info', FOLDER / name, '--events', '--json').stdout)
            self.assertEqual({e['identity'] for e in events}, {k for k, v in sums.items() if v > 0})
            self.assertEqual({e['contact_name'] for e in events}, {'floor, low', 'ceiling'})

    def test_both_formats_hold_the_same(self):
        if len(formats()) == 2:
            a, b = (saltus('info', FOLDER / name, '--contacts', '--csv').stdout for name in FORMATS)
            self.assertEqual(a, b)

    def test_plot_draws_the_strongest_and_says_so(self):
        for name in formats():
            figure = self.folder / 'pads.svg'
            drawn = saltus('plot', FOLDER / name, '-o', figure, '--force')
            self.assertEqual(drawn.returncode, 0)
            self.assertIn('Of 40 contacts that acted the 8 with the largest impulses', drawn.stdout)
            self.assertGreater(figure.stat().st_size, 10000)
            rows = json.loads(saltus('info', FOLDER / name, '--contacts', '--json').stdout)
            chosen = next(r['identity'] for r in rows if r['impulse'][0] > 0)
            self.assertEqual(saltus('plot', FOLDER / name, '--series', chosen + '.impulse', '-o', figure, '--force').returncode, 0)
            refused = saltus('plot', FOLDER / name, '--series', '12.impulse', '-o', figure, '--force')
            self.assertEqual(refused.returncode, 2)
            self.assertIn('IDENTITY.impulse', refused.stderr)

    def test_what_cannot_be_done_is_refused(self):
        fixed = saltus('info', FOLDER / 'ball-1.csv', '--contacts')
        self.assertEqual(fixed.returncode, 2)
        self.assertIn('always the same', fixed.stderr)
        resumed = saltus('resume', FOLDER / 'pads-2.csv', '--until', '10')
        self.assertEqual(resumed.returncode, 2)
        for part in ('.csv', '.events.csv'):
            shutil.copy(FOLDER / ('pads-2' + part), self.folder / ('alone' + part))
        alone = saltus('info', self.folder / 'alone.csv')
        self.assertEqual(alone.returncode, 2)
        self.assertIn('alone.contacts.csv', alone.stderr)


if __name__ == '__main__':
    unittest.main()
