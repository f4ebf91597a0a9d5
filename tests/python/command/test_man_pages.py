"""The manual pages in man/ have every option and command that the programs name. tools/man.sh renews them."""

import re
import subprocess

import pytest
from conftest import REPOSITORY
from tailrace import programs, cli


def page(name):
    text = (REPOSITORY / "man" / f"{name}.1").read_text(encoding="utf-8")
    return re.sub(r"\\f[A-Z]", "", text).replace("\\-", "-")


def options(said):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", said))


@pytest.mark.parametrize("name", ["tailrace-core", "tailrace-forward", "tailrace-run"])
def test_the_page_has_every_option(name):
    program = REPOSITORY / "tools/tailrace-run" if name == "tailrace-run" else programs.find(name)
    said = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    assert options(said) and options(said) <= options(page(name)), "to renew: tools/man.sh"


def test_the_page_has_every_command():
    text = page("tailrace")
    for command in cli.COMMANDS:
        assert re.search(rf"^tailrace .*\b{command}\b", text, re.MULTILINE), f"{command}; to renew: tools/man.sh"
