#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every scene of scenes/ as `saltus run SCENE`, without warnings and in at most 25 lines; then with adaptive and three other
schemes, each run certified (make test-long).

  verify_scenes.py PROGRAM FOLDER [SECONDS]

Every run has to come to its end within SECONDS of processor time and to pass. Scenes that 1 ms does not suit, that are long, or that
a scheme refuses say below how they are run instead; what is not certified at all is a list of its own.
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
INSTEAD = {
    'bodies-andrews': {'moreau-jean': '--step 1e-5', 'variational': '--step 1e-5'},  # 0.05 s in all
    'bodies-bricard': {'adaptive': '--until 0.5', 'dg-minus': '--until 2'},
    'bodies-flyball': {'adaptive': '--until 0.3', 'dg-minus': '--step 1e-4 --until 0.5'},
    'bodies-four-bar-1': dict.fromkeys(('moreau-jean', 'variational', 'dg-minus'), '--until 0.7'),  # then it is singular
    'contact-arch': {'dg-minus': '--until 0.05'},
    'contact-column': {'dg-minus': '--until 0.05'},
    'machine-breaker': {'moreau-jean': '--step 2e-6 --until 0.004', 'variational': '--step 2e-6 --until 0.004',
                        'dg-minus': '--scheme moreau-midpoint --step 2e-6 --until 0.004'},
}


def limit(seconds):
    """Processor time, which a busy machine does not change."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 2))


def run(program, scene, way, path, seconds):
    """None, or what is wrong."""
    words = [program, 'run', str(scene), '--scheme', *way, '-o', str(path), '--force', '--certify', '--json']
    for word, value in pairs(INSTEAD.get(scene.stem, {}).get(way[0], '')):
        if word in words:
            words[words.index(word) + 1] = value
        else:
            words += [word, value]
    result = subprocess.run(words, capture_output=True, text=True, preexec_fn=lambda: limit(seconds))
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f'more than {seconds} s'
    made = json.loads(result.stdout).get('certificate') if result.stdout.startswith('{') else None
    if result.returncode == 0 and made is not None:
        return None
    if made is None:
        return f'ends with {result.returncode}: {result.stderr.strip().splitlines()[:1]}'
    if made['passed']:
        return f'looked at in part: {made["unfollowed"]}'
    return f'ALARM {[(i["name"], i["value"], i["limit"]) for i in made["items"] if not i["passed"]]}'


def pairs(text):
    words = text.split()
    return zip(words[::2], words[1::2])


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60.0
    wrong, count = 0, 0
    for scene in sorted(folder.glob('**/*.yaml')):
        printed = subprocess.run([program, 'run', str(scene)], capture_output=True, text=True, preexec_fn=lambda: limit(seconds))
        if printed.returncode != 0 or printed.stderr or len(printed.stdout.splitlines()) > 25:
            print(f'{scene.stem}: exit {printed.returncode}, {len(printed.stdout.splitlines())} lines, {printed.stderr.strip()}', flush=True)
            wrong += 1
        count += 1
    with tempfile.TemporaryDirectory(prefix='saltus-scenes-') as room:
        for scene in sorted(folder.glob('*.yaml')):
            for way in WAYS:
                said = run(program, scene, way, pathlib.Path(room) / 'run.h5', seconds)
                count += 1
                wrong += said is not None
                if said is not None:
                    print(f'{scene.stem} {way[0]}: {said}', flush=True)
    print(f'{count} runs, {count - wrong} as expected')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
