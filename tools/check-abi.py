#!/usr/bin/env python3
"""What programs that are already compiled rely on: the names that the shared library exports and the sizes of the
public structs, beside the list in tests/abi/names.txt.

  tools/check-abi.py LIBRARY [--compiler CC] [--write]

Fails when a name does not start with saltus_, and when names or sizes differ from the list; --write makes the list
anew, for a change that is meant (docs/abi.md says what has to follow)."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / 'tests' / 'abi' / 'names.txt'


def exported(library):
    out = subprocess.run(['nm', '-D', '--defined-only', library], check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[-1] for line in out.splitlines() if line.split()[-2] not in 'A')


def sizes(compiler):
    """Bytes of every public struct with members, by asking the compiler."""
    names = set()
    for header in sorted((ROOT / 'include' / 'saltus').glob('*.h')):
        names.update(re.findall(r'^typedef struct (saltus_\w+) \{', header.read_text(), re.M))
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'sizes.c'
        lines = ''.join(f'  printf("{n} %zu\\n", sizeof({n}));\n' for n in sorted(names))
        source.write_text(f'#include <saltus/saltus.h>\n#include <stdio.h>\nint main(void) {{\n{lines}}}\n')
        subprocess.run([compiler, '-std=c17', '-I', ROOT / 'include', source, '-o', source.with_suffix('')], check=True)
        return subprocess.run([source.with_suffix('')], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    words = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].strip())
    words.add_argument('library')
    words.add_argument('--compiler', default='cc')
    words.add_argument('--write', action='store_true')
    given = words.parse_args()
    names = exported(given.library)
    strangers = [n for n in names if not n.startswith('saltus_')]
    if strangers:
        sys.exit('exported, but not public: ' + ', '.join(strangers))
    present = ['# exported names; bytes of public structs where pointers have 64 bits; tools/check-abi.py --write',
               *names, *(f'struct {line}' for line in sizes(given.compiler))]
    if given.write:
        LIST.write_text('\n'.join(present) + '\n')
        return
    known = LIST.read_text().splitlines()
    gone = [f'  gone or changed: {n}' for n in known if n not in set(present)]
    new = [f'  new: {n}' for n in present if n not in set(known)]
    if gone or new:
        sys.exit('\n'.join(['the binary interface is not that of tests/abi/names.txt:', *gone, *new,
                            f'when this is meant: tools/check-abi.py {given.library} --write, and docs/abi.md']))
    print(f'{len(names)} names and {len(present) - 1 - len(names)} structs as in {LIST.relative_to(ROOT)}')


main()
