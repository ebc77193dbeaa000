#!/usr/bin/env python3
"""Runs the tests of build folders one by one and prints their processor time, largest first.

Tests with the label long are left out. Fails when another takes more than LIMIT seconds: then it
belongs to make test-long, or has to be made smaller. Usage: tools/test-times.py build [folder ...]
"""
import json
import os
import resource
import subprocess
import sys

LIMIT = 30.0


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(folder):
    listing = subprocess.check_output(["ctest", "--test-dir", folder, "--show-only=json-v1", "-LE", "^long$"])
    rows = []
    for test in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(os.environ)
        environment.update(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
        before = processor_time()
        done = subprocess.run(test["command"], cwd=properties.get("WORKING_DIRECTORY"), env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        rows.append((processor_time() - before, test["name"], done.returncode))
    return sorted(rows, reverse=True)


def main():
    slow = False
    for folder in sys.argv[1:] or ["build"]:
        rows = measure(folder)
        print(f"{folder}: {sum(r[0] for r in rows):.0f} s in {len(rows)} tests")
        for seconds, name, code in rows[:8]:
            print(f"  {seconds:6.1f} s  {name}{'' if code == 0 else '  FAILED'}")
        slow = slow or any(r[0] > LIMIT or r[2] != 0 for r in rows)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
