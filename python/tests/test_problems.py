# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Contact problems: known answers, residuals computed anew, sparse and dense, files."""
import tempfile
import unittest

import numpy as np

import saltus
from support import ROOT, not_short

try:
    from scipy import sparse
except ImportError:
    sparse = None

PROBLEMS = ROOT / "tests" / "problems"


def chain(n):
    """n contacts in a row on planes, coupled with their neighbours: positive definite."""
    W = np.zeros((3 * n, 3 * n))
    for i in range(n):
        W[3 * i:3 * i + 3, 3 * i:3 * i + 3] = np.diag([2.0, 3.0, 3.0])
        if i > 0:
            W[3 * i, 3 * i - 3] = W[3 * i - 3, 3 * i] = -0.5
    q = np.tile([-1.0, 0.4, -0.2], n) * np.linspace(1, 2, 3 * n)
    return W, q


class Complementarity(unittest.TestCase):
    def test_murty_s_answer_is_the_first_unit_vector(self):
        n = 8  # Murty's problem: M lower triangular with ones and twos, q = -1: z = e_1
        M = np.tril(2 * np.ones((n, n)), -1) + np.eye(n)
        z = saltus.lcp(M, -np.ones(n)).z
        np.testing.assert_allclose(z, np.eye(n)[0], atol=1e-12)

    def test_every_solver_solves_a_definite_problem(self):
        M = np.array([[2.0, 1.0], [1.0, 2.0]])
        for name in saltus.solvers()["lcp"]:
            np.testing.assert_allclose(saltus.lcp(M, [-5, -6], solver=name).z, [4 / 3, 7 / 3], atol=1e-8)

    def test_bilateral_rows_come_first(self):
        answer = saltus.lcp([[1.0, 0.0], [0.0, 1.0]], [2.0, 3.0], bilateral=1)
        np.testing.assert_allclose(answer.z, [-2, 0])

    def test_no_solution_is_an_outcome(self):
        self.assertEqual(saltus.lcp([[0.0]], [-1.0]).outcome, "no solution")

    @unittest.skipUnless(sparse, "no SciPy")
    def test_sparse_gives_the_answer_of_dense(self):
        M, q = np.diag(np.arange(1.0, 40.0)) + 0.1, np.linspace(-1, 1, 39)
        for form in ("csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix"):
            z = saltus.lcp(getattr(sparse, form)(M), q).z
            np.testing.assert_allclose(z, saltus.lcp(M, q).z, atol=1e-10)


class Friction(unittest.TestCase):
    def test_one_contact_sticks_slides_or_opens(self):
        sticks = saltus.friction(np.eye(3), [-1, 0.3, 0], 0.5)
        np.testing.assert_allclose(sticks.r, [1, -0.3, 0], atol=1e-12)
        slides = saltus.friction(np.eye(3), [-1, 3, 4], 0.5)
        np.testing.assert_allclose(slides.r, [1, -0.3, -0.4], atol=1e-9)
        opens = saltus.friction(np.eye(2), [1, 1], 0.5, dimension=2)
        np.testing.assert_allclose(opens.r, [0, 0], atol=0)

    def test_the_law_holds_by_numbers_computed_here(self):
        W, q = chain(12)
        mu = np.linspace(0.1, 0.9, 12)
        answer = saltus.friction(W, q, mu)
        self.assertTrue(answer.solved)
        u = (W @ answer.r + q).reshape(-1, 3)
        r = answer.r.reshape(-1, 3)
        slip = np.hypot(u[:, 1], u[:, 2])
        self.assertGreater(r[:, 0].min(), -1e-9)
        self.assertGreater(u[:, 0].min(), -1e-9)
        self.assertLess((np.hypot(r[:, 1], r[:, 2]) - mu * r[:, 0]).max(), 1e-8)
        self.assertLess(np.abs((u * r).sum(axis=1) + mu * slip * r[:, 0]).max(), 1e-8)

    @unittest.skipUnless(sparse, "no SciPy")
    def test_sparse_has_the_bits_of_dense(self):
        W, q = chain(12)
        dense = saltus.friction(W, q, 0.4)
        for form in ("csr_matrix", "csc_matrix", "bsr_matrix"):
            self.assertEqual(saltus.friction(getattr(sparse, form)(W), q, 0.4).r.tobytes(), dense.r.tobytes())

    def test_solvers_and_their_options_by_name(self):
        W, q = chain(3)
        answer = saltus.friction(W, q, 0.4, solver="gauss-seidel", options={"sweeps": 5000}, tol=1e-8)
        self.assertTrue(answer.solved)
        with self.assertRaises(saltus.InputError):
            saltus.friction(W, q, 0.4, solver="gauss-seidel", options={"sweep": 1})
        with self.assertRaises(ValueError):
            saltus.friction(W, q, 0.4, solver="gauss")

    def test_shapes_that_do_not_fit_are_refused(self):
        W, q = chain(3)
        for bad in (lambda: saltus.friction(W, q[:-1], 0.4), lambda: saltus.friction(W[:6, :6], q, 0.4),
                    lambda: saltus.friction(W, q, [0.4] * 4), lambda: saltus.friction(W, q, -1.0),
                    lambda: saltus.friction(W * np.nan, q, 0.4), lambda: saltus.friction(W, q, 0.4, dimension=4)):
            with self.assertRaises(ValueError):
                bad()


class Files(unittest.TestCase):
    def test_every_problem_of_the_collection_is_read_and_ends_as_its_name_says(self):
        for path in sorted(PROBLEMS.glob("*.dat")):
            problem = saltus.read_problem(path)
            answer = problem.solve(tol=1e-8)
            self.assertEqual(answer.outcome == "no solution" or not answer.solved, "none" in path.name, path.name)

    def test_a_problem_read_is_a_problem_given(self):
        problem = saltus.read_problem(PROBLEMS / "fc3d_packing_3x3_rest.dat")
        by_arrays = saltus.friction(problem.W, problem.q, problem.mu, tol=1e-8)
        self.assertEqual(problem.solve(tol=1e-8).r.tobytes(), by_arrays.r.tobytes())

    @not_short
    def test_what_is_written_is_read(self):
        problem = saltus.read_problem(PROBLEMS / "gfc3d_stack_4_rest.dat").reduced()
        with tempfile.TemporaryDirectory() as folder:
            for name in ("fc3d_a.dat", "a.hdf5"):
                problem.save(f"{folder}/{name}")
                again = saltus.read_problem(f"{folder}/{name}")
                self.assertEqual(again._array("values").tobytes(), problem._array("values").tobytes())

    def test_a_damaged_file_says_where(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/fc3d_bad.dat"
            with open(path, "w") as file:
                file.write("3\n1\n0\nx")
            with self.assertRaises(saltus.InputError) as caught:
                saltus.read_problem(path)
            self.assertIn("fc3d_bad.dat", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
