#!/usr/bin/env python3
"""Compares fingerprints of runs of two builds with different C libraries, as tests/conformance/bits.c prints
them. Runs of systems without functions of the C library beyond sqrt have to agree; those with sin and cos are
counted."""
import sys

# systems whose forces and gaps contain sin or cos, which C libraries round differently in rare cases
WITH_SINES = {'pendulum-wall', 'forced-ball'}

a, b = (dict(line.rsplit(' ', 1) for line in open(name)) for name in sys.argv[1:3])
if a.keys() != b.keys() or not a:
    sys.exit('different runs')
wrong = [run for run in a if a[run] != b[run]]
sines = [run for run in a if run.split()[-1] in WITH_SINES]
bad = [run for run in wrong if run not in sines]
print(f'{len(a) - len(sines)} runs without sines: {len(a) - len(sines) - len(bad)} with the same bits; '
      f'{len(sines)} with: {len(sines) - len([r for r in wrong if r in sines])}')
if bad:
    sys.exit('different bits:\n  ' + '\n  '.join(bad))
