#!/usr/bin/env python3
"""The layer law of the Python packages: which module may import which. Run as a script, it checks the repository.

A module may import modules of its own folder and of lower layers. No modules import each other in a circle. tailrace
imports no other package of the repository, and these import only what PUBLIC has of it.
"""

import ast
import sys

import sources

# The packages: their folders, and the layers of their modules and folders, the lowest first; "" is the package
# itself.
PACKAGES = {
    "tailrace": ("python/tailrace", [
        {"_errors", "quantity"},
        {"_html"},
        {"_arrays", "_awaiting", "_filters", "_lending", "_logs", "_mistake", "_scales", "_signatures", "_stats",
         "_variables", "_varying", "lab", "mpis", "opening", "own_file", "programs", "ranks", "striped", "unrest"},
        {"missing", "plain_files", "series_files"},
        {"series"},
        {"reading", "xdmf"},
        {""},
        {"cube", "files", "iterations", "models", "mpi"},
        {"demo_data", "doors"},
        {"pictures"},
        {"cli"},
        {"__main__"},
    ]),
    "tailrace_lab": ("lab/tailrace_lab", [{""}, {"bench"}, {"figures", "pictures"}, {"cli"}]),
}

# Modules of tailrace that lie elsewhere: those of an application that the package contains.
ELSEWHERE = {"apps/cube/python/cube.py": "tailrace.cube", "apps/cube/python/command.py": "tailrace.cli.cube"}

# The modules of tailrace that other packages may use, the laboratory among them.
PUBLIC = {"", "cli.fitting", "cli.output", "cli.plots", "cli.progress", "cube", "files", "iterations", "models",
          "mpi", "mpis", "own_file", "pictures", "programs", "quantity", "unrest"}


def package_of(path):
    """Returns the package of a file, or None."""
    if path in ELSEWHERE:
        return "tailrace"
    return next((name for name, (folder, _) in PACKAGES.items() if path.startswith(folder + "/")), None)


def module_of(path):
    """Returns the module's name with its package: "tailrace.cli.run" for python/tailrace/cli/run.py."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    package = package_of(path)
    parts = [package, *path[len(PACKAGES[package][0]) + 1:-len(".py")].split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module, is_package, text, modules):
    """Returns the modules of the packages that a module's text imports, with lines."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = [node.module] if node.module else []
            if node.level:
                own = module.split(".")
                above = own[:len(own) - node.level + (1 if is_package else 0)]
                start = above + start
            names = [".".join(start + [alias.name]) for alias in node.names]
        for name in names:
            if name.partition(".")[0] not in PACKAGES:
                continue
            while name not in modules and "." in name:
                name = name.rpartition(".")[0]
            found.append((name, node.lineno))
    return found


def layer_of(module):
    """Returns the number of a module's layer within its package; None if it has none."""
    package, _, below = module.partition(".")
    first = below.partition(".")[0]
    return next((number for number, names in enumerate(PACKAGES[package][1]) if first in names), None)


def is_public(module):
    below = module.partition(".")[2]
    return any(below == one or (one and below.startswith(one + ".")) for one in PUBLIC)


def check_import(path, line, module, target):
    source, other = module.partition(".")[0], target.partition(".")[0]
    if source != other:
        if other != "tailrace":
            return f"{path}:{line}: {source} must not know {other}: entry points name what it adds"
        return None if is_public(target) else f"{path}:{line}: {target} is not public (tests/tidy/python_layers.py)"
    for one in (module, target):
        if layer_of(one) is None:
            return f"{path}:{line}: '{one}' has no layer in tests/tidy/python_layers.py"
    if module.split(".")[1:2] != target.split(".")[1:2] and layer_of(target) >= layer_of(module):
        return f"{path}:{line}: {target} is not below {module}"
    return None


def circle(imports):
    """Returns a circle of modules in `imports` (module → modules), or none."""
    done = set()

    def follow(module, way):
        if module in way:
            return [*way[way.index(module):], module]
        if module in done:
            return None
        for target in imports.get(module, ()):
            if found := follow(target, [*way, module]):
                return found
        done.add(module)
        return None

    for module in imports:
        if found := follow(module, []):
            return found
    return None


def check(texts):
    """Returns complaints about `texts` (path → text), the modules of the packages."""
    modules = {module_of(path) for path in texts}
    complaints, imports = [], {}
    for path, text in texts.items():
        module = module_of(path)
        for target, line in imported(module, path.endswith("__init__.py"), text, modules):
            if target == module:
                continue
            imports.setdefault(module, set()).add(target)
            if complaint := check_import(path, line, module, target):
                complaints.append(complaint)
    if found := circle(imports):
        complaints.append(f"a circle of imports: {' → '.join(found)}")
    return complaints


def main():
    paths = [path for path in sources.repository_files() if package_of(path) and path.endswith(".py")]
    return sources.report(check({path: (sources.ROOT / path).read_text(encoding="utf-8") for path in paths}))


if __name__ == "__main__":
    sys.exit(main())
