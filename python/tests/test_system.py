# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Systems of functions: the motions of scenes, exceptions, C functions."""
import ctypes
import gc
import threading
import unittest
import weakref

import numpy as np

import saltus
from support import not_short, scene

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 3)


def ball(**more):
    given = {"mass": [[1.0]], "force": lambda t, q, v: [-2.0], "gap": lambda t, q: q, "normals": [[1.0]],
             "restitution": 0.5, "potential": lambda t, q: 2 * q[0], **more}
    return saltus.System([1.0], [0.0], **given)


class Motion(unittest.TestCase):
    def test_the_ball_of_functions_has_the_events_of_the_scene(self):
        ours = saltus.solve(ball(), 5.0, tol=1e-8)
        theirs = saltus.solve(scene("ball"), 5.0, tol=1e-8, scheme="adaptive")
        np.testing.assert_allclose(ours.event_array["t"], theirs.event_array["t"], atol=1e-9)
        np.testing.assert_array_equal(ours.event_array["kind"], theirs.event_array["kind"])
        self.assertTrue(ours.certificate.passed)

    def test_rows_by_differences_are_as_good_as_differences_are(self):
        # a pendulum that hits a wall at x = 0: gap sin(phi), a curved one
        given = {"mass": lambda t, q: [[1.0]], "force": lambda t, q, v: [-9.81 * np.sin(q[0])],
                 "gap": lambda t, q: [np.sin(q[0])], "restitution": 0.8}
        rough = saltus.System([1.0], [0.0], **given)
        exact = saltus.System([1.0], [0.0], **given, normals=lambda t, q: [[np.cos(q[0])]],
                              convective=lambda t, q, v: [[-np.sin(q[0]) * v[0]**2]])
        a, b = (saltus.solve(system, 2.0, tol=1e-7) for system in (rough, exact))
        self.assertLess(abs(a.q[-1] - b.q[-1]).max(), 1e-6)
        self.assertEqual(len(a.event_array), len(b.event_array))

    def test_a_joint_holds(self):
        # a point on a circle by a constraint, against the angle of a pendulum
        circle = saltus.System([0.6, -0.8], [0.0, 0.0], mass=np.eye(2), force=[0.0, -9.81],
                               joint=lambda t, q: [(q @ q - 1) / 2], joint_rows=lambda t, q: [q])
        sol = saltus.solve(circle, 1.0, tol=1e-9)
        angle = saltus.System([np.arcsin(0.6)], [0.0], mass=[[1.0]], force=lambda t, q, v: -9.81 * np.sin(q))
        phi = saltus.solve(angle, 1.0, tol=1e-10).q[-1, 0]
        np.testing.assert_allclose(sol.q[-1], [np.sin(phi), -np.cos(phi)], atol=1e-6)

    def test_friction_stops_a_block_where_the_formula_says(self):
        # 1 m/s on a plane, mu = 0.3: it stops after v^2 / (2 mu g)
        block = saltus.System([0.0, 0.0], [1.0, 0.0], mass=np.eye(2), force=[0.0, -9.81], gap=lambda t, q: [q[1]],
                              normals=[[0.0, 1.0]], tangents=[[1.0, 0.0]], friction=0.3)
        sol = saltus.solve(block, 1.0, tol=1e-9)
        self.assertAlmostEqual(sol.q[-1, 0], 1 / (2 * 0.3 * 9.81), delta=1e-7)

    def test_every_family_of_schemes_runs_it(self):
        for name in ("moreau-jean", "radau-iia-5", "rattle", "dg-minus", "trapezoidal-implicit-mean"):
            sol = saltus.solve(ball(), 0.5, scheme=name, step=0.01)
            self.assertAlmostEqual(sol.q[-1, 0], 0.75, delta=0.01, msg=name)

    def test_stepping_works_too(self):
        sim = ball().simulate(tol=1e-8)
        self.assertAlmostEqual(sim.advance(2.0, stop="impact").t, 1.0, delta=1e-8)


class Raised(unittest.TestCase):
    def test_what_a_function_raises_is_raised(self):
        class Own(Exception):
            pass

        def force(t, q, v):
            if t > 0.3:
                raise Own("here")
            return [-2.0]

        for system in (ball(force=force),):
            with self.assertRaises(Own):
                saltus.solve(system, 1.0, tol=1e-6)
            with self.assertRaises(Own):
                saltus.solve(system, 1.0, scheme="moreau-jean", step=0.01)
            sim = system.simulate(scheme="moreau-jean", step=0.01)
            with self.assertRaises(Own):
                sim.advance(1.0)
            self.assertAlmostEqual(sim.t, 0.3, delta=0.02)

    def test_wrong_answers_are_named(self):
        for force, word in ((lambda t, q, v: [1.0, 2.0], "force"), (lambda t, q, v: None, "force"),
                            (lambda t, q, v: "x", "force"), (lambda t, q, v: [1j], "force")):
            with self.assertRaisesRegex((TypeError, ValueError), word):
                saltus.solve(ball(force=force), 1.0)

    def test_a_nan_is_an_input_error(self):
        with self.assertRaises(saltus.Error):
            saltus.solve(ball(force=lambda t, q, v: [np.nan]), 1.0)

    def test_recursion_ends(self):
        made = []

        def force(t, q, v):
            saltus.solve(made[0], 0.1)
            return [-2.0]

        made.append(ball(force=force))
        with self.assertRaises(RecursionError):
            saltus.solve(made[0], 0.1)

    def test_arrays_that_are_kept_keep_their_numbers(self):
        kept = []

        def force(t, q, v):
            kept.append((t, q, v))
            return [-2.0]

        saltus.solve(ball(force=force), 0.5, scheme="moreau-jean", step=0.01)
        gc.collect()
        self.assertEqual(kept[0][1][0], 1.0)
        self.assertGreater(len({float(q[0]) for _, q, _ in kept}), 10)

    def test_threads_have_their_own_exceptions(self):
        def force(t, q, v):
            if threading.current_thread() is not threading.main_thread():
                raise KeyError("not here")
            return [-2.0]

        system = ball(force=force)
        found = []

        def work():
            try:
                saltus.solve(system, 1.0)
            except KeyError as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        saltus.solve(system, 1.0)
        thread.join()
        self.assertEqual(len(found), 1)

    def test_a_system_that_holds_itself_is_collected(self):
        class Holder:
            def force(self, t, q, v):
                return [-2.0]

        holder = Holder()
        holder.system = ball(force=holder.force)
        gone = weakref.ref(holder)
        del holder
        gc.collect()
        self.assertIsNone(gone())


class OfC(unittest.TestCase):
    def test_functions_of_ctypes(self):
        @SIGNATURE
        def force(t, q, v, out):
            out[0] = -2.0

        @SIGNATURE
        def gap(t, q, v, out):
            out[0] = q[0]

        sol = saltus.solve(ball(force=force, gap=gap, contacts=1), 2.2, tol=1e-8)
        np.testing.assert_allclose(sol.event_array["t"], [1, 2], atol=1e-8)

    @not_short
    def test_functions_of_numba(self):
        try:
            import numba
        except ImportError:
            self.skipTest("no numba")
        number, pointer = numba.types.double, numba.types.CPointer(numba.types.double)
        signature = numba.types.void(number, pointer, pointer, pointer)

        @numba.cfunc(signature)
        def force(t, q, v, out):
            out[0] = -2.0

        @numba.cfunc(signature)
        def gap(t, q, v, out):
            out[0] = q[0]

        sol = saltus.solve(ball(force=force, gap=gap, contacts=1), 2.2, tol=1e-8)
        np.testing.assert_allclose(sol.event_array["t"], [1, 2], atol=1e-8)

    @not_short
    def test_a_compiled_function_runs_at_full_speed(self):
        import pathlib
        import subprocess
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "f.c")
            source.write_text("void force(double t, const double *q, const double *v, double *out) { out[0] = -2.0; }")
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", f"{folder}/f.so", str(source)], check=True)
            function = ctypes.CDLL(f"{folder}/f.so").force
            quick = ball(force=function, gap=None, normals=None, potential=None, restitution=0.0)
            slow = ball(gap=None, normals=None, potential=None, restitution=0.0)
            times = [min(saltus.solve(system, 1.0, scheme="moreau-jean", step=1e-4, every=10000).stats["cpu"]
                         for _ in range(3)) for system in (quick, slow)]
            self.assertLess(times[0], times[1] / 3)


if __name__ == "__main__":
    unittest.main()
