# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Every public name has a docstring with an example, and the examples run."""
import doctest
import importlib
import inspect
import pkgutil
import unittest

import saltus
from support import not_short

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


class Documented(unittest.TestCase):
    def test_every_public_name_has_an_example(self):
        bare = [name for name, thing in public_names() if ">>>" not in (inspect.getdoc(thing) or "")]
        self.assertEqual(bare, [])

    @not_short
    def test_the_examples_run(self):
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        for module in [saltus, *MODULES]:
            result = doctest.testmod(module, optionflags=flags)
            self.assertEqual(result.failed, 0, module.__name__)


if __name__ == "__main__":
    unittest.main()
