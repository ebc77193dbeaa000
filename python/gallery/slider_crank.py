# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""A slider-crank whose slider has clearance in its guide.

Data of Flores, Leine and Glocker (2010), with a small initial rotation of the slider: impacts of the two upper corners alternate
and accumulate until the slider is in face contact. Hundreds of impacts within a microsecond end in one Zeno extrapolation of the
integrator. The energy balance assigns all dissipated energy to impacts and friction.
"""
from pathlib import Path
import sys

import matplotlib
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]


def main(folder: Path) -> None:
    model = saltus.Model(ROOT / "scenes/machine-slider-crank.yaml")
    sol = saltus.solve(model, 0.1, tol=1e-9)
    flat = float(sol.events[sol.events["kind"] == "accumulation"]["t"].iloc[0])
    impacts = sol.event_array["t"][sol.events["kind"] == "impact"]
    impacts = impacts[impacts < flat]

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
    for side in ("upper", "lower"):
        left.plot(1e3 * sol.t, 1e3 * sol.contacts[f"guide.{side}_left"].gap, linewidth=1, label=side)
    left.set(xlabel="t [ms]", ylabel="gap [mm]", title="two corners of the slider", ylim=(-0.05, 2.6))
    left.legend(frameon=False, loc="upper right", ncols=2)
    middle.semilogy(1e3 * (flat - impacts[:20]), "o-", markersize=4, linewidth=0.7)  # times of later impacts are equal in double precision
    middle.set(xlabel="impact", ylabel="time until it lies flat [ms]", title="the first accumulation")
    ledger = sol.ledger
    right.plot(1e3 * sol.t, ledger.energy - ledger.energy[0], color="k", label="energy - at the start")
    right.plot(1e3 * sol.t, ledger.impact, label="into impacts")
    right.plot(1e3 * sol.t, ledger.friction, label="into friction")
    right.set(xlabel="t [ms]", ylabel="[J]", title="where the energy went")
    right.legend(frameon=False)
    figure.savefig(folder / "slider_crank.png", dpi=100)

    last = ledger.last()
    print(f"face contact at {1e3 * flat:.4f} ms, after {len(impacts)} impacts")
    print(f"dissipated by impacts {-last['impact']:.4f} J, by friction {-last['friction']:.4f} J; "
          f"numerical remainder {last['remainder']:.1e} J")
    assert abs(flat - 2.6925e-3) < 1e-7, "wrong time of the Zeno point"
    assert abs(last["remainder"]) < 1e-6, "the energy balance is not closed"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
