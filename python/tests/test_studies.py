# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Sensitivities, sweeps and pages: known derivatives, the numbers of the program, Ctrl-C, refusals."""
import os
import re
import signal
import tempfile
import threading
import time
import unittest

import numpy as np

import saltus
from support import not_short, program, scene


class Derivatives(unittest.TestCase):
    def test_they_are_what_the_program_says(self):
        answer = program("run", scene("woodpecker"), "--until", "0.2", "--tol", "1e-10", "--set", "mu=0.31", "--sensitivity", "mu",
                         "--sensitivity", "phiS'")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        model = saltus.Model(scene("woodpecker"), parameters={"mu": 0.31})
        found = saltus.sensitivity(model, 0.2, ["mu", "phiS'"], tol=1e-10)
        for name in model.coordinates + model.velocities:
            line = re.search(rf"^  d {re.escape(name)}: (\S+) (\S+)$", answer.stdout, re.M)
            self.assertEqual([f"{found[by][name]:.12g}" for by in found.names], list(line.groups()), name)

    def test_systems_of_functions_have_none(self):
        with self.assertRaises(TypeError):
            saltus.sensitivity(saltus.System([1.0], [0.0], mass=[[1.0]], force=[0.0]), 1.0, "q1")

    @not_short
    def test_ctrl_c(self):
        pressed = []

        def press():
            time.sleep(0.3)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(saltus.Interrupted):
            saltus.sensitivity(scene("woodpecker"), 1e6, "mu")
        late = time.monotonic() - pressed[0]
        thread.join()
        self.assertLess(late, 0.2)


class Sweeps(unittest.TestCase):
    def test_rows_are_known_and_do_not_depend_on_threads(self):
        axes = {"q": [0.25, 1.0, 2.25], "q'": "~normal(0, 0.1)"}
        measures = {"T": "time(impact of floor)", "n": "count(impact)"}
        one, four = (saltus.sweep(scene("ball"), axes, measures, t_end=2.0, tol=1e-9, scheme="adaptive", samples=4, seed=7,
                                  threads=threads) for threads in (1, 4))
        self.assertEqual(one.values.tobytes(), four.values.tobytes())
        self.assertEqual((one.grid, one.samples, len(one)), (3, 4, 12))
        h, w = one["q"], one["q'"]
        np.testing.assert_allclose(one["T"], (w + np.sqrt(w**2 + 4 * h)) / 2, atol=1e-8)
        self.assertGreater(len(set(w)), 3)

    def test_compiled_members_have_the_values_of_the_interpreter(self):
        plain, compiled = (saltus.sweep(scene("ball"), {"q": "0.5:2:9"}, ["max(q)", "count(impact)"], t_end=2.0, step=1e-3,
                                        scheme="moreau-jean", backend=backend) for backend in (None, "auto"))
        np.testing.assert_allclose(compiled.values, plain.values, atol=1e-12)
        with self.assertRaisesRegex(saltus.InputError, "allowed"):
            saltus.sweep(scene("ball"), {"q": [1]}, ["max(q)"], t_end=1.0, backend="abacus", devices=[0, 1])

    def test_a_run_that_fails_has_its_row(self):
        text = "saltus: 1\ncoordinates: {y: 1}\nkinetic: y'^2/2\nforces: {y: -1/sqrt(y)}\n"
        table = saltus.sweep(saltus.Model.from_text(text), {"y": [1.0, 100.0]}, ["last(y)"], t_end=5.0)
        self.assertEqual(list(table.failures), [0])
        self.assertTrue(np.isnan(table["last(y)"][0]) and table["last(y)"][1] < 100.0)
        for bad in ({"nothing": [1]}, {"q": "1:2"}, {"q": []}):
            with self.assertRaises(saltus.Error):
                saltus.sweep(scene("ball"), bad, ["max(q)"], t_end=1.0)

    @not_short
    def test_ctrl_c_gives_the_rows_so_far(self):
        pressed = []

        def press():
            time.sleep(0.5)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(saltus.Interrupted) as caught:
            saltus.sweep(scene("ball"), {"q": "1:2:100000"}, ["max(q)"], t_end=2.0, tol=1e-6, threads=1)
        late = time.monotonic() - pressed[0]
        thread.join()
        table = caught.exception.solution
        self.assertLess(late, 0.2)
        self.assertTrue(0 < table.done.sum() < len(table))
        np.testing.assert_array_equal(table["max(q)"][table.done], table["q"][table.done])


class Pages(unittest.TestCase):
    def setUp(self):
        try:
            saltus.solve(scene("ball"), 0.1).animate()
        except saltus.Error:
            self.skipTest("this build has no viewer")

    def test_a_run_and_its_recording_are_the_same_page(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("woodpecker", "shapes/ball-on-slope", "body-slider-crank"):
                sol = saltus.solve(scene(name), 0.05)
                path = os.path.join(folder, "run.csv")
                sol.save(path, force=True)
                self.assertEqual(len(sol.animate().html), len(saltus.load(path).animate().html), name)

    def test_a_notebook_gets_a_frame_that_nothing_leaves(self):
        page = saltus.solve(saltus.Model("saltus: 1\nname: '\"><script>alert(1)</script>'\ncoordinates: {y: 1}\n"
                                         "kinetic: y'^2/2\n"), 0.1).animate(height=300)
        frame = page._repr_html_()
        self.assertEqual(frame.count("<"), 2)
        self.assertEqual(frame.count('"'), 6)
        self.assertIn("height:300px", frame)


if __name__ == "__main__":
    unittest.main()
