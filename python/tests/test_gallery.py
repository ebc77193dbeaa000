# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The gallery runs: every script asserts what it shows, prints it, draws its figure and is on the page."""
import ast
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, not_short

SCRIPTS = sorted((ROOT / "python/gallery").glob("*.py"))


class Gallery(unittest.TestCase):
    def test_there_are_eight_that_assert_and_are_on_the_page(self):
        page = (ROOT / "docs/python-gallery.md").read_text()
        self.assertEqual(len(SCRIPTS), 8)
        for script in SCRIPTS:
            asserted = [node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.Assert)]
            self.assertTrue(asserted, script.name)
            self.assertIn(f"images/gallery/{script.stem}.png", page)
            self.assertIn(f"python/gallery/{script.name}", page)

    @not_short
    @unittest.skipUnless(importlib.util.find_spec("matplotlib") and importlib.util.find_spec("pandas")
                         and importlib.util.find_spec("scipy"), "no matplotlib, pandas or SciPy")
    def test_every_script_runs_and_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            for script in SCRIPTS:
                with self.subTest(script.name):
                    # from elsewhere, as a user would; asserts are on whatever the environment says
                    environment = {name: value for name, value in os.environ.items() if name != "PYTHONOPTIMIZE"}
                    run = subprocess.run([sys.executable, str(script), folder], capture_output=True, text=True, cwd=folder,
                                         env=environment)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    self.assertTrue(re.search(r"\d", run.stdout), "prints no number")
                    drawn = os.path.join(folder, f"{script.stem}.png")
                    self.assertGreater(os.path.getsize(drawn), 10000)


if __name__ == "__main__":
    unittest.main()
