"""What is installed with the package, and what is built of it."""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from soak import SOAK, tried

ROOT = Path(__file__).parents[2]
RUNTIME = {"cli", "dask", "files", "plot", "report", "serve", "video", "cuda"}
# SPDX names and what older metadata call them. All let anybody use, change and pass on, with a
# notice at most. GCC's and LLVM's exceptions free what their runtimes are linked into.
PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "HPND", "ISC", "MIT"),
    *("MIT-0", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    *("BSD", "BSD License", "BSD 2-Clause License", "MIT License", "Apache 2.0"),
    *("Apache Software License", "ISC License ISCL", "Python Software Foundation License"),
}
# Tools of the tests and of the documentation, which nobody gets with the package: changes to their
# own files would have to be published.
TOOLS = {"MPL-2.0", "Mozilla Public License 2.0 MPL 2.0"}
# Its metadata say nothing; the head of its files does.
UNSAID = {"atheris": "Apache-2.0"}


def requirements(name: str, extras: set[str]) -> set[str]:
    """The distributions that are needed, directly or not, of those that are installed."""
    found: dict[str, set[str]] = {}
    waiting = [(name, extras)]
    while waiting:
        name, extras = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found and extras <= found[key]:
            continue
        found[key] = found.get(key, set()) | extras
        try:
            needed = distribution(name).requires or []
        except PackageNotFoundError:
            del found[key]  # for another system, or an extra that is not here
            continue
        for one in map(Requirement, needed):
            if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in {"", *extras}):
                waiting.append((one.name, set(one.extras)))
    return set(found)


def license_of(name: str) -> str:
    """As an SPDX expression, or as its classifiers or its short text have it."""
    about = distribution(name).metadata
    kinds = [c for c in about.get_all("Classifier", []) if c.startswith("License :: OSI")]
    listed = " AND ".join(kind.split(" :: ")[-1] for kind in kinds)
    return (
        about.get("License-Expression")
        or listed
        or about.get("License")
        or UNSAID.get(name, "none")
    )


def allowed(expression: str, known: set[str]) -> bool:
    """Every part joined by AND; one of those joined by OR."""
    return all(
        any(re.sub(r"[()]| WITH .*", "", one).strip() in known for one in part.split(" OR "))
        for part in expression.split(" AND ")
    )


def test_expressions() -> None:
    assert allowed("MIT AND (Apache-2.0 WITH LLVM-exception OR GPL-3.0-only)", PERMISSIVE)
    assert not allowed("MIT AND LGPL-2.1-or-later", PERMISSIVE)
    assert not allowed("none", PERMISSIVE)
    assert not allowed("MPL-2.0", PERMISSIVE)


def test_every_license_is_permissive() -> None:
    users = requirements("pygeco", RUNTIME)
    assert {"numpy", "numba", "typer", "pyarrow"} <= users
    wrong = {name: license_of(name) for name in users if not allowed(license_of(name), PERMISSIVE)}
    assert not wrong
    makers = requirements("pygeco", {"dev", "docs", "soak"}) - users
    known = PERMISSIVE | TOOLS
    assert not {name: license_of(name) for name in makers if not allowed(license_of(name), known)}
    tried("licenses of dependencies", len(users | makers))


def test_core_dependencies_are_few() -> None:
    core = requirements("pygeco", set()) - {"pygeco"}
    assert not core & {"pyarrow", "typer", "rich", "matplotlib", "pandas", "dask", "jinja2"}


BLOCKED = """
import sys
for name in ("typer", "rich", "pyarrow", "matplotlib", "jinja2", "av", "pandas", "dask"):
    sys.modules[name] = None
from pygeco.cli import main
main()
"""


def test_the_demo_without_any_extra(tmp_path) -> None:
    def geco(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", BLOCKED, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    done = geco("demo")
    assert done.returncode == 0, done.stderr
    assert "10  " in done.stdout
    assert "pygeco[plot]" in done.stdout
    assert "pygeco[report]" in done.stdout
    told = geco("fit", "x", "-o", "y")
    assert told.returncode == 1
    assert told.stderr.count("\n") == 1
    assert "pip install 'pygeco[cli]'" in told.stderr


def built(folder: Path) -> dict[str, str]:
    """Wheel and sdist made from the committed files, by name, with their checksums."""
    source = folder / "source"
    source.mkdir(parents=True)
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True)
    if packed.returncode:
        pytest.skip("this is no checkout of git")
    subprocess.run(["tar", "-x"], cwd=source, input=packed.stdout, check=True)
    code = (
        "import sys, hatchling.build as b; "
        "print(b.build_wheel(sys.argv[1]), b.build_sdist(sys.argv[1]))"
    )
    subprocess.run(
        [sys.executable, "-c", code, folder],
        cwd=source,
        check=True,
        capture_output=True,
        env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"},
    )
    files = [path for path in folder.iterdir() if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


slow = pytest.mark.skipif(not SOAK, reason="the long form, make supply")


@slow
@pytest.mark.skipif(not importlib.util.find_spec("hatchling"), reason="hatchling is not installed")
def test_builds_have_the_same_bytes(tmp_path) -> None:
    first, second = built(tmp_path / "a"), built(tmp_path / "elsewhere")
    assert len(first) == 2
    assert first == second
    wheel = next((tmp_path / "a").glob("*.whl"))
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    assert all(name.startswith(("pygeco/", "pygeco-")) for name in names)
    assert "pygeco/py.typed" in names
    with tarfile.open(next((tmp_path / "a").glob("*.tar.gz"))) as content:
        inside = {name.split("/", 1)[1] for name in content.getnames()}
    assert {"Makefile", "constraints.txt", "tests/conftest.py", "benchmarks/bench.py"} <= inside
    tried("builds compared", 2)


@slow
@pytest.mark.skipif(not importlib.util.find_spec("hatchling"), reason="hatchling is not installed")
def test_the_wheel_in_a_bare_environment(tmp_path) -> None:
    built(tmp_path / "a")
    wheel = next((tmp_path / "a").glob("*.whl"))
    venv.create(tmp_path / "bare", with_pip=True)
    bin_ = tmp_path / "bare" / "bin"
    told = [
        bin_ / "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "-c",
        ROOT / "constraints.txt",
    ]
    done = subprocess.run([*told, wheel], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no index answers: {done.stderr.strip().splitlines()[-1]}")
    listed = subprocess.run(
        [bin_ / "pip", "list", "--format=json"], capture_output=True, check=True
    )
    names = {one["name"].lower() for one in json.loads(listed.stdout)}
    assert not names & {"typer", "rich", "pyarrow", "matplotlib", "jinja2"}
    demo = subprocess.run([bin_ / "geco", "demo"], cwd=tmp_path, capture_output=True, text=True)
    assert demo.returncode == 0, demo.stderr
    assert "pygeco[plot]" in demo.stdout
    told = subprocess.run([bin_ / "geco", "--help"], capture_output=True, text=True)
    assert "pip install 'pygeco[cli]'" in told.stderr
    tried("bare installs that ran the demo")


@slow
@pytest.mark.skipif(not importlib.util.find_spec("pip_audit"), reason="pip-audit is not installed")
def test_no_known_vulnerabilities() -> None:
    """Of the versions that the tests run with."""
    told = ["-r", str(ROOT / "constraints.txt"), "--no-deps", "--disable-pip", "-f", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", *told], capture_output=True, text=True
    )
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        pytest.skip(f"no index answers: {done.stderr.strip().splitlines()[-1:]}")
    asked = [one for one in found if "skip_reason" not in one]
    if not asked:
        pytest.skip("no index answers: not one version could be looked up")
    assert not {one["name"]: one["vulns"] for one in asked if one["vulns"]}
    tried("versions without a known vulnerability", len(asked))
