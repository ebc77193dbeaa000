# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Certificates, comparisons, orders, pickles, the program."""
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import saltus
from support import not_short, program, scene


class Fitted(unittest.TestCase):
    SCENE = """saltus: 1
parameters: {g: 9, e: 0.4}
coordinates: {y: {start: 1}}
kinetic: y'^2/2
potential: g*y
contacts: [{name: ground, gap: y, restitution: e}]
simulate: {until: 1, tol: 1e-10}
fit:
  data: {file: ball-*.csv}
  measured: [{value: y, columns: [y], noise: 0.001}]
  unknown: {g: {bounds: [5, 15]}, e: {bounds: [0.1, 0.95]}}
"""

    def test_a_fit_finds_the_parameters_of_exact_data(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ball.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.SCENE)
            t = 0.025 * np.arange(30)
            first = np.sqrt(2 / 9.81)
            y = np.where(t < first, 1 - 9.81 / 2 * t**2, 0.6 * 9.81 * first * (t - first) - 9.81 / 2 * (t - first)**2)
            for i in range(2):
                np.savetxt(os.path.join(folder, f"ball-{i}.csv"), np.column_stack([t, y]), "%.17g", ",", header="t,y", comments="")
            fit = saltus.fit(path, threads=1)
            self.assertAlmostEqual(fit.parameters["g"], 9.81, delta=1e-6)
            self.assertAlmostEqual(fit.parameters["e"], 0.6, delta=1e-6)
            low, high = fit.interval("e")
            self.assertTrue(low <= 0.6 + 1e-6 and high >= 0.6 - 1e-6)
            self.assertEqual((fit.scores.shape, fit.failures, fit.held_out), ((2, 6), {}, None))
            given = saltus.fit(saltus.Model(path), evaluate=True)
            self.assertEqual(given.parameters, {"g": 9.0, "e": 0.4})
            self.assertGreater(given.errors["position"], 0.05)
            self.assertRaises(KeyError, fit.interval, "m")
            self.assertRaises(saltus.InputError, saltus.fit, scene("ball"))


class Optimised(unittest.TestCase):
    def test_optima_and_edges_of_a_ball_are_those_in_closed_form(self):
        ball = saltus.Model(scene("ball"))
        edge = saltus.optimize(ball, {"q": (0.5, 2)}, find="count(impact of floor) = 0", t_end=1.2, tol=1e-10, tolerance=1e-9,
                               threads=1)
        self.assertAlmostEqual(edge.values["q"], 1.44, delta=1e-6)
        self.assertTrue(edge.converged and edge.bracket[0] < edge.bracket[1] and edge.gradient is None)
        self.assertEqual(edge.history.shape, (edge.runs, 2))
        self.assertRaises(saltus.InputError, saltus.optimize, ball, {"q": (0.5, 2)})
        self.assertRaises(saltus.SolveError, saltus.optimize, ball, {"q": (0.5, 2)}, find="max(q) >= 9", t_end=1.2, tol=1e-8)
        try:
            best = saltus.optimize(ball, {"q": (0.5, 2)}, minimize="(time(impact of floor) - 1.2)^2", t_end=1.5, tol=1e-12,
                                   scheme="adaptive", tolerance=1e-9)
        except saltus.SolveError as error:
            self.assertIn("NLopt", str(error))
            return
        self.assertAlmostEqual(best.values["q"], 1.44, delta=1e-6)
        self.assertEqual(best.gradient.shape, (1, 1))


class Judged(unittest.TestCase):
    def test_a_certificate_of_a_file_is_that_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            saltus.solve(scene("woodpecker"), 0.2, tol=1e-8, scheme="adaptive", certify=True).save(path)
            answer = program("verify", path)
            self.assertEqual(answer.returncode, 0)
            self.assertIn(": passes", answer.stdout)
            there = os.path.join(folder, "program.h5")
            program("run", scene("woodpecker"), "--until", "0.2", "--tol", "1e-8", "--scheme", "adaptive", "--certify", "-o", there)
            with open(path, "rb") as ours, open(there, "rb") as theirs:
                self.assertEqual(ours.read(), theirs.read())
            certificate = saltus.verify(path)
            self.assertTrue(certificate.passed and certificate.complete)
            self.assertTrue(saltus.verify(path, scene("woodpecker")).passed)
            wrong = saltus.Model(scene("woodpecker"), parameters={"mu": 0.2})
            self.assertFalse(saltus.verify(path, wrong).passed)

    def test_a_run_that_its_certificate_fails_raises(self):
        seen = [0.0]

        def force(t, q, v):
            """Another one when the run is over and is computed anew from its start."""
            seen.append(max(seen[-1], t))
            return [-3.0 if seen[-1] >= 1.0 and t < 0.5 else -2.0]

        system = saltus.System([1.0], [0.0], mass=[[1.0]], force=force)
        with self.assertRaises(ValueError):
            saltus.solve(system, 1.0, tol=1e-6, certify=True, every=2)
        with self.assertRaises(saltus.SolveError) as caught:
            saltus.solve(system, 1.0, tol=1e-6, certify=True)
        self.assertIn("the certificate fails (", str(caught.exception))
        self.assertIn("momentum", str(caught.exception))
        self.assertFalse(caught.exception.solution.certificate.passed)

    def test_a_file_without_every_step_is_neither_certified_nor_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            saltus.solve(scene("woodpecker"), 0.2, tol=1e-6, scheme="adaptive").save(path)
            answer = program("verify", path)
            self.assertEqual(answer.returncode, 0)
            self.assertIn("not certified", answer.stdout)
            certificate = saltus.verify(path)
            self.assertEqual((certificate.passed, certificate.complete, certificate.every_step, bool(certificate)),
                             (True, False, False, False))
            self.assertEqual(certificate["momentum"]["checked"], 0)
            self.assertGreater(certificate["impact law"]["checked"], 0)
            self.assertIn("not certified", repr(certificate))

    @not_short
    def test_schemes_have_their_orders(self):
        study = saltus.converge(scene("oscillator"), 1.0, scheme="rk4", steps=10 * 2 ** np.arange(4))
        self.assertAlmostEqual(study.order, 4.0, delta=0.3)
        study = saltus.converge(scene("oscillator"), 1.0, scheme="explicit-euler", steps=100 * 2 ** np.arange(4))
        self.assertAlmostEqual(study.order, 1.0, delta=0.15)

    def test_steps_are_numbers_of_steps(self):
        study = saltus.converge(scene("oscillator"), 0.5, scheme="rk4", steps=[10, 20])
        self.assertEqual([float(size) for size in study.sizes], [0.05, 0.025])
        self.assertEqual([sol.stats["steps"] for sol in study.solutions], [10, 20])
        for steps in ([0.05, 0.025], [0], [-1], [10.5]):
            with self.assertRaises(ValueError):
                saltus.converge(scene("oscillator"), 0.5, scheme="rk4", steps=steps)

    def test_a_reference_without_dense_output_is_never_interpolated(self):
        """x = cos(t) of order 2 by moreau-jean, where a straight line is wrong by h^2/8 of the reference."""
        model = saltus.Model.from_text("saltus: 1\ncoordinates: {x: {start: 1}}\nkinetic: x'^2/2\npotential: x^2/2\n")
        reference = saltus.solve(model, 1.0, scheme="moreau-jean", step=1 / 1600)
        study = saltus.converge(model, 1.0, scheme="moreau-jean", steps=[20, 50, 100], reference=reference)
        self.assertAlmostEqual(study.order, 2.0, delta=0.05)
        short = saltus.solve(model, 1.1, scheme="moreau-jean", step=1.1 / 1601)
        with self.assertRaisesRegex(ValueError, "divide those of the reference"):
            saltus.converge(model, 1.0, scheme="moreau-jean", steps=[19, 41], reference=short)

    @not_short
    def test_ctrl_c_leaves_the_study_so_far(self):
        """The second run has steps of a nanosecond."""
        model = saltus.Model(scene("oscillator"))
        reference = saltus.solve(model, 1.0, tol=1e-8, scheme="adaptive")
        pressed = []

        def press():
            time.sleep(0.5)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(saltus.Interrupted) as caught:
            saltus.converge(model, 1.0, scheme="rk4", steps=[10, 10**9], reference=reference, every=10**6)
        late = time.monotonic() - pressed[0]
        thread.join()
        self.assertLess(late, 0.2)
        study = caught.exception.solution
        self.assertEqual((len(study.errors), len(study.solutions)), (1, 1))
        self.assertTrue(study.errors[0] > 0.0)

    def test_two_tolerances_agree_and_their_events_are_paired(self):
        rough, fine = (saltus.solve(scene("ball"), 2.9, tol=tol, scheme="adaptive") for tol in (1e-5, 1e-10))
        found = saltus.compare(rough, fine)
        self.assertTrue(found.same_events)
        self.assertLess(found.q.max(), 1e-4)
        self.assertLess(found.v_graph.max(), 1e-4)
        other = saltus.compare(saltus.solve(scene("ball"), 2.9, tol=1e-8, scheme="adaptive", q0=[1.1], v0=[0]), fine)
        self.assertGreater(other.q.max(), 0.05)


class Kept(unittest.TestCase):
    def test_a_model_survives_a_pickle(self):
        model = saltus.Model(scene("woodpecker"), parameters={"mu": 0.3})
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual(again.parameters, {"mu": "0.3"})
        one, other = (saltus.solve(m, 0.1, tol=1e-8) for m in (model, again))
        self.assertEqual(one.q.tobytes(), other.q.tobytes())

    @not_short
    def test_the_package_is_the_program(self):
        answer = subprocess.run([sys.executable, "-m", "saltus", "--version"], capture_output=True, text=True)
        if "neither" in answer.stderr:
            self.skipTest("the program is not in this package")
        self.assertIn(saltus.__version__, answer.stdout)


if __name__ == "__main__":
    unittest.main()
