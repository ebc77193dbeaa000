#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every scene of scenes/ with adaptive and three other schemes, each run certified (make test-long).

  verify_scenes.py PROGRAM FOLDER [SECONDS]

A scheme may refuse a scene (exit code 2), and a run may end with an error of its own or take more than SECONDS of processor time: both
are listed and counted. What fails the test is a run that comes to its end and whose certificate does not pass, unless it is among the known ones.
"""
import json
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

WAYS = (('adaptive', '--tol', '1e-6'), ('moreau-jean', '--step', '1e-3'), ('variational', '--step', '1e-3'),
        ('dg-minus', '--step', '1e-3'))
KNOWN = {}  # (scene, scheme): why its certificate does not pass


def limit(seconds):
    """Processor time, which a busy machine does not change."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 2))


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60.0
    counts = {'pass': 0, 'refused': 0, 'fail themselves': 0, 'slow': 0, 'known': 0, 'partly': 0}
    alarms = []
    with tempfile.TemporaryDirectory(prefix='saltus-scenes-') as room:
        for scene in sorted(folder.glob('*.yaml')):
            for way in WAYS:
                path = pathlib.Path(room) / 'run.h5'
                words = [program, 'run', str(scene), '--scheme', *way, '-o', str(path), '--force', '--certify', '--json']
                result = subprocess.run(words, capture_output=True, text=True, preexec_fn=lambda: limit(seconds))
                if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                    counts['slow'] += 1
                    print(f'{scene.stem} {way[0]}: more than {seconds} s', flush=True)
                    continue
                made = json.loads(result.stdout).get('certificate') if result.stdout.startswith('{') else None
                if result.returncode == 0:
                    counts['pass'] += 1
                elif made is None:
                    kind = 'refused' if result.returncode == 2 else 'fail themselves'
                    counts[kind] += 1
                    print(f'{scene.stem} {way[0]}: {kind}: {result.stderr.strip().splitlines()[-1:]}', flush=True)
                elif made['passed']:
                    counts['partly'] += 1
                    print(f'{scene.stem} {way[0]}: holds, looked at in part: {made["unfollowed"]}')
                elif (scene.stem, way[0]) in KNOWN:
                    counts['known'] += 1
                else:
                    failed = [(i['name'], i['value'], i['limit']) for i in made['items'] if not i['passed']]
                    alarms.append(f'{scene.stem} {way[0]}: {failed}')
                    print('ALARM', alarms[-1], flush=True)
    print(counts)
    print(f'{len(alarms)} alarms')
    return 1 if alarms else 0


if __name__ == '__main__':
    sys.exit(main())
