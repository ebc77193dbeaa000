# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every public name has a docstring with an example, and the examples run."""
import contextlib
import doctest
import importlib.util
import inspect
import io
import os
import pkgutil
import re
import tempfile
import unittest

import saltus
from support import ROOT, not_short

MODULES = [importlib.import_module(f"saltus.{m.name}") for m in pkgutil.iter_modules(saltus.__path__)
           if m.name not in ("__main__", "_core")]


def public_names():
    """(name, object) of everything that users reach from `saltus`."""
    for name in saltus.__all__:
        thing = getattr(saltus, name)
        yield name, thing
        if inspect.isclass(thing) and thing.__module__.startswith("saltus"):
            for member, value in vars(thing).items():
                inside = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                if not member.startswith("_") and inspect.isfunction(inside):
                    yield f"{name}.{member}", inside


def has_viewer():
    """Whether this build has pages: it does where node and npm were."""
    try:
        saltus.solve("scenes/ball.yaml", 0.1).animate()
    except saltus.Error:
        return False
    return True


class Documented(unittest.TestCase):
    def test_every_public_name_has_an_example(self):
        bare = [name for name, thing in public_names() if ">>>" not in (inspect.getdoc(thing) or "")]
        self.assertEqual(bare, [])

    @not_short
    def test_the_examples_run(self):
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        viewer = has_viewer()
        for module in [saltus, *MODULES]:
            runner = doctest.DocTestRunner(optionflags=flags)
            for test in doctest.DocTestFinder().find(module):
                if viewer or not re.search(r"animate\(|view\(", test.docstring or ""):
                    runner.run(test)
            self.assertEqual(runner.summarize(verbose=False).failed, 0, module.__name__)

    @not_short
    def test_plot_of_the_readme(self):
        if not importlib.util.find_spec("matplotlib"):
            self.skipTest("no matplotlib")
        text = (ROOT / "README.md").read_text()
        code = re.search(r"^```python\n(import saltus\n.*?)```$", text, re.M | re.S).group(1)
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
            picture = os.path.join(folder, "woodpecker.png")
            exec(code.replace("woodpecker.png", picture), {})
            self.assertGreater(os.path.getsize(picture), 10000)
        self.assertIn("woodpecker on a pole", out.getvalue())


if __name__ == "__main__":
    unittest.main()
