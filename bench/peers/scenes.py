#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Piles, stacks, walls and dominoes as engines of rigid bodies are timed with.

scenes.py SALTUS [SCENE ...] [--until T] [--runs N] [--stiffness K] [--peers DIR]

Without scenes all of them: spheres125 spheres1000 spheres8000 boxes1000 stack1 stack100 wall dominoes hinge1 hinge20 hinge300 hinge1000
chains bridge. hingeN are N boxes and a pendulum beside them, boxesN the boxes alone. Prints for each scene steps a
second of the CPU time of the run, from the start through the settling to the end (the best of N runs), contacts that carry a force at
the end, iterations of contact problems a step, the largest penetration of all steps, the residual, and what became of the scene; below it
what Bullet 3.24 and ODE 0.16.2 do on the same scene, as measured on two shared cores in November 2026, or anew with the programs
peer_bullet and peer_ode in DIR. Penetrations of the engines are those at the end.

Every contact problem is solved to a residual of 1e-6 of its data: the natural map of all contacts as a velocity, over the relative velocities that
they would have without impulses, |F / rho| / |q| (docs/solvers/bodies.md). Contacts are rigid; with --stiffness they are springs of K N/m, which is
another problem, solved to the same residual, and their deformation counts as penetration.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess

OPTIONS = "theta: 1, iterate: once, contact_tol: 1e-6, speculative: yes"
FLOOR = "world: {dimension: 3, shapes: [{half-space: {}}]}\n"


def walls(side):
    half = side / 2
    text = "world:\n  dimension: 3\n  shapes:\n    - {name: floor, half-space: {}}\n"
    for name, place, axis, angle in (
        ("left", f"[{-half}, 0, 0]", "[0, 1, 0]", "pi/2"),
        ("right", f"[{half}, 0, 0]", "[0, 1, 0]", "-pi/2"),
        ("front", f"[0, {-half}, 0]", "[1, 0, 0]", "-pi/2"),
        ("back", f"[0, {half}, 0]", "[1, 0, 0]", "pi/2"),
    ):
        turn = f"{{axis: {axis}, angle: {angle}}}"
        text += f"    - {{name: {name}, half-space: {{}}, position: {place}, orientation: {turn}}}\n"
    return text


def body(density, shape, place, more=""):
    at = ", ".join(f"{x:.12g}" for x in place)
    return f"{{density: {density:.17g}, shapes: [{{{shape}}}], position: [{at}]{more}}}"


def grid(i, m, spacing):
    return [(i % m - (m - 1) / 2) * spacing, (i // m % m - (m - 1) / 2) * spacing, 0.3 + i // m // m * spacing]


def spheres(n):
    side = (n / 1000) ** (1 / 3)
    draw = random.Random(1)
    density = 0.5 / (4 / 3 * math.pi * 0.05**3)
    m = int(side / 0.11 + 1e-9)
    places = [[x + draw.uniform(-0.0045, 0.0045) for x in grid(i, m, 0.11)] for i in range(n)]
    return walls(side), 0.5, 3, [body(density, "sphere: {radius: 0.05}", p) for p in places]


def boxes(n):
    side = max(1.5 * (n / 1000) ** (1 / 3), 0.5)
    draw = random.Random(1)
    bodies = []
    for i in range(n):
        q = [draw.gauss(0, 1) for _ in range(4)]
        s = math.hypot(*q[1:])
        axis = ", ".join(f"{x / s:.15g}" for x in q[1:])
        more = f", orientation: {{axis: [{axis}], angle: {2 * math.atan2(s, q[0]):.15g}}}"
        bodies.append(body(1000, "box: {size: [0.1, 0.1, 0.1]}", grid(i, int(side / 0.178), 0.178), more))
    return walls(side), 0.5, 3, bodies


def stack(ratio):
    cube = "box: {size: [1, 1, 1]}"
    return FLOOR, 0.5, 10, [body(ratio if i == 49 else 1, cube, [0, 0, i + 0.5]) for i in range(50)]


def hinge(n):
    """A pile of boxes and a pendulum that has nothing to do with it."""
    head, mu, end, bodies = boxes(n)
    turn = "orientation: {axis: [1, 0, 0], angle: -pi/2}"
    joints = (f"markers:\n  W0: {{point: [0, 0, 20], {turn}}}\n  P0: {{body: b{n}, point: [-0.5, 0, 0], {turn}}}\n"
              "joints:\n  - {name: pin, type: revolute, between: [W0, P0]}\n")
    return head, mu, end, bodies + ["{mass: 1, inertia: [2.7e-4, 0.0835, 0.0835], position: [0.5, 0, 20]}"], joints


def link(pairs, kind, half, turn=""):
    """Joints between the ends of neighbours, each `half` from the centre along an axis 0 or 1."""
    marks, joints = "", ""
    for i, j, axis in pairs:
        ends = [[half * sign * (k == axis) for k in range(3)] for sign in (1, -1)]
        marks += f"  A{i}: {{body: b{i}, point: {ends[0]}{turn}}}\n  B{j}: {{body: b{j}, point: {ends[1]}{turn}}}\n"
        joints += f"  - {{name: j{j}, type: {kind}, between: [A{i}, B{j}]}}\n"
    return marks, joints


def chains():
    """50 chains of 10 boxes, crosswise in layers of five, that fall into a heap."""
    draw, bodies, pairs = random.Random(2), [], []
    for c in range(50):
        across, speed = c // 5 % 2, f", velocity: [{draw.uniform(-.5, .5):.3f}, {draw.uniform(-.5, .5):.3f}, 0]"
        for i in range(10):
            at = [0.12 * i - 0.54, (c % 5 - 2) * 0.2, 0.3 + c // 5 * 0.2]
            at = [at[1], at[0], at[2]] if across else at
            bodies.append(body(1000, "box: {size: [0.1, 0.1, 0.1]}", at, speed))
            if i > 0:
                pairs.append((10 * c + i - 1, 10 * c + i, across))
    marks, joints = link(pairs, "spherical", 0.06)
    return walls(1.4), 0.5, 2, bodies, f"markers:\n{marks}joints:\n{joints}"


def bridge():
    """100 planks with hinges between two fixed ends, an arc of 0.98 of their length, and 50 boxes that fall on them."""
    draw, n, length, low, high = random.Random(3), 100, 0.2, 1e-6, math.pi / 100
    for _ in range(100):
        half = (low + high) / 2  # of the angle between two planks
        low, high = (half, high) if math.sin(n * half) > 0.98 * n * math.sin(half) else (low, half)
    radius = length / 2 / math.sin(half)
    ends = [(radius * math.sin((2 * i - n) * half), 5 + radius * (math.cos(n * half) - math.cos((2 * i - n) * half))) for i in range(n + 1)]
    bodies = []
    for (x, z), (u, w) in zip(ends, ends[1:]):
        more = f", orientation: {{axis: [0, 1, 0], angle: {-math.atan2(w - z, u - x):.15g}}}"
        at = f"[{(x + u) / 2:.15g}, 0, {(z + w) / 2:.15g}]"
        bodies.append(f"{{density: 600, shapes: [{{box: {{size: [0.19, 1, 0.05]}}}}], position: {at}{more}}}")
    for i in range(50):
        at = [0.38 * (i - 24.5), draw.uniform(-.2, .2), 5.3 + draw.uniform(0, .5)]
        axis = ", ".join(f"{draw.gauss(0, 1):.6g}" for _ in range(3))
        more = f", orientation: {{axis: [{axis}], angle: {draw.uniform(0, 3):.6g}}}"
        bodies.append(body(500, "box: {size: [0.2, 0.2, 0.2]}", at, more))
    turn = ", orientation: {axis: [1, 0, 0], angle: -pi/2}"
    marks, joints = link([(i, i + 1, 0) for i in range(n - 1)], "revolute", length / 2, turn)
    for name, end, b, at in (("W0", ends[0], 0, -length / 2), ("W1", ends[n], n - 1, length / 2)):
        marks += f"  {name}: {{point: [{end[0]:.15g}, 0, {end[1]:.15g}]{turn}}}\n  {name}b: {{body: b{b}, point: [{at}, 0, 0]{turn}}}\n"
        joints += f"  - {{name: end{name}, type: revolute, between: [{name}, {name}b]}}\n"
    return FLOOR, 0.5, 2, bodies, f"markers:\n{marks}joints:\n{joints}"


def wall():
    bodies = []
    for row in range(10):
        for c in range(20 + row % 2):
            half = row % 2 and c in (0, 20)
            x = 0.4 * c - 0.2 * (row % 2) + (0.1 if half and c == 0 else -0.1 if half else 0)
            bodies.append(body(62.5, f"box: {{size: [{0.2 if half else 0.4}, 0.2, 0.2]}}", [x, 0, 0.1 + 0.2 * row]))
    return FLOOR, 0.5, 5, bodies


def dominoes():
    shape = "box: {size: [0.02, 0.1, 0.2]}"
    lean = ", orientation: {axis: [0, 1, 0], angle: 0.12}"
    push = ", velocity: [0.100477985658, 0, -0.00204313437], angular_velocity: [0, 1, 0]"
    bodies = [body(500, shape, [0.01204313437, 0, 0.100477985658], lean + push)]
    return FLOOR, 0.3, 5, bodies + [body(500, shape, [0.08 * i, 0, 0.1]) for i in range(1, 500)]


SCENES = {"spheres125": lambda: spheres(125), "spheres1000": lambda: spheres(1000), "spheres8000": lambda: spheres(8000),
          "boxes1000": lambda: boxes(1000), "stack1": lambda: stack(1), "stack100": lambda: stack(100),
          "wall": wall, "dominoes": dominoes, "chains": chains, "bridge": bridge,
          **{f"hinge{n}": lambda n=n: hinge(n) for n in (1, 20, 300, 1000)},
          **{f"boxes{n}": lambda n=n: boxes(n) for n in (1, 20, 300)}}

BULLET, ODE = "variant=si it=50 gbox=1", "variant=quick it=20"
# scene of the peers' program with its arguments; steps a second, contacts, penetration in mm of Bullet and of ODE
PEERS = {"spheres125": ("spheres n=125", (1230, 339, 0.283), (2350, 321, 1.24)),
         "spheres1000": ("spheres n=1000", (74.5, 2751, 0.642), (211, 2718, 2.16)),
         "spheres8000": ("spheres n=8000 cap=250 pool=100000", (3.76, 23063, 1.62), (8.13, 22977, 3.86)),
         "boxes1000": ("boxes n=1000", (63, 5127, 0.737), (114, 4783, 3.04)),
         "stack1": ("stack n=50", (3020, 200, 0.476), (3170, 228, 5.67)),
         "stack100": ("stack n=50 ratio=100", None, None),
         "wall": ("wall", (301, 2276, 0.024), (345, 1783, 1.26)),
         "dominoes": ("domino", (316, 2133, 1.07), (545, 1864, 2.26))}
# steps a second of the engines where scenes of the same kind were run elsewhere
NOTED = {"chains": "Bullet 137, ODE 259, Box3D 1108 steps/s; joints open by 1e-6 to 2e-2 m"}


def tilt(q, b):
    """Angle of the body's third axis with the vertical, towards x positive."""
    w, x, y, z = (q[f"{b}.{c}"] for c in ("qw", "qx", "qy", "qz"))
    return math.atan2(2 * (x * z + w * y), 1 - 2 * (x * x + y * y))


def outcome(name, q, starts):
    """What became of the bodies."""
    last = f"b{len(starts) - 1}"
    if name.startswith("stack") or name == "wall":
        lost = max(p[2] - q[f"b{i}.z"] for i, p in enumerate(starts))
        drift = max(math.hypot(q[f"b{i}.x"] - p[0], q[f"b{i}.y"] - p[1]) for i, p in enumerate(starts))
        return f"height lost {1e3 * lost:.3g} mm, drift {1e3 * drift:.3g} mm"
    if name == "dominoes":
        return f"{sum(tilt(q, f'b{i}') > 0.5 for i in range(len(starts)))} fallen"
    if "chains" in name or "bridge" in name:
        return f"mean height {sum(q[f'b{i}.z'] for i in range(len(starts))) / len(starts):.3f} m"
    out = sum(q[f"b{i}.z"] < -0.2 for i in range(len(starts)))
    return f"{out} lost, mean height {sum(q[f'b{i}.z'] for i in range(len(starts))) / len(starts):.3f} m, {last} settled"


def place(text):
    return [float(x) for x in text.split("position: [")[1].split("]")[0].split(",")]


def ours(saltus, name, until, runs, stiffness):
    head, mu, end, bodies, *joints = SCENES[name]()
    options = OPTIONS + (", project_joints: true" if name in ("chains", "bridge") else "")
    listed = "\n".join(f"  b{i}: {text}" for i, text in enumerate(bodies))
    scene = (f"saltus: 1\nname: {name}\n{head}materials: {{default: {{friction: {mu}}}}}\nbodies:\n{listed}\n"
             f"{''.join(joints)}simulate: {{until: {until or end}, scheme: moreau-jean, step: 1/240, "
             f"options: {{{options}, stiffness: {stiffness}}}}}\n")
    best = None
    for _ in range(runs):
        done = subprocess.run([saltus, "run", "-", "--json"], input=scene, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{name}: {done.stderr.strip()}", flush=True)
            return
        said = json.loads(done.stdout)
        best = said if best is None or said["work"]["cpu_s"] < best["work"]["cpu_s"] else best
    work, steps = best["work"], best["steps"]
    kind = f"springs of {stiffness} N/m" if float(stiffness) > 0 else "rigid"
    print(f"{name:12} Saltus  {steps / work['cpu_s']:8.4g} steps/s  {best['closes'] - best['opens']:6} contacts  "
          f"{1e3 * best['penetration']:9.3g} mm  {work['contact_iterations'] / steps:.1f} iterations a step in "
          f"{work['contact_solves'] / steps:.2f} problems, residual {best['residual']['velocity']:.1e} m/s, {kind}; "
          f"{outcome(name, best['q'], [place(b) for b in bodies])}", flush=True)


def theirs(folder, engine, scene, options):
    program = pathlib.Path(folder) / f"peer_{engine}"
    if not program.exists():
        return None
    done = subprocess.run([program, *scene.split(), "h=1/240", *options.split()], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return None
    said = json.loads(lines[0])
    deepest = max(said.get("pen_pair_max", 0), said.get("pen_wall_max", 0)) or said["max_pen"]
    return said["steps_per_s"], said["contacts"], 1e3 * deepest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltus")
    parser.add_argument("scenes", nargs="*", metavar="SCENE")
    parser.add_argument("--until", metavar="T", help="end of the runs in s, of Saltus alone")
    parser.add_argument("--runs", type=int, default=1, metavar="N")
    parser.add_argument("--stiffness", default="0", metavar="K", help="of contacts in N/m, of Saltus alone; 0: rigid")
    parser.add_argument("--peers", metavar="DIR")
    options = parser.parse_args()
    for name in options.scenes or SCENES:
        ours(options.saltus, name, options.until, options.runs, options.stiffness)
        scene, bullet, ode = PEERS.get(name, (None, None, None))
        if name in NOTED:
            print(f"{'':12} engines {NOTED[name]}", flush=True)
        if options.peers and scene:
            bullet = theirs(options.peers, "bullet", scene, BULLET)
            ode = theirs(options.peers, "ode", scene, ODE)
        for engine, row in (("Bullet", bullet), ("ODE", ode)):
            if row:
                print(f"{'':12} {engine:6}  {row[0]:8.4g} steps/s  {row[1]:6} contacts  {row[2]:9.3g} mm", flush=True)


main()
