"""Makes the wheel and the source archive of this folder, as pip asks for them (PEP 517).

The package is plain Python, so its wheel is a zip of its files with three files about them. The
same files give the same bytes. Rule U75 (api/RULES.md).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

_HERE = Path(__file__).parent
_PACKAGE = "paperbook_client"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: object = None
) -> str:
    """Writes the wheel, and returns its name."""
    project = _project()
    about = f"{_stem(project)}.dist-info"
    files = {
        **dict(_sources()),
        f"{about}/licenses/LICENSE": (_HERE / "LICENSE").read_bytes(),
        f"{about}/METADATA": _metadata(project),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: wheel_backend\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""]).encode()
    name = f"{_stem(project)}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, content in files.items():
            entry = zipfile.ZipInfo(place, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Writes the source archive, and returns its name."""
    project = _project()
    files = {"PKG-INFO": _metadata(project), **dict(_sources())}
    for name in ("LICENSE", "README.md", "pyproject.toml", Path(__file__).name):
        files[name] = (_HERE / name).read_bytes()
    name = f"{_stem(project)}.tar.gz"
    # A gzip without a time.
    with (
        gzip.GzipFile(Path(sdist_directory) / name, "wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for place, content in files.items():
            entry = tarfile.TarInfo(f"{_stem(project)}/{place}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return name


def _project() -> dict:
    return tomllib.loads((_HERE / "pyproject.toml").read_text())["project"]


def _stem(project: dict) -> str:
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _sources() -> Iterator[tuple[str, bytes]]:
    for file in sorted((_HERE / _PACKAGE).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file.relative_to(_HERE).as_posix(), file.read_bytes()


def _metadata(project: dict) -> bytes:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in project["license-files"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
        "Description-Content-Type: text/markdown",
        "",
        (_HERE / project["readme"]).read_text(),
    ]
    return "\n".join(lines).encode()


def _digest(content: bytes) -> str:
    digest = hashlib.sha256(content).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
