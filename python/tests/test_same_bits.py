# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The numbers are those of the program: the recording that a solution saves is its file, byte by byte."""
import pathlib
import tempfile
import unittest

import saltus
from support import PROGRAM, SCENES, SHORT, long_only, not_short, program

ALL = sorted(SCENES.glob("*.yaml")) + sorted(SCENES.glob("shapes/*.yaml"))
SCHEMES = list(saltus.schemes())
OPTIONS = {"scheme": "--scheme", "step": "--step", "tol": "--tol", "t_end": "--until"}


def of_python(path, file, settings):
    """The message of what it raises, or ""."""
    try:
        sol = saltus.solve(path, **settings)
    except saltus.SolveError as error:
        if error.solution is None:
            return str(error)
        error.solution.save(file)
        return str(error)
    except saltus.Error as error:
        return str(error)
    sol.save(file)
    return ""


@unittest.skipUnless(PROGRAM.exists(), "the program is not built")
class SameBits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compare(self, path, **settings):
        here = pathlib.Path(self.folder.name)
        ours, theirs = here / "python.h5", here / "program.h5"
        for file in (ours, theirs):
            file.unlink(missing_ok=True)
        relative = str(path.relative_to(pathlib.Path.cwd()))
        arguments = [word for name, value in settings.items() for word in (OPTIONS[name], value)]
        answer = program("run", relative, "-o", theirs, *arguments)
        message = of_python(relative, ours, settings)
        case = (relative, settings, message, answer.stderr)
        self.assertEqual(answer.returncode == 0, message == "", case)
        self.assertEqual(ours.exists(), theirs.exists(), case)
        if ours.exists():
            self.assertTrue(ours.read_bytes() == theirs.read_bytes(), case)
        return message == ""

    def settings_of(self, path, scheme=None, steps=20):
        """A short run, in the scheme's own steps or to a tolerance."""
        model = saltus.Model(path)
        start, until, step = (float(model._fact(name)) for name in ("start", "until", "step"))
        step = step if step == step else 1e-3
        chooses = saltus.schemes()[scheme]["chooses_step"] if scheme else False
        end = start + steps * step
        settings = {"t_end": min(end, until) if until == until else end}
        if scheme is not None:
            settings["scheme"] = scheme
            settings["tol" if chooses else "step"] = 1e-6 if chooses and scheme != "event-driven" else step
            if scheme == "event-driven":
                settings.pop("tol", None)
                settings["step"] = step
        return settings

    def test_every_scheme_on_one_scene(self):
        path = SCENES / "woodpecker.yaml"
        done = [self.compare(path, **self.settings_of(path, scheme, 50))
                for scheme in (SCHEMES[::6] if SHORT else SCHEMES)]
        self.assertGreater(sum(done), len(done) // 2)

    @not_short
    def test_every_scene_as_it_says(self):
        done = [self.compare(path, **self.settings_of(path)) for path in ALL]
        self.assertGreater(sum(done), 0.9 * len(done))

    @not_short
    def test_every_scene_to_a_tolerance(self):
        done = [self.compare(path, t_end=self.settings_of(path)["t_end"], tol=1e-5) for path in ALL]
        self.assertGreater(sum(done), 0.8 * len(done))

    @long_only
    def test_every_scheme_on_every_scene(self):
        done = [self.compare(path, **self.settings_of(path, scheme)) for path in ALL for scheme in SCHEMES]
        self.assertGreater(sum(done), len(done) // 2)


if __name__ == "__main__":
    unittest.main()
