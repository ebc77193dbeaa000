# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Models piece by piece; scenes that are read and written are the same scenes."""
import unittest

import numpy as np

import saltus
from support import SCENES, SHORT, scene

try:
    import yaml
except ImportError:
    yaml = None


class Built(unittest.TestCase):
    def test_a_ball_by_formulas_is_the_scene(self):
        m = saltus.Model()
        m.parameter("e", 0.5)
        m.coordinate("q", 1, unit="m")
        m.energies("q'^2/2", "2*q")
        m.contact("q", name="floor", restitution="e")
        ours = saltus.solve(m, 5.0, tol=1e-8)
        theirs = saltus.solve(scene("ball"), 5.0, tol=1e-8, scheme="adaptive")
        self.assertEqual(ours.q.tobytes(), theirs.q.tobytes())
        other = saltus.solve(m, 2.5, tol=1e-8, parameters={"e": 1})
        self.assertAlmostEqual(other.v[-1, 0], -1.0, delta=1e-7)  # 2 m/s up at 1 s, under -2 m/s^2

    def test_a_slider_crank_of_bodies_is_the_scene(self):
        m = saltus.Model()
        for name, value in {"r": 1, "l": 2, "start": "pi/4", "lean": "asin(r*sin(start)/l)"}.items():
            m.parameter(name, value)
        m.world(gravity=[0, -9.81])
        crank = m.body("crank", mass=1, inertia="r^2/12", position=["r/2*cos(start)", "r/2*sin(start)"], angle="start")
        rod = m.body("rod", mass=2, inertia="2*l^2/12", angle="-lean",
                     position=["r*cos(start) + l/2*cos(lean)", "l/2*sin(lean)"])
        slider = m.body("slider", mass=1, inertia=0.1, position=["r*cos(start) + l*cos(lean)", 0])
        ground, pivot = m.marker("ground", [0, 0]), slider.marker([0, 0], name="pivot")
        m.revolute(ground, crank.marker(["-r/2", 0]), name="main")
        m.revolute(crank.marker(["r/2", 0]), rod.marker(["-l/2", 0]), name="pin")
        m.revolute(rod.marker(["l/2", 0]), pivot, name="wrist")
        m.prismatic(ground, pivot, name="guide")
        m.force(pivot, ["-0.1*slider.x'", 0])
        ours = saltus.solve(m, 1.0, tol=1e-8)
        theirs = saltus.solve(scene("body-slider-crank"), 1.0, tol=1e-8)
        self.assertEqual(ours.q.tobytes(), theirs.q.tobytes())

    def test_a_ball_with_a_shape_falls_onto_the_world(self):
        m = saltus.Model()
        m.material("default", restitution=0.5)
        m.world(2, gravity=[0, -2]).shape("half-plane")
        m.body("ball", mass=1, inertia=1, position=[0, 1.5]).shape("circle", radius=0.5)
        sol = saltus.solve(m, 2.2, tol=1e-8)
        np.testing.assert_allclose(sol.event_array["t"], [1, 2], atol=1e-7)

    def test_an_element_and_an_event_that_switches(self):
        m = saltus.Model()
        m.input("held", 1)
        m.world(2, gravity=[0, -10])
        block = m.body("block", mass=1, inertia=1, position=[0, 0])
        m.element("latch", m.marker("stand", [0, 0]), block, **{"while": "held"})
        m.event("release", "t - 1/2", direction="rising", set={"held": 0})
        sol = saltus.solve(m, 1.0, tol=1e-8)
        self.assertAlmostEqual(sol["block.y"][-1], -10 * 0.25 / 2, delta=1e-6)

    def test_laws_beyond_coulombs_and_what_is_drawn(self):
        # a block of 2 kg on a belt, kinetic friction 0.2 while it slides: v = 3 - 2 t
        m = saltus.Model()
        x, y = m.coordinate("x", 0, 3), m.coordinate("y", 0)
        m.energies("x'^2 + y'^2", "20*y")
        m.contact(y, name="belt", slip="x'", friction={"static": 0.4, "kinetic": 0.2, "speed": 1e-9})
        m.draw("box", at=[x, y], size=[0.2, 0.1])
        m.defaults(until=2, tol=1e-8)
        sol = saltus.solve(m)
        self.assertAlmostEqual(sol(1.0)["x'"], 3 - 0.2 * 10, delta=1e-5)
        self.assertAlmostEqual(sol["x"][-1], 2.25, delta=1e-5)

    def test_what_is_wrong_is_said_with_its_line(self):
        m = saltus.Model()
        m.coordinate("y", 1)
        m.energies("y'^2/2")
        m.contact("hight")
        with self.assertRaises(saltus.InputError) as caught:
            m.nq
        self.assertEqual(caught.exception.line, 4)
        with self.assertRaises(ValueError):
            m.coordinate("y", 2)

    def test_texts_survive_whatever_they_hold(self):
        for text in ("a: b", "#1", "- x", "*a", "'q'", 'say "so"', "a\\b", "two\nlines", "{x}", "[1]", " ", "min(x, y)"):
            m = saltus.Model()
            m.describe(text, text)
            m.coordinate("y", 1)
            m.energies("y'^2/2")
            self.assertEqual(m.name, text)


@unittest.skipUnless(yaml, "no PyYAML")
class Read(unittest.TestCase):
    def test_a_scene_that_was_read_can_be_changed(self):
        m = saltus.Model(scene("ball"))
        m.parameter("extra", 3)
        m.output("twice", "2*q")
        sol = saltus.solve(m, 0.5, tol=1e-6)
        np.testing.assert_array_equal(sol["twice"], 2 * sol["q"])

    def test_scenes_read_and_written_move_as_before(self):
        paths = sorted(SCENES.glob("*.yaml"))
        for path in paths[::8] if SHORT else paths:
            model = saltus.Model(path)
            again = saltus.Model.from_text(saltus.document.write(saltus.document.read(model.text)), path=path)
            self.assertEqual(again.q0.tobytes(), model.q0.tobytes(), path.name)
            step = model._fact("step")
            end = model._fact("start") + 5 * (step if step == step else 1e-3)
            try:
                one, other = (saltus.solve(m, end) for m in (model, again))
            except saltus.SolveError:
                continue
            self.assertEqual(one.q.tobytes(), other.q.tobytes(), path.name)


if __name__ == "__main__":
    unittest.main()
