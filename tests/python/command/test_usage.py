"""Wrong usage in one line, with the nearest command or option; completion; `python -m tailrace`."""

import shutil
import subprocess
import sys

import pytest
from tailrace import cli, programs

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("arguments,line", [
    ([], "tailrace: expected COMMAND; see tailrace --help"),
    (["inspekt"], "tailrace: there is no command 'inspekt'; did you mean 'inspect'? See tailrace --help"),
    (["check"], "tailrace: check: expected CONFIG, a configuration file, or --schema; see tailrace check --help"),
    (["check", "a.yaml", "--jsn"],
     "tailrace: check: there is no option --jsn; did you mean '--json'? See tailrace check --help"),
    (["check", "a.yaml", "--clent=4"],
     "tailrace: check: there is no option --clent; did you mean '--client'? See tailrace check --help"),
    (["check", "a.yaml", "b.yaml"],
     "tailrace: check: expected no more arguments, found 'b.yaml'; see tailrace check --help"),
    (["run"], "tailrace: found no program, expected one (see tailrace run --help)"),
    (["bench", "patern"],
     "tailrace: bench: there is no command 'patern'; did you mean 'pattern'? See tailrace bench --help"),
    (["bench", "pattern", "--quik"],
     "tailrace: bench pattern: there is no option --quik; did you mean '--quick'? See tailrace bench pattern "
     "--help"),
    (["completion", "bahs"], "tailrace: completion: argument SHELL: found 'bahs', expected one of bash, zsh, fish; "
                             "did you mean 'bash'? See tailrace completion --help"),
])
def test_wrong_usage_is_told_in_one_line(run, arguments, line):
    assert run(*arguments) == (2, "", line + "\n")


@pytest.mark.parametrize("arguments,line", [
    (["damaris"], "tailrace damaris: A subcommand is required; see tailrace damaris --help"),
    (["damaris", "chek", "a.xml"],
     "tailrace damaris: found no command or option 'chek'; see tailrace damaris --help"),
    (["cube", "inf"], "tailrace cube: found no command or option 'inf'; see tailrace cube --help"),
    (["cube", "info"], "tailrace cube: FILE is required; see tailrace cube --help"),
])
def test_and_by_the_commands_that_are_programs(arguments, line):
    if programs.find(f"tailrace-{arguments[0]}") is None:
        pytest.skip("this build leaves it out")
    done = subprocess.run([sys.executable, "-m", "tailrace", *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line + "\n")


def test_a_word_that_is_near_none_shows_all_commands(run):
    code, _, message = run("zzzzzz")
    assert code == 2 and message.count("\n") == 1
    assert all(name in message for name in cli.COMMANDS)


def test_the_package_runs_as_the_program():
    for module in ("tailrace", "tailrace.cli"):
        done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == "tailrace 0.1.0\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_names_commands_and_options(run, shell):
    code, script, message = run("completion", shell)
    assert code == 0 and message == ""
    for word in (*cli.COMMANDS, "dry-run", "schema"):
        assert word in script, word


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_a_script_of_its_shell(run, shell, tmp_path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(run("completion", shell)[1])
    subprocess.run([program, "-n", script], check=True)


def completed(script: str, words: str, folder: str) -> list[str]:
    """Returns what bash offers for the last of the words."""
    ask = (f"cd {folder}\n{script}\ncomplete -p tailrace >/dev/null || exit 3\n"
           f"COMP_WORDS=({words})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\nCOMP_LINE='{words}'\n"
           "function=$(complete -p tailrace | sed 's/.*-F \\([^ ]*\\) .*/\\1/')\n"
           "$function tailrace \"${COMP_WORDS[COMP_CWORD]}\" x 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_words_and_files(run, tmp_path):
    script = run("completion", "bash")[1]
    (tmp_path / "sim.yaml").write_text("")
    assert completed(script, "tailrace insp", str(tmp_path)) == ["inspect"]
    assert completed(script, "tailrace check --sch", str(tmp_path)) == ["--schema"]
    assert completed(script, "tailrace completion z", str(tmp_path)) == ["zsh"]
    assert completed(script, "tailrace check si", str(tmp_path)) == ["sim.yaml"]
