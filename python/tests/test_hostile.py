# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Thousands of calls with what nobody should give: exceptions, never a crash, never an answer that is not one."""
import faulthandler
import gc
import itertools
import os
import tempfile
import threading
import unittest

import numpy as np

import saltus
from saltus import _core
from support import ROOT, SHORT, not_short, scene

faulthandler.enable()

OBJECT = np.array([object()], dtype=object)
VALUES = [
    None, True, False, float("nan"), float("inf"), -1, -1.5, 0, 1e-300, 3, 10**30, "", "x", "a\0b", "\udc80", b"", b"x",
    [], [float("nan")], [[1.0]], [[1.0, 2.0], [3.0]], ["x"], [None], {}, {"x": None}, {"k": object()}, {1: 2}, {"q": "("},
    set(), object(), lambda *a: None, int, np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.array([1j]), OBJECT,
    np.zeros(2, dtype=np.float32), np.array(1.0), np.arange(10.0)[::3], np.ma.masked, memoryview(b"12345678"),
    saltus.Model, iter([1, 2]), range(5), 1j, Ellipsis, slice(None),
]
VALUES = VALUES[::11] if SHORT else VALUES
ENDLESS = {"t_end": 10**30, "step": 1e-300}  # runs that are what was asked for, and take for ever


class Count:
    """Calls, and how they ended."""

    def __init__(self, case):
        self.case, self.calls, self.raised = case, 0, 0

    def __call__(self, function, *args, **kwargs):
        self.calls += 1
        try:
            function(*args, **kwargs)
        except SystemError as error:  # the extension broke a rule of Python
            self.case.fail(f"{function} {args} {kwargs}: {error!r}")
        except Exception:
            self.raised += 1


class Hostile(unittest.TestCase):
    def setUp(self):  # some of the calls write files
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_every_argument_of_the_public_functions(self):
        count = Count(self)
        ball = saltus.Model(scene("ball"))
        text = "saltus: 1\ncoordinates: {y: 1}\nkinetic: y'^2/2\n"
        short = saltus.solve(ball, 0.1)
        solve = ("t_end", "tol", "scheme", "outputs", "parameters", "events", "rtol", "atol", "step", "options", "control",
                 "control_options", "t_start", "q0", "v0", "every", "dt", "times", "jumps", "threads", "whole", "contacts",
                 "stop")
        for name, value in itertools.product(solve, VALUES):
            if name in ENDLESS and isinstance(value, (int, float)) and value == ENDLESS[name]:
                continue
            count(saltus.solve, ball, **{"t_end": 0.1, "scheme": "adaptive", name: value})
        drive = ("tol", "scheme", "rtol", "atol", "step", "options", "control", "control_options", "t_start", "q0", "v0")
        for name, value in itertools.product(drive, VALUES):
            count(ball.simulate, **{"scheme": "adaptive", name: value})
        for value in VALUES:
            for function in (saltus.Model, saltus.Model.from_text, saltus.load, saltus.read_problem, saltus.solve,
                             saltus.verify, ball.with_parameters, ball.with_observers, ball.save,
                             lambda v: saltus.resume(v, 1.0), lambda v: saltus.resume(b"", v),
                             lambda v: saltus.compare(v, v), lambda v: saltus.rollout(ball, 0.1, q0=v),
                             lambda v: saltus.rollout(ball, 0.1, parameters=v), lambda v: saltus.converge(ball, 0.1, steps=v),
                             lambda v: saltus.converge(ball, 0.1, tols=v), lambda v: saltus.sensitivity(ball, 0.1, v),
                             lambda v: saltus.sensitivity(ball, 0.1, ["q"], tol=v), lambda v: saltus.sweep(ball, v, ["max(q)"], t_end=0.1),
                             lambda v: saltus.sweep(ball, {"q": v}, ["max(q)"], t_end=0.1),
                             lambda v: saltus.sweep(ball, {"q": [1]}, v, t_end=0.1), lambda v: short.animate(v),
                             lambda v: saltus.sweep(ball, {"q": [1]}, ["max(q)"], t_end=0.1, samples=v, seed=v),
                             lambda v: saltus.Model.from_text(text, path=v).nq,
                             lambda v: saltus.Model.from_text(text, parameters=v).nq):
                count(function, value)
        self.assertGreater(count.calls, 150 if SHORT else 2000)
        self.assertGreater(count.raised, count.calls // 2)

    def test_contact_problems(self):
        count = Count(self)
        for value in VALUES:
            for name in ("M", "q", "bilateral", "solver", "options", "tol", "guess"):
                count(saltus.lcp, **{"M": [[1.0]], "q": [-1.0], name: value})
            for name in ("W", "q", "mu", "dimension", "solver", "options", "tol", "guess"):
                count(saltus.friction, **{"W": np.eye(3), "q": [-1.0, 0, 0], "mu": 0.5, name: value})
        problem = saltus.read_problem(ROOT / "tests/problems/fc3d_stack_4_rest.dat")
        for value in VALUES:
            for name in ("solver", "options", "tol", "guess", "other"):
                count(problem.solve, **{name: value})
            count(problem.save, value)
        self.assertGreater(count.raised, 30 if SHORT else 500)

    def test_the_extension_itself(self):
        count = Count(self)
        model = saltus.Model(scene("ball"))
        data = saltus.solve(model, 0.1)._data
        sim = model.simulate(scheme="adaptive")._sim
        functions = [getattr(_core, name) for name in dir(_core) if callable(getattr(_core, name))]
        functions += [getattr(thing, name) for thing in (data, sim, model._scene, _core.Flag()) for name in dir(thing)
                      if not name.startswith("__")]
        for function, value in itertools.product(functions, VALUES):
            if function == sim.advance and isinstance(value, (int, float)) and value == ENDLESS["t_end"]:
                continue
            count(function, value)
            count(function, value, value)
            count(function, value, value, value)
        nan = float("nan")
        int32, real = np.zeros(2, dtype=np.int32), np.ones(1)
        for wrong in (np.array([0, 5], dtype=np.int32), np.array([-1, 1], dtype=np.int32), np.array([1, 0], dtype=np.int32)):
            count(_core.lcp, None, None, real, wrong, int32[:1], real, 0, 1e-8, None)
            count(_core.friction, None, None, (wrong, wrong, int32[:1], wrong, real), real, real, None, 1e-8, None)
        good = (model._scene, (None, None, None, None), (nan,) * 3 + (0.1, nan, nan), (None, None), (0, nan, None, True),
                (1, False, None, None), True, False)
        for place in range(len(good)):
            for value in VALUES:
                count(_core.run, *good[:place], value, *good[place + 1:])
                if isinstance(good[place], tuple):
                    for inside in range(len(good[place])):
                        name = {(2, 3): "t_end", (2, 4): "step"}.get((place, inside))
                        if name is not None and isinstance(value, (int, float)) and value == ENDLESS[name]:
                            continue
                        changed = good[place][:inside] + (value,) + good[place][inside + 1:]
                        count(_core.run, *good[:place], changed, *good[place + 1:])
        self.assertGreater(count.calls, 200 if SHORT else 3000)

    def test_systems(self):
        count = Count(self)
        names = ("mass", "force", "gap", "normals", "tangents", "drift", "convective", "joint", "joint_rows", "joint_drift",
                 "joint_convective", "restitution", "friction", "tangential_restitution", "potential", "kinetic",
                 "force_q", "force_v", "contacts", "joints", "slips", "names", "contact_names", "name")
        good = {"mass": [[1.0]], "force": lambda t, q, v: [-2.0], "gap": lambda t, q: q, "normals": [[1.0]]}

        def use(given):
            saltus.solve(saltus.System([1.0], [0.0], **given), 0.05, tol=1e-4)

        for name, value in itertools.product(names, VALUES):
            count(use, {**good, name: value})
            if name in ("force", "gap", "normals", "mass", "joint", "potential"):
                count(use, {**good, name: lambda *a, value=value: value})
        for value in VALUES:
            count(saltus.System, value, [0.0], **good)
            count(saltus.System, [0.0], value, **good)
        self.assertGreater(count.raised, 30 if SHORT else 500)

    def test_builders(self):
        count = Count(self)
        for value in VALUES:
            for name in ("describe", "parameter", "input", "coordinate", "energies", "force", "world", "body", "marker",
                         "constraint", "contact", "material", "output", "dry_friction", "event", "defaults"):
                model = saltus.Model()
                for arguments in ((value,), (value, value), ("x", value)):
                    count(getattr(model, name), *arguments)
                count(lambda m: m.nq, model)
        self.assertGreater(count.calls, 60 if SHORT else 1000)


class WhileRunning(unittest.TestCase):
    @not_short
    def test_functions_that_raise_after_any_number_of_calls_in_every_scheme(self):
        for name, after in itertools.product(saltus.schemes(), (1, 2, 7, 40)):
            left = [after]

            def force(t, q, v, left=left):
                left[0] -= 1
                if left[0] <= 0:
                    raise ZeroDivisionError(name)
                return [-2.0]

            system = saltus.System([0.01], [0.0], mass=[[1.0]], force=force, gap=lambda t, q: q, normals=[[1.0]])
            with self.assertRaises(ZeroDivisionError, msg=name):
                saltus.solve(system, 0.5, scheme=name, **({} if saltus.schemes()[name]["chooses_step"] else {"step": 0.01}))

    def test_arrays_that_are_given_and_deleted_or_changed_in_between(self):
        q0 = np.array([1.0])

        def force(t, q, v):
            q0[0] = 5.0
            with self.assertRaises((ValueError, BufferError)):
                q0.resize(1000)
            return [-2.0]

        system = saltus.System(q0, [0.0], mass=[[1.0]], force=force)
        sol = saltus.solve(system, 0.1, q0=q0, v0=np.zeros(1))
        self.assertEqual(sol.q[0, 0], 1.0)
        q = sol.q
        del sol, system
        gc.collect()
        self.assertEqual(q[0, 0], 1.0)

    def test_a_simulation_that_its_own_function_advances(self):
        sims = []

        def force(t, q, v):
            if sims:
                sims[0].advance(1.0)
            return [-2.0]

        sims.append(saltus.System([1.0], [0.0], mass=[[1.0]], force=force).simulate(tol=1e-6))
        with self.assertRaises(RuntimeError):
            sims[0].advance(0.5)

    def test_a_model_that_is_dropped_while_it_runs(self):
        found = []

        def work():
            found.append(saltus.solve(saltus.Model(scene("ball")), 1.0, scheme="moreau-jean", step=1e-5).t[-1])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            gc.collect()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [1.0] * 4)

    def test_files_that_vanish_or_are_damaged(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            saltus.solve(scene("ball"), 0.1).save(path)
            whole = open(path, "rb").read()
            for cut in range(0, len(whole), max(1, len(whole) // (5 if SHORT else 40))):
                with open(path, "wb") as file:
                    file.write(whole[:cut])
                with self.assertRaises(saltus.Error):
                    saltus.load(path)
            with self.assertRaises(saltus.Error):
                saltus.solve(scene("ball"), 0.1).save(os.path.join(folder, "none", "run.h5"))


if __name__ == "__main__":
    unittest.main()
