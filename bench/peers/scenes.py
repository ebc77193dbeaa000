#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Piles, stacks, walls and dominoes as engines of rigid bodies are timed with: scenes.py SALTUS SCENE [UNTIL].

Scenes: spheres125 spheres1000 spheres8000 boxes1000 stack1 stack100 wall dominoes. Prints steps a second of user time (reading
the scene counted), contact problems, their iterations, the residual and the penetration.
"""
import json
import math
import random
import resource
import subprocess
import sys

OPTIONS = "{theta: 1, iterate: once, contact_tol: 1e-6, speculative: yes}"
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
    side = 1.5 * (n / 1000) ** (1 / 3)
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
    bodies = [body(500, shape, [0.01204313437, 0, 0.100477985658], lean)]
    return FLOOR, 0.3, 5, bodies + [body(500, shape, [0.08 * i, 0, 0.1]) for i in range(1, 500)]


SCENES = {"spheres125": lambda: spheres(125), "spheres1000": lambda: spheres(1000), "spheres8000": lambda: spheres(8000),
          "boxes1000": lambda: boxes(1000), "stack1": lambda: stack(1), "stack100": lambda: stack(100),
          "wall": wall, "dominoes": dominoes}


def main():
    saltus, name = sys.argv[1:3]
    head, mu, until, bodies = SCENES[name]()
    until = sys.argv[3] if len(sys.argv) > 3 else until
    listed = "\n".join(f"  b{i}: {text}" for i, text in enumerate(bodies))
    scene = (f"saltus: 1\nname: {name}\n{head}materials: {{default: {{friction: {mu}}}}}\nbodies:\n{listed}\n"
             f"simulate: {{until: {until}, scheme: moreau-jean, step: 1/240, options: {OPTIONS}}}\n")
    done = subprocess.run([saltus, "run", "-", "--json"], input=scene, capture_output=True, text=True, check=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    said = json.loads(done.stdout)
    work = said["work"]
    print(f"{name}: {said['steps'] / spent:.1f} steps/s, {work['contact_solves']} contact problems, "
          f"{work['contact_iterations'] / said['steps']:.1f} iterations a step, residual {said['residual']}, "
          f"penetration {said['penetration']:.2e} m")


main()
