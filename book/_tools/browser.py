"""Find the browser that the page tests drive, or install one where that is possible."""

import os
import shutil
import subprocess

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


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
    """Install Debian's Chromium, as root or with a sudo that asks nothing; else do nothing."""
    apt = shutil.which("apt-get")
    root = os.geteuid() == 0
    sudo = shutil.which("sudo")
    if not apt or not (root or sudo):
        return
    prefix = [] if root else ["sudo", "-n"]
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    print("No browser on this machine: installing chromium with apt", flush=True)
    for command in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        run = [*prefix, *environment, apt, "-qq", *command]
        if subprocess.run(run, capture_output=True).returncode != 0:
            return


def main() -> None:
    """Say which browser the page tests will use."""
    if find() is None:
        install()
    print(f"Browser for the page tests: {find() or 'NONE, they will be skipped'}")


if __name__ == "__main__":
    main()
