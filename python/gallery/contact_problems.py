# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Contact problems from files: five solvers and their residuals.

A friction problem is u = W r + q with Coulomb's law between r and u at every contact. The files have problems of stacks
and packings in the text format of Siconos. Residuals are computed independently of the library, by the natural map of De Saxce's form,
r - P_K(r - (u + mu |u_T| n)), which is zero at solutions only.
"""
from pathlib import Path
import sys
from typing import Any

import matplotlib
import numpy as np
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("fc3d_stack_4_rest", "fc3d_stack_5_pushed", "fc3d_packing_3x2_impact", "fc3d_packing_3x3_rest",
         "fc3d_packing_4x2_slippery", "gfc3d_packing_2x4_impact")
SOLVERS = ("auto", "gauss-seidel", "interior-point", "semismooth-newton", "proximal")


def onto_cone(x: Any, mu: Any) -> Any:
    """Projection of each row onto its cone |x_T| <= mu x_N."""
    n, t = x[:, 0], np.hypot(x[:, 1], x[:, 2])
    inside, polar = t <= mu * n, mu * t <= -n
    normal = np.where(polar, 0.0, np.where(inside, n, (n + mu * t) / (1 + mu**2)))
    scale = np.where(inside, 1.0, mu * normal / np.where(t > 0, t, 1.0))
    return np.column_stack([normal, scale * x[:, 1], scale * x[:, 2]])


def fault(problem: saltus.Problem, r: Any) -> float:
    """Natural map residual of r, relative to the size of the problem."""
    u = (problem.W @ r + problem.q).reshape(-1, 3)
    lifted = u + np.outer(problem.mu * np.hypot(u[:, 1], u[:, 2]), [1, 0, 0])
    stiff = problem.W.diagonal().max()
    moved = onto_cone(r.reshape(-1, 3) - lifted / stiff, problem.mu)
    return float(np.abs(moved - r.reshape(-1, 3)).max() / (np.abs(problem.q).max() / stiff))


def main(folder: Path) -> None:
    faults = np.empty((len(SOLVERS), len(NAMES)))
    solved = np.zeros((len(SOLVERS), len(NAMES)), dtype=bool)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    for j, name in enumerate(NAMES):
        problem = saltus.read_problem(ROOT / f"tests/problems/{name}.dat")
        if problem.kind == "global friction":
            problem = problem.reduced()
        for i, solver in enumerate(SOLVERS):
            answer = problem.solve(solver=solver, tol=1e-10)
            faults[i, j] = fault(problem, answer.r)
            solved[i, j] = answer.solved
        best = problem.solve().r.reshape(-1, 3)
        weight = problem.mu * best[:, 0].max()
        left.plot(best[:, 0] / best[:, 0].max(), np.hypot(best[:, 1], best[:, 2]) / weight, ".", markersize=5,
                  label=f"{j + 1}: {name.split('_', 1)[1].replace('_', ' ')}: {len(problem.mu)} contacts")
        print(f"{name}: {len(problem.mu)} contacts, residuals " + ", ".join(f"{s} {f:.0e}" for s, f in zip(SOLVERS, faults[:, j])))
    left.plot([0, 1], [0, 1], color="0.5", linewidth=1)
    left.set(xlabel="normal impulse / largest", ylabel="friction / (mu largest)", title="on the line: slides, below: sticks")
    left.legend(frameon=False, fontsize="x-small", loc="upper left")
    for i, solver in enumerate(SOLVERS):
        x = np.arange(1, len(NAMES) + 1) + 0.12 * (i - 2)
        dots, = right.semilogy(x[solved[i]], faults[i][solved[i]], "o", markersize=5, label=solver)
        right.semilogy(x[~solved[i]], faults[i][~solved[i]], "x", markersize=5, color=dots.get_color())
    right.axhline(1e-10, color="0.5", linestyle="--", linewidth=1)
    right.set(xlabel="problem", ylabel="fault, recomputed", ylim=(1e-16, 1e3), title="crosses: says itself that it has no answer")
    right.legend(frameon=False, fontsize="small", ncols=2, loc="upper center")
    figure.savefig(folder / "contact_problems.png", dpi=100)
    print(f"{solved.sum()} of {solved.size} solved; their largest residual is {faults[solved].max():.1e}")
    assert solved[0].all(), "the portfolio failed"
    assert faults[solved].max() < 1e-8, "a reported solution violates the law"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
