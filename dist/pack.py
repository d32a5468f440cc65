#!/usr/bin/env python3
"""Makes npm packages and Python wheels out of built binaries.

The binaries are those of artifacts.json, which goreleaser writes: entries with
type Binary, goos, goarch and path. Output: OUT/npm/NAME, a folder for npm
publish for each package, and OUT/pypi/*.whl. It needs Python 3.9 or newer and
nothing else. The same input gives the same bytes.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import re
import shutil
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = "Browser-automation runtime that runs declared site actions on Chromium tabs"
HOME = "https://github.com/outrider-run/outrider"

# A platform of Go, and its names for npm and for wheels. The binary is static, so
# one wheel serves every C library of Linux.
PLATFORMS = {
    ("linux", "amd64"): ("linux", "x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    ("linux", "arm64"): ("linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    ("darwin", "amd64"): ("darwin", "x64", "macosx_11_0_x86_64"),
    ("darwin", "arm64"): ("darwin", "arm64", "macosx_11_0_arm64"),
    ("windows", "amd64"): ("win32", "x64", "win_amd64"),
    ("windows", "arm64"): ("win32", "arm64", "win_arm64"),
}


def binaries(path):
    """The path of the binary for each platform of artifacts.json."""
    found = {}
    for artifact in json.loads(path.read_text()):
        if artifact.get("type") != "Binary":
            continue
        platform = (artifact["goos"], artifact["goarch"])
        if platform not in PLATFORMS:
            sys.exit(f"{path}: a binary for {'/'.join(platform)}, which has no name on npm and PyPI")
        found[platform] = pathlib.Path(artifact["path"])
    if not found:
        sys.exit(f"{path}: no entry of type Binary")
    return found


def program(goos):
    return "outrider.exe" if goos == "windows" else "outrider"


def npm(out, version, found):
    main = json.loads((HERE / "npm" / "package.json").read_text())
    main["version"] = version
    main["optionalDependencies"] = {}
    for (goos, goarch), binary in sorted(found.items()):
        system, cpu, _ = PLATFORMS[goos, goarch]
        name = f"{main['name']}-{system}-{cpu}"
        main["optionalDependencies"][name] = version
        folder = out / f"outrider-{system}-{cpu}"
        (folder / "bin").mkdir(parents=True)
        shutil.copyfile(binary, folder / "bin" / program(goos))
        (folder / "bin" / program(goos)).chmod(0o755)
        shutil.copyfile(HERE.parent / "LICENSE", folder / "LICENSE")
        write(folder / "package.json", {
            "name": name, "version": version, "description": f"outrider for {system} on {cpu}",
            "license": main["license"], "homepage": main["homepage"], "repository": main["repository"],
            "os": [system], "cpu": [cpu], "files": ["bin"], "preferUnplugged": True,
        })
    folder = out / "outrider"
    shutil.copytree(HERE / "npm", folder)
    shutil.copyfile(HERE.parent / "LICENSE", folder / "LICENSE")
    (folder / "bin" / "outrider.js").chmod(0o755)
    write(folder / "package.json", main)


def write(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def python_version(version):
    """A version as PEP 440 writes it: 1.2.3, 1.2.3-rc.1 or 1.2.3-dev."""
    m = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(rc|beta|alpha|dev|snapshot)\.?(\d*))?", version)
    if not m:
        sys.exit(f"--version is {version}: expected X.Y.Z, or that with -alpha.N, -beta.N, -rc.N, -dev or -snapshot")
    kinds = {None: "", "rc": "rc", "beta": "b", "alpha": "a", "dev": ".dev", "snapshot": ".dev"}
    return m[1] + kinds[m[2]] + ((m[3] or "0") if m[2] else "")


def wheels(out, version, found):
    version = python_version(version)
    out.mkdir(parents=True)
    base = f"outrider_run-{version}"
    metadata = "\n".join([
        "Metadata-Version: 2.4", "Name: outrider-run", f"Version: {version}", f"Summary: {SUMMARY}", f"Home-page: {HOME}",
        "License-Expression: MIT", "License-File: LICENSE", "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown", "", (HERE / "pypi" / "README.md").read_text(),
    ])
    for (goos, goarch), binary in sorted(found.items()):
        tags = PLATFORMS[goos, goarch][2]
        info = f"{base}.dist-info"
        tag_lines = "".join(f"Tag: py3-none-{t}\n" for t in tags.split("."))
        files = [
            (f"{base}.data/scripts/{program(goos)}", binary.read_bytes(), 0o755),
            (f"{info}/METADATA", metadata.encode(), 0o644),
            (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: outrider\nRoot-Is-Purelib: false\n{tag_lines}".encode(), 0o644),
            (f"{info}/licenses/LICENSE", (HERE.parent / "LICENSE").read_bytes(), 0o644),
        ]
        record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in files)
        files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
        with zipfile.ZipFile(out / f"{base}-py3-none-{tags}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            for name, data, mode in files:
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.external_attr = (0o100000 | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                wheel.writestr(entry, data)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--version", required=True, help="version of the packages, such as 1.2.3")
    p.add_argument("--artifacts", required=True, type=pathlib.Path, help="artifacts.json of goreleaser")
    p.add_argument("--out", required=True, type=pathlib.Path, help="folder to write; what is in its npm and pypi goes")
    a = p.parse_args()
    version = a.version.removeprefix("v")
    found = binaries(a.artifacts)
    for name in ("npm", "pypi"):
        shutil.rmtree(a.out / name, ignore_errors=True)
    npm(a.out / "npm", version, found)
    wheels(a.out / "pypi", version, found)


if __name__ == "__main__":
    main()
