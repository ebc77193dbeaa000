# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The limit cycle of the woodpecker toy.

A bird is mounted by a spring on a sleeve on a pole. In every cycle of 0.146 s the beak has an impact, the sleeve jams and slips, and the
toy descends by 19.45 mm (Glocker 1995; Leine, Glocker and van Campen 2001). From a perturbed start the motion converges to this
limit cycle with a negative multiplier: the deviation alternates in sign.
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
    model = saltus.Model(ROOT / "scenes/woodpecker.yaml")
    # initial velocity of the bird below that of the cycle, sleeve within its clearance
    sol = saltus.solve(model, 8.0, tol=1e-9, scheme="adaptive", dt=1e-3, v0=[-0.34, 0.0, -7.0], parameters={"start": -0.1})

    # impacts of the beak, one in each cycle, are a Poincare section
    impacts = sol.events[(sol.events["kind"] == "impact") & (sol.events["contact"] == "beak")]
    times = np.array(impacts["t"])
    periods = np.diff(times)
    drops = -np.diff(sol(times)["y"])

    away = drops[5:20] - drops[-1]
    multiplier = np.mean(away[1:] / away[:-1])

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    late = sol.t > sol.t[-1] - 2 * periods[-1]
    left.plot(sol["phiS"], sol["phiS'"], color="0.75", linewidth=0.7, label="swinging in")
    left.plot(sol["phiS"][late], sol["phiS'"][late], linewidth=1.6, label="limit cycle")
    left.set(xlabel="angle of the bird [rad]", ylabel="its velocity [rad/s]")
    left.legend(frameon=False, loc="center")
    right.plot(1e3 * drops, "o-", markersize=4)
    right.axhline(19.45, color="0.5", linestyle="--", label="published, 19.45 mm")
    right.set(xlabel="cycle", ylabel="descent [mm]")
    right.legend(frameon=False)
    figure.savefig(folder / "woodpecker.png", dpi=100)

    print(f"{len(times)} impacts of the beak; limit cycle: descent {1e3 * drops[-1]:.3f} mm, period {periods[-1]:.5f} s")
    print(f"the deviation from the limit cycle is multiplied by {multiplier:.2f} in each cycle")
    assert abs(drops[-1] - drops[-2]) < 1e-6, "not yet on the cycle"
    assert abs(drops[-1] - 19.45e-3) < 0.05e-3 and abs(periods[-1] - 0.146) < 1e-3, "another cycle than the published one"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
