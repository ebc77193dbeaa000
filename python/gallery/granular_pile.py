# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""A pile of discs and the forces in it.

Discs of two sizes fall between two walls and come to rest. Lines connect discs in contact, with a width proportional to
the force: they show force chains. The forces of floor and walls balance the weight of all discs, and the horizontal forces balance.
"""
from pathlib import Path
import sys

import matplotlib
import numpy as np
import saltus

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Circle

COLUMNS, ROWS, WIDTH = 8, 9, 0.86
STEP = 2e-3


def main(folder: Path) -> None:
    random = np.random.default_rng(7)
    m = saltus.Model()
    m.material("default", friction=0.4)
    world = m.world(2, gravity=[0, -9.81])
    world.shape("half-plane", name="floor")
    world.shape("half-plane", name="left", position=[0, 0], angle="-pi/2")
    world.shape("half-plane", name="right", position=[WIDTH, 0], angle="pi/2")
    radii = []
    for i in range(ROWS):
        for j in range(COLUMNS):
            radius = float(random.choice([0.035, 0.05]))
            radii.append(radius)
            place = [0.055 + 0.107 * j + random.uniform(-2e-3, 2e-3), 0.06 + 0.11 * i]
            m.body(f"d{i}_{j}", density=1000, position=[round(float(x), 4) for x in place]).shape("circle", radius=radius)
    sol = saltus.solve(m, 2.5, scheme="moreau-jean", step=STEP, every=50)

    # contacts of the last state: bodies (-1: world), normal towards the first body, mean forces since the previous state
    table = sol.contacts.table()
    rows = slice(table["start"][-2], table["start"][-1])
    bodies, points, normals, forces = (table[name][rows] for name in ("bodies", "point", "normal", "force"))
    centres = sol.q[-1].reshape(-1, 3)[:, :2]
    weight = 9.81 * 1000 * np.pi * float(np.square(radii).sum())
    walls = bodies[:, 1] < 0
    tangents = np.column_stack([-normals[:, 1], normals[:, 0]])
    carried = (forces[walls, :1] * normals[walls, :2] + forces[walls, 1:2] * tangents[walls]).sum(axis=0)

    figure, axis = plt.subplots(figsize=(6, 5.4), layout="constrained")
    discs = [Circle((x, y), radius) for (x, y), radius in zip(centres, radii)]
    axis.add_collection(PatchCollection(discs, facecolor="0.88", edgecolor="0.6", linewidth=0.6))
    ends = np.where(walls[:, None], points[:, :2], centres[bodies[:, 1]])
    strength = forces[:, 0] / forces[:, 0].max()
    axis.add_collection(LineCollection(np.stack([centres[bodies[:, 0]], ends], axis=1), linewidths=8 * strength,
                                       colors=plt.get_cmap("viridis")(1 - strength), capstyle="round"))
    axis.plot([0, 0, WIDTH, WIDTH], [0.75, 0, 0, 0.75], color="k")
    axis.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title=f"{len(radii)} discs, {len(forces)} contacts")
    figure.savefig(folder / "granular_pile.png", dpi=100)

    floor = forces[normals[:, 1] == 1, 0].sum()
    print(f"{len(radii)} discs weigh {weight:.3f} N; vertical force of floor and walls {carried[1]:.3f} N, of the floor {floor:.1f} N")
    assert abs(carried[1] / weight - 1) < 1e-6 and abs(carried[0]) < 1e-6 * weight, "the pile is not at rest"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
