"""`python -m tailrace.cli` is `tailrace`."""

import sys

from . import main

sys.exit(main())
