# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""The package: Python sources, the extension and the program, which CMake builds. SALTUS_BUILD names the folder of
a finished build; without it they are built there first, in build/ beside this folder."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent


def version():
    text = (SOURCE / "include/saltus/version.h").read_text()
    return ".".join(re.search(rf"SALTUS_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def built():
    """Extension, program and shared object of FMUs, built where they are not."""
    given = os.environ.get("SALTUS_BUILD")
    folder = pathlib.Path(given) if given else SOURCE / "build"
    if not given:
        subprocess.run(["cmake", "--preset", "release"], cwd=SOURCE, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", str(folder), "--target", "saltus_python", "saltus_cli",
                        "saltus_fmu_binary"], cwd=SOURCE,
                       check=True)
    return folder / "python-path/saltus/_core.abi3.so", folder / "saltus", folder / "saltus_fmu.so"


class Build(build_py):
    def run(self):
        super().run()
        extension, program, fmus = built()
        package = pathlib.Path(self.build_lib) / "saltus"
        shutil.copy(extension, package / "_core.abi3.so")
        if program.exists() and not self.editable_mode:
            (package / "bin").mkdir(exist_ok=True)
            shutil.copy(program, package / "bin/saltus")
        if fmus.exists() and not self.editable_mode:
            (package / "data").mkdir(exist_ok=True)
            shutil.copy(fmus, package / "data/saltus_fmu.so")


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=Binary, cmdclass={"build_py": Build},
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
