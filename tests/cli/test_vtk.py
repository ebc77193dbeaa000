#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus vtk: what its files say, read without VTK and, where it is installed, with it."""
import base64
import math
import pathlib
import struct
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import SOURCE, Cli, saltus  # noqa: E402

LETTERS = {'Float32': 'f', 'Float64': 'd', 'Int32': 'i', 'UInt64': 'Q'}

SOLIDS = """saltus: 1
world: {dimension: 3, gravity: [0, 0, 0], shapes: [{half-space: {}}]}
bodies:
  all:
    mass: 2
    inertia: [1, 2, 3]
    shapes:
      - {name: ball, sphere: {radius: 0.3}, position: [0, 0, 2]}
      - {name: brick, box: {size: [0.2, 0.4, 0.6]}, position: [1, 0, 2]}
      - {name: can, cylinder: {radius: 0.2, length: 0.5}, position: [2, 0, 2]}
      - {name: hat, cone: {radius: 0.3, length: 0.6}, position: [3, 0, 2]}
      - {name: egg, ellipsoid: {size: [0.2, 0.3, 0.4]}, position: [4, 0, 2]}
      - {name: pill, capsule: {radius: 0.1, length: 0.4}, position: [5, 0, 2]}
      - {name: ring, torus: {radius: 0.1, size: 0.3}, position: [6, 0, 2]}
      - {name: tent, hull: {points: [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]}, position: [7, 0, 2]}
    position: [0, 0, 3]
    velocity: [0.1, 0.2, 0.3]
    angular_velocity: [0.4, 0.5, 0.6]
simulate: {until: 0.01, step: 0.002, scheme: moreau-jean}
"""
VOLUMES = {'ball': 4 / 3 * math.pi * 0.3**3, 'brick': 0.048, 'can': math.pi * 0.04 * 0.5, 'hat': math.pi * 0.09 * 0.2,
           'egg': 4 / 3 * math.pi * 0.024, 'pill': math.pi * 0.01 * 0.4 + 4 / 3 * math.pi * 1e-3,
           'ring': 2 * math.pi**2 * 0.3 * 0.01, 'tent': 0.5**3 / 6}

BOX = """saltus: 1
world: {dimension: 3, shapes: [{half-space: {}}]}
materials: {default: {friction: 0.5}}
bodies:
  box: {mass: 3, shapes: [{box: {size: [0.4, 0.4, 0.4]}}], position: [0, 0, 0.2], velocity: [1, 0, 0]}
simulate: {until: 0.1, tol: 1e-8}
"""


class Poly:
    """A .vtp file."""

    def __init__(self, path):
        root = xml.parse(path).getroot()
        assert root.attrib['type'] == 'PolyData' and root.attrib['header_type'] == 'UInt64', root.attrib
        piece = root.find('PolyData/Piece')
        self.counts = {key: int(value) for key, value in piece.attrib.items()}
        self.t = float(root.find('PolyData/FieldData/DataArray').text)
        self.names = {}
        for array in root.findall('PolyData/FieldData/Array'):
            words = bytes(int(n) for n in array.text.split()).split(b'\0')[:-1]
            assert len(words) == int(array.attrib['NumberOfTuples'])
            self.names[array.attrib['Name']] = [word.decode() for word in words]
        self.parts = {part.tag: {array.attrib['Name']: self.numbers(array) for array in part} for part in piece}
        self.points = self.parts['Points']['Points']

    @staticmethod
    def numbers(array):
        raw = base64.b64decode(array.text, validate=True)
        size = struct.unpack('<Q', raw[:8])[0]
        assert size == len(raw) - 8
        letter, width = LETTERS[array.attrib['type']], int(array.attrib['NumberOfComponents'])
        values = struct.unpack(f'<{size // struct.calcsize(letter)}{letter}', raw[8:])
        return [values[i:i + width] for i in range(0, len(values), width)] if width > 1 else list(values)

    def cells(self, kind):
        corners, first = self.parts[kind]['connectivity'], 0
        for end in self.parts[kind]['offsets']:
            yield [self.points[i] for i in corners[first:end]]
            first = end


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


class Vtk(Cli):
    def export(self, text, *words):
        scene, out = self.folder / 'scene.yaml', self.folder / 'run.vtk'
        scene.write_text(text)
        result = saltus('run', scene, '-o', self.folder / 'run.csv', '--force')
        self.assertEqual(result.returncode, 0, result.stderr)
        result = saltus('vtk', self.folder / 'run.csv', '-o', out, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return out, result.stdout

    def states(self, out, kind):
        sets = xml.parse(out / f'{kind}.pvd').getroot().findall('Collection/DataSet')
        times = [float(one.attrib['timestep']) for one in sets]
        self.assertEqual(times, sorted(set(times)))  # none twice
        return [Poly(out / one.attrib['file']) for one in sets]

    def test_surfaces_are_closed_and_hold_the_volume_of_their_shapes(self):
        out, _ = self.export(SOLIDS, '--around', '64')
        first, *_, last = self.states(out, 'bodies')
        for state in (first, last):  # the last one is turned and has moved
            volume = dict.fromkeys(VOLUMES, 0.0)
            edges = {}
            cells = list(state.cells('Polys'))
            things = state.parts['CellData']['thing'][-len(cells):]
            for cell, thing in zip(cells, things):
                name = state.names['things'][thing]
                name = next(key for key in VOLUMES if key in name)
                for i, a in enumerate(cell):
                    b = cell[(i + 1) % len(cell)]
                    edges[(name, a, b)] = edges.get((name, a, b), 0) + 1
                for a, b in zip(cell[1:], cell[2:]):
                    volume[name] += dot(cell[0], cross(a, b)) / 6
            for (name, a, b), count in edges.items():  # every edge once there and once back
                self.assertEqual((count, edges.get((name, b, a))), (1, 1), name)
            for name, exact in VOLUMES.items():  # 64 corners leave out 1 - sin(x)/x of a disc, x = 2 pi / 64, twice in space
                self.assertLess(volume[name], exact * 1.0001, name)
                self.assertGreater(volume[name], exact * (0.9999 if name in ('brick', 'tent') else 0.995), name)
        ground = Poly(out / 'ground.vtp')
        self.assertTrue(all(point[2] == 0 for point in ground.points))
        self.assertEqual(ground.counts['NumberOfPolys'], 1)

    def test_velocities_are_those_of_the_points(self):
        out, _ = self.export(SOLIDS)
        a, b, c = self.states(out, 'bodies')[:3]
        for before, after, rate in zip(a.points, c.points, b.parts['PointData']['velocity']):
            for k in range(3):  # centred, (2 ms)^2 w^3 r / 6; numbers of four bytes
                self.assertAlmostEqual((after[k] - before[k]) / (c.t - a.t), rate[k], delta=5e-4)

    def test_forces_hold_a_box_and_brake_it(self):
        out, _ = self.export(BOX)
        states = self.states(out, 'contacts')
        self.assertGreater(len(states), 3)
        for state in states[1:]:
            force = [sum(f[k] for f in state.parts['PointData']['force']) for k in range(3)]
            self.assertAlmostEqual(force[2], 3 * 9.81, delta=1e-6)
            self.assertAlmostEqual(force[0], -0.5 * 3 * 9.81, delta=1e-6)
            self.assertAlmostEqual(force[1], 0, delta=1e-6)
            x = sum(point[0] for point in state.points) / len(state.points)
            for point, normal in zip(state.points, state.parts['PointData']['normal']):
                self.assertAlmostEqual(abs(point[0] - x), 0.2, delta=1e-6)
                self.assertAlmostEqual(point[2], 0, delta=1e-7)
                self.assertAlmostEqual(abs(normal[2]), 1, delta=1e-12)
            self.assertEqual(state.counts['NumberOfVerts'], len(state.points))

    def test_scenes_of_formulas_are_drawn_by_their_view(self):
        folder = self.folder / 'pecker.vtk'
        recording = self.folder / 'pecker.csv'
        self.assertEqual(saltus('run', SOURCE / 'scenes' / 'woodpecker.yaml', '-o', recording, '--until', '0.2').returncode, 0)
        self.assertEqual(saltus('vtk', recording, '-o', folder).returncode, 0)
        contacts = self.states(folder, 'contacts')
        kicks = [kick for state in contacts for kick in state.parts['PointData']['impulse']]
        self.assertTrue(any(math.hypot(*kick) > 0 for kick in kicks))
        self.assertGreater(self.states(folder, 'bodies')[0].counts['NumberOfLines'], 0)

    def test_long_recordings_are_thinned_and_say_so(self):
        out, says = self.export(BOX, '--frames', '5')
        self.assertRegex(says, r'5 states of \d+|[2-5] states of \d+')
        self.assertLessEqual(len(self.states(out, 'bodies')), 6)

    def test_what_is_refused(self):
        recording = self.folder / 'ball.csv'
        saltus('run', 'ball', '-o', recording)
        self.refused('vtk', recording, says='scene')
        self.assertFalse((self.folder / 'ball.vtk').exists())
        out, _ = self.export(BOX)
        self.refused('vtk', self.folder / 'run.csv', '-o', out, says='is not empty; --force writes into it')
        self.assertEqual(saltus('vtk', self.folder / 'run.csv', '-o', out, '--force').returncode, 0)
        self.refused('vtk', self.folder / 'run.csv', '-o', self.folder / 'a' / 'b', says='No such file')
        self.refused('vtk', self.folder / 'run.csv', '--around', '3', says='--around')

    def test_vtk_itself_reads_the_same_numbers(self):
        program = """
import sys, vtk
errors = []
reader = vtk.vtkXMLPolyDataReader()
reader.AddObserver('ErrorEvent', lambda *_: errors.append(1))
reader.SetFileName(sys.argv[1])
reader.Update()
data = reader.GetOutput()
print(len(errors), data.GetNumberOfPoints(), data.GetNumberOfCells(), *data.GetPoint(data.GetNumberOfPoints() - 1))
"""
        if subprocess.run(['/usr/bin/python3', '-c', 'import vtk'], capture_output=True).returncode != 0:
            self.skipTest('python3-vtk9 is not installed')
        out, _ = self.export(SOLIDS)
        name = out / 'bodies-000001.vtp'
        mine = Poly(name)
        result = subprocess.run(['/usr/bin/python3', '-c', program, name], capture_output=True, text=True)
        errors, points, cells, *last = result.stdout.split()
        self.assertEqual((int(errors), int(points)), (0, len(mine.points)), result.stderr)
        self.assertEqual(int(cells), mine.counts['NumberOfPolys'])
        self.assertEqual(tuple(float(x) for x in last), mine.points[-1])


if __name__ == '__main__':
    unittest.main()
