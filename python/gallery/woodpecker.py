# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The limit cycle of the woodpecker toy.

A sleeve on a pole carries a bird on a spring. The beak strikes, the sleeve jams and slips, and in every cycle of 0.146 s the
toy is 19.45 mm lower (Glocker 1995; Leine, Glocker and van Campen 2001). Started beside it, the motion comes to this
cycle from both sides in turns: the distance from it is multiplied by a negative number each time.
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
    # the bird starts a little slower than on the cycle, the sleeve within its play
    sol = saltus.solve(model, 8.0, tol=1e-9, scheme="adaptive", dt=1e-3, v0=[-0.34, 0.0, -7.0], parameters={"start": -0.1})

    # once a cycle the beak strikes: the state there is a Poincare map
    impacts = sol.events[(sol.events["kind"] == "impact") & (sol.events["contact"] == "beak")]
    strikes = np.array(impacts["t"])
    periods = np.diff(strikes)
    drops = -np.diff(sol(strikes)["y"])

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

    print(f"{len(strikes)} strikes of the beak; on the cycle {1e3 * drops[-1]:.3f} mm lower every {periods[-1]:.5f} s")
    print(f"the distance from the cycle is multiplied by {multiplier:.2f} in each")
    assert abs(drops[-1] - drops[-2]) < 1e-6, "not yet on the cycle"
    assert abs(drops[-1] - 19.45e-3) < 0.05e-3 and abs(periods[-1] - 0.146) < 1e-3, "another cycle than the published one"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
