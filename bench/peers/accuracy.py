#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Twelve problems with closed forms on which engines of rigid bodies are compared.

accuracy.py SALTUS [PROBLEM ...] [--peers DIR]

Without problems (1 to 12) all of them. Prints for each number the exact one, ours with `adaptive` at a tolerance of 1e-8 and with
`moreau-jean` at 1/240 s, and what Bullet 3.24, ODE 0.16.2, MuJoCo 2.2.2 and Siconos 4.4 gave at 1/240 s in November 2026 with their
usual settings; with --peers the first two anew, by the programs peer_bullet and peer_ode in DIR, as these print it. Ends with exit code
1 when an error of ours is larger than the line says: ten tolerances over the length of the motion, or the order of the scheme.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

TOL = 1e-8
H = 1 / 240
G = 9.81
SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"

FOUR_BAR = """saltus: 1
world: {dimension: 2}
bodies:
  crank: {mass: 0.4, inertia: 0.4^3/12, position: [0.2, 0]}
  coupler: {mass: 1, inertia: 1/12, position: [0.7, 0.4], angle: "atan2(0.8, 0.6)"}
  rocker: {mass: 0.8, inertia: 0.8^3/12, position: [1, 0.4], angle: -pi/2}
markers:
  A: {point: [0, 0]}
  D: {point: [1, 0]}
  a: {body: crank, point: [-0.2, 0]}
  b: {body: crank, point: [0.2, 0]}
  c: {body: coupler, point: [-0.5, 0]}
  d: {body: coupler, point: [0.5, 0]}
  e: {body: rocker, point: [-0.4, 0]}
  f: {body: rocker, point: [0.4, 0]}
joints:
  - {type: revolute, between: [A, a]}
  - {type: revolute, between: [b, c]}
  - {type: revolute, between: [d, e]}
  - {type: revolute, between: [f, D]}
outputs: {crank: crank.angle}
"""


def cradle(gap, order):
    """Five balls of 0.1 m, the first of which comes with 1 m/s."""
    balls = "\n".join(
        f"  b{i}: {{mass: 1, shapes: [{{sphere: {{radius: 0.05}}}}], position: [{-0.3 if i == 0 else i * (0.1 + gap)}, 0, 0]"
        f"{', velocity: [1, 0, 0]' if i == 0 else ''}}}" for i in range(5))
    return (f"saltus: 1\nworld: {{dimension: 3, gravity: [0, 0, 0]}}\nmaterials: {{default: {{restitution: 1}}}}\n"
            f"impacts: {{order: {order}}}\nbodies:\n{balls}\n"
            "outputs: {first: b0.x', last: b4.x', energy: (b0.x'^2 + b1.x'^2 + b2.x'^2 + b3.x'^2 + b4.x'^2)}\n")


def event(kind):
    """The time of the first event of a kind."""
    return lambda _, events: next((e["t"] for e in events if e["kind"] == kind), math.nan)


def out(name, scale=1.0):
    return lambda said, _: said["outputs"][name] * scale


def energy(said, _):
    return said["energy"]["end"] - said["energy"]["start"]


# number, title, scene, parameters, until, [(what, value of a run, exact, error allowed to adaptive, to moreau-jean: None: not run)], engines
BOX_STOP = 1 / (2 * 0.3 * G)
THREE_TURNS = 6 * math.pi * 0.875
PROBLEMS = [
    (1, "bouncing sphere, e = 1", "contact-bounce", "e=1", 10, [("apex after 10 s [m]", out("apex"), 1.0, TOL, 1e-12)],
     "Bullet 2.4868, ODE 1, MuJoCo 0.99952, Siconos 1"),
    (1, "bouncing sphere, e = 0.5", "contact-bounce", "e=0.5", 10,
     [("time of rest [s]", event("accumulation"), 1.354570922955661, TOL, None), ("gap at 10 s [m]", out("height"), 0.0, TOL, G * H * H)],
     "rest: Bullet 1.296, ODE 1.342, MuJoCo 1.958, Siconos 1.433"),
    (2, "sliding block, worst of 8 directions", "contact-stopping", [f"dir={k}*pi/4" for k in range(8)], 0.5,
     [("distance [m]", out("distance"), BOX_STOP, 10 * TOL, 0.3 * G * H * H), ("aside [m]", out("aside"), 0.0, 1e-12, 1e-12),
      ("yaw [rad]", out("yaw"), 0.0, 1e-12, 1e-12)],
     "distance: Bullet 0.1655 .. 0.1678, ODE 0.1181 .. 0.1678, MuJoCo 0.168 .. 0.2383, Siconos 0.1713 .. 0.1727"),
    (3, "block on a slope of 20 degrees", "contact-creep", "", 10,
     [("creep in 10 s [m]", out("creep"), 0.0, 1e-12, 1e-12), ("rate [m/s]", out("rate"), 0.0, 1e-12, 1e-12)],
     "creep: Bullet 0, ODE 1.1e-4, MuJoCo 0.018, Siconos 2.8e-5"),
    (4, "sphere from sliding to rolling", "contact-slip-to-roll", "", 0.5,
     [("speed [m/s]", out("vx"), 5 / 7, 10 * TOL, 1e-12), ("way at 0.5 s [m]", out("x"), 5 / 7 * 0.5 + 1 / (2 * 0.3 * G) * 4 / 49, 10 * TOL, H * H)],
     "speed: Bullet 0.714285, ODE 0.714286, MuJoCo 0.713955, Siconos 0.714328"),
    (5, "cradle of five balls, touching, struck in sequence", cradle(0.0, "sequential"), "", 0.5,
     [("first ball [m/s]", out("first"), 0.0, TOL, 1e-12), ("last ball [m/s]", out("last"), 1.0, TOL, 1e-12), ("energy", out("energy"), 1.0, TOL, 1e-12)],
     "last: Bullet 0.4, ODE 8.05 (energy x 181), MuJoCo 0.504, Siconos 0.4"),
    (5, "cradle of five balls, 1 mm apart", cradle(0.001, "simultaneous"), "", 0.5,
     [("first ball [m/s]", out("first"), 0.0, TOL, 1e-12), ("last ball [m/s]", out("last"), 1.0, TOL, 1e-12), ("energy", out("energy"), 1.0, TOL, 1e-12)],
     "last: Bullet 1.35 (energy x 1.86), ODE 1, MuJoCo 0.705, Siconos 1"),
    (6, "free rotation, half a period", "bodies-free-rotation", "", 12.370398615029489,
     [("wy [rad/s]", out("wy"), -2.0, 20 * TOL, None), ("wz [rad/s]", out("wz"), 1e-4, 20 * TOL, None)],
     "half period 12.370399 s: Bullet 12.370361, ODE 2.33, MuJoCo 12.370395, Siconos 12.370348"),
    (7, "pendulum from level, 10 s", "bodies-pendulum", "", 10,
     [("x [m]", out("x"), -0.275087463, 10 * TOL, None), ("y [m]", out("y"), -0.961419205, 10 * TOL, None)],
     "error: Bullet 0.0107, ODE 0.0103, MuJoCo 0.00905 (4e-9 with RK4), Siconos 1.04"),
    (8, "four-bar, 10 s", FOUR_BAR, "", 10,
     [("crank [rad]", out("crank"), -0.49628542, 10 * TOL, None), ("joints open [m]", out("joints.open"), 0.0, TOL, None), ("energy [J]", energy, 0.0, 100 * TOL, None)],
     "error of the crank: Bullet 0.277, ODE 0.287, MuJoCo 0.313 (joints open by 9 mm)"),
    (9, "rocking block", "contact-rocking", "b=0.4 h=1.2", 1.0, [("first impact [s]", event("impact"), 0.387295076314793, TOL, H)],
     "Bullet 0.3807, ODE 0.3853, MuJoCo 0.3844, Siconos 0.3876"),
    (10, "ten cubes, 10 s", "contact-column", "ratio=1", 10,
     [("height lost [m]", out("lost"), 0.0, None, 1e-12), ("drift [m]", out("drift"), 0.0, None, 1e-12)],
     "lost: Bullet 7.7e-5, ODE 0.011, MuJoCo 0.0031, Siconos 0.0037"),
    (10, "ten cubes, the top one 100 times heavier, 10 s", "contact-column", "ratio=100", 10,
     [("height lost [m]", out("lost"), 0.0, None, 1e-12), ("drift [m]", out("drift"), 0.0, None, 1e-12)],
     "lost: Bullet 0.0029, ODE falls, MuJoCo 0.028, Siconos 0.0075"),
    (11, "spin bounce that sticks", "contact-spin-bounce", "mu=0.3 vx=1 vz=-1 wy=0", 0.5,
     [("vx [m/s]", out("vx"), 5 / 7, TOL, 1e-12), ("wy [rad/s]", out("wy"), 50 / 7, 10 * TOL, 1e-12)],
     "wy: Bullet 7.143, ODE 7.143, MuJoCo 2.679, Siconos 7.143"),
    (11, "spin bounce that slips", "contact-spin-bounce", "mu=0.3 vx=5 vz=-1 wy=0", 0.5,
     [("vx [m/s]", out("vx"), 4.46, TOL, 1e-12), ("wy [rad/s]", out("wy"), 13.5, 10 * TOL, 1e-12)],
     "wy: Bullet 13.5, ODE 13.5, MuJoCo 11.58, Siconos 13.5"),
    (12, "ball on a turntable, three turns", "contact-turntable", "", 32.98672286269283,
     [("speed [m/s]", out("speed"), 0.5, 10 * TOL, 0.5 * 0.025), ("y [m]", out("y"), 0.0, 10 * THREE_TURNS * TOL, None)],
     "speed after three turns, relative: Bullet 1.021, ODE 1.025, MuJoCo 1.093"),
]
PEERS = {1: "bounce", 2: "slide", 3: "slope", 4: "roll", 5: "cradle", 6: "dzhani", 7: "pendulum", 8: "fourbar", 9: "rock", 10: "stack",
         11: "spin", 12: "turntable"}


def run(saltus, scene, parameters, until, scheme):
    """What a run says, and its events."""
    how = ["--tol", str(TOL)] if scheme == "adaptive" else ["--step", repr(H)]
    sets = [part for one in parameters.split() for part in ("--set", one)]
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder) / "events.json"
        path = SCENES / f"{scene}.yaml" if "\n" not in scene else pathlib.Path(folder) / "scene.yaml"
        if "\n" in scene:
            path.write_text(scene)
        done = subprocess.run([saltus, "run", path, "--scheme", scheme, *how, "--until", repr(until), *sets, "--json", "--events", kept],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{scene.splitlines()[0]}, {scheme}: {done.stderr.strip()}")
        return json.loads(done.stdout), json.loads(kept.read_text())


def ours(saltus, problem):
    """Prints the numbers of a problem; whether all errors are allowed."""
    number, title, scene, parameters, until, rows, engines = problem
    fine = True
    print(f"{number:2} {title}; {engines}")
    for at, scheme in ((3, "adaptive"), (4, "moreau-jean")):
        if all(row[at] is None for row in rows):
            continue
        runs = [run(saltus, scene, one, until, scheme) for one in (parameters if isinstance(parameters, list) else [parameters])]
        for row in rows:
            what, value, exact, most = row[0], row[1], row[2], row[at]
            if most is not None:
                error = max(abs(value(*said) - exact) for said in runs)
                good = error <= most
                fine = fine and good
                print(f"   {scheme:12} {what:22} exact {exact:<20.15g} error {error:.1e}, allowed {most:.1e}{'' if good else '  TOO LARGE'}", flush=True)
    return fine


def theirs(folder, number):
    for engine, options in (("bullet", "variant=si it=50 gbox=1"), ("ode", "variant=step")):
        program = pathlib.Path(folder) / f"peer_{engine}"
        if program.exists():
            done = subprocess.run([program, PEERS[number], "h=1/240", *options.split()], capture_output=True, text=True, check=False)
            print(f"   {engine:12} {done.stdout.strip()}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltus")
    parser.add_argument("problems", nargs="*", type=int, metavar="PROBLEM")
    parser.add_argument("--peers", metavar="DIR")
    options = parser.parse_args()
    fine, last = True, None
    for problem in PROBLEMS:
        if options.problems and problem[0] not in options.problems:
            continue
        if options.peers and problem[0] != last:
            theirs(options.peers, problem[0])
        last = problem[0]
        fine = ours(options.saltus, problem) and fine
    return 0 if fine else 1


sys.exit(main())
