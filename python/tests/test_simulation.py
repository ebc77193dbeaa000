# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Stepping: events, state, inputs, snapshots, many runs in threads."""
import base64
import http.client
import json
import os
import signal
import socket
import struct
import threading
import time
import unittest

import numpy as np

import saltus
from support import not_short, scene

PUSHED = """saltus: 1
inputs: {push: 0}
coordinates: {x: 0}
kinetic: x'^2/2
forces: {x: push}
"""
SWITCHED = """saltus: 1
inputs: {on: 1}
coordinates: {x: 0}
kinetic: x'^2/2
forces: {x: on}
events: {far: {formula: x - 1/2, direction: rising, set: {on: 0}}}
"""


class Stepping(unittest.TestCase):
    def test_it_stops_at_every_impact_at_the_known_times(self):
        sim = saltus.Model(scene("ball")).simulate(tol=1e-10, scheme="adaptive")
        times = [sim.advance(2.8, stop="impact").t for _ in range(4)]
        np.testing.assert_allclose(times, [1, 2, 2.5, 2.75], atol=1e-9)
        self.assertIsNone(sim.advance(2.8, stop="impact"))
        self.assertEqual(sim.t, 2.8)

    def test_a_scheme_of_fixed_steps_stops_at_the_end_of_the_step_with_the_impact(self):
        sim = saltus.Model(scene("ball")).simulate(scheme="moreau-jean", step=0.01)
        event = sim.advance(2.0, stop="impact")
        self.assertEqual(event.name, "floor")
        self.assertAlmostEqual(sim.t, 1.0, delta=0.011)

    def test_output_times_change_no_bit(self):
        model = saltus.Model(scene("woodpecker"))
        often, once = model.simulate(tol=1e-8), model.simulate(tol=1e-8)
        for t in np.linspace(0, 0.3, 100)[1:]:
            often.advance(t)
        once.advance(0.3)
        self.assertEqual(often.q.tobytes(), once.q.tobytes())

    def test_inputs_belong_to_one_simulation(self):
        model = saltus.Model.from_text(PUSHED)
        one, other = model.simulate(tol=1e-9), model.simulate(tol=1e-9)
        one["push"] = 2.0
        for sim in (one, other):
            sim.advance(1.0)
        one["push"] = 0.0
        one.advance(2.0)
        self.assertAlmostEqual(one.q[0], 3.0, delta=1e-7)
        self.assertEqual(other.q[0], 0.0)

    def test_events_that_switch_do(self):
        sim = saltus.Model.from_text(SWITCHED).simulate(tol=1e-9)
        event = sim.advance(3.0, stop="rise")
        self.assertEqual((event.kind, event.name), ("rise", "far"))
        sim.advance(3.0)
        self.assertAlmostEqual(sim.v[0], 1.0, delta=1e-7)  # v^2 / 2 = x at x = 1/2

    def test_a_snapshot_goes_on_with_the_same_bits(self):
        for settings in ({"tol": 1e-8}, {"scheme": "moreau-jean", "step": 1e-3}):
            for name in ("woodpecker", "shapes/ball-on-slope", "contact-corner-cube"):
                sim = saltus.Model(scene(name)).simulate(**settings)
                sim.advance(0.0511)
                kept = sim.snapshot()
                sim.advance(0.2)
                there = sim.q.tobytes() + sim.v.tobytes()
                sim.set_state(0.0, sim.q, sim.v)
                sim.restore(kept)
                sim.advance(0.2)
                self.assertEqual(sim.q.tobytes() + sim.v.tobytes(), there, (name, settings))

    def test_a_damaged_snapshot_is_refused(self):
        sim = saltus.Model(scene("ball")).simulate(tol=1e-8, scheme="adaptive")
        kept = bytearray(sim.snapshot())
        kept[len(kept) // 2] ^= 4
        for bad in (bytes(kept), b"", b"x" * 100):
            with self.assertRaises(saltus.InputError):
                sim.restore(bad)

    def test_a_simulation_is_used_by_one_call_at_a_time(self):
        sim = saltus.Model(scene("ball")).simulate(scheme="moreau-jean", step=1e-6)
        thread = threading.Thread(target=sim.advance, args=(1.0,))
        thread.start()
        refused = 0
        while thread.is_alive():
            try:
                sim.q
            except RuntimeError:
                refused += 1
        thread.join()
        self.assertGreater(refused, 0)

    @not_short
    def test_ctrl_c_stops_an_integrator_soon(self):
        sim = saltus.Model(scene("woodpecker")).simulate(tol=1e-8)
        pressed = []

        def press():
            time.sleep(0.3)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            sim.advance(1e6)
        late = time.monotonic() - pressed[0]
        thread.join()
        self.assertLess(late, 0.2)
        self.assertGreater(sim.t, 0.0)
        sim.advance(sim.t + 0.01)


class Rollout(unittest.TestCase):
    def test_threads_give_the_bits_of_one_after_the_other(self):
        model = saltus.Model(scene("woodpecker"))
        cases = [{"mu": 0.25 + 0.01 * i} for i in range(6)]
        together = saltus.rollout(model, 0.2, parameters=cases, tol=1e-7, workers=4)
        for case, sol in zip(cases, together):
            alone = saltus.solve(model, 0.2, parameters=case, tol=1e-7)
            self.assertEqual(sol.q.tobytes(), alone.q.tobytes())

    def test_a_start_for_each(self):
        runs = saltus.rollout(scene("ball"), 0.5, q0=[[1], [2]], tol=1e-8, scheme="adaptive")
        np.testing.assert_allclose([run.q[-1, 0] for run in runs], [0.75, 1.75], atol=1e-9)
        with self.assertRaises(ValueError):
            saltus.rollout(scene("ball"), 0.5, q0=[[1, 2]])

    @not_short
    def test_ctrl_c_gives_back_what_was_computed(self):
        """Of three runs on one thread the first is complete, the second was under way, the third had not begun."""
        model = saltus.Model.from_text("""
saltus: 1
parameters: {k: 1}
coordinates: {y: 1}
kinetic: y'^2/2
potential: k*y^2/2
""")
        cases = [{"k": 1e-12}, {"k": 1e12}, {"k": 2e12}]
        pressed = []

        def press():
            time.sleep(0.4)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(saltus.Interrupted) as caught:
            saltus.rollout(model, 1e3, parameters=cases, tol=1e-9, workers=1, every=1000)
        late = time.monotonic() - pressed[0]
        thread.join()
        self.assertLess(late, 0.2)
        complete, begun, waiting = caught.exception.solution
        self.assertEqual(complete.q.tobytes(),
                         saltus.solve(model, 1e3, parameters=cases[0], tol=1e-9, every=1000).q.tobytes())
        self.assertTrue(0.0 < begun.t[-1] < 1e3)
        self.assertIsNone(waiting)

    def test_a_run_that_fails_raises_with_its_solution(self):
        model = saltus.Model.from_text("saltus: 1\nparameters: {c: 0}\ncoordinates: {y: 1}\nkinetic: y'^2/2\n"
                                       "forces: {y: -c/sqrt(y)}\n")
        with self.assertRaises(saltus.SolveError) as caught:
            saltus.rollout(model, 5.0, parameters=[{"c": 0}, {"c": 1}, {"c": 0}])
        self.assertTrue(0.0 < caught.exception.solution.t[-1] < 5.0)


class Observed(unittest.TestCase):
    def test_forces_and_impulses_of_contacts_are_those_of_the_last_step(self):
        sim = saltus.Model(scene("ball")).simulate(scheme="moreau-jean", step=0.01, record=1)
        kick = 0.0
        while sim.t < 4.0:
            sim.advance(sim.t + 0.01)
            kick += sim.contacts[0].impulse[0]
        floor, = sim.contacts
        self.assertEqual(floor.name, "floor")
        self.assertAlmostEqual(floor.force[0], 2.0, delta=1e-12)  # the weight of the ball at rest
        # the momentum of the weight over the time that it was in the air is that of all impacts
        self.assertAlmostEqual(kick, 2.0 * 3.0, delta=0.1)

    def test_contacts_of_bodies_have_points_and_normals(self):
        sim = saltus.Model(scene("shapes/ball-on-slope")).simulate(step=1e-3, record=1)
        sim.advance(0.1)
        contact, = [c for c in sim.contacts if c.force[0] > 0]
        self.assertAlmostEqual(float(np.linalg.norm(contact.normal)), 1.0, delta=1e-12)
        self.assertEqual(contact.point.shape, (3,))
        self.assertIn(-1, contact.bodies)

    def test_a_solution_has_the_bits_of_a_run(self):
        for how in ({"scheme": "moreau-jean", "step": 1e-3}, {"scheme": "dg-minus", "step": 1e-3}):
            sim = saltus.Model(scene("woodpecker")).simulate(record=1, **how)
            sim.advance(0.05)
            sim.advance(0.1)
            own, run = sim.solution(), saltus.solve(scene("woodpecker"), 0.1, every=1, **how)
            np.testing.assert_array_equal(own.t, run.t)
            np.testing.assert_array_equal(own.q, run.q)
            np.testing.assert_array_equal(own.contacts.force, run.contacts.force)

    def test_schemes_with_a_tolerance_are_observed(self):
        sim = saltus.Model(scene("ball")).simulate(tol=1e-9, record=1)
        self.assertEqual(sim.contacts[0].gap, 1.0)
        sim.advance(4.0)
        self.assertAlmostEqual(sim.contacts[0].force[0], 2.0, delta=1e-6)
        self.assertEqual(sim.t, 4.0)

    def test_states_are_forgotten_with_the_start_and_stay_in_solutions(self):
        sim = saltus.Model(scene("ball")).simulate(step=1e-2, record=1)
        sim.advance(0.5)
        before = sim.solution()
        sim.set_state(0.0, [1.0], [0.0])
        self.assertEqual(len(sim.solution()), 1)
        sim.advance(0.1)
        self.assertEqual((len(before), len(sim.solution())), (51, 11))

    def test_without_record_the_remedy_is_named(self):
        sim = saltus.Model(scene("ball")).simulate()
        for what in ("contacts", "outputs", "joint_forces"):
            with self.assertRaisesRegex(ValueError, "record=1"):
                getattr(sim, what)


class Live(unittest.TestCase):
    def setUp(self):
        self.sim = saltus.Model(scene("ball")).simulate(step=1e-3, record=1)
        try:
            self.view = self.sim.view(show=False)
        except saltus.Error as error:
            self.skipTest(str(error))  # a build without the viewer
        self.addCleanup(self.view.close)
        self.port = int(self.view.url.split(":")[2].split("/")[0])

    def ask(self, path, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"Host": host} if host else {})
        return connection.getresponse()

    def test_only_the_token_opens_it(self):
        token = self.view.url.split("/")[3]
        self.assertGreaterEqual(len(token), 32)
        self.assertEqual(self.ask(f"/{token}/").status, 200)
        for path in ("/", "/state", f"/{token[:-1]}/", f"/{token[:-1]}x/state", "/../" + token, "//"):
            self.assertEqual(self.ask(path).status, 403, path)
        self.assertEqual(self.ask(f"/{token}/../../etc/passwd").status, 404)

    def test_a_foreign_name_of_this_machine_is_refused(self):
        token = self.view.url.split("/")[3]
        self.assertEqual(self.ask(f"/{token}/", "example.org").status, 403)
        self.assertEqual(self.ask(f"/{token}/", f"localhost:{self.port}").status, 200)

    def test_other_interfaces_are_not_served(self):
        for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
            if not address.startswith("127."):
                with self.assertRaises(OSError):
                    socket.create_connection((address, self.port), timeout=5).close()
        with self.assertRaises(OSError):  # another address of the loopback interface
            socket.create_connection(("127.0.0.2", self.port), timeout=5).close()

    def test_states_arrive_as_documents(self):
        answer = self.ask("/" + self.view.url.split("/", 3)[3] + "state")
        self.assertEqual(answer.headers["Content-Type"], "text/event-stream")
        self.sim.advance(0.5)
        self.view.update(always=True)
        line = answer.readline()
        while not line.startswith(b"data: "):
            line = answer.readline()
        document = base64.b64decode(line[6:])
        self.assertEqual(document[:8], b"SALTUSV1")
        head = json.loads(document[16:16 + int.from_bytes(document[8:16], "little")])
        place = head["arrays"]["q"]
        start = 16 + int.from_bytes(document[8:16], "little") + place["offset"]
        self.assertAlmostEqual(struct.unpack_from("<d", document, start)[0], 0.75, delta=2e-3)


ARM = """saltus: 1
world: {gravity: [0, -9.81], coordinates: joints}
bodies:
  a: {mass: 1, inertia: 0.1, position: [0.5, 0]}
  b: {mass: 2, inertia: 0.3, position: [1.6, 0]}
markers:
  pin: {}
  a1: {body: a, point: [-0.5, 0]}
  a2: {body: a, point: [0.5, 0]}
  b1: {body: b, point: [-0.6, 0]}
  tip: {body: b, point: [0.4, 0]}
joints:
  - {name: one, type: revolute, between: [pin, a1]}
  - {name: two, type: revolute, between: [a2, b1]}
"""


class Dynamics(unittest.TestCase):
    """Two links of 1 m in the plane against their formulas."""

    def setUp(self):
        self.model = saltus.Model(ARM)
        sim = self.model.simulate(step=0.01, scheme="rattle")
        sim.set_state(0.0, v=[0.7, -1.3])
        sim.advance(0.5)
        self.q, self.v = sim.q.copy(), sim.v.copy()
        axes = self.model.frame("a", self.q)[1], self.model.frame("b", self.q)[1]
        self.one = np.arctan2(axes[0][1, 0], axes[0][0, 0])
        self.both = np.arctan2(axes[1][1, 0], axes[1][0, 0])

    def test_mass_matrix_and_forces_are_those_of_lagrange(self):
        c, s = np.cos(self.both - self.one), np.sin(self.both - self.one)
        low, mixed = 0.3 + 2 * 0.36, 2 * 0.6 * c
        mass = np.array([[0.1 + 0.25 + low + 2 + 2 * mixed, low + mixed], [low + mixed, low]])
        np.testing.assert_allclose(self.model.mass_matrix(self.q), mass, rtol=0, atol=1e-13)
        w, u = self.v
        weight = 9.81 * np.array([2.5 * np.cos(self.one) + 1.2 * np.cos(self.both), 1.2 * np.cos(self.both)])
        turning = 1.2 * s * np.array([-u * (2 * w + u), w * w])
        a = np.array([2.0, -3.0])
        np.testing.assert_allclose(self.model.inverse_dynamics(a, self.q, self.v), mass @ a + turning + weight,
                                   rtol=0, atol=1e-12)
        np.testing.assert_allclose(self.model.forces(self.q, self.v), -turning - weight, rtol=0, atol=1e-12)

    def test_frames_and_jacobians_are_those_of_the_angles(self):
        near, far = np.array([np.cos(self.one), np.sin(self.one)]), np.array([np.cos(self.both), np.sin(self.both)])
        np.testing.assert_allclose(self.model.frame("tip", self.q)[0][:2], near + far, rtol=0, atol=1e-13)
        expected = np.zeros((6, 2))
        expected[:2] = np.transpose([[-x[1], x[0]] for x in (near + far, far)])
        expected[5] = 1
        np.testing.assert_allclose(self.model.jacobian("tip", self.q), expected, rtol=0, atol=1e-13)

    def test_bodies_have_the_same_frames_in_their_own_coordinates(self):
        other = saltus.Model(ARM.replace(", coordinates: joints", ""))
        np.testing.assert_array_equal(other.frame("tip", self.q)[0], self.model.frame("tip", self.q)[0])
        self.assertEqual(other.jacobian("tip", self.q).shape, (6, 6))
        with self.assertRaisesRegex(KeyError, "no body or marker is called"):
            self.model.frame("top")
        with self.assertRaises((TypeError, ValueError)):
            self.model.mass_matrix([0.0])


if __name__ == "__main__":
    unittest.main()
