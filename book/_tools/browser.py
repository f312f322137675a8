"""Find the browser that the page tests drive, or install one.

Run it through ``make browser``, the one command that installs anything outside this folder.
"""

import os
import shutil
import subprocess
import sys

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
BY_HAND = "Install Chromium or Chrome by hand; the page tests find it on the PATH."


def find() -> str | None:
    """Return the path of the first browser of NAMES that starts, or None.

    Starting it tells a browser from a stub that only says how to get one.
    """
    for name in NAMES:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True).returncode == 0:
            return path
    return None


def install() -> None:
    """Install the package chromium with apt, as root or with a sudo that asks nothing."""
    apt = shutil.which("apt-get")
    if apt is None:
        sys.exit(f"No browser, and no apt to install one with. {BY_HAND}")
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", apt, "-qq"]
    for action in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        print("No browser on this machine; running", *command, *action, flush=True)
        try:
            subprocess.run([*command, *action], check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"{error}\n{BY_HAND}")


def main() -> None:
    """Say which browser the page tests will use, after installing one if there is none."""
    if find() is None:
        install()
    path = find()
    if path is None:
        sys.exit(f"No browser starts. {BY_HAND}")
    print(f"Browser for the page tests: {path}")


if __name__ == "__main__":
    main()
