# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Orders of schemes through impacts.

Five fixed-step schemes integrate a double pendulum with one impact on a wall. Schemes that do not locate impacts have order 1;
schemes that locate them keep the order of their method.
"""
from pathlib import Path
import sys

import matplotlib
import numpy as np
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
SCHEMES = {"moreau-jean": 1, "midpoint": 2, "heun-3": 3, "rk4": 4, "radau-iia-5": 5}
T_END = 1.4


def main(folder: Path) -> None:
    model = saltus.Model(ROOT / "scenes/pendulum-wall.yaml")
    reference = saltus.solve(model, T_END, tol=1e-13, scheme="adaptive-dop853")
    counts = np.array([40, 80, 160, 320, 640])
    steps = T_END / counts

    figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
    orders = {}
    for scheme, expected in SCHEMES.items():
        study = saltus.converge(model, T_END, scheme=scheme, steps=counts, reference=reference)
        orders[scheme] = study.order
        line, = axis.loglog(study.sizes, study.errors, "o-", markersize=4, label=f"{scheme}: {study.order:.2f}")
        axis.loglog(steps, study.errors[-1] * (steps / steps[-1]) ** expected, ":", color=line.get_color(), linewidth=1)
        print(f"{scheme:12} order {study.order:.2f}, expected {expected}; smallest error {study.errors[-1]:.1e} rad")
    axis.set(xlabel="step [s]", ylabel="largest error of the angles [rad]", title="double pendulum, one impact")
    axis.legend(frameon=False, loc="lower right", fontsize="small", title="measured (dotted: its own)")
    figure.savefig(folder / "convergence.png", dpi=100)

    for scheme, expected in SCHEMES.items():
        assert abs(orders[scheme] - expected) < 0.4, f"{scheme} is not of order {expected}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
