#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus run --design: what a breaker arm and a slider-crank answer, against closed forms and the ledger."""
import base64
import json
import math
import os
import re
import subprocess
import sys
import tempfile

SALTUS = os.environ['SALTUS_PROGRAM']
SCENES = os.environ['SALTUS_SOURCE'] + '/scenes'


def answers(scene, *options):
    out = subprocess.run([SALTUS, 'run', f'{SCENES}/{scene}.yaml', '--design', '--json', *options],
                         check=True, capture_output=True, text=True)
    whole = json.loads(out.stdout)
    return whole['design'], whole


def near(value, expected, off, what):
    if not abs(value - expected) <= off:
        sys.exit(f'{what}: {value}, expected {expected} within {off}')


arm, _ = answers('machine-breaker-arm', '--tol', '1e-11')
stop = arm['contacts']['pivot.lower']
near(stop['first_impact'], math.acos(5 / 11) / 50, 1e-9, 'first impact of the arm')
speed = 0.4 * 50 * math.sqrt(1.1**2 - 0.5**2)
# the gap is sampled 500 times: at its top it is flat
near(stop['rebound'], math.sqrt((speed / 50)**2 + 0.25) - 0.5, 1e-4, 'rebound of the arm')
near(stop['impact_work'], -0.024, 1e-9, 'what its impacts took')
near(stop['largest_impulse'], 2e-5 * 1.4 * speed / 0.4, 1e-9, 'its largest impulse')
near(stop['peak_force'], 0.025, 1e-4, 'force with which it rests')

crank, whole = answers('machine-slider-crank')
near(sum(c['friction_work'] for c in crank['contacts'].values()), whole['ledger']['friction'], 1e-9,
     'friction by contact')
near(sum(c['impacts'] for c in crank['contacts'].values()), whole['impacts'], 0, 'impacts by contact')
near(crank['joints']['main']['turns'], 2.010214294134 / (2 * math.pi), 1e-8, 'turns of the crank')

sides = crank['wear']['guide']
near(sum(sides['sides'].values()), sides['friction_work'], 1e-15, 'wear by side')
near(sides['friction_work'], whole['ledger']['friction'], 1e-9, 'wear of the guide')
near(sides['sides']['lower_left'], 0, 0, 'wear of the lower side, which nothing touches')

# at the start all lie on a line: m l w^2 of the three parts
starts, _ = answers('machine-slider-crank', '--output-dt', '1e-6')
tip, end = 150**2 * 0.153, 75**2 * 0.306
pull = 0.038 * tip / 2 + 0.038 * (tip + end / 2) + 0.076 * (tip + end)
near(starts['joints']['main']['peak_force'], pull, 1e-3 * pull, 'largest force of the crank')
near(starts['joints']['wristpin']['peak_force'], 0.076 * (tip + end), 1e-3 * pull, 'and of the wrist')
with tempfile.TemporaryDirectory() as folder:
    # with a state at every step: intervals of 1e-13 s have impulses, no forces
    stepped, _ = answers('machine-slider-crank', '-o', f'{folder}/a.h5')
    near(stepped['joints']['main']['peak_force'], pull, 1e-2 * pull, 'the same by steps')
    near(stepped['joints']['main']['mean_force'], starts['joints']['main']['mean_force'], 0.1, 'mean')
    page = subprocess.run([SALTUS, 'report', f'{folder}/a.h5'], capture_output=True, text=True)
    if page.returncode == 0:
        with open(f'{folder}/a.html') as file:
            texts = re.findall('[A-Za-z0-9+/=]{2000,}', file.read())
        if not any(re.search(rb'wear.{1,30}guide', base64.b64decode(t)) for t in texts):
            sys.exit('the report has no answers')
    elif 'has no viewer' not in page.stderr:
        sys.exit(page.stderr)

breaker, _ = answers('machine-breaker', '--until', '0.0125')
opening = breaker['events']['opened']['first'] - breaker['events']['release']['first']
near(opening, 2.375266e-3, 1e-8, 'opening time of the breaker')

cam, whole = answers('machine-cam-follower', '--until', '0.4')
near(cam['contacts']['cam']['impacts'], whole['impacts'], 0, 'impacts of the cam')

# of the wheel, which turns most
turn, whole = answers('machine-ratchet')
near(turn['impacts_per_turn'], whole['impacts'] / (10.298310828177646 / (2 * math.pi)), 1e-6 * whole['impacts'],
     'impacts for each turn of the ratchet')

walk, _ = answers('machine-walker', '--until', '12')
near(walk['events']['land2']['count'], 2, 0, 'steps of the walker')

text = subprocess.run([SALTUS, 'run', f'{SCENES}/machine-breaker-arm.yaml', '--design'], check=True,
                      capture_output=True, text=True).stdout
if 'Contact pivot.lower: ' not in text or 'Joint pivot: force at most' not in text:
    sys.exit('--design says nothing in words')
