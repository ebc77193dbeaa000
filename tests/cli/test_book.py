# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The validation book: some entries build, and what is wrong fails the build and says so."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ["SALTUS_PROGRAM"]
ENTRIES = "ball,oscillator,pendulum,block-stops,kane,cube-slip,breaker-arm"


def build(chapters, folder, only):
    done = subprocess.run([sys.executable, str(ROOT / "tools/book.py"), "--program", PROGRAM, "--chapters", str(chapters), "-o", folder,
                           "--only", only, "-j", "2"], capture_output=True, text=True)
    book = json.loads((pathlib.Path(folder) / "book.json").read_text()) if done.returncode in (0, 1) else None
    return done, book


def mutated(folder, chapter, before, after):
    """The book with one text of one chapter replaced."""
    there = pathlib.Path(folder) / "chapters"
    there.mkdir()
    for path in (ROOT / "book").iterdir():
        words = path.read_text()
        if path.name == chapter:
            assert words.count(before) == 1, f"{before!r} is {words.count(before)} times in {chapter}"
            words = words.replace(before, after)
        (there / path.name).write_text(words)
    return there


class Book(unittest.TestCase):
    def test_entries_build_with_figures_and_certificates(self):
        with tempfile.TemporaryDirectory() as folder:
            done, book = build(ROOT / "book", folder, ENTRIES)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(book["entries"], len(ENTRIES.split(",")))
            self.assertEqual(book["passed"], book["certificates"])
            self.assertTrue(0 < book["worst"] <= 1)
            index = (pathlib.Path(folder) / "index.md").read_text()
            self.assertIn("Every one of", index)
            self.assertLess(len(index.splitlines()), 40)
            page = (pathlib.Path(folder) / "01-impacts.md").read_text()
            for figure in ("ball.svg", "ball-sketch.svg", "oscillator-work.svg"):
                self.assertIn(f"figures/{figure}", page)
                self.assertIn("</svg>", (pathlib.Path(folder) / "figures" / figure).read_text())

    def fails(self, chapter, before, after, only, words):
        with tempfile.TemporaryDirectory() as folder:
            done, _ = build(mutated(folder, chapter, before, after), folder, only)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(words, done.stdout)
            self.assertIn("claims fail", (pathlib.Path(folder) / "index.md").read_text())

    def test_a_wrong_accepted_number_fails(self):
        self.fails("01-impacts.toml", 'accepted = "4.75"', 'accepted = "4.750001"', "oscillator", "tenth impact, tol")

    def test_a_run_that_fails_fails(self):
        self.fails("01-impacts.toml", 'id = "oscillator"\n', 'id = "oscillator"\nset = {k = "-1/0"}\n', "oscillator", "the run fails")

    def test_an_event_that_does_not_happen_fails(self):
        self.fails("01-impacts.toml", "event('impact', 10).t", "event('impact', 11).t", "oscillator", "no impact 11")


if __name__ == "__main__":
    unittest.main()
