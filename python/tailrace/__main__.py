"""`python -m tailrace` is `tailrace`."""

import sys

from tailrace.cli import main

sys.exit(main())
