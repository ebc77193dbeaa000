#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Messages that name the thing, the place, the value and what is allowed; lists and help."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_cli import BALL, Cli, saltus  # noqa: E402


class Messages(Cli):
    def test_a_tolerance_out_of_range_speaks_of_the_option_that_was_given(self):
        for given in ('1', '0', '-1e-06'):
            self.refused('run', 'ball', '--tol', given,
                         says=f'run: --tol is {given}, must be a number between 1e-14 and 0.1')
        for given in ('fine', 'inf', 'nan', '1e-6x'):
            self.refused('run', 'ball', '--tol', given, says=f'run: --tol is "{given}", must be a finite number')
        self.refused('run', 'ball', '--rtol', '1', says='--rtol is 1, must be a number between 1e-14')

    def test_an_unknown_model_has_a_suggestion(self):
        self.refused('run', 'bal', says='"bal"; did you mean ball?')
        self.refused('check', 'stak:5', says='"stak:5"; did you mean stack?')
        self.refused('run', 'zzzzzz', says='no file and no reference problem "zzzzzz"; see saltus list')

    def test_a_start_beyond_its_tolerance_differs_from_it_in_print(self):
        rod = BALL.replace('{y: {start: 1, unit: m}}', '{x: {start: 1.010000001}, y: {start: 1}}')
        rod = rod.replace("m/2*y'^2", "m/2*(x'^2 + y'^2)").replace('reference: ball\n', '')
        rod += 'joints: [{name: rod, constraint: x - 1}]\n'
        rod = rod.replace('step: 0.01', 'step: 0.01, start_tolerance: 0.01')
        self.refused('check', self.scene(rod), says='its constraint is 0.010000001, allowed is 0.01 ')

    def test_a_measure_is_named_by_its_formula(self):
        scene = self.scene(BALL)
        done = saltus('sweep', scene, '--axis', 'y=0.5:1:2', '--until', '0.1', '--measure', 'max(foo)', '-o', self.folder / 'sweep.csv')
        self.assertEqual(done.returncode, 2)
        self.assertIn('measure "foo": formula: unknown name "foo"', done.stderr)
        done = saltus('orbit', scene, '--period', '2*foo', '--tol', '1e-8')
        self.assertIn('2*foo: formula: unknown name "foo"', done.stderr)

    def test_one_of_a_thing_is_reported_in_the_singular(self):
        run = saltus('run', 'ball', '--step', '5', '--scheme', 'moreau-jean').stdout
        self.assertIn('in 1 step of 5 s', run)
        path = self.folder / 'one.csv'
        path.write_text('t,q1,v1\n0,1,0\n')
        info = saltus('info', path).stdout
        self.assertIn('1 state from', info)
        self.assertIn('1 coordinate, 0 contacts, 0 joints', info)
        self.assertNotRegex(run + info, r'\b1 [a-z]+s\b(?<!1 s)')

    def test_a_body_in_space_has_velocities_apart_from_its_coordinates(self):
        # quaternions have no velocities: qw must not stand beside wx
        top = self.scene('saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0]}\n'
                         'bodies: {top: {mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, 2]}}\n'
                         'simulate: {until: 1, tol: 1e-6}\n')
        check = saltus('check', top).stdout
        self.assertIn('coordinate top.qw [1]: starts at 1\n', check)
        self.assertIn('velocity top.wz [rad/s]: starts at 2\n', check)
        run = saltus('run', top, '--verbose').stdout
        self.assertIn('  top.x = 0 m\n', run)
        self.assertIn('  top.wz = 2\n', run)

    HINGE = ('saltus: 1\nworld: {gravity: [0, 0]}\nbodies: {arm: {mass: 1, inertia: 0.1, position: [0.5, 0]}}\n'
             'markers: {pin: {point: [0, 0]}, root: {body: arm, point: [-0.5, 0]}}\n'
             'joints: [{name: hinge, type: revolute, between: [pin, root], drive: {DRIVE}, limits: [-2, 0.5]}]\n')

    def test_a_drive_that_runs_into_the_limit_of_its_joint_is_named_with_the_time(self):
        # speed 1 rad/s is at 0.5 rad at 0.5 s, sin(t) at asin(0.5), -t^2 at -2 rad at sqrt(2)
        for drive, limit, time in (('speed: 1', 'upper", 0.5', '0.5'), ('angle: sin(t)', 'upper", 0.5', '0.523598776'),
                                   ('angle: -t^2', 'lower", -2', '1.41421356')):
            scene = self.scene(self.HINGE.replace('DRIVE', drive))
            for how in (('--tol', '1e-6'), *(('--step', '0.01', '--scheme', name) for name in
                        ('moreau-jean', 'rattle', 'variational', 'radau-iia-5', 'dopri5', 'dg-minus', 'adaptive'))):
                with self.subTest(drive=drive, how=how):
                    run = saltus('run', scene, '--until', '2', *how)
                    self.assertNotEqual(run.returncode, 0)
                    self.assertIn(f'the drive of joint "hinge" runs into the limit "hinge.{limit} rad, at t = {time} s',
                                  run.stderr)

    def test_a_drive_in_the_plane_may_start_on_another_turn(self):
        for turns in (-4, 2, 6):
            scene = self.scene(self.HINGE.replace('DRIVE', f'angle: {turns}*pi + t/4'))
            run = saltus('run', scene, '--until', '1', '--tol', '1e-6')
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("arm.angle = 0.25 rad, arm.angle' = 0.25", run.stdout)
        self.refused('run', self.scene(self.HINGE.replace('DRIVE', 'angle: 2*pi + 1')),
                     says='joint "hinge" does not hold at the start', code=2)

    def test_a_spring_without_a_direction_is_named(self):
        spring = ('saltus: 1\nworld: {gravity: [0, 0]}\nbodies: {a: {mass: 1, inertia: 0.1, position: [0, 0]}}\n'
                  'markers: {pin: {point: [0, 0]}, c: {body: a}}\n'
                  'springs: [{name: coil, type: linear, between: [pin, c], stiffness: 10, length: 1}]\n')
        says = 'spring "coil" has a length of 1 m and no direction: its markers "pin" and "c" are at the same place at t = '
        self.refused('check', self.scene(spring), says=':5:', code=2)
        self.refused('check', self.scene(spring), says=says + '0 s', code=2)
        spring = spring.replace('position: [0, 0]', 'position: [1, 0], velocity: [-4, 0]')
        run = saltus('run', self.scene(spring), '--until', '1', '--step', '0.25', '--scheme', 'explicit-euler')
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(says + '0.25 s', run.stderr)

    def test_scenes_with_bodies_are_refused_with_exit_2(self):
        self.refused('run', self.scene('saltus: 1\nbodies: {arm: {mass: 0, inertia: 1}}\n'),
                     says='body "arm": its mass is 0 kg', code=2)

    def test_a_file_that_is_not_there_is_bad_input_of_solve(self):
        self.refused('solve', self.folder / 'nofile', says='No such file', code=2)

    def test_help_about_a_command_is_its_help(self):
        self.assertEqual(saltus('help', 'run').stdout, saltus('run', '--help').stdout)
        self.assertIn('usage: saltus run', saltus('help', 'run').stdout)
        self.refused('help', 'rnu', says='no command "rnu"; did you mean run?')


class Files(Cli):
    def recording(self, name):
        path = self.folder / name
        self.assertEqual(saltus('run', self.scene(), '-o', path).returncode, 0)
        return path

    def test_a_cut_hdf5_file_says_how_much_is_missing(self):
        path = self.recording('run.h5')
        whole = path.read_bytes()
        path.write_bytes(whole[:3000])
        self.refused('info', path, says=f'the file is cut off, it has 3000 of {len(whole)} bytes')
        path.write_bytes(whole[:6])
        self.refused('info', path, says='the file is cut off')
        path.write_bytes(b'')
        self.refused('info', path, says='the file is empty')
        path.write_bytes(b'time, y\n' * 100)
        self.refused('info', path, says='this is not an HDF5 file')

    def test_tables_with_carriage_returns_are_the_same_tables(self):
        path = self.recording('run.csv')
        plain = saltus('info', path, '--json').stdout
        for name in ('run.csv', 'run.events.csv'):
            file = self.folder / name
            file.write_bytes(file.read_bytes().replace(b'\n', b'\r\n'))
        self.assertEqual(saltus('info', path, '--json').stdout, plain)
        self.assertEqual(saltus('info', path, '--scene').stdout, BALL)

    def test_time_that_runs_backwards_is_refused_with_its_line(self):
        path = self.folder / 'back.csv'
        path.write_text("t,y,y'\n0,1,0\n1,0,-1\n1,0,0.5\n0.5,2,0\n")
        self.refused('info', path, says='back.csv:5: time runs backwards: t = 0.5 after 1')


class References(Cli):
    """Heights of the first flight, y = 1 - t^2, sampled; the run is compared with them."""
    SCENE = BALL.replace('reference: ball', 'reference: table.csv').replace('until: 5', 'until: 0.9')

    def write(self, header, row):
        lines = [header] + [row(k / 50) for k in range(51)]
        (self.folder / 'table.csv').write_text('\n'.join(lines) + '\n')
        return self.scene(self.SCENE)

    def error(self, scene):
        result = saltus('run', scene, '--tol', '1e-8', '--json')
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)['error']['inf']

    def test_velocities_are_primed_or_dotted_and_columns_stand_in_any_order(self):
        for header in ("t,y,y'", 't,y,y_dot', 't [s],y [m],y_dot [m/s]'):
            scene = self.write(header, lambda t: f'{t},{1 - t * t!r},{-2 * t!r}')
            self.assertLess(self.error(scene), 1e-7)
        scene = self.write("y_dot,t,y", lambda t: f'{-2 * t!r},{t},{1 - t * t!r}')
        self.assertLess(self.error(scene), 1e-7)

    def test_a_table_that_does_not_fit_says_what_it_has_and_what_is_wanted(self):
        for header in ('t,y,w', "t,x,x'"):
            scene = self.write(header, lambda t: f'{t},1,0')
            self.refused('run', scene, says=f"has the columns {header.replace(',', ', ')}; a reference "
                         "of this model has t, y, y' (x_dot is read like x'")

    def test_named_columns_are_sorted_by_name(self):
        two = self.SCENE.replace('{y: {start: 1, unit: m}}', '{x: {velocity: 3}, y: {start: 1}}')
        self.SCENE = two.replace("m/2*y'^2", "m/2*(x'^2 + y'^2)")
        scene = self.write("t,y,y',x_dot,x", lambda t: f'{t},{1 - t * t!r},{-2 * t!r},3,{3 * t!r}')
        self.assertLess(self.error(scene), 1e-7)


class Lists(Cli):
    def test_the_list_of_schemes_is_short_and_one_scheme_is_reported_in_full(self):
        short = saltus('list', 'schemes').stdout
        self.assertLess(len(short.splitlines()), 50)
        self.assertNotIn('newton_tol', short)
        one = saltus('list', 'schemes', 'moreau-jean').stdout
        self.assertIn('newton_tol', one)
        self.assertNotIn('schatzman', one)
        self.assertIn('newton_tol', saltus('list', 'schemes', '--all').stdout)
        entries = json.loads(saltus('list', 'schemes', 'adaptive', '--json').stdout)['schemes']
        self.assertEqual([e['name'] for e in entries], ['adaptive'])
        self.assertIn('rtol', [o['option'] for o in entries[0]['options']])
        self.refused('list', 'schemes', 'moreau-jaen', says='did you mean moreau-jean?')

    def test_solvers_are_labelled_by_the_kind_of_their_problems(self):
        entries = json.loads(saltus('list', 'solvers', '--json').stdout)['solvers']
        self.assertEqual({e['kind'] for e in entries}, {'friction', 'complementarity'})
        lines = [line for line in saltus('list', 'solvers').stdout.splitlines() if line.strip()]
        autos = [line.split()[1] for line in lines if line.startswith('auto ')]
        self.assertEqual(autos, ['friction', 'complementarity'])


if __name__ == '__main__':
    unittest.main(verbosity=1)
