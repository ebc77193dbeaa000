# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Stick-slip of a block on a belt, against its closed form.

A mass on a spring lies on a belt with static above kinetic friction. The block sticks to the belt, slips back and
sticks again. Between events the motion is linear or harmonic, so the period has a closed form:
2 (xs - xk)/v of sticking and 2 (pi - atan(w (xs - xk)/v))/w of slipping.
"""
from math import atan, pi, sqrt
from pathlib import Path
import sys

import matplotlib
import numpy as np
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(folder: Path) -> None:
    m = saltus.Model()
    for name, value in {"k": 4, "N": 10, "static": 0.4, "kinetic": 0.2, "v": 0.5}.items():
        m.parameter(name, value)
    m.coordinate("x", unit="m")
    m.coordinate("y", unit="m")
    m.energies("(x'^2 + y'^2)/2", "k*x^2/2 + N*y")
    m.contact("y", name="belt", slip="x' - v", friction={"static": "static", "kinetic": "kinetic"})
    sol = saltus.solve(m, 30.0, tol=1e-10, dt=0.01)

    sticks = np.array(sol.events[sol.events["kind"] == "stick"]["t"])
    period = sticks[-1] - sticks[-2]
    w, xs, xk, v = sqrt(4.0), 0.4 * 10 / 4, 0.2 * 10 / 4, 0.5
    exact = 2 * (xs - xk) / v + 2 * (pi - atan(w * (xs - xk) / v)) / w

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    left.plot(sol.t, sol["x"])
    left.plot(sticks, sol(sticks)["x"], "o", markersize=5, label="sticks")
    left.set(xlabel="t [s]", ylabel="x [m]")
    left.set_ylim(-0.15, 1.35)
    left.legend(frameon=False, loc="upper right")
    right.plot(sol["x"], sol["x'"], linewidth=1)
    right.axhline(v, color="0.5", linestyle="--", linewidth=1, label="speed of the belt")
    right.set(xlabel="x [m]", ylabel="x' [m/s]")
    right.legend(frameon=False, loc="center")
    figure.savefig(folder / "stick_slip.png", dpi=100)

    print(f"{len(sticks)} transitions to stick; period {period:.10f} s, closed form {exact:.10f} s, error {abs(period - exact):.1e} s")
    assert abs(period - exact) < 1e-8, "the period is wrong"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
