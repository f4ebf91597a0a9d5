"""The Fortran module has every status code of the C header, with the same value, and makes it public."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]


def codes_of_c() -> dict[str, int]:
    header = (ROOT / "include/tailrace/tailrace.h").read_text(encoding="utf-8")
    found = re.findall(r"^  TAILRACE_(\w+) = (\d+)\b", header, re.MULTILINE)
    return {name.lower(): int(value) for name, value in found if int(value) == 0 or int(value) > 100}


def test_fortran_has_all_codes() -> None:
    module = (ROOT / "bindings/fortran/tailrace.f90").read_text(encoding="utf-8")
    enumeration = module[module.index("enum, bind(C)"):module.index("end enum")]
    codes: dict[str, int] = {}
    value = -1
    for name, given in re.findall(r"tailrace_(\w+)(?: = (\d+))?", enumeration):
        value = int(given) if given else value + 1
        codes[name] = value
    public = set(re.findall(r"tailrace_(\w+)", " ".join(re.findall(r"^  public :: (.*)$", module, re.MULTILINE))))
    assert codes == codes_of_c()
    assert set(codes) <= public
