# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""One impact under many laws.

Kane's double pendulum hits a rough floor. Newton's law, U_N+ = -e U_N-, reverses the slip and increases the energy by 0.0407 J
from 0.0232 J (Kane and Levinson 1985). Stronge's energetic law never gains energy. The energy balance has the gain of each law.
"""
from pathlib import Path
import sys

import matplotlib
import numpy as np
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
LAWS = ("newton", "poisson-printed", "poisson", "path-poisson", "path-newton", "energetic")


def main(folder: Path) -> None:
    after, energies = [], []
    before = np.zeros(2)
    scene = (ROOT / "scenes/kane.yaml").read_text()
    for law in LAWS:
        text = scene.replace("restitution: e", f"restitution: e\n    impact: {law}")
        sol = saltus.solve(saltus.Model.from_text(text), 1e-3, tol=1e-10, scheme="adaptive")
        hit = sol.event_array[0]
        before = np.array([hit["u_before"], hit["slip_before_1"]])
        after.append((hit["u_after"], hit["slip_after_1"]))
        energies.append((sol.ledger.energy[0], sol.ledger.energy[0] + hit["energy_change"]))

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    left.plot(before[1], before[0], "ks")
    left.annotate("before", before[::-1], xytext=(5, 5), textcoords="offset points")
    for law, (normal, slip) in zip(LAWS, after):
        left.plot([before[1], slip], [before[0], normal], "o-", linewidth=0.8, label=law)
    left.set(xlabel="slip [m/s]", ylabel="normal velocity [m/s]")
    left.legend(frameon=False, fontsize="small")
    change = [1e3 * (b - a) for a, b in energies]
    right.barh(LAWS, change, color=["tab:red" if c > 0 else "tab:blue" for c in change])
    right.axvline(0, color="k", linewidth=0.8)
    right.invert_yaxis()
    right.set(xlabel="change of energy [mJ]")
    figure.savefig(folder / "impact_laws.png", dpi=100)

    for law, (a, b) in zip(LAWS, energies):
        print(f"{law:16} {a:.4f} J -> {b:.4f} J")
    newton, energetic = energies[0], energies[-1]
    assert abs(newton[0] - 0.0232) < 5e-5 and abs(newton[1] - newton[0] - 0.0407) < 5e-5, "not the published numbers"
    assert energetic[1] <= energetic[0], "the energetic law creates energy"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
