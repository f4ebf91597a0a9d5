#!/usr/bin/env python3
"""The layer law of the Python package: which module may import which. Run as a script, it checks the repository.

A module may import modules of its own folder and of lower layers. No modules import each other in a circle.
"""

import ast
import sys

import sources

PACKAGE = "python/tailrace"

# The layers of the package's modules and folders, the lowest first; "" is the package itself, with its extension
# module.
LAYERS = [
    {"_errors"},
    {"_arrays", "_awaiting", "_filters", "_lending", "_logs", "_mistake", "_programs", "_scales", "_signatures",
     "_stats", "_variables", "_varying", "opening", "own_file", "quantity", "ranks", "striped"},
    {"missing", "plain_files", "series_files"},
    {"series"},
    {"reading", "xdmf"},
    {""},
    {"cube", "files", "iterations", "models", "mpi"},
    {"demo_data"},
    {"bench"},
    {"pictures"},
    {"cli"},
    {"__main__"},
]
LAYER = {name: layer for layer, names in enumerate(LAYERS) for name in names}


def module_of(path):
    """Returns the module's name below the package: "bench.core" for python/tailrace/bench/core.py."""
    parts = path[len(PACKAGE) + 1:-len(".py")].split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module, is_package, text, modules):
    """Returns the modules of the package that a module's text imports, with lines."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = [node.module] if node.module else []
            if node.level:
                own = ["tailrace"] + (module.split(".") if module else [])
                above = own[:len(own) - node.level + (1 if is_package else 0)]
                start = above + start
            names = [".".join(start + [alias.name]) for alias in node.names]
        for name in names:
            if name != "tailrace" and not name.startswith("tailrace."):
                continue
            name = name.removeprefix("tailrace").removeprefix(".")
            while name not in modules:
                name = name.rpartition(".")[0]
            found.append((name, node.lineno))
    return found


def check_import(path, line, module, target):
    source, below = module.split(".")[0], target.split(".")[0]
    if source not in LAYER:
        return f"{path}:{line}: '{source}' has no layer in tests/tidy/python_layers.py"
    if below not in LAYER:
        return f"{path}:{line}: '{below}' has no layer in tests/tidy/python_layers.py"
    if source != below and LAYER[below] >= LAYER[source]:
        return f"{path}:{line}: tailrace.{target} is not below tailrace.{source}"
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
    """Returns complaints about `texts` (path → text), the modules of the package."""
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
        complaints.append(f"{PACKAGE}: a circle of imports: {' → '.join(found)}")
    return complaints


def main():
    paths = [path for path in sources.repository_files() if path.startswith(PACKAGE + "/") and path.endswith(".py")]
    return sources.report(check({path: (sources.ROOT / path).read_text(encoding="utf-8") for path in paths}))


if __name__ == "__main__":
    sys.exit(main())
