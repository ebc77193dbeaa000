# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""A tolerance is kept through impacts.

The tip of a double pendulum hits a wall: impacts, a Zeno point, sliding along the wall, detachment. The tolerance of each run is
a tenth of the previous one. Errors are relative to an event-driven integration to 1e-13 by an independent program
(data/reference).
"""
from pathlib import Path
import sys

import matplotlib
import numpy as np
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]


def main(folder: Path) -> None:
    table = np.loadtxt(ROOT / "data/reference/double-pendulum-wall-e3.csv", delimiter=",", skiprows=3)
    times, exact = table[:, 0], table[:, 1:3]
    model = saltus.Model(ROOT / "scenes/pendulum-wall.yaml")

    tols = 10.0 ** -np.arange(3, 12)
    errors, calls = [], []
    for tol in tols:
        sol = saltus.solve(model, times[-1], tol=tol, scheme="adaptive", times=times)
        errors.append(np.abs(sol(times).q - exact).max())
        calls.append(sol.stats["force_evaluations"])
    order = np.polyfit(np.log(tols), np.log(errors), 1)[0]

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    fine = saltus.solve(model, times[-1], tol=1e-8, scheme="adaptive")
    left.plot(fine.t, np.sin(fine["q1"]) + np.sin(fine["q2"]), label="tip")
    left.axhline(0.3, color="0.4", linewidth=3, label="wall")
    left.set(xlabel="t [s]", ylabel="x [m]", title="distance of the tip from the pivot")
    left.legend(frameon=False)
    right.loglog(tols, errors, "o-", label="largest error of the angles")
    right.loglog(tols, tols, "--", color="0.5", label="what was asked for")
    right.set(xlabel="tolerance", ylabel="error [rad]", title=f"{calls[0]} to {calls[-1]} evaluations")
    right.legend(frameon=False)
    figure.savefig(folder / "tolerance.png", dpi=100)

    for tol, error, count in zip(tols, errors, calls):
        print(f"tolerance {tol:.0e}: error {error:.1e} rad, {count} evaluations")
    print(f"error ~ tolerance^{order:.2f}")
    assert 0.85 < order < 1.15, "the error does not follow the tolerance"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
