# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""solve: known motions, names, dense output, interruption, refusals."""
import gc
import os
import signal
import tempfile
import threading
import time
import tracemalloc
import unittest

import numpy as np

import saltus
from support import not_short, scene

SWITCHED = """saltus: 1
inputs: {on: 1}
coordinates: {x: 0}
kinetic: x'^2/2
forces: {x: on}
events: {far: {formula: x - 1/200, direction: rising, set: {on: 0}}}
"""
BALL = saltus.Model(scene("ball"))


class KnownMotion(unittest.TestCase):

    def test_the_ledger_has_the_energy_of_the_start(self):
        ledger = saltus.solve(BALL, 0.5, tol=1e-6).stats["ledger"]
        self.assertEqual(ledger["start"], 0.0)
        self.assertEqual(set(ledger), {"change", "external", "start", "drive", "friction", "impact", "remainder", "created"})
    def test_impacts_of_the_ball_are_at_3_minus_2_to_the_1_minus_n(self):
        sol = saltus.solve(BALL, 5.0, tol=1e-10, scheme="adaptive")
        kinds = sol.event_array["kind"]
        times = sol.event_array["t"][kinds == saltus.solution.KINDS.index("impact")]
        expected = 3 - 2.0 ** (1 - np.arange(5))
        np.testing.assert_allclose(times[:5], expected, atol=1e-8)
        np.testing.assert_allclose(sol.event_array["t"][kinds == saltus.solution.KINDS.index("accumulation")], [3],
                                   atol=1e-7)

    def test_dense_output_has_both_limits_at_a_jump_and_the_parabola_between(self):
        sol = saltus.solve(BALL, 2.5, tol=1e-10, scheme="adaptive")
        t = np.array([0.0, 0.25, 0.5])
        np.testing.assert_allclose(sol(t).q[:, 0], 1 - t**2, atol=1e-9)
        first = sol.event_array["t"][0]
        self.assertAlmostEqual(sol(first, "left")["q'"], -2, delta=1e-8)
        self.assertAlmostEqual(sol(first, "right")["q'"], 1, delta=1e-8)
        self.assertEqual(sol(0.25).q.shape, (1,))
        self.assertEqual(sol(np.full((2, 3), 0.25)).v.shape, (2, 3, 1))

    def test_dense_output_has_the_bits_of_recorded_states(self):
        for name in ("woodpecker", "contact-corner-cube"):
            sol = saltus.solve(scene(name), 0.2, tol=1e-8, dt=0.001)
            once = np.flatnonzero(np.diff(sol.t, prepend=-1, append=9)[:-1] * np.diff(sol.t, append=9) > 0)[1:-1]  # not the start, which may be corrected
            dense = sol(sol.t[once])
            self.assertEqual(dense.q.tobytes(), sol.q[once].tobytes(), name)
            self.assertEqual(dense.v.tobytes(), sol.v[once].tobytes(), name)
        sol = saltus.solve(BALL, 1.5, scheme="radau-iia-5", step=0.01)
        np.testing.assert_allclose(sol(0.123).q, 1 - 0.123**2, atol=1e-12)

    def test_a_scheme_without_dense_output_has_straight_lines(self):
        sol = saltus.solve(BALL, 1.0, scheme="moreau-jean", step=0.1)
        self.assertAlmostEqual(float(sol(0.05).q[0]), float((sol.q[0, 0] + sol.q[1, 0]) / 2), delta=1e-15)


class Arrays(unittest.TestCase):
    def test_arrays_outlive_their_solution_and_cannot_be_changed(self):
        q = saltus.solve(BALL, 1.0).q
        gc.collect()
        self.assertEqual(q[0, 0], 1.0)
        with self.assertRaises(ValueError):
            q[0, 0] = 2.0

    def test_no_array_is_copied(self):
        sol = saltus.solve(BALL, 1.0)
        self.assertFalse(sol.q.flags.owndata)
        self.assertTrue(np.shares_memory(sol.q, sol["q"]))
        self.assertTrue(np.shares_memory(sol.q, np.asarray(sol._data.array("q"))))

    def test_nothing_larger_than_a_frame_is_copied(self):
        sol = saltus.solve(BALL, 4.0, scheme="moreau-jean", step=1e-3, every=1, outputs={"twice": "2*q"})
        tracemalloc.start()
        arrays = [sol.t, sol.q, sol.v, sol.outputs, sol["q"], sol["q'"], sol["twice"], sol.event_array, sol.contacts.gap,
                  sol.contacts.velocity, sol.contacts.force, sol.contacts.impulse, sol.contacts.friction_work, sol.ledger.kinetic,
                  sol.ledger.remainder]
        size, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertGreater(sum(array.nbytes for array in arrays), 400000)
        self.assertLess(peak, 30000)  # objects of Python; one of the arrays alone has 32008 bytes
        self.assertFalse(any(array.flags.owndata for array in arrays))

    def test_names_reach_columns(self):
        sol = saltus.solve(scene("woodpecker"), 0.1, outputs={"sum": "y + phiM"})
        np.testing.assert_array_equal(sol["sum"], sol["y"] + sol["phiM"])
        with self.assertRaisesRegex(KeyError, "phiX.*phiM"):
            sol["phiX"]

    def test_a_recording_holds_the_same_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("run.h5", "run.csv"):
                path = os.path.join(folder, name)
                sol = saltus.solve(scene("woodpecker"), 0.1, parameters={"mu": 0.31})
                sol.save(path)
                read = saltus.load(path)
                for series in ("t", "q", "v"):
                    np.testing.assert_array_equal(getattr(read, series), getattr(sol, series))
                np.testing.assert_array_equal(read.contacts.impulse, sol.contacts.impulse)
                np.testing.assert_array_equal(read.event_array["t"], sol.event_array["t"])
                self.assertEqual(read.model.parameters, {"mu": "0.31"})


class Going(unittest.TestCase):
    @not_short
    def test_ctrl_c_within_a_fifth_of_a_second_with_what_was_computed(self):
        pressed = []

        def press():
            time.sleep(0.3)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(saltus.Interrupted) as caught:
            saltus.solve(BALL, 1e6, scheme="moreau-jean", step=1e-4, every=1000)
        late = time.monotonic() - pressed[0]
        thread.join()
        self.assertLess(late, 0.2)
        self.assertGreater(len(caught.exception.solution.t), 1)

    def test_a_flag_stops_a_run(self):
        flag = saltus._core.Flag()
        flag.set()
        with self.assertRaises(saltus.SolveError) as caught:
            saltus.solve(BALL, 1.0, stop=flag)
        self.assertLess(caught.exception.solution.t[-1], 1.0)

    def test_four_threads_give_the_bits_of_one_after_the_other(self):
        for model in (saltus.Model(scene("woodpecker")), saltus.Model(scene("shapes/ball-on-slope")),
                      saltus.Model.from_text(SWITCHED)):
            alone = saltus.solve(model, 0.2, tol=1e-6)
            found = [None] * 4

            def work(i, model=model, found=found):
                found[i] = saltus.solve(model, 0.2, tol=1e-6)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for sol in found:
                self.assertEqual(sol.q.tobytes(), alone.q.tobytes())
                self.assertEqual(sol.v.tobytes(), alone.v.tobytes())

    def test_a_resumed_run_has_the_bits_of_one_that_went_on(self):
        whole = saltus.solve(BALL, 2.0, scheme="moreau-jean", step=0.01)
        half = saltus.solve(BALL, 1.0, scheme="moreau-jean", step=0.01)
        rest = saltus.resume(half.snapshot(), 2.0)
        self.assertEqual(rest.q[-1].tobytes(), whole.q[-1].tobytes())


class Refused(unittest.TestCase):
    def test_messages_have_no_options_of_the_program(self):
        with self.assertRaises(saltus.InputError) as caught:
            saltus.Model(scene("ball"), parameters={"nothing": 1}).nq
        self.assertIn('has no parameter "nothing"', str(caught.exception))
        self.assertNotIn("--", str(caught.exception))

    def test_a_wrong_scene_says_where(self):
        with self.assertRaises(saltus.InputError) as caught:
            saltus.Model.from_text("saltus: 1\ncoordinates: {y: 1}\nkinetic: m*y'^2\n", path="a.yaml").nq
        self.assertEqual((caught.exception.file, caught.exception.line), ("a.yaml", 3))

    def test_files_that_are_not_there(self):
        with self.assertRaises(saltus.FileError):
            saltus.solve("nowhere.yaml", 1.0)
        with self.assertRaises(OSError):
            saltus.load("nowhere.h5")

    def test_a_run_that_fails_gives_what_it_computed(self):
        text = "saltus: 1\ncoordinates: {y: 1}\nkinetic: y'^2/2\nforces: {y: -1/sqrt(y)}\n"
        with self.assertRaises(saltus.SolveError) as caught:
            saltus.solve(saltus.Model.from_text(text), 5.0)
        self.assertGreater(caught.exception.solution.t[-1], 0.5)


if __name__ == "__main__":
    unittest.main()
