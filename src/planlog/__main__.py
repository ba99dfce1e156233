"""`python -m planlog` and the command `planlog`."""

import sys

from planlog.cli import main

if __name__ == "__main__":
    sys.exit(main())
