"""Progress on a terminal, in the cell of a notebook's kernel, in that of `!command`, and nowhere else."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from tailrace.cli import progress

DEMO = """
from tailrace.cli.demo_display import Display

with Display(2) as display:
    display.start("a run")
    display.advance(0.5)
    display.end({"seconds_total": 2.0, "seconds_waiting": 1.0})
    print("between")
"""
OVER = """
from tailrace.cli import progress

for item in progress.over("ab", "counting"):
    pass
print("the end")
"""
STEPS = """
from tailrace.cli import progress

with progress.steps() as say:
    say("measuring")
print("the end")
"""
RUN = """
import sys
from tailrace.cli import progress

print(progress.run([sys.executable, "-c", "import sys; print('tty' if sys.stderr.isatty() else 'none'); exit(3)"]))
print(progress.run(["echo", "{RUN} $HOME"]))
"""
NATIVE = """
from tailrace import cli

print(cli.main(["recover", "nowhere"]), cli.main(["recover", "."]))
"""
PROGRAMS = {"demo.py": DEMO, "over.py": OVER, "steps.py": STEPS, "run.py": RUN, "native.py": NATIVE}


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Returns what two cells show of each program: one that runs it with `!`, and one whose kernel runs it."""
    folder = tmp_path_factory.mktemp("notebook")
    sources = []
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
        sources += [f"!{sys.executable} {name}", text]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name="python3", timeout=600, resources={"metadata": {"path": folder}}).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    return {name: (outputs[2 * number], outputs[2 * number + 1]) for number, name in enumerate(PROGRAMS)}


def streamed(outputs):
    return "".join(one.text for one in outputs if one.output_type == "stream").replace("\r\n", "\n")


def seen(text):
    """Returns what a notebook makes of a text: each carriage return writes over the line from its beginning."""
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part):]
        lines.append(shown.rstrip())
    return lines


def test_a_command_in_a_cell_draws_its_bar_with_carriage_returns(cells):
    text = streamed(cells["demo.py"][0])
    assert "\x1b" not in text and "\ra run" in text
    said, between, *bar = seen(text)
    assert said == "a run: 2.00 s, 1.00 s of it waiting for output"
    assert between.startswith("between") or "50 %" in between
    assert "50 %" in "".join(bar)


def test_a_kernel_draws_the_bar_in_its_cell(cells):
    outputs = cells["demo.py"][1]
    bar = next(one for one in outputs if one.output_type == "display_data")
    assert "a run" in bar.data["text/plain"] and "50 %" in bar.data["text/plain"] and "text/html" in bar.data
    assert streamed(outputs).splitlines() == ["a run: 2.00 s, 1.00 s of it waiting for output", "between"]


@pytest.mark.parametrize("name, shown", [("over.py", "counting"), ("steps.py", "measuring")])
def test_a_bar_that_does_not_stay_leaves_nothing(cells, name, shown):
    command, kernel = cells[name]
    assert shown in streamed(command) and "\x1b" not in streamed(command)
    assert seen(streamed(command)) == ["the end", ""]
    assert [one.data["text/plain"] for one in kernel if one.output_type == "display_data"] == [""]
    assert streamed(kernel) == "the end\n"


def test_a_kernel_gives_programs_a_terminal_and_shows_their_output(cells):
    assert streamed(cells["run.py"][1]).split("\n") == ["tty", "3", "{RUN} $HOME", "0", ""]


def test_a_kernel_shows_what_native_commands_print(cells):
    lines = streamed(cells["native.py"][1]).splitlines()
    assert lines[0].startswith("tailrace: ") and "nowhere" in lines[0]
    assert lines[1:] == [".: nothing to recover", "1 0"]


def on_a_terminal(program):
    """Returns what a program prints on a terminal."""
    ours, theirs = os.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("MPLBACKEND", "JPY_PARENT_PID")}
    with subprocess.Popen([sys.executable, "-c", program], stdin=theirs, stdout=theirs, stderr=theirs,
                          env={**environment, "TERM": "xterm"}) as process:
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:
            pass  # the end of a terminal
    os.close(ours)
    assert process.returncode == 0, text
    return text.decode()


def test_a_terminal_shows_a_bar():
    text = on_a_terminal(DEMO)
    assert "\x1b[2K" in text and "a run: 2.00 s" in text and "50 %" in text
    assert "counting" in on_a_terminal(OVER) and "measuring …" in on_a_terminal(STEPS)


@pytest.mark.parametrize("before", ["", "import IPython, ipykernel.kernelapp"])
@pytest.mark.parametrize("program, expected", [
    (DEMO, "a run: 2.00 s, 1.00 s of it waiting for output\nbetween\n"), (OVER, "the end\n"), (STEPS, "the end\n")])
def test_elsewhere_there_is_no_bar(before, program, expected):
    done = subprocess.run([sys.executable, "-c", before + program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (expected, "")


def test_a_bar_over_nothing_yields_nothing():
    assert list(progress.over([], "nothing")) == []
