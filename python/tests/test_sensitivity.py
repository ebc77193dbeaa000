# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Derivatives of runs beside closed forms, and what has none."""
import unittest

import numpy as np

import saltus
from support import scene

BALL = """saltus: 1
parameters: {e: 1/2, h: 1}
coordinates: {q: {start: h}}
kinetic: q'^2/2
potential: 2*q
contacts: [{name: floor, gap: q, restitution: e}]
outputs: {energy: q'^2/2 + 2*q}
events: {half: q - h/2}
"""


class Sensitive(unittest.TestCase):
    def test_a_ball_has_closed_forms(self):
        # impacts at sqrt(h) and sqrt(h) (1 + 2 e); energy after two of them 2 h e^4
        s = saltus.sensitivity(BALL, 2.2, ["h", "e"], tol=1e-12)
        self.assertEqual((s.names, s.t, s.derivative), (("h", "e"), 2.2, "exists"))
        impacts = [event for event in s.events if event.kind == "impact"]
        self.assertEqual([event.contact for event in impacts], ["floor", "floor"])
        np.testing.assert_allclose([event.dt for event in impacts], [[0.5, 0.0], [1.0, 2.0]], atol=1e-9)
        falls = [event for event in s.events if event.contact == "half"]
        self.assertAlmostEqual(falls[0].t, 0.5 ** 0.5, delta=1e-10)  # sqrt(h/2)
        np.testing.assert_allclose(falls[0].dt, [0.5 * 0.5 ** 0.5, 0.0], atol=1e-9)
        self.assertAlmostEqual(s["h"]["energy"], 2 * 0.5 ** 4, delta=1e-9)
        self.assertAlmostEqual(s["e"]["energy"], 8 * 0.5 ** 3, delta=1e-9)
        self.assertEqual(s.dq.shape, (2, 1))
        # 2 h until the first impact, then e^2 and e^4 of it; highest at the start
        value, slope = s.integral["energy"]
        self.assertAlmostEqual(value, 2 + 0.5 + 0.125 * 0.2, delta=1e-9)
        self.assertAlmostEqual(slope[0], 3 + 0.75 + 0.025 - 0.125, delta=1e-9)
        value, slope = s.highest["energy"]
        self.assertAlmostEqual(value, 2.0, delta=1e-9)
        self.assertAlmostEqual(slope[0], 2.0, delta=1e-9)
        self.assertAlmostEqual(s.lowest["energy"][1][1], 1.0, delta=1e-9)

    def test_one_run_has_the_derivatives_at_all_times(self):
        """Before, between and behind two impacts, those of runs that end there."""
        times = [0.3, 0.8, 1.6, 2.2]
        of_all = saltus.sensitivity(scene("ball"), 2.2, ["q", "q'"], times=times)
        for k, t in enumerate(times):
            of_one = saltus.sensitivity(scene("ball"), t, ["q", "q'"])
            np.testing.assert_allclose(of_all.q_at[k], of_one.q, atol=1e-10)
            np.testing.assert_allclose(of_all.dq_at[k], of_one.dq, atol=1e-9)
            np.testing.assert_allclose(of_all.dv_at[k], of_one.dv, atol=1e-9)
        with self.assertRaisesRegex(saltus.InputError, "time 1 is 0.1 s, must not be before 0.2 s"):
            saltus.sensitivity(scene("ball"), 2.2, "q", times=[0.2, 0.1])

    def test_through_an_accumulation_derivatives_are_limits(self):
        s = saltus.sensitivity(BALL, 4.0, ("h", "e"), tol=1e-12)
        self.assertEqual(s.derivative, "limit")
        end = [event for event in s.events if event.kind == "accumulation"]
        np.testing.assert_allclose(end[0].dt, [1.5, 8.0], atol=1e-10)

    def test_parameters_are_those_of_the_model(self):
        model = saltus.Model(BALL, parameters={"e": 0.25})
        s = saltus.sensitivity(model, 3.5, "e", parameters={"h": 4})
        self.assertAlmostEqual(float(s.events[1].t), 2.0, delta=1e-9)
        self.assertAlmostEqual(float([e for e in s.events if e.kind == "impact"][1].dt[0]), 4.0, delta=1e-9)

    def test_differences_of_runs_agree(self):
        s = saltus.sensitivity(scene("woodpecker"), 0.3, "mu")
        two = [saltus.solve(scene("woodpecker"), 0.3, tol=1e-12, scheme="adaptive", parameters={"mu": 0.3 + d}).q[-1]
               for d in (-1e-7, 1e-7)]
        np.testing.assert_allclose(s.dq[0], (two[1] - two[0]) / 2e-7, rtol=0, atol=1e-4 * np.abs(s.dq).max())

    def test_what_is_refused_says_why(self):
        with self.assertRaisesRegex(saltus.Error, "no parameter"):
            saltus.sensitivity(BALL, 1.0, "x")
        with self.assertRaises(ValueError):
            saltus.sensitivity(BALL, 1.0, [])
        with self.assertRaises(TypeError):
            saltus.sensitivity(BALL, 1.0, [1])
        with self.assertRaises(saltus.Error):
            saltus.sensitivity(BALL, -1.0, "e")
        with self.assertRaises(KeyError):
            saltus.sensitivity(BALL, 0.5, "e")["h"]


if __name__ == "__main__":
    unittest.main()
