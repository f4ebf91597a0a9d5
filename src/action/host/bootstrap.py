"""The Python half of tailrace's plugin host: finds packages, loads functions, and calls them.

Runs only inside the embedded interpreter, as the module `tailrace_plugin_host`. Exceptions of plugins become texts;
only exceptions from defects of this module leave it.
"""

import importlib.util
import numbers
import os
import site
import sys
import traceback


class Refused(Exception):
    """A plugin cannot be used; the text names what was found and what was expected."""


class Block:
    """One block of a variable, as one client handed it over."""

    __slots__ = ("variable", "unit", "iteration", "source", "offset", "global_shape", "data")

    def __init__(self, variable, unit, iteration, source, offset, global_shape, data):
        self.variable = variable
        self.unit = unit
        self.iteration = iteration
        self.source = source  # id of the client
        self.offset = offset  # of the block in the whole array
        self.global_shape = global_shape  # of the whole array
        self.data = data  # read-only NumPy view of the shared memory; valid during the call

    def __repr__(self):
        return f"<block of {self.variable}, iteration {self.iteration}, source {self.source}, {self.data.shape}>"


class Blocks(dict):
    """Variable → its blocks, by iteration and then source. `clients`: the clients that raised the event."""

    clients = ()

    def __missing__(self, name):
        raise KeyError(f"no block of {name!r}; there are blocks of {', '.join(self) or 'nothing'}")


_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
_searched = f"the packages of Python {_VERSION}, with which actions run here"


def _packages_of(folder):
    """Returns the folder of the environment's packages, if the environment has this version of Python."""
    packages = os.path.join(folder, "lib", f"python{_VERSION}", "site-packages")
    if not os.path.isdir(packages):
        raise Refused(f"found no '{packages}', expected an environment of Python {_VERSION}, with which actions run "
                      "here")
    return packages


def _add_packages(packages):
    """Puts the packages before those of the system."""
    global _searched
    before = list(sys.path)
    site.addsitedir(packages)
    added = [path for path in sys.path if path not in before]
    packaged = [i for i, path in enumerate(before) if path.endswith(("site-packages", "dist-packages"))]
    place = packaged[0] if packaged else len(before)
    sys.path[:] = before[:place] + added + before[place:]
    _searched = f"'{packages}' and " + _searched


def _find_packages(environment, program):
    """Returns the packages of the configured environment, or of the first other one that fits."""
    global _searched
    if environment:
        return _packages_of(environment)
    for whose, folder in (("the program's", program), ("VIRTUAL_ENV's", os.environ.get("VIRTUAL_ENV", ""))):
        try:
            if folder:
                return _packages_of(folder)
        except Refused:
            _searched += f"; {whose} environment, {folder!r}, has none of Python {_VERSION}"
    return None


def prepare(environment, program):
    """Finds the packages and NumPy; called once, before the first load."""
    global numpy
    sys.dont_write_bytecode = True  # keeps users' folders clean
    for name in ("PYTHONHOME", "PYTHONUNBUFFERED", "PYTHONFAULTHANDLER"):
        os.environ.pop(name, None)  # of python_host.cpp
    packages = _find_packages(environment, program)
    if packages:
        _add_packages(packages)
    try:
        import numpy
    except ImportError as error:
        raise Refused(f"found no NumPy ({error}), expected it in {_searched}; python.environment in the "
                      "configuration names another environment") from None


def _place(error, file):
    """Returns the error's place in `file`, if it has one there: " (track.py, line 12, in locate)"."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if not frames:
        return ""
    return f" ({os.path.basename(file)}, line {frames[-1].lineno}, in {frames[-1].name})"


def _told(error, file):
    """Returns the exception in one line; prints all of it to standard error, and so to the log."""
    traceback.print_exception(error)
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()
    return f"found the exception {text[-1]}{_place(error, file)}"


def load(file, name):
    """Returns the function `name` of the Python file `file`, whose code runs once."""
    module = _modules.get(file)
    if module is None:
        module = _modules[file] = _run_file(file)
    function = getattr(module, name, None)
    if not callable(function):
        found = "nothing of that name" if function is None else f"{function!r}"
        raise Refused(f"found {found} for '{name}' in '{file}', expected a function")
    return function, file


_modules = {}


def _run_file(file):
    stem = os.path.splitext(os.path.basename(file))[0]
    if not os.path.isfile(file):
        raise Refused(f"found no file '{file}', expected one with Python in it")
    sys.path.insert(0, os.path.dirname(file))  # as `python track.py` does
    loader = importlib.machinery.SourceFileLoader(stem, file)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(stem, file, loader=loader))
    sys.modules[stem] = module
    try:
        loader.exec_module(module)
    except BaseException as error:
        raise Refused(_told(error, file)) from None
    return module


def _result(key, value):
    if not isinstance(key, str) or not key or "\0" in key:
        raise Refused(f"found the key {key!r} in the results, expected a text")
    if isinstance(value, str) and "\0" not in value:
        return key, value
    if isinstance(value, (numbers.Real, numpy.bool_)):
        return key, float(value)
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise Refused(f"found {value!r:.60} for '{key}' in the results, expected a number, a text or numbers")
    return (key, float(array)) if array.ndim == 0 else (key, [float(one) for one in array.ravel()])


def call(loaded, event, iteration, clients, raw):
    """Returns (error or None, results). `raw` has the arguments of Block, with a memoryview for the data."""
    function, file = loaded
    blocks = Blocks()
    blocks.clients = clients
    for variable, unit, number, source, offset, global_shape, view in raw:
        block = Block(variable, unit, number, source, offset, global_shape, numpy.asarray(view))
        blocks.setdefault(variable, []).append(block)
    try:
        results = function(event, iteration, blocks)
        if results is not None and not isinstance(results, dict):
            return f"found {results!r:.60} as the result, expected a dict or None", []
        return None, [_result(key, value) for key, value in (results or {}).items()]
    except Refused as error:
        return str(error), []
    except BaseException as error:  # SystemExit must not end the host either
        return _told(error, file), []
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
