#!/usr/bin/env python3
"""Builds the Python module of handler authors as a wheel: DESTINATION/wakehandler-VERSION-py3-none-any.whl.

A wheel of pure Python is a zip archive of its files and three files about them (PEP 427). Writing it here needs neither a
network nor setuptools, which not every Python has. The bytes follow from the sources alone.
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = ROOT / "Packages/python/wakehandler"


def metadata(version):
    project = (ROOT / "Packages/python/pyproject.toml").read_text(encoding="utf-8")
    about = {name: re.search(rf'^{name} = "(.*)"$', project, re.M)[1] for name in ("description", "requires-python")}
    return (f"Metadata-Version: 2.1\nName: wakehandler\nVersion: {version}\nSummary: {about['description']}\n"
            f"License: MIT\nRequires-Python: {about['requires-python']}\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "Packages/python/README.md").read_text(encoding="utf-8"))


def record(files):
    def line(name, text):
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(text)}\n"
    return "".join(line(name, text) for name, text in files.items())


def main(destination):
    version = subprocess.run([ROOT / "Scripts/version.sh"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    info = f"wakehandler-{version}.dist-info"
    sources = sorted(path for path in MODULE.iterdir() if path.suffix == ".py" or path.name == "py.typed")
    files = {f"wakehandler/{path.name}": path.read_bytes() for path in sources}
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: wakebridge\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = (record(files) + f"{info}/RECORD,,\n").encode()
    wheel = pathlib.Path(destination).resolve() / f"wakehandler-{version}-py3-none-any.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: wheel.py DESTINATION")
    main(sys.argv[1])
