#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""saltus run --design: what a breaker arm and a slider-crank answer, against closed forms and the ledger."""
import json
import math
import os
import subprocess
import sys

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

cam, whole = answers('machine-cam-follower', '--until', '0.4')
near(cam['contacts']['cam']['impacts'], whole['impacts'], 0, 'impacts of the cam')

walk, _ = answers('machine-walker', '--until', '12')
near(walk['events']['land2']['count'], 2, 0, 'steps of the walker')

text = subprocess.run([SALTUS, 'run', f'{SCENES}/machine-breaker-arm.yaml', '--design'], check=True,
                      capture_output=True, text=True).stdout
if 'Contact pivot.lower: ' not in text or 'Joint pivot: force at most' not in text:
    sys.exit('--design says nothing in words')
