#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Forces and energies of machines against statics: bearings of gears, torques of drives, energies of impacts."""
import csv
import json
import math
import unittest

import test_cli
from test_cli import saltus, some

# A pinion with a constant speed against a wheel with the torque T: the mesh has the force |T/r2| along the line of action, whose
# angle to the common tangent is that of cos(alpha) = |r1 + r2|/a. Masses do not accelerate.
GEARS = """saltus: 1
parameters: {r1: 0.03, r2: 0.06, a: 0.1, T: 0.5}
world: {dimension: %(dimension)d, gravity: [%(zeros)s]}
bodies:
  pinion: {mass: 0.2, inertia: %(first)s}
  wheel: {mass: 0.5, inertia: %(second)s, position: [a, %(rest)s]}
markers:
  a0: {%(turned)s}
  a1: {body: pinion%(comma)s%(turned)s}
  b0: {point: [a, %(rest)s]}
  b1: {body: wheel}
joints:
  - {name: p, type: revolute, between: [a0, a1], drive: {speed: 100}}
  - {name: g, type: revolute, between: [b0, b1], actuator: T}
elements:
  - {name: mesh, type: gear-pair, between: [p, g], radii: [r1, r2], backlash: 1e-4, restitution: 0.3}
outputs: {px: p.force.x, py: p.force.y, gx: g.force.x, gy: g.force.y}
simulate: {until: 0.5, tol: 1e-8}
"""
PLANE = {'dimension': 2, 'zeros': '0, 0', 'first': '1e-4', 'second': '1e-3', 'rest': '0', 'turned': 'angle: 0.7', 'comma': ', '}
SPACE = {'dimension': 3, 'zeros': '0, 0, 0', 'first': '[1e-4, 1e-4, 1e-4]', 'second': '[1e-3, 1e-3, 1e-3]', 'rest': '0, 0',
         'turned': '', 'comma': ''}
# A mass that falls onto a rough floor and slides: the impact has a part of its energy by friction.
STRUCK = """saltus: 1
parameters: {e: 0.4, mu: 0.3}
coordinates: {x: {velocity: 1}, y: {start: 0.5}}
kinetic: (x'^2 + y'^2)/2
potential: 9.81*y
contacts: [{name: floor, gap: y, slip: x, friction: mu, restitution: e}]
simulate: {until: 0.5}
"""

# A rod that a motor turns by A sin(w t) about its end: torque -(I + m c^2) A w^2 sin(w t), force of the bearing m c A w^2 at the
# turning points across the rod.
MOTOR = """saltus: 1
parameters: {m: 2, I: 0.3, c: 0.5, A: 0.2, w: 5}
world: {dimension: 2, gravity: [0, 0]}
bodies: {rod: {mass: m, inertia: I, position: [c, 0], velocity: [0, c*A*w], angular_velocity: A*w}}
markers: {wall: {}, end: {body: rod, point: [-c, 0]}}
joints: [{name: motor, type: revolute, between: [wall, end], drive: {angle: A*sin(w*t)}}]
outputs: {torque: motor.torque.z, half: "0.5*m"}
simulate: {until: 2*pi/w}
"""


class Forces(test_cli.Cli):
    def outputs(self, *words):
        done = saltus('run', *words, '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: value['value'] if isinstance(value, dict) else value
                for name, value in json.loads(done.stdout)['outputs'].items()}

    def test_bearings_of_a_gear_pair_bear_the_force_of_the_mesh(self):
        # the mesh pushes the wheels apart, whichever flank it is at; a ring is pushed the other way
        cases = [(0.06, 0.09, 0.5), (0.06, 0.1, 0.5), (0.06, 0.1, -0.5), (-0.06, -0.035, 0.5), (-0.06, 0.035, -0.5)]
        for shape in (PLANE, SPACE):
            scene = self.scene(GEARS % shape)
            for r2, a, T in some(cases) if shape is PLANE else cases[1:2]:
                with self.subTest(r2=r2, a=a, T=T, dimension=shape['dimension']):
                    found = self.outputs(scene, '--set', f'r2={r2}', '--set', f'a={a}', '--set', f'T={T}')
                    N, c = abs(T / r2), abs(0.03 + r2) / abs(a)
                    # forces of joints on the wheels, against that of the mesh; the pitch radius of the wheel is r2/c
                    apart = math.copysign(N * math.sqrt(max(0.0, 1 - c * c)), a * r2)
                    across = T / (a * r2 / (0.03 + r2))
                    turn = 0.7 if shape is PLANE else 0.0  # of the axes of the joint
                    px = found['px'] * math.cos(turn) - found['py'] * math.sin(turn)
                    py = found['px'] * math.sin(turn) + found['py'] * math.cos(turn)
                    self.assertAlmostEqual(px, apart, delta=1e-6 * N)
                    self.assertAlmostEqual(found['gx'], -apart, delta=1e-6 * N)
                    self.assertAlmostEqual(py, across, delta=1e-6 * N)
                    self.assertAlmostEqual(found['gy'], -across, delta=1e-6 * N)

    def test_gears_that_cannot_mesh_have_a_warning(self):
        done = saltus('run', self.scene(GEARS % PLANE), '--set', 'a=0.05', '--until', '0.01')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('element "mesh": forces of its bearings are without that of the mesh', done.stderr)

    def test_one_run_has_one_energy_of_impacts(self):
        # before: 0.5 vy^2 = 9.81*0.5 at the first impact, (1 - e^2) of which it takes; friction takes its own part
        path = self.folder / 'run.h5'
        for words in (('--tol', '1e-9'), ('--scheme', 'moreau-jean', '--step', '1e-4')):
            done = saltus('run', self.scene(STRUCK), *words, '--until', '0.4', '-o', path, '--force', '--json')
            self.assertEqual(done.returncode, 0, done.stderr)
            made = json.loads(done.stdout)
            lost = (1 - 0.4 ** 2) * 9.81 * 0.5
            self.assertEqual(made['impact_energy_lost'], -made['ledger']['impact'])
            self.assertAlmostEqual(made['impact_energy_lost'], lost, delta=2e-3 * lost)
            self.assertLess(made['ledger']['friction'], -0.1)
            kept = json.loads(saltus('info', path, '--json').stdout)
            self.assertEqual(kept['impact_energy_lost'], made['impact_energy_lost'])
            text = saltus('info', path).stdout
            self.assertIn(f"impacts lose {made['impact_energy_lost']:.6g} J in all", text)

    def sweep(self, text, *words, status=0):
        out = self.folder / 'sweep.csv'
        done = saltus('sweep', self.scene(text), *words, '-o', out)
        self.assertEqual(done.returncode, status, done.stderr)
        return list(csv.DictReader(out.read_text().splitlines()))

    def test_torques_and_outputs_are_measures_of_sweeps(self):
        words = ('--axis', 'A=0.1:0.3:3', '--measure', 'top=max(motor.torque.z)', '--measure', 'low=min(torque)',
                 '--measure', 'mean=mean(torque^2)/max(half)', '--measure', 'rms=rms(torque)', '--measure', 'end=last(torque)',
                 '--measure', 'sum=integral(2*torque)', '--measure', 'p=max(momentum.y)')
        for more, near in ((('--tol', '1e-9'), 1e-6), (('--scheme', 'rk4', '--step', '2e-3'), 2e-2),
                           (('--scheme', 'moreau-jean', '--step', '2e-3'), 2e-2)):
            rows = self.sweep(MOTOR, *words, *more, '--restart', '--force')
            self.assertEqual([row['status'] for row in rows], ['0'] * 3)
            for row in rows:
                A = float(row['A'])
                most = (0.3 + 2 * 0.25) * A * 25
                with self.subTest(how=more, A=A):
                    self.assertAlmostEqual(float(row['top']), most, delta=near * most)
                    self.assertAlmostEqual(float(row['low']), -most, delta=near * most)
                    self.assertAlmostEqual(float(row['mean']), most ** 2 / 2, delta=near * most ** 2)
                    self.assertAlmostEqual(float(row['rms']), most / math.sqrt(2), delta=near * most)
                    self.assertAlmostEqual(float(row['end']), 0, delta=near * most)
                    self.assertAlmostEqual(float(row['sum']), 0, delta=near * most)
                    self.assertAlmostEqual(float(row['p']), 2 * 0.5 * A * 5, delta=near)
        self.refused('sweep', self.scene(MOTOR), '--axis', 'A=0.1,0.2', '--measure', 'first(torque)',
                     says='forces of joints have max, min, last, mean, integral and rms, not first')

    def test_gaps_are_measures_of_sweeps(self):
        # a mass from the height h with 9.81 m/s^2: one impact at T = sqrt(2 h/g), then up to e^2 h
        text = STRUCK.replace('start: 0.5', 'start: h').replace('{e: 0.4', '{h: 0.5, e: 0.4')
        rows = self.sweep(text, '--axis', 'h=0.2,0.5', '--measure', 'first(gap of floor)', '--measure', 'max(gap of floor)',
                          '--measure', 'min(gap of floor)', '--measure', 'mean(gap of floor)*time(impact)', '--tol', '1e-9',
                          '--measure', 'last(gap of floor)', '--until', '0.34')
        for row in rows:
            h = float(row['h'])
            T, up = math.sqrt(2 * h / 9.81), 0.4 * math.sqrt(2 * 9.81 * h)
            rest = 0.34 - T
            area = 2 * h * T / 3 + up * rest ** 2 / 2 - 9.81 * rest ** 3 / 6
            self.assertEqual(row['status'], '0')
            self.assertAlmostEqual(float(row['first(gap of floor)']), h, delta=1e-9)
            self.assertAlmostEqual(float(row['max(gap of floor)']), h, delta=1e-9)
            self.assertAlmostEqual(float(row['min(gap of floor)']), 0, delta=1e-8)
            self.assertAlmostEqual(float(row['mean(gap of floor)*time(impact)']), area / 0.34 * T, delta=1e-7)
            self.assertAlmostEqual(float(row['last(gap of floor)']), up * rest - 9.81 * rest ** 2 / 2, delta=1e-7)
        self.refused('sweep', self.scene(text), '--axis', 'h=1,2', '--measure', 'min(gap of flor)', says='did you mean "floor"?')

    def test_a_measure_that_is_not_a_number_fails_its_run(self):
        rows = self.sweep(STRUCK, '--axis', 'e=0.1,0.2', '--measure', 'max(sqrt(y - 10))', status=1)
        for row in rows:
            self.assertNotEqual(row['status'], '0')
            self.assertIn('sqrt(y - 10) is not a number', row['reason'])


if __name__ == '__main__':
    unittest.main()
