"""``python -m safeteach`` is the command ``safeteach``."""

import sys

from safeteach.command import main

if __name__ == "__main__":
    sys.exit(main())
