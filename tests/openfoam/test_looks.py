"""An OpenFOAM program finds the files that it has just written, through the file handler or past it."""

import ctypes
import pathlib
import random
import re
import shutil
import signal
import subprocess

import pytest
from openfoam import cases
from openfoam.carried import variables as carried_by
from tailrace.cli import run as run_command

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HEADERS = REPOSITORY / ".deps/openfoam-headers/include"


# ---- each function of OpenFOAM's POSIX layer ----------------------------------------------------------------------

# Functions of OSspecific.H that look at no file of a case.
NO_LOOKS = {
    **dict.fromkeys(["Foam::pid()", "Foam::ppid()", "Foam::pgid()", "Foam::hostName(bool)", "Foam::domainName()",
                     "Foam::userName()", "Foam::isAdministrator()"], "about the process, the machine, the user"),
    **dict.fromkeys(["Foam::env(std::string const&)", "Foam::getEnv(std::string const&)",
                     "Foam::setEnv(Foam::word const&, std::string const&, bool)"], "environment"),
    **dict.fromkeys(["Foam::home()", "Foam::home(std::string const&)"], "a name from the list of users"),
    **dict.fromkeys(["Foam::cwd()", "Foam::cwd(bool)"], "the name of a folder in which the program is already"),
    **dict.fromkeys(["Foam::ping(std::string const&, int)", "Foam::ping(std::string const&, int, int)"], "network"),
    "Foam::sleep(unsigned int)": "waits",
    "Foam::fdClose(int)": "has no name",
    **dict.fromkeys(["Foam::dlOpen(Foam::fileName const&, std::string&)", "Foam::dlOpen(Foam::fileName const&, bool)",
                     "Foam::dlOpen(std::initializer_list<Foam::fileName>, bool)", "Foam::dlClose(void*)",
                     "Foam::dlSymFind(void*, std::string const&, bool)", "Foam::dlLoaded()"],
                    "libraries: no object of OpenFOAM is one"),
}


@pytest.fixture(scope="module")
def looks(tmp_path_factory):
    """Returns the program that looks."""
    if not HEADERS.is_dir():
        pytest.skip("no headers of OpenFOAM here")
    program = tmp_path_factory.mktemp("program") / "looks"
    subprocess.run(["g++", "-std=c++17", "-fPIC", "-w", "-DOPENFOAM=1912", "-Dlinux64", "-DWM_ARCH_OPTION=64",
                    "-DWM_DP", "-DWM_LABEL_SIZE=32", "-DNoRepository", "-isystem", HEADERS,
                    pathlib.Path(__file__).with_name("looks.cpp"), "-o", program, "-lOpenFOAM", "-lz"], check=True)
    return program


def make_case(root):
    case = root / "case"
    for folder in ("system", "constant"):
        (case / folder).mkdir(parents=True)
    (case / "constant/given").write_text("given\n")
    (case / "system/controlDict").write_text(
        "FoamFile { version 2.0; format ascii; class dictionary; object controlDict; }\n"
        "application looks; startFrom startTime; startTime 0; stopAt endTime; endTime 1000; deltaT 1;\n"
        "writeControl timeStep; writeInterval 1;\n")


def take_looks(program, root, more, *how):
    """Returns what each look has found, by its name."""
    make_case(root)
    done = subprocess.run([program, root, "case", *map(str, how)], env={**cases.environment(), **more},
                          capture_output=True, text=True, timeout=cases.LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.replace(str(root), "ROOT").split("\t") for line in done.stdout.splitlines() if "\t" in line)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_text().replace(str(folder), "CASE") if path.is_file() else None
            for path in folder.rglob("*")}


@pytest.mark.parametrize("place", ["thread", "core"])
def test_every_way_to_look(looks, tmp_path, runtime_directory, place):
    plain = take_looks(looks, tmp_path / "plain", {})
    carried = take_looks(looks, tmp_path / "carried", carried_by(place))
    assert carried == plain
    assert tree(tmp_path / "carried/case") == tree(tmp_path / "plain/case")
    assert len(plain) > 40


def test_looks_at_random(looks, tmp_path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    for each in range(seed, seed + 4):
        plain = take_looks(looks, tmp_path / f"plain{each}", {}, "random", each)
        carried = take_looks(looks, tmp_path / f"carried{each}", carried_by(budget="1MiB"), "random", each)
        assert carried == plain, each
        assert tree(tmp_path / f"carried{each}/case") == tree(tmp_path / f"plain{each}/case"), each
        assert len(plain) > 30


def test_without_the_preloaded_library(looks, tmp_path):
    """Nobody tells who looks, so each file is there when it is written."""
    plain = take_looks(looks, tmp_path / "plain", {})
    handler = run_command.OPENFOAM / "libtailraceFoam.so"
    carried = take_looks(looks, tmp_path / "carried", {"LD_PRELOAD": str(handler), "FOAM_FILEHANDLER": "tailrace"})
    assert carried == plain
    assert tree(tmp_path / "carried/case") == tree(tmp_path / "plain/case")


def test_a_crash_gives_no_time_its_name(looks, tmp_path):
    """In the handler of a signal, OpenFOAM starts commands to print the stack. They are no looks at files."""
    make_case(tmp_path)
    done = subprocess.run([looks, tmp_path, "case", "crash"], env={**cases.environment(), **carried_by()},
                          capture_output=True, text=True, timeout=cases.LIMIT, check=False)
    assert done.returncode == -signal.SIGSEGV
    assert "Foam::error::printStack" in done.stderr
    assert (tmp_path / "case/1.partial").is_dir()
    assert not (tmp_path / "case/1").exists()


@pytest.mark.parametrize("ranks", [1, 2])
def test_commands_of_a_function_object(tmp_path, ranks):
    """systemCall starts them when a time was written, and at the end."""
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    cases.prepare(cases.OBLIQUE_SHOCK, plain, ranks)
    with (plain / "system/controlDict").open("a") as control:
        control.write('InfoSwitches { allowSystemOperations 1; }\n'
                      'functions { commands { type systemCall; libs (utilityFunctionObjects);\n'
                      'writeControl writeTime;\n'
                      'writeCalls ("cd $FOAM_CASE/$PART && ls -R [0-9]* >> seen && cat */p | cksum >> seen");\n'
                      'endCalls ("cd $FOAM_CASE/$PART && ls -R [0-9]* >> seen_at_the_end"); } }\n')
    shutil.copytree(plain, carried)
    # OpenFOAM starts no commands for administrators.
    (tmp_path / "user.c").write_text("unsigned geteuid(void) { return 1000; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "user.so", tmp_path / "user.c"], check=True)
    for case, more in ((plain, {"LD_PRELOAD": ""}), (carried, carried_by())):
        words = ["sh", "-c", 'export PART=${OMPI_COMM_WORLD_RANK:+processor$OMPI_COMM_WORLD_RANK}; exec "$@"', "-"]
        solve = cases.solve(cases.OBLIQUE_SHOCK, ranks)
        words = solve[:-2] + words + solve[-2:] if ranks > 1 else words + solve
        cases.must(words, case, {**more, "LD_PRELOAD": f"{tmp_path}/user.so:{more['LD_PRELOAD']}"})
    assert cases.files(carried) == cases.files(plain)
    part = "processor1/" if ranks > 1 else ""
    assert "0.06" in (carried / f"{part}seen").read_text()
    assert "0.06" in (carried / f"{part}seen_at_the_end").read_text()


def functions_of_header():
    """Returns the names of the functions that OSspecific.H declares."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (HEADERS / "OSspecific.H").read_text(), flags=re.DOTALL)
    return set(re.findall(r"(\w+)\s*\(", text))


def functions_of_library():
    """Returns the functions of libOpenFOAM that have these names, with their parameters."""
    library = next(path for folder in ("/usr/lib", "/usr/lib/x86_64-linux-gnu")
                   if (path := pathlib.Path(folder, "libOpenFOAM.so")).exists())
    listing = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True)
    string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    declared = functions_of_header()
    return {symbol for line in listing.stdout.replace(string, "std::string").splitlines()
            if (symbol := line.split(" ", 2)[2]).startswith("Foam::") and
            (match := re.match(r"Foam::(\w+)\(", symbol)) and match[1] in declared}


def test_all_functions_of_the_posix_layer_are_known(looks, tmp_path):
    tried = set(take_looks(looks, tmp_path, {}))
    known = {name for name in tried if name.startswith("Foam::")} | set(NO_LOOKS)
    functions = functions_of_library()
    assert len(functions) > 30
    assert functions - known == set(), "new: a look in looks.cpp, or a reason in NO_LOOKS"
    assert known - functions == set(), "not there any more"


# ---- each function of the C library -----------------------------------------------------------------------------

_INCLUDES = ("dirent.h fcntl.h fts.h ftw.h glob.h spawn.h stdio.h stdlib.h sys/inotify.h sys/stat.h sys/statfs.h "
             "sys/statvfs.h sys/time.h sys/xattr.h unistd.h utime.h")
# Functions of these headers that have a text as parameter, and no name of a file.
_TEXT = re.compile(r"(__)?\w*printf|\w*scanf|ato\w+|str(to|from)\w+|\w*puts(_unlocked)?|f\w+xattr|mb\w+|"
                   r"(unset|secure_get|get|set)env|set(host|domain)name|a64l|crypt|fdopen|fmemopen|fopencookie|"
                   r"cookie_\w+|getopt|getpass|glob_pattern_p|perror|rpmatch|setlogin|int")
_REASONS = {
    **dict.fromkeys(["execl", "execle", "execlp"], "in the child of fork() or vfork(), which have told before"),
    **dict.fromkeys(["acct", "chroot", "revoke"], "for administrators"),
    "name_to_handle_at": "for servers of files",
    "tempnam": "a name that nothing has",
    **dict.fromkeys(["posix_spawn_file_actions_addopen", "posix_spawn_file_actions_addchdir_np"],
                    "carried out by posix_spawn(), which tells"),
}


def library():
    return run_command.OPENFOAM / "libtailraceFoamPreload.so"


def told():
    """Returns the functions that the preloaded library has in front of the C library's."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library()], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listing.stdout.splitlines()}


def functions_with_text():
    """Returns the functions of the C library's headers that have a `const char*` as parameter."""
    program = "#define _GNU_SOURCE\n" + "".join(f"#include <{name}>\n" for name in _INCLUDES.split())
    text = subprocess.run(["gcc", "-E", "-P", "-x", "c", "-U_FORTIFY_SOURCE", "-"], input=program, text=True,
                          capture_output=True, check=True).stdout
    declarations = re.findall(r"\b(\w+)\s*\(([^;{}]*?)\)[^;{}()]*(?:__attribute__\s*\(\(.*?\)\)[^;{}]*)*;", text)
    return {name for name, parameters in declarations if re.search(r"const char \*", parameters)}


def test_every_name_that_the_c_library_takes_is_told():
    functions = functions_with_text()
    assert {"open", "stat", "renameat2", "getenv", "popen"} <= functions
    assert {name for name in functions - told() - set(_REASONS) if not _TEXT.fullmatch(name)} == set()


def test_what_is_told_is_in_the_c_library():
    """No name is misspelt."""
    library = ctypes.CDLL("libc.so.6")
    others = {name for name in told() if not hasattr(library, name)}
    assert {name for name in others if "printStack" not in name} == {"tailrace_foam_tell_looks"}
