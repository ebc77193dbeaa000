#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Rows of docs/papers.md whose claims are about runs of the program: each test names its paper and section."""
import cmath
import csv
import json
import math
import unittest

import test_cli
from test_cli import SCENES, saltus, some


class PaperRows(test_cli.Cli):
    def run_scene(self, scene, *words):
        done = saltus('run', scene, '--json', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def errors(self, *words):
        done = saltus('study', 'converge', *words, '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(row['h'], row['error']['q']['inf']) for row in json.loads(done.stdout)['rows']]

    def order(self, *words):
        (h0, e0), (h1, e1) = self.errors(*words)
        return math.log(e0 / e1) / math.log(h0 / h1)

    # Acary 2008, perspectives: Moreau's step without external forces at an event
    def test_impulses_alone_at_events_keep_the_order(self):
        for scheme, order in some((('rk4', 4), ('radau-iia-3', 3), ('gauss-4', 4), ('heun-3', 3))):
            measured = self.order('oscillator', '--until', '1.9', '--scheme', scheme, '--steps', '50,200',
                                  '--option', 'forces=off')
            with self.subTest(scheme=scheme):
                self.assertAlmostEqual(measured, order, delta=0.4)

    def test_impulses_alone_keep_the_energy_of_elastic_impacts_in_wide_brackets(self):
        # a ball that rebounds with e = 1, in brackets of 8 ms: eleven impacts, and not one with a force
        scene = self.scene("""saltus: 1
coordinates: {y: {start: 1, unit: m}}
kinetic: y'^2/2
potential: 10*y
contacts: [{name: floor, gap: y, restitution: 1}]
""")
        end = self.run_scene(scene, '--until', '10', '--scheme', 'midpoint', '--step', '0.02', '--option', 'bracket=1e3',
                             '--option', 'forces=off')
        self.assertAlmostEqual(10 * end['q']['y'] + end['v']["y'"] ** 2 / 2, 10, delta=1e-11)
        self.assertEqual(end['impacts'], 11)

    # Stewart and Trinkle 1996, Anitescu and Potra 1997: the predecessors named in Potra et al., section 1
    def steps_of(self, scene, *words):
        path = self.folder / 'steps.csv'
        self.run_scene(scene, '--scheme', 'moreau-jean', '--option', 'theta=1', '--step', '0.01', *words, '-o', path, '--force')
        with open(path, encoding='utf-8', newline='') as file:
            return [[float(x) for x in row[1:5]] for row in csv.reader(line for line in file if line[0].isdigit())]

    def test_semi_implicit_euler_with_complementarity_is_a_case_of_moreau_jean(self):
        """M (v1 - v) = h k + n c_n + D beta, q1 = q + h v1, with the friction polygon of the plane, D = [d, -d]."""
        h, g, mu, width = 0.01, 9.81, 0.3, 4.0
        scene = self.scene(f"""saltus: 1
coordinates: {{x: {{velocity: 2}}, y: {{start: 0.0123}}}}
kinetic: (x'^2 + y'^2)/2
forces: {{x: {width}*sin(3*t), y: -{g}}}
contacts: [{{name: floor, gap: y, slip: x, friction: {mu}}}]
""")
        for speculative, words in ((False, ()), (True, ('--option', 'speculative=yes'))):
            x, y, u, v, t = 0.0, 0.0123, 2.0, 0.0, 0.0
            for step, row in enumerate(self.steps_of(scene, '--until', '1.5', *words)):
                with self.subTest(speculative=speculative, step=step):
                    for mine, theirs in zip((x, y, u, v), row):
                        self.assertAlmostEqual(mine, theirs, delta=1e-12)
                t += h
                free_v = v - h * g
                # Stewart and Trinkle: gap + h n v1 >= 0 of all contacts; Anitescu and Potra: n v1 >= 0 of those that close
                least = -y / h if speculative else 0.0 if y + h * v <= 0.0 else -math.inf
                c = max(0.0, least - free_v)
                free_u = u + h * width * math.sin(3 * t)
                beta = max(-mu * c, min(mu * c, -free_u))
                u, v = free_u + beta, free_v + c
                x, y = x + h * u, y + h * v

    # Acary 2008, general definition (1d): a set-valued force of the user, a monotone graph with two jumps
    def test_a_graph_of_a_velocity_with_two_jumps(self):
        """m x'' = t - F, F in [-1, 1] at rest, 1 below 0.5 m/s, [1, 4] there and 4 above: v = (t - 1)^2/2 from 1 to 2 s,
        0.5 to 4 s, then 0.5 + (t - 4)^2/2."""
        scene = self.scene("""saltus: 1
coordinates: {x: {}}
kinetic: x'^2/2
forces: {x: t - 1.5}
dry_friction:
  - {name: rest, rate: x, force: 1}
  - {name: step, rate: x - 0.5*t, force: 1.5}
""")
        listed = saltus('list', 'schemes', '--json')
        schemes = [scheme['name'] for scheme in json.loads(listed.stdout)['schemes']]
        self.assertGreater(len(schemes), 30)
        for scheme in some(schemes):
            tolerance = scheme.startswith('adaptive')
            end = self.run_scene(scene, '--until', '6', '--scheme', scheme, *(['--tol', '1e-9'] if tolerance else
                                                                             ['--step', '1e-3']))
            with self.subTest(scheme=scheme):
                self.assertAlmostEqual(end['q']['x'], 3.5, delta=1e-8 if tolerance else 5e-3)
                self.assertAlmostEqual(end['v']["x'"], 2.5, delta=1e-8 if tolerance else 2e-3)

    # Acary 2009, section 3.1, (25)-(27): both schemes as projections in the metric of the mass matrix
    def test_both_schemes_are_projections_in_the_metric_of_the_mass(self):
        """v_{k+1} + e v_k = prox(T(q); (1 + e) v_k + h M^-1 F), and q_{k+1} + e q_{k-1} = prox(R^2+; 2 q_k - (1 - e) q_{k-1} +
        h^2 M^-1 F), with prox over sets of z_i >= 0 by enumeration of the active ones."""
        M, F, e, h = ((2.0, 0.6), (0.6, 1.0)), (-3.0, -7.0), 0.5, 0.01
        det = M[0][0] * M[1][1] - M[0][1] ** 2
        accel = ((M[1][1] * F[0] - M[0][1] * F[1]) / det, (M[0][0] * F[1] - M[0][1] * F[0]) / det)

        def prox(bounded, x):
            """argmin of (z - x)^T M (z - x)/2 with z_i >= 0 for bounded i."""
            candidates = [tuple(x)]
            if bounded[0]:
                candidates.append((0.0, x[1] + M[0][1] / M[1][1] * x[0]))
            if bounded[1]:
                candidates.append((x[0] + M[0][1] / M[0][0] * x[1], 0.0))
            if bounded[0] and bounded[1]:
                candidates.append((0.0, 0.0))
            allowed = [z for z in candidates if all(z[i] >= 0.0 or not bounded[i] for i in range(2))]
            return min(allowed, key=lambda z: sum(M[i][j] * (z[i] - x[i]) * (z[j] - x[j]) for i in range(2) for j in range(2)))

        scene = self.scene(f"""saltus: 1
coordinates: {{x: {{start: 0.3, velocity: 0.4}}, y: {{start: 1}}}}
kinetic: ({M[0][0]}*x'^2 + 2*{M[0][1]}*x'*y' + {M[1][1]}*y'^2)/2
forces: {{x: {F[0]}, y: {F[1]}}}
contacts: [{{name: wall, gap: x, restitution: {e}}}, {{name: floor, gap: y, restitution: {e}}}]
""")
        for scheme in ('moreau-jean', 'schatzman-paoli'):
            path = self.folder / 'steps.csv'
            end = self.run_scene(scene, '--scheme', scheme, '--step', repr(h), '--until', '1.5', '-o', path, '--force')
            self.assertGreater(end['impacts'], 4)
            with open(path, encoding='utf-8', newline='') as file:
                rows = [[float(x) for x in row[1:5]] for row in csv.reader(line for line in file if line[0].isdigit())]
            self.assertGreater(len(rows), 100)
            for k in range(1, len(rows) - 1):
                q, v = rows[k][:2], rows[k][2:]
                if scheme == 'moreau-jean':
                    ahead = [q[i] + h * v[i] for i in range(2)]
                    if min(abs(x) for x in ahead) < 1e-14:
                        continue  # either activation is right by rounding
                    z = prox([x <= 0.0 for x in ahead], [(1 + e) * v[i] + h * accel[i] for i in range(2)])
                    mine = [rows[k + 1][2 + i] + e * v[i] for i in range(2)]
                else:
                    last = rows[k - 1]
                    z = prox((True, True), [2 * q[i] - (1 - e) * last[i] + h * h * accel[i] for i in range(2)])
                    mine = [rows[k + 1][i] + e * last[i] for i in range(2)]
                with self.subTest(scheme=scheme, step=k):
                    for a, b in zip(mine, z):
                        self.assertAlmostEqual(a, b, delta=1e-12)

    # Acary 2009, section 3.1: Newton's law after several steps of Schatzman and Paoli's scheme
    def test_the_rebound_of_schatzman_and_paoli_takes_two_steps(self):
        scene = self.scene("""saltus: 1
coordinates: {y: {start: 1, velocity: -1, unit: m}}
kinetic: y'^2/2
contacts: [{name: floor, gap: y, restitution: 0.5}]
""")
        for scheme, expected in (('schatzman-paoli', [-1, -0.25, 0.5]), ('moreau-jean', [-1, 0.5, 0.5])):
            path = self.folder / 'rebound.csv'
            self.run_scene(scene, '--scheme', scheme, '--step', '0.3', '--until', '3', '-o', path, '--force')
            with open(path, encoding='utf-8', newline='') as file:
                rows = list(csv.reader(line for line in file if line[0].isdigit()))
            with self.subTest(scheme=scheme):
                for row, velocity in zip(rows[3:], expected):
                    self.assertAlmostEqual(float(row[2]), velocity, delta=1e-12)

    # Acary 2009, section 1: curve squeal
    def squeal(self, mu, until):
        """Deviation of x from its equilibrium by the linear equations of the slipping rim; stiffness over mass."""
        k11, k12, k22, kc, push = 1e6, -2e5, 3e5, 8e5, 1e-3
        a, b, c, d = k11, k12 + mu * kc, k12, k22 + kc
        root = cmath.sqrt((a - d) ** 2 / 4 + b * c)
        squares = ((a + d) / 2 + root, (a + d) / 2 - root)
        w1, w2 = cmath.sqrt(squares[0]), cmath.sqrt(squares[1])
        # x'' = -a x - b y, y'' = -c x - d y from x' = push: x = p1 sin(w1 t)/w1 + p2 sin(w2 t)/w2
        p1 = push * (a - squares[1]) / (squares[0] - squares[1])
        p2 = push - p1
        self.assertAlmostEqual(max(w1.imag, -w1.imag) > 0, k12 * b + (a - d) ** 2 / 4 < 0)
        return (p1 * cmath.sin(w1 * until) / w1 + p2 * cmath.sin(w2 * until) / w2).real

    def test_modes_of_a_wheel_flutter_by_constant_friction(self):
        scene = SCENES / 'curve-squeal.yaml'
        for mu in some((0.2, 0.26, 0.27, 0.4)):
            end = self.run_scene(scene, '--tol', '1e-12', '--until', '0.05', '--set', f'mu={mu}')['q']
            start = self.run_scene(scene, '--tol', '1e-12', '--until', '0.05', '--set', f'mu={mu}', '--set',
                                   'push=0')['q']
            exact = self.squeal(mu, 0.05)
            with self.subTest(mu=mu):
                self.assertAlmostEqual(end['x'] - start['x'], exact, delta=1e-5 * abs(exact) + 1e-11)

    def test_squeal_ends_in_stick_and_slip(self):
        loud = self.run_scene(SCENES / 'curve-squeal.yaml', '--tol', '1e-8')
        quiet = self.run_scene(SCENES / 'curve-squeal.yaml', '--tol', '1e-8', '--set', 'mu=0.2')
        self.assertGreater(loud['events']['stick'], 0)
        self.assertEqual(quiet['events']['stick'], 0)
        self.assertLess(abs(quiet['v']["x'"]), 2e-3)

    # Acary 2009, section 6: implicit methods where the acceleration of a closed contact jumps
    def test_implicit_methods_pass_jumps_of_the_acceleration(self):
        exact = self.run_scene(SCENES / 'machine-cam-follower.yaml', '--until', '0.19', '--tol', '1e-9')['q']
        for scheme, bound in some((('radau-iia-5', 1e-6), ('lobatto-iiia-2', 1e-4), ('radau-iia-1', 2e-2))):
            end = self.run_scene(SCENES / 'machine-cam-follower.yaml', '--until', '0.19', '--scheme', scheme,
                                 '--step', '1e-4')['q']
            with self.subTest(scheme=scheme):
                for name, value in exact.items():
                    self.assertAlmostEqual(end[name], value, delta=bound)

    # Schindler and Acary 2011, section 1.1: single-valued contact relations are forces at the stages of an element
    def test_compliant_contact_in_time_discontinuous_galerkin_schemes(self):
        """A floor of stiffness k under a ball, against the closed form: order 4 of degree 2 in contact, and order 2 through
        touchdown and release, where the force has a kink."""
        g, k, w = 10.0, 400.0, 20.0
        scene = self.scene(f"""saltus: 1
parameters: {{y0: 1, v0: 0}}
coordinates: {{y: {{start: y0, velocity: v0}}}}
kinetic: y'^2/2
potential: {g}*y + {k}*min(y, 0)^2/2
""")

        def pressed(t, v):
            return v / w * math.sin(w * t) - g / k * (1 - math.cos(w * t))

        down = math.sqrt(2 / g)
        contact = (2 * math.pi - 2 * math.atan2(math.sqrt(2 * g) * w, g)) / w  # v/w sin = g/k (1 - cos)
        rises = 1.2 - down - contact
        cases = ((('y0=0', 'v0=-1'), 0.1, pressed(0.1, -1.0), 4), (('y0=1', 'v0=0'), 1.2,
                 math.sqrt(2 * g) * rises - g / 2 * rises * rises, 2))
        for scheme in ('dg-minus', 'dg-plus'):
            for start, until, exact, order in cases:
                errors = []
                for steps in (40, 160, 640):
                    words = [word for value in start for word in ('--set', value)]
                    end = self.run_scene(scene, '--scheme', scheme, '--option', 'degree=2', '--step', repr(until / steps),
                                         '--until', repr(until), *words)
                    errors.append(abs(end['q']['y'] - exact))
                with self.subTest(scheme=scheme, start=start, errors=errors):
                    self.assertGreater(math.log(errors[0] / errors[2], 16), order - 0.5)
                    self.assertLess(errors[2], 3e-4)

    # Potra et al., 10.4: the pawl pushed into a hole, of convex parts in space
    def test_the_pawl_in_space_moves_like_the_one_in_the_plane(self):
        outline = ((-0.2, -1.15), (0.2, -1.15), (0.3, -1.05), (0.3, 1.15), (-0.3, 1.15), (-0.3, -1.05))
        points = ', '.join(f'[{x}*mm, {y}*mm, {z}*mm]' for z in (-0.3, 0.3) for x, y in outline)
        scene = self.scene(f"""saltus: 1
parameters: {{mu: 0.2, push: 4e-3, k: 20, c: 5e-3, mm: 1e-3, aside: 0.06}}
world:
  dimension: 3
  gravity: [0, -9.81, 0]
  shapes:
    - {{name: left, box: {{size: [2.68*mm, 2*mm, 2*mm]}}, position: [-1.66*mm, -1*mm, 0]}}
    - {{name: right, box: {{size: [2.68*mm, 2*mm, 2*mm]}}, position: [1.66*mm, -1*mm, 0]}}
materials: {{default: {{friction: mu}}}}
bodies:
  pawl: {{mass: 2e-6, position: [aside*mm, 1.2*mm, 0], shapes: [{{hull: {{points: [{points}]}}}}]}}
  beam: {{mass: 2e-7, position: [0, -0.6*mm, 0], shapes: [{{box: {{size: [0.4*mm, 0.04*mm, 0.4*mm]}}}}]}}
markers:
  seat: {{point: [0, -0.6*mm, 0], orientation: {{axis: [1, 0, 0], angle: -pi/2}}}}
  middle: {{body: beam, orientation: {{axis: [1, 0, 0], angle: -pi/2}}}}
joints:
  - {{name: yield, type: prismatic, between: [seat, middle], spring: {{stiffness: k, rest: 0}}, damping: c}}
forces:
  - {{name: push, at: pawl, force: [0, -push, 0]}}
""")
        flat = self.run_scene(SCENES / 'shapes' / 'pawl.yaml', '--tol', '1e-9', '--until', '0.002')
        # the scheme of the paper has Poisson's law, and closes contacts below a gap
        for words, bound in ((('--tol', '1e-9'), 1e-9), (('--scheme', 'rk4', '--step', '2e-6'), 1e-9),
                             (('--scheme', 'moreau-jean', '--step', '1e-6'), 1e-6),
                             (('--scheme', 'trapezoidal-implicit-end', '--step', '2e-6', '--option', 'contact_gap=1e-12'), 1e-6)):
            end = self.run_scene(scene, *words, '--until', '0.002')
            for name in ('pawl.x', 'pawl.y', 'beam.y'):
                with self.subTest(words=words, name=name):
                    self.assertAlmostEqual(end['q'][name], flat['q'][name], delta=bound)
            self.assertAlmostEqual(end['q']['pawl.z'], 0.0, delta=1e-12)

    # Potra et al., 10.4: the filter of redundant contacts in their scheme
    def test_redundant_contacts_of_a_pawl_of_convex_parts_are_filtered(self):
        """A prism of k^2 boxes has 4 k^2 contacts with a plane, and moves like one box with four."""

        def pawl(k, mu, *words):
            a = 2.3 / k
            parts = ', '.join(f'{{box: {{size: [{a}*mm, {a}*mm, 0.6*mm]}}, position: [{-1.15 + a * (i + 0.5)}*mm, '
                              f'{-1.15 + a * (j + 0.5)}*mm, 0]}}' for i in range(k) for j in range(k))
            scene = self.scene(f"""saltus: 1
parameters: {{mu: {mu}, mm: 1e-3, push: 1e-4}}
world: {{dimension: 3, gravity: [0, 0, -9.81], shapes: [{{name: floor, half-space: {{}}}}]}}
materials: {{default: {{friction: mu}}}}
bodies:
  pawl: {{density: 2300, position: [0, 0, 0.3*mm], shapes: [{parts}]}}
forces:
  - {{name: push, at: pawl, force: ["push*min(t*500, 1)", 0, -push]}}
""")
            return self.run_scene(scene, '--scheme', 'trapezoidal-implicit-end', '--step', '2e-5', '--until', '2e-3', *words)

        for mu, kind in ((0.3, 'flat'), (0.0, 'exact')):
            one = pawl(1, mu)
            self.assertGreater(one['q']['pawl.x'], 1e-6)
            for k in some((2, 3, 4)):
                many = pawl(k, mu, '--option', f'filter={kind}')
                with self.subTest(mu=mu, k=k):
                    self.assertAlmostEqual(many['q']['pawl.x'], one['q']['pawl.x'], delta=1e-13)
        # 16 contacts with 8 directions each: 1.6 s and 0.07 s
        self.assertGreater(pawl(2, 0.3)['work']['cpu_s'], 4 * pawl(2, 0.3, '--option', 'filter=flat')['work']['cpu_s'])

    # Capobianco and Eugster, section 5: many contacts with friction in the variational scheme
    def test_many_frictional_contacts_in_the_variational_scheme(self):
        """A rover with an arm drives over terrain as with `adaptive`, x = 0.3586 m at 1 s."""
        for h, bound in ((1e-3, 2e-3), (2.5e-4, 3e-4)):
            rover = self.run_scene(SCENES / 'shapes' / 'rover-terrain.yaml', '--scheme', 'variational', '--step', repr(h),
                                   '--until', '1')
            self.assertAlmostEqual(rover['q']['chassis.x'], 0.358624, delta=bound)
        # restitution of bodies that settle contradicts stick by velocities that fall like 0.2^k: solved to 1e-8 of a problem
        for h in some((1e-3, 2e-3)):
            jacks = self.run_scene(SCENES / 'shapes' / 'jacks.yaml', '--scheme', 'variational', '--step', repr(h))
            with self.subTest(h=h):
                self.assertLess(max(abs(v) for v in jacks['v'].values()), 1e-12)
                self.assertLess(jacks['residual']['velocity'], 1e-8)
                self.assertLess(jacks['penetration'], 1.5 * h)  # falls of 0.1 m
        # Potra et al., 10.4: in their scheme, where four and six pairs of directions differ by 2e-5 m
        rover = self.run_scene(SCENES / 'shapes' / 'rover-terrain.yaml', '--scheme', 'trapezoidal-implicit-end', '--step', '5e-4',
                               '--option', 'direction_pairs=6', '--until', '1')
        self.assertAlmostEqual(rover['q']['chassis.x'], 0.358624, delta=1e-4)


if __name__ == '__main__':
    unittest.main()
