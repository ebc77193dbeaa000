#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Flexible bodies by the program: the shipped plate, and matrices of CalculiX on meshes of gmsh."""
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import SCENES, Cli, saltus  # noqa: E402
from test_vtk import Poly  # noqa: E402

PLATE = SCENES / 'flexible' / 'phone-plate.yaml'


class FlexiblePlate(Cli):
    """scenes/flexible/phone-plate.yaml: eight contact nodes, 30 modes, e = 0 at corners."""

    def test_it_rebounds_and_the_step_does_not_matter(self):
        momenta = []
        for step in (1e-5, 4e-6):
            out = saltus('run', PLATE, '--step', step, '--until', 0.03, '--json')
            self.assertEqual(out.returncode, 0, out.stderr)
            out = json.loads(out.stdout)
            momenta.append(out['outputs']['momentum.z'])
            self.assertLess(abs(out['ledger']['remainder']), 1e-4)  # of 2.1 J
            self.assertEqual(out['ledger']['created'], 0)
        start = 0.19997952 * math.sqrt(2 * 9.81)
        self.assertTrue(0.4 * start < momenta[1] < 0.8 * start, momenta)
        # later corners hit the floor in another phase of the vibration: 0.4724, 0.4797, 0.4725 kg m/s at 5, 2 and 1 us
        self.assertAlmostEqual(momenta[0] / momenta[1], 1, delta=0.04)

    def test_its_recording_passes_the_certificate(self):
        shutil.copy(PLATE.with_suffix('.h5'), self.folder)
        out = saltus('run', PLATE, '--until', '0.025', '--certify', '-o', self.folder / 'plate.csv')
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        out = saltus('vtk', self.folder / 'plate.csv', '-o', self.folder / 'vtk', '--frames', '5')
        self.assertEqual((out.returncode, out.stderr), (0, ''))  # its first frames have no contacts
        out = json.loads(saltus('check', PLATE, '--json').stdout)
        self.assertLess(out['derivative_error'], 1e-10)
        self.assertNotIn('mobility', out['mechanism'])  # that of 8 frames as free bodies: 54, of 36
        # the solid of its surface, which is a box: density and inertia of the file by no other way
        body, = out['mechanism']['flexible']
        self.assertAlmostEqual(body['mass'] / body['solid']['density'] / (0.16 * 0.078 * 0.008), 1, delta=1e-9)
        self.assertLess(body['solid']['inertia_relative'], 1e-9)
        self.assertLess(body['solid']['centre_metres'], 1e-12)

    def test_a_study_writes_its_body_files(self):
        """Losses and rebounds of a bar in modes against their sums in closed form."""
        out = json.loads(saltus('study', 'flexible-bar-modes', '--json').stdout)
        self.assertEqual([c['holds'] for c in out['claims']], [True] * 22)


class HelicalSpring(Cli):
    """A beam along a curve: torsion and bending in space."""

    SPRING = """saltus: 1
parameters: {R: 20 mm, d: 3 mm, turns: 5, pitch: 6 mm, n: 100}
world: {dimension: 3, gravity: [0, 0, 0]}
markers: {base: {point: [0, 0, 0]}}
beams:
  coil:
    between: [base, base]
    ends: [clamped, free]
    curve: ["R*cos(2*pi*turns*s)", "R*sin(2*pi*turns*s)", "pitch*turns*s"]
    section: {circle: d/2}
    material: {E: 2.08e11, nu: 0.3, density: 7850}
    elements: n
    damping: 3e-3
    contact: {at: none}
forces: [{name: along the axis, at: coil_end, force: [0, 0, 1], torque: [0, R, 0]}]
simulate: {until: 0.2, step: 1e-3, scheme: moreau-jean}
"""

    def test_it_stores_the_energy_of_castigliano(self):
        """F^2 R^2 L (cos^2 a/GJ + sin^2 a/EI)/2 of a wire of length L and slope a. The torque acts at the free end, whose half
        link has no spring: errors of 1/(2 n) and of O(1/n^2)."""
        R, d, E = 0.02, 0.003, 2.08e11
        slope = math.atan(0.006 / (2 * math.pi * R))
        wire, EI = 5 * 2 * math.pi * R / math.cos(slope), E * math.pi * d**4 / 64
        exact = R**2 * wire * (math.cos(slope)**2 * 1.3 + math.sin(slope)**2) / EI / 2
        errors = []
        for n in (100, 400):
            out = saltus('run', self.scene(self.SPRING), '--set', f'n={n}', '--json')
            self.assertEqual(out.returncode, 0, out.stderr)
            errors.append(1 - json.loads(out.stdout)['energy']['end'] / exact - 1 / (2 * n))
        self.assertLess(abs(errors[1]), 5e-4)
        self.assertGreater(errors[0] / errors[1], 6)


@unittest.skipUnless(shutil.which('ccx') and shutil.which('gmsh'), 'CalculiX (ccx) and gmsh are not installed')
class FiniteElements(Cli):
    """A steel bar of 1 m, 20 x 30 mm, of elements with 20 nodes."""

    @staticmethod
    def bar(start=0, length=1, height=0.02, width=0.03, across=1, along=20):
        return f"""Mesh.ElementOrder = 2; Mesh.SecondOrderIncomplete = 1; Mesh.SaveGroupsOfNodes = 1;
Point(1) = {{{start}, {-height / 2}, {-width / 2}, 1}};
l[] = Extrude {{0, {height}, 0}} {{ Point{{1}}; Layers{{{across}}}; }};
s[] = Extrude {{0, 0, {width}}} {{ Line{{l[1]}}; Layers{{{across}}}; Recombine; }};
v[] = Extrude {{{length}, 0, 0}} {{ Surface{{s[1]}}; Layers{{{along}}}; Recombine; }};
Physical Volume("BODY", 1) = {{v[1]}};
Physical Surface("ROOT", 2) = {{s[1]}};
Physical Surface("END", 3) = {{v[0]}};
"""

    @staticmethod
    def material(E, nu, density):
        return (f'*MATERIAL, NAME=S\n*ELASTIC\n{E}, {nu}\n*DENSITY\n{density}\n'
                '*SOLID SECTION, ELSET=Volume1, MATERIAL=S\n')

    STEP = '*STEP\n*FREQUENCY\n16\n*END STEP\n'
    MATRICES = STEP.replace('FREQUENCY', 'FREQUENCY, SOLVER=MATRIXSTORAGE')

    def call(self, *words):
        subprocess.run(words, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=60)

    def mesh(self, geo):
        (self.folder / 'bar.geo').write_text(geo)
        self.call('gmsh', '-3', '-format', 'inp', 'bar.geo', '-o', 'mesh.inp')
        # gmsh writes surfaces as plane elements, which CalculiX would count as parts of the body
        blocks = re.split(r'^(?=\*)', (self.folder / 'mesh.inp').read_text(), flags=re.M)
        return ''.join(b for b in blocks if not b.startswith('*ELEMENT, type=CPS'))

    @staticmethod
    def nodes(mesh):
        lines = re.search(r'^\*NODE\n([^*]*)', mesh, re.M).group(1).splitlines()
        return {int(line.split(',')[0]): [float(x) for x in line.split(',')[1:4]] for line in lines}

    @staticmethod
    def node_set(mesh, name):
        return [int(x) for x in re.findall(r'\d+', re.search(rf'\*NSET,NSET={name}\n([^*]*)', mesh).group(1))]

    def calculix(self, name, text):
        (self.folder / f'{name}.inp').write_text(text)
        self.call('ccx', '-i', name)

    def frequencies_of_calculix(self, name):
        text = (self.folder / f'{name}.dat').read_text()
        return [float(x) for x in re.findall(r'^ +\d+(?: +\S+){2} +(\S+) +\S+$', text, re.M)]

    def reduce(self, name, *words):
        (self.folder / f'{name}.h5').unlink(missing_ok=True)
        result = saltus('reduce', self.folder / name, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def output(self, scene, name):
        out = saltus('run', scene, '--json')
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)['outputs'][name]

    def test_frequencies_are_those_of_calculix(self):
        body = self.mesh(self.bar()) + self.material(2.1e11, 0.3, 7850)
        self.call('gmsh', '-3', '-format', 'msh22', 'bar.geo', '-o', 'bar.msh')
        self.calculix('bar', body + self.MATRICES)
        self.calculix('whole', body + self.STEP)
        expected = self.frequencies_of_calculix('whole')[6:16]
        self.assertEqual(len(expected), 10)
        for mesh in ('bar.inp', 'bar.msh'):
            out = self.reduce('bar', '--mesh', self.folder / mesh, '--modes', '22')
            found = [float(x) for x in re.findall(r'mode +\d+ +(\S+) Hz', out)]
            for one, two in zip(found, expected):
                self.assertAlmostEqual(one / two, 1, delta=1e-6)
            # a rigid face raises them; a slender body: its modes did not converge once
            out = self.reduce('bar', '--mesh', self.folder / mesh, '--modes', '16', '--interface', 'root=ROOT')
            found = [float(x) for x in re.findall(r'mode +\d+ +(\S+) Hz', out)]
            for one, two in zip(found[:4], expected):
                self.assertTrue(0 <= one / two - 1 < 1e-3, (one, two))

    def test_matrices_that_are_no_free_body_are_refused(self):
        steel = self.material(2.1e11, 0.3, 7850)
        mesh = self.mesh(self.bar())
        soft = re.sub(r'type=C3D20\b', 'type=C3D20R', mesh, flags=re.I)  # one element wide: hourglass modes
        self.assertNotEqual(soft, mesh)
        for name, text, says in (('soft', soft + steel + self.MATRICES, 'common null space'),
                                 ('held', mesh + steel + '*BOUNDARY\nROOT, 1, 3\n' + self.MATRICES, r'held by \*BOUNDARY')):
            self.calculix(name, text)
            result = saltus('reduce', self.folder / name, '--modes', '8')
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertRegex(result.stderr, says)

    def test_a_wrong_scale_is_warned_of(self):
        """A mesh in mm: the density is that of steel with --scale 0.001 alone."""
        mesh = self.mesh(self.bar(length=1000, height=20, width=30, along=10))
        self.calculix('bar', self.mesh(self.bar(along=10)) + self.material(2.1e11, 0.3, 7850) + self.MATRICES)
        (self.folder / 'bar.inp').write_text(mesh)
        result = saltus('reduce', self.folder / 'bar', '--modes', '8', '--scale', '0.001')
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        self.assertRegex(result.stdout, r'density (7850|7849\.99\d*) kg')
        self.assertIn('usual are 1 to 30000', saltus('reduce', self.folder / 'bar', '--modes', '8').stderr)

    END_ON = """saltus: 1
world: {dimension: 3, gravity: [0, 0, 0]}
bodies: {rod: {flexible: rod.h5, position: [0.5000001, 0, 0], velocity: [-1, 0, 0]}}
markers: {wall: {orientation: {axis: [0, 1, 0], angle: pi/2}}, root: {body: rod_root}}
elements: [{name: stop, type: stop, between: [wall, root]}]
simulate: {until: 6e-4, tol: 1e-8}
"""

    def test_a_rod_end_on_rebounds_by_the_axial_mass_of_its_modes(self):
        """Effective masses of CalculiX's modes along the axis: 0.80959 of the mass in 16 modes of the clamped rod, none in 10. That is
        the velocity of the centre after an impact with e = 0, beside that before."""
        mesh = self.mesh(self.bar(across=2, along=40))
        body = mesh + self.material(2.1e11, 0.3, 7850)
        self.calculix('rod', body + self.MATRICES)
        scene = self.scene(self.END_ON)
        for modes, restitution in ((10, 0.0), (16, 0.80959)):
            self.reduce('rod', '--modes', modes, '--interface', 'root=ROOT', '-o', self.folder / 'rod.h5')
            self.assertAlmostEqual(self.output(scene, 'momentum.x') / (7850 * 6e-4), restitution, delta=1e-4)
        self.clamped_frequencies_converge(mesh, body)

    HELD = """import h5py, numpy, sys
f = h5py.File(sys.argv[1])
C, s, w = f['C0'][:], f['frame_data'][0, :3], f['omega'][:]
turn = -f['frame_rotation'][0]
way = -f['frame_displacement'][0] - numpy.cross(turn.T, s).T
M = numpy.eye(len(w)) + f['mass'][0] * way.T @ way + turn.T @ (numpy.trace(C) * numpy.eye(3) - C) @ turn
print(*numpy.sqrt(numpy.sort(numpy.linalg.eigvals(numpy.linalg.solve(M, numpy.diag(w * w))).real)[:2]) / (2 * numpy.pi))
"""

    def clamped_frequencies_converge(self, mesh, body):
        """Root (6) and one node of the tip (3) as boundary: errors of the first two frequencies with the root held, beside CalculiX
        with the root held; theta = -psi q, t = -phi q - theta x s, M = 1 + G^T diag(m, J) G."""
        python = '/usr/bin/python3'
        if subprocess.run([python, '-c', 'import h5py, numpy'], stderr=subprocess.DEVNULL).returncode != 0:
            print('SKIPPED: clamped frequencies, without h5py and numpy')
            return
        self.calculix('held', body + '*BOUNDARY\nROOT, 1, 3\n' + self.STEP)
        exact = self.frequencies_of_calculix('held')[:2]
        nodes = self.nodes(mesh)
        tip = min(nodes, key=lambda node: math.dist(nodes[node], (1, 0, -0.015)))
        for modes, most in ((0, (1.5e-2, 1.1e-2)), (4, (7.7e-5, 6.2e-5)), (8, (4.1e-6, 1.4e-5)), (16, (4.2e-7, 1.2e-6))):
            self.reduce('rod', '--modes', modes, '--interface', 'root=ROOT', '--contact', f'tip={tip}', '-o',
                        self.folder / 'rod.h5')
            found = subprocess.run([python, '-c', self.HELD, self.folder / 'rod.h5'], capture_output=True, text=True, check=True)
            for one, two, bound in zip(found.stdout.split(), exact, most):
                error = float(one) / two - 1
                self.assertTrue(-1e-7 < error < 1.05 * bound, (modes, error))

    SPIN = """saltus: 1
name: spin-up of a reduced beam
parameters: {wave: 15/(2*pi)}
world: {dimension: 3, gravity: [0, 0, 0]}
bodies:
%s  hub: {driven: {angle: "6/15*(t^2/2 + wave^2*(cos(t/wave) - 1))", axis: [0, 0, 1]}}
markers:
  axle: {body: hub}
%s  tip: {body: rod%d_tip_1}
joints:
%soutputs: {tip: "y_in(axle, tip) + 0.0387298334620742"}
simulate: {until: 6.76, tol: 1e-7}
"""

    def spun(self, parts, modes, stiffened=True):
        """Deflection at 6.76 s of a beam of 10 m in equal parts. The tension of a part has its own centrifugal force and that of
        the parts beyond it, W^2 rho A (L^2 - x^2)/2."""
        side, length, bodies, markers, joints = 0.0774596669241483, 10 / parts, '', '', ''
        for i in range(parts):
            far = length * (i + 1)
            mesh = self.mesh(self.bar(far - length, length, side, side, along=40 // parts))
            mesh += self.material(4.666666666666667e9, 0, 200)
            nodes, held, number = self.nodes(mesh), '', 100000
            for direction in (1, 2, 3):  # the root is held by springs, which leave its rows in the matrices
                held += f'*ELEMENT, TYPE=SPRING1, ELSET=HOLD{direction}\n'
                for node in self.node_set(mesh, 'ROOT'):
                    number += 1
                    held += f'{number}, {node}\n'
                held += f'*SPRING, ELSET=HOLD{direction}\n{direction}\n1.e9, 0.\n'
            pull = ''
            for node in self.node_set(mesh, 'END'):  # a uniform traction on a face of eight nodes
                corner = all(abs(abs(x) - side / 2) < 1e-6 for x in nodes[node][1:])
                pull += f'{node}, 1, {36 * 1.2 * (100 - far * far) / 2 * (-1 / 12 if corner else 1 / 3):.12e}\n'
            turning = ('*STEP, NLGEOM\n*STATIC\n1, 1\n*DLOAD\nVolume1, CENTRIF, 36, 0, 0, 0, 0, 0, 1\n*CLOAD\n' + pull +
                       '*END STEP\n' + self.MATRICES.replace('*STEP', '*STEP, PERTURBATION', 1))
            name = f'rod{i}'
            for file, text in ((name, self.MATRICES), ('still', held + self.MATRICES), ('turning', held + turning)):
                self.calculix(file, mesh + text)
            words = ('--stiffening', self.folder / 'turning.sti', '--still', self.folder / 'still.sti', '--speed', '6')
            tip = min(nodes, key=lambda node: math.dist(nodes[node], (10, -side / 2, -side / 2)))
            end = ('--contact', f'tip={tip}') if i == parts - 1 else ('--interface', 'end=END')
            out = self.reduce(name, '--modes', modes, '--interface', 'root=ROOT', *end, '-o', self.folder / f'{name}.h5',
                              *(words if stiffened else ()))
            self.assertEqual('no geometric stiffness' in out, not stiffened)
            bodies += f'  {name}: {{flexible: {name}.h5, position: [{far - length / 2}, 0, 0]}}\n'
            markers += f'  root{i}: {{body: {name}_root}}\n'
            markers += f'  end{i}: {{body: {name}_end}}\n' if i < parts - 1 else ''
            joints += f'  - {{name: clamp{i}, type: fixed, between: [{f"end{i - 1}" if i else "axle"}, root{i}]}}\n'
        return self.output(self.scene(self.SPIN % (bodies, markers, parts - 1, joints)), 'tip')

    def test_geometric_stiffness_of_calculix_stiffens_a_turning_beam(self):
        """Spin-up (Simo and Vu-Quoc): -0.57375 m at 6.76 s, limit of chains of rigid links; -0.5743 m of the same matrices in a
        frame at the root, without Saltus. The deflection is 6 % of the length: terms of third order are some 0.3 %, and fall with
        the length of the parts. Without the geometric stiffness the deflection is 5 % larger there, and grows."""
        bare, one = self.spun(1, 8, stiffened=False), self.spun(1, 8)
        self.assertGreater(bare / one, 1.03)
        self.assertAlmostEqual(one / -0.57375, 1, delta=2.5e-3)
        self.deformed_nodes_are_drawn()
        four = self.spun(4, 4)
        self.assertAlmostEqual(four, -0.5743, delta=1e-3)
        self.assertAlmostEqual(four, -0.57375, delta=4e-4)

    def deformed_nodes_are_drawn(self):
        """The contact node is among the drawn nodes where its frame is; 0.09 m from its place in the mean axes."""
        out = saltus('run', self.folder / 'scene.yaml', '--json', '-o', self.folder / 'spin.h5')
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(saltus('vtk', self.folder / 'spin.h5', '-o', self.folder / 'vtk', '--frames', '5').returncode, 0)
        drawn = Poly(sorted((self.folder / 'vtk').glob('bodies-*.vtp'))[-1])
        q = json.loads(out.stdout)['q']
        tip = [q[f'rod0_tip_1.{axis}'] for axis in 'xyz']
        nodes = [k for k, cell in enumerate(drawn.parts['Verts']['connectivity']) if drawn.names['things']
                 [drawn.parts['CellData']['thing'][k]] == 'nodes']
        self.assertGreater(len(nodes), 200)
        distance = [math.dist(drawn.points[drawn.parts['Verts']['connectivity'][k]], tip) for k in nodes]
        self.assertLess(min(distance), 1e-5)
        size = [math.hypot(*d) for d in drawn.parts['PointData']['displacement']]
        self.assertTrue(0.05 < max(size) < 0.2, max(size))
        speed = math.hypot(*drawn.parts['PointData']['velocity'][drawn.parts['Verts']['connectivity'][
            nodes[distance.index(min(distance))]]])
        rate = 6 / 15 * (6.76 - 15 / (2 * math.pi) * math.sin(6.76 * 2 * math.pi / 15))
        self.assertAlmostEqual(speed / (10 * rate), 1, delta=0.02)


if __name__ == '__main__':
    unittest.main()
