#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""bundle_wheel.py PLAIN.whl FOLDER: the same wheel with the shared libraries inside that are not part of glibc, found from
where the files are ($ORIGIN), under names of their own, so that they are not taken for those of other packages. Its platform
tag (PEP 600) is the oldest glibc that has every symbol version its files ask for. Needs patchelf, binutils and wheel."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What PEP 600 expects on every machine, of glibc alone; the rest is bundled.
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2", "libutil.so.1",
         "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(path):
    """Names of the libraries a file asks for."""
    return [name for name in output("patchelf", "--print-needed", path).split() if name not in GLIBC]


def places(path):
    """Where the loader finds what a file needs, and what that needs."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", path), re.M))
    return {name: pathlib.Path(os.path.realpath(place)) for name, place in found.items() if name not in GLIBC}


def own_name(name, place):
    """libexpat.so.1 as libexpat-1a2b3c4d.so.1."""
    stem, rest = name.split(".so", 1)
    return f"{stem}-{hashlib.sha256(place.read_bytes()).hexdigest()[:8]}.so{rest}"


def oldest_glibc(files):
    """(2, 35), and the symbols that ask for it."""
    versions = {}
    for path in files:
        for symbol, major, minor in re.findall(r"\(GLIBC_(\d+)\.(\d+)[.\d]*\)\s+(\S+)", output("objdump", "-T", path)):
            versions.setdefault((int(symbol), int(major)), set()).add(minor)
    newest = max(versions)
    return newest, sorted(versions[newest])


def foreign_versions(files):
    """Symbol versions of C++ or gcc libraries: there must be none, since the tag does not speak of them."""
    return {word for path in files for word in re.findall(r"\((GLIBCXX_[\d.]+|CXXABI_[\d.]+)\)", output("objdump", "-T", path))}


def machine(path):
    """The processor, as platform tags call it."""
    word = re.search(r"Machine:\s+(.*)", output("readelf", "-h", path)).group(1)
    return {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}[word]


def licence_of(place, folder):
    """The copyright file of the Debian package that a library is of."""
    for name in (place, pathlib.Path(str(place).replace("/usr/lib/", "/lib/", 1))):
        answer = subprocess.run(["dpkg", "-S", str(name)], capture_output=True, text=True)
        if answer.returncode == 0:
            package = answer.stdout.split(":")[0]
            shutil.copy(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")
            return
    raise SystemExit(f"{place}: no Debian package, so its licence is not known")


def bundle(root):
    """Copies libraries into saltus.libs and points at them; the ELF files of the wheel."""
    own = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and is_elf(path)]
    for path in own:  # unpacking forgets that programs can be run
        path.chmod(0o755)
    libraries = {name: place for path in own for name, place in places(path).items()}
    folder = root / "saltus.libs"
    licences = next(root.glob("*.dist-info")) / "licenses"
    folder.mkdir()
    licences.mkdir(exist_ok=True)
    names = {name: own_name(name, place) for name, place in libraries.items()}
    for name, place in libraries.items():
        copy = folder / names[name]
        shutil.copy(place, copy)
        copy.chmod(0o755)
        licence_of(place, licences)
        output("patchelf", "--set-soname", names[name], copy)
    files = own + sorted(folder.iterdir())
    for path in filter(needed, files):  # the shared object of FMUs keeps its bytes
        origin = "$ORIGIN" if path.parent == folder else "$ORIGIN/" + os.path.relpath(folder, path.parent)
        for name in needed(path):  # one change a call: patchelf 0.14 mixes up the words of several
            output("patchelf", "--replace-needed", name, names[name], path)
        output("patchelf", "--force-rpath", "--set-rpath", origin, path)
    for path in files:  # everything is found inside, and nothing outside
        outside = [str(place) for place in places(path).values() if root not in place.parents]
        if outside or "not found" in output("ldd", path):
            raise SystemExit(f"{path.name} is not self-contained: {' '.join(outside)}")
    return files


def retag(root, platform):
    path = next(root.glob("*.dist-info")) / "WHEEL"
    text = path.read_text()
    path.write_text(re.sub(r"^(Tag: \w+-\w+-)\S+$", rf"\g<1>{platform}", text, flags=re.M))


def main():
    plain, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        output(sys.executable, "-m", "wheel", "unpack", "-d", name, plain)
        root = next(pathlib.Path(os.path.realpath(name)).iterdir())
        files = bundle(root)
        foreign = foreign_versions(files)
        if foreign:
            raise SystemExit(f"symbols of C++ are asked for, which no tag promises: {' '.join(sorted(foreign))}")
        (major, minor), symbols = oldest_glibc(files)
        platform = f"manylinux_{major}_{minor}_{machine(files[0])}"
        retag(root, platform)
        output(sys.executable, "-m", "wheel", "pack", "-d", folder, root)
        libraries = sorted(path.name for path in (root / "saltus.libs").iterdir())
    made = max(folder.glob("*.whl"), key=os.path.getmtime)
    print(f"{made}: {made.stat().st_size / 1e6:.2f} MB, {len(libraries)} libraries inside; glibc {major}.{minor} for "
          f"{', '.join(symbols[:4])}{' ...' if len(symbols) > 4 else ''}")


if __name__ == "__main__":
    main()
