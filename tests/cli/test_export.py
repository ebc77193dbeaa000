#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus export: files, exit codes and refusals; FMUs in other importers where the folder SALTUS_FMI_CLIENTS has them.

That folder contains `fmpy` (the sources of FMPy, with its packages), `schema2`, `schema3` (modelDescription schemas of FMI),
`BouncingBall`, the unpacked FMU of the Reference-FMUs, `Reference-FMUs`, their sources, and `fmusim`, the program that was among
them until 2025. What is not there is skipped."""
import csv
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import SANITIZED, SOURCE, Cli, saltus  # noqa: E402

CLIENTS = os.environ.get('SALTUS_FMI_CLIENTS')


def client(name):
    """Whether the folder of importers has it."""
    return bool(CLIENTS) and (pathlib.Path(CLIENTS) / name).exists()


FMPY = client('fmpy')
EXAMPLES = client('Reference-FMUs') and shutil.which('gcc') and not SANITIZED
BALL = SOURCE / 'scenes' / 'ball.yaml'
SCENES = (('ball', 5.0, ['q']), ('woodpecker', 1.0, ['y', 'phiM', 'phiS']))
MESH = """saltus: 1
world: {dimension: 3, gravity: [0, 0, -9.81], shapes: [{mesh: {file: floor.stl}}]}
bodies: {ball: {mass: 1, inertia: [0.4, 0.4, 0.4], position: [0.2, 0.1, 1], shapes: [{sphere: {radius: 0.1}}]}}
simulate: {until: 0.4, tol: 1e-8}
"""


def stl(triangles):
    """A binary STL file."""
    body = b''.join(struct.pack('<12fH', 0, 0, 1, *[x for point in triangle for x in point], 0) for triangle in triangles)
    return bytes(80) + struct.pack('<I', len(triangles)) + body


class Export(Cli):
    def test_the_archive_has_its_files_and_is_not_replaced(self):
        path = self.folder / 'ball.fmu'
        self.assertEqual(saltus('export', 'fmu', BALL, '-o', path, '--tol', '1e-9').returncode, 0)
        names = zipfile.ZipFile(path).namelist()
        self.assertEqual(names, ['modelDescription.xml', 'binaries/x86_64-linux/ball.so', 'resources/scene.tree',
                                 'resources/export.txt', 'documentation/licenses/license.txt'])
        self.assertIsNone(zipfile.ZipFile(path).testzip())
        before = path.read_bytes()
        self.refused('export', 'fmu', BALL, '-o', path, says='exists and is not overwritten')
        self.assertEqual(saltus('export', 'fmu', BALL, '-o', path, '--tol', '1e-9', '--force').returncode, 0)
        self.assertEqual(path.read_bytes(), before)
        if not SANITIZED:  # which make the shared object larger
            self.assertLess(len(before), 3e6)

    @unittest.skipUnless(shutil.which('nm') and shutil.which('readelf') and not SANITIZED, 'no binutils, or sanitizers')
    def test_the_shared_object_exports_fmi_alone_and_needs_libc_and_libm(self):
        path = self.folder / 'ball.fmu'
        self.assertEqual(saltus('export', 'fmu', BALL, '-o', path).returncode, 0)
        binary = self.folder / 'ball.so'
        binary.write_bytes(zipfile.ZipFile(path).read('binaries/x86_64-linux/ball.so'))
        names = subprocess.run(['nm', '-D', '--defined-only', binary], capture_output=True, text=True, check=True).stdout.split('\n')
        others = [line for line in names if line and ' fmi2' not in line and ' fmi3' not in line]
        self.assertEqual(others, [])
        self.assertEqual(sum(' fmi3' in line for line in names), 75)
        self.assertEqual(sum(' fmi2' in line for line in names), 44)
        dynamic = subprocess.run(['readelf', '-d', binary], capture_output=True, text=True, check=True).stdout
        needed = {line.split('[')[1].split('.')[0] for line in dynamic.splitlines() if '(NEEDED)' in line}
        self.assertLessEqual(needed, {'libm', 'libc', 'ld-linux-x86-64'})

    def test_meshes_are_resources(self):
        (self.folder / 'floor.stl').write_bytes(stl([((-1, -1, 0), (1, -1, 0), (1, 1, 0)), ((-1, -1, 0), (1, 1, 0), (-1, 1, 0))]))
        scene = self.folder / 'drop.yaml'
        scene.write_text(MESH)
        path = self.folder / 'drop.fmu'
        result = saltus('export', 'fmu', scene, '-o', path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(zipfile.ZipFile(path).read('resources/mesh-1.stl'), (self.folder / 'floor.stl').read_bytes())

    def test_wrong_requests_are_refused(self):
        out = self.folder / 'x.fmu'
        self.refused('export', 'mex', BALL, '-o', out, says='allowed: fmu, c')
        self.refused('export', 'fmu', BALL, '-o', out, '--fmi', '4', says='must be 3 or 2')
        self.refused('export', 'fmu', BALL, '-o', out, '--scheme', 'nonsense', says='no scheme "nonsense"')
        self.refused('export', 'fmu', BALL, '-o', out, '--tol', '-1', says='tol')
        self.refused('export', 'fmu', BALL, '-o', out, '--binary', self.folder / 'none.so', says='No such file')
        self.refused('export', 'c', BALL, '-o', out, '--scheme', 'adaptive', says='moreau-jean')
        self.refused('export', 'c', BALL, '-o', out, '--scheme', 'moreau-jean', '--step', '1e-3', '--prefix', '1x',
                     says='not a C identifier')
        hull = self.folder / 'hull.yaml'
        points = 'hull: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]], triangles: [[0, 1, 2], [2, 3, 0]%s]}'
        hull.write_text(MESH.replace('mesh: {file: floor.stl}', points % ', [0, 3, 1], [1, 3, 2]'))
        self.assertEqual(saltus('check', hull).returncode, 0)
        for wrong, says in ((', [0, 3, 1], [1, 2, 3]', 'not the hull'), (', [0, 3, 1], [1, 3, 9]', 'not the hull'), ('', 'not close')):
            hull.write_text(MESH.replace('mesh: {file: floor.stl}', points % wrong))
            self.refused('check', hull, says=says)
        self.refused('export', 'fmu', SOURCE / 'scenes' / 'flexible' / 'phone-plate.yaml', '-o', out, says='HDF5')
        self.assertFalse(out.exists())

    @unittest.skipUnless(CLIENTS, 'SALTUS_FMI_CLIENTS names no folder with importers')
    def test_schemas_hold(self):
        for version in (2, 3):
            path = self.folder / f'woodpecker{version}.fmu'
            self.assertEqual(saltus('export', 'fmu', SOURCE / 'scenes' / 'woodpecker.yaml', '--fmi', str(version), '-o',
                                    path).returncode, 0)
            xml = self.folder / 'modelDescription.xml'
            xml.write_bytes(zipfile.ZipFile(path).read('modelDescription.xml'))
            schema = pathlib.Path(CLIENTS) / f'schema{version}' / f'fmi{version}ModelDescription.xsd'
            done = subprocess.run(['xmllint', '--noout', '--schema', schema, xml], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def simulate(self, scene, version, stop, **options):
        """The scene in FMPy, after its validation."""
        sys.path.insert(0, str(pathlib.Path(CLIENTS) / 'fmpy'))
        import fmpy  # pylint: disable=import-error
        from fmpy.validation import validate_fmu
        path = self.folder / f'{scene}{version}.fmu'
        done = saltus('export', 'fmu', SOURCE / 'scenes' / f'{scene}.yaml', '--tol', '1e-9', '--fmi', str(version), '-o', path,
                      '--force')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(validate_fmu(str(path)), [])
        return fmpy.simulate_fmu(str(path), stop_time=stop, output_interval=0.01, **options)

    def program(self, scene, stop):
        """Rows of the program at whole hundredths of a second; others are impacts."""
        path = self.folder / f'{scene}.csv'
        done = saltus('run', SOURCE / 'scenes' / f'{scene}.yaml', '--tol', '1e-9', '--until', stop, '--output-dt', '0.01', '-o', path)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.reader(line for line in path.read_text().splitlines() if not line.startswith('#')))
        heads = [head.split(' ')[0] for head in rows[0]]
        return {round(100 * float(row[0])): dict(zip(heads, row)) for row in rows[1:]
                if abs(100 * float(row[0]) - round(100 * float(row[0]))) < 1e-7}

    @unittest.skipUnless(FMPY, 'SALTUS_FMI_CLIENTS has no FMPy')
    def test_fmpy_has_the_positions_of_the_program_to_the_bit(self):
        for scene, stop, names in SCENES:
            program = self.program(scene, stop)
            for version in (2, 3):
                result = self.simulate(scene, version, stop)
                self.assertEqual(len(result), len(program))
                for k, row in enumerate(result):
                    for name in names:  # positions are continuous: both sides of an impact have the same ones
                        self.assertEqual(row[name], float(program[k][name]), (scene, version, k, name))

    @unittest.skipUnless(client('fmusim') and not SANITIZED, 'SALTUS_FMI_CLIENTS has no fmusim')
    def test_fmusim_has_the_positions_of_the_program(self):
        events = ['--early-return-allowed', '--event-mode-used']
        for scene, stop, names in SCENES:
            program = self.program(scene, stop)
            for version, options in ((2, []), (3, []), (3, events)):
                path, out = self.folder / f'{scene}{version}.fmu', self.folder / 'fmusim.csv'
                done = saltus('export', 'fmu', SOURCE / 'scenes' / f'{scene}.yaml', '--tol', '1e-9', '--fmi', version, '-o', path,
                              '--force')
                self.assertEqual(done.returncode, 0, done.stderr)
                done = subprocess.run([pathlib.Path(CLIENTS) / 'fmusim', '--interface-type', 'cs', '--stop-time', str(stop),
                                       '--output-interval', '0.01', '--set-stop-time', *options, '--output-file', out, path],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                rows = list(csv.DictReader(out.read_text().splitlines()))
                seen = set()
                for row in rows:  # times are sums: positions differ by rounding
                    k = round(100 * float(row['time']))
                    if abs(100 * float(row['time']) - k) < 1e-9:
                        seen.add(k)
                        for name in names:
                            self.assertLess(abs(float(row[name]) - float(program[k][name])), 1e-12, (scene, version, options, k))
                self.assertGreater(len(seen), 0.9 * len(program))  # an early return beside a point replaces it

    @unittest.skipUnless(EXAMPLES, 'SALTUS_FMI_CLIENTS has no Reference-FMUs, or there is no gcc')
    def test_example_importers_of_the_reference_fmus_end_at_rest(self):
        sources = pathlib.Path(CLIENTS) / 'Reference-FMUs'
        for version, name, table in ((3, 'cs_early_return', 'cs_early_return_out.csv'), (3, 'cs_event_mode', 'cs_event_mode_out.csv'),
                                     (3, 'simulate_fmi3_cs', 'ball_cs_out.csv'), (2, 'simulate_fmi2_cs', 'ball_cs_out.csv')):
            folder = self.folder / name
            (folder / 'ball').mkdir(parents=True)
            path = folder / 'ball.fmu'
            done = saltus('export', 'fmu', BALL, '--tol', '1e-9', '--fmi', version, '-o', path)
            self.assertEqual(done.returncode, 0, done.stderr)
            zipfile.ZipFile(path).extractall(folder / 'ball')
            token = (folder / 'ball' / 'modelDescription.xml').read_text().split('instantiationToken="' if version == 3 else 'guid="')
            (folder / 'config.h').write_text(
                f'#define MODEL_IDENTIFIER ball\n#define INSTANTIATION_TOKEN "{token[1].split(chr(34))[0]}"\n'
                '#define FIXED_SOLVER_STEP 1e-3\n#define DEFAULT_STOP_TIME 5\nenum { vr_time, vr_h, vr_v };\n')
            files = ['examples/' + name, 'examples/BouncingBall', 'src/FMI', f'src/FMI{version}']
            subprocess.run(['gcc', '-w', '-DDISABLE_PREFIX', f'-DFMI_VERSION={version}', f'-I{folder}', f'-I{sources}/include',
                            f'-I{sources}/examples', '-o', folder / name, *[sources / (file + '.c') for file in files], '-ldl', '-lm'],
                           check=True)
            done = subprocess.run([folder / name], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rows = list(csv.DictReader((folder / table).read_text().splitlines()))
            self.assertGreater(len(rows), 500)
            self.assertEqual([float(rows[-1][key]) for key in ('time', 'h', 'v')], [5.0, 0.0, 0.0])

    @unittest.skipUnless(FMPY, 'SALTUS_FMI_CLIENTS has no FMPy')
    def test_fmpy_has_both_sides_of_impacts_and_passes_the_zeno_point(self):
        result = self.simulate('ball', 3, 5.0, use_event_mode=True, early_return_allowed=True)
        t, v = result['time'], result['der(q)']
        sides = [(v[i], v[i + 1]) for i in range(len(t) - 1) if t[i] == t[i + 1] and v[i] < 0]
        self.assertGreaterEqual(len(sides), 20)  # 1 m/s halved until the Zeno point
        for before, after in sides:
            if after > 0:  # the last one ends the accumulation
                self.assertLess(abs(after + before / 2), 1e-14)
        self.assertEqual((result['q'][-1], v[-1]), (0.0, 0.0))

    @unittest.skipUnless(FMPY and client('BouncingBall'), 'SALTUS_FMI_CLIENTS has no BouncingBall')
    def test_errors_of_the_reference_fmu_are_those_of_the_page(self):
        (self.folder / 'bounce.yaml').write_text('saltus: 1\ncoordinates: {h: {start: 1, unit: m}}\nkinetic: "h\'^2/2"\n'
                                                 'potential: 9.81*h\ncontacts: [{gap: h, restitution: 0.7}]\n'
                                                 'simulate: {until: 3, tol: 1e-9}\n')
        path = self.folder / 'bounce.fmu'
        self.assertEqual(saltus('export', 'fmu', self.folder / 'bounce.yaml', '-o', path).returncode, 0)
        sys.path.insert(0, str(pathlib.Path(CLIENTS) / 'fmpy'))
        import fmpy  # pylint: disable=import-error

        def error(fmu):
            result = fmpy.simulate_fmu(str(fmu), stop_time=3.0, output_interval=0.01, fmi_type='CoSimulation')
            return max(abs(row['h'] - bouncing_height(row['time'])) for row in result)
        self.assertLess(error(path), 1e-14)
        self.assertGreater(error(pathlib.Path(CLIENTS) / 'BouncingBall'), 1e-2)


def bouncing_height(t, g=9.81, e=0.7):
    """Height in m of a ball that falls from 1 m at t = 0 s: flights between impacts in closed form."""
    start, v = math.sqrt(2 / g), g * math.sqrt(2 / g)
    if t < start:
        return 1 - g * t * t / 2
    for _ in range(200):
        v *= e
        if t < start + 2 * v / g:
            return v * (t - start) - g * (t - start)**2 / 2
        start += 2 * v / g
    return 0.0


if __name__ == '__main__':
    unittest.main()
