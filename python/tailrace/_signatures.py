"""Signatures of the extension's methods, for `inspect.signature` and the editors that use it.

nanobind's methods have their signatures as text alone. A function of Python that has the same parameters calls each.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any


def show(kind: type) -> None:
    """Replaces each public method of a class of the extension, if it has one signature, by such a function."""
    for name, method in list(vars(kind).items()):
        signatures = getattr(method, "__nb_signature__", ())
        if not name.startswith("_") and len(signatures) == 1:
            function = _function(name, method, *signatures[0])
            function.__qualname__ = f"{kind.__name__}.{name}"
            function.__module__ = kind.__module__
            setattr(kind, name, function)


def _function(name: str, method: Any, text: str, doc: str | None, defaults: tuple[Any, ...] | None) -> Any:
    for default in defaults or ():  # the text has a mark for those that are not written out
        text = text.replace("\\0", repr(default), 1).replace("\0", repr(default), 1)
    tree = ast.parse(text + ": return _method()")
    made = tree.body[0]
    assert isinstance(made, ast.FunctionDef)
    arguments = made.args
    given = [ast.Name(one.arg, ast.Load()) for one in (*arguments.posonlyargs, *arguments.args)]
    named = [ast.keyword(one.arg, ast.Name(one.arg, ast.Load())) for one in arguments.kwonlyargs]
    if arguments.kwarg:
        named.append(ast.keyword(None, ast.Name(arguments.kwarg.arg, ast.Load())))
    made.body = [ast.Return(ast.Call(ast.Name("_method", ast.Load()), list(given), named))]
    future = ast.parse("from __future__ import annotations").body  # the texts of types need not be importable here
    module = ast.fix_missing_locations(ast.Module([*future, made], []))
    names: dict[str, Any] = {"_method": method}
    exec(compile(module, f"<tailrace.{name}>", "exec"), names)  # noqa: S102 (the text is the extension's own)
    function = names[name]
    function.__doc__ = inspect.cleandoc(doc) if doc else None
    return function
