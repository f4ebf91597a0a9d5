"""Finds functions and their lengths: Python's exactly, C++'s by matching braces (near enough for a limit)."""

import ast
import re

import sources

SCOPE = re.compile(r"^(inline\s+)?(namespace|class|struct|union|enum|extern)\b")


def blank_preprocessor(text):
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.MULTILINE)


def blank_access_labels(text):
    return re.sub(r"\b(public|private|protected)[ \t]*:(?!:)", lambda m: " " * len(m.group()), text)


def without_prefixes(head):
    """Returns the text before a brace, without `template <…>` and attributes."""
    head = head.strip()
    while True:
        head = re.sub(r"^\[\[.*?\]\]\s*|^requires\s+[\w:<>, ]+\s+(?=\w)", "", head)
        if not head.startswith("template"):
            return head
        depth, end = 0, len(head)
        for i, char in enumerate(head):
            depth += (char == "<") - (char == ">")
            if char == ">" and depth == 0:
                end = i + 1
                break
        head = head[end:].strip()


def kind_of(head):
    head = without_prefixes(head)
    if SCOPE.match(head) and not re.match(r"^(class|struct|union|enum)\b[^:({]*\(", head):
        return "scope"
    return "function" if "(" in head else "other"


def name_of(head):
    head = without_prefixes(head)
    test = re.match(r"(?:TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(\s*(\w+)\s*,\s*(\w+)", head)
    if test:
        return f"{test.group(1)}.{test.group(2)}"
    name = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
    return name.group(1) if name else "?"


def cpp_functions(text):
    """Returns [(name, first line, lines)] of the outermost functions, including methods of classes."""
    text = blank_access_labels(blank_preprocessor(sources.without_comments_and_strings(text)))
    found, stack, start, line = [], [], 0, 1
    for i, char in enumerate(text):
        if char == "\n":
            line += 1
        elif char == "{":
            head = text[start:i]
            kind = "inner" if stack and stack[-1][0] != "scope" else kind_of(head)
            first = line - head.lstrip().count("\n")
            stack.append((kind, head, first))
            start = i + 1
        elif char == "}" and stack:
            kind, head, first = stack.pop()
            if kind == "function":
                found.append((name_of(head), first, line - first + 1))
            start = i + 1
        elif char == ";":
            start = i + 1
    return found


def python_functions(text):
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def functions(path, text):
    if path.endswith(".py"):
        return python_functions(text)
    return cpp_functions(text)
