"""Checks the output of rows.c: `check_rows.py DIRECTORY`, the directory in which it ran."""

import array
import pathlib
import sys

ROWS, COLUMNS = 256, 256


def main() -> int:
    found = array.array("d", pathlib.Path(sys.argv[1], "out", "matrix.raw").read_bytes())
    expected = array.array("d", (1000.0 * row + column for row in range(ROWS) for column in range(COLUMNS)))
    print("as it should be" if found == expected else "matrix.raw does not read back as it was written")
    return 0 if found == expected else 1


if __name__ == "__main__":
    sys.exit(main())
