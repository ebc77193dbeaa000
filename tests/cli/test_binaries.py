#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every program and library of the build: no foreign run path, and hardened as Debian's packages are."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import unittest

BUILD = pathlib.Path(os.environ['SALTUS_PROGRAM']).parent
HARDENED = os.environ['SALTUS_HARDENED'] == '1'
OPTIMISED = os.environ['SALTUS_OPTIMISED'] == '1'


def binaries():
    """Executables and shared libraries of the build itself; nested builds of other presets are their own."""
    places = [BUILD, BUILD / 'lib', BUILD / 'tests', BUILD / 'tests' / 'fuzz', BUILD / 'examples', BUILD / 'bench',
              BUILD / 'python-path' / 'saltus']
    for place in places:
        for path in sorted(place.glob('*')):
            if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK):
                with open(path, 'rb') as file:
                    if file.read(4) == b'\x7fELF':
                        yield path


@functools.cache
def known():
    """Libraries that the loader finds without a run path."""
    program = shutil.which('ldconfig') or '/sbin/ldconfig'
    listed = subprocess.run([program, '-p'], capture_output=True, text=True).stdout if os.path.exists(program) else ''
    return {line.split()[0] for line in listed.splitlines() if '=>' in line}


def readelf(*words):
    return subprocess.run(['readelf', '-W', *map(str, words)], capture_output=True, text=True, check=True).stdout


@unittest.skipUnless(shutil.which('readelf'), 'no readelf')
class Binaries(unittest.TestCase):
    def test_run_paths_are_absolute_folders_of_the_build(self):
        """Others only where a library is found by nothing else."""
        seen = 0
        for path in binaries():
            seen += 1
            text = readelf('-d', path)
            needed = re.findall(r'\(NEEDED\).*\[(.*)\]', text)
            for value in re.findall(r'\(R(?:UN)?PATH\).*\[(.*)\]', text):
                for element in value.split(':'):
                    self.assertTrue(element.startswith('/'), f'{path}: element "{element}" of run path "{value}"')
                    own = pathlib.Path(element).is_relative_to(BUILD)
                    alone = [name for name in needed if (pathlib.Path(element) / name).exists() and name not in known()]
                    self.assertTrue(own or alone, f'{path}: element "{element}" of run path "{value}"')
        self.assertGreater(seen, 10)

    @unittest.skipUnless(HARDENED, 'a sanitizer build or no ELF platform')
    def test_binaries_are_position_independent_and_their_tables_read_only(self):
        for path in binaries():
            text = readelf('-h', '-l', '-d', path)
            self.assertRegex(text, r'Type: +DYN', path)
            self.assertIn('GNU_RELRO', text, path)
            self.assertRegex(text, r'\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW', path)
            self.assertRegex(text, r'GNU_STACK .* RW ', path)
            self.assertNotRegex(text, r'LOAD .* RWE ', path)

    @unittest.skipUnless(HARDENED, 'a sanitizer build or no ELF platform')
    def test_stacks_have_canaries(self):
        for path in (BUILD / 'saltus', *(BUILD / 'lib').glob('libsaltus.so'), *(BUILD / 'tests').glob('test_*')):
            if path.is_file() and os.access(path, os.X_OK):
                self.assertIn('__stack_chk_fail', readelf('--dyn-syms', path), path)

    @unittest.skipUnless(HARDENED and OPTIMISED, 'not optimised: the C library checks no sizes')
    def test_sizes_of_buffers_are_checked_by_the_c_library(self):
        for path in (BUILD / 'saltus', *(BUILD / 'lib').glob('libsaltus.so')):
            symbols = readelf('--dyn-syms', path)
            self.assertRegex(symbols, r'__(snprintf|vsnprintf|memcpy|fprintf)_chk', path)


if __name__ == '__main__':
    unittest.main()
