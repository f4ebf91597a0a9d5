"""The directive `fortran-module FILE [TYPES]`: the reference of a Fortran module, from its own comments. TYPES is the
file of a module from which it takes types.

A comment above a declaration describes it. Shown are the module's head, its public types, the procedures that a type
binds, and the public functions; interfaces to C and private procedures are not.
"""

import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive

GENERIC = re.compile(r"\s*generic :: (\w+) => (\w+)")
BINDING = re.compile(r"\s*procedure :: (\w+) => (\w+)")
PROCEDURE = re.compile(r"  (subroutine|function) (\w+)\((.*?)\)")
TYPE = re.compile(r"  type(?:, bind\(C\))? :: (\w+)")


def comment_above(lines, number):
    """Returns the lines of the comment that ends just above line `number`, without marks."""
    begin = number
    while begin > 0 and re.match(r"\s*!", lines[begin - 1]):
        begin -= 1
    return [re.sub(r"^\s*! ?", "", line) for line in lines[begin:number]]


def whole_lines(path):
    """Returns the lines of a file; one that is continued by "&" is one line."""
    return re.sub(r" *&\n *", " ", path.read_text()).splitlines()


def public_names(lines):
    names = set()
    for line in lines:
        if line.startswith("  public ::"):
            names.update(name.strip() for name in line.split("::")[1].split(","))
    return names


def procedures(lines):
    """Returns name → (signature, description) of all procedures of the module."""
    found = {}
    for number, line in enumerate(lines):
        match = PROCEDURE.match(line)
        if match:
            found[match[2]] = (match[1], match[3], " ".join(comment_above(lines, number)))
    return found


def entry(title, text):
    item = nodes.definition_list_item()
    item += nodes.term("", "", nodes.literal(title, title))
    item += nodes.definition("", nodes.paragraph(text, text or "See the verb of the same name without the suffix."))
    return item


def section(title, *children):
    made = nodes.section(ids=[nodes.make_id(title)])
    made += nodes.title(title, title)
    made.extend(children)
    return made


def bound(lines, known):
    """Returns entries of the procedures that the type tailrace_client binds."""
    entries = nodes.definition_list()
    for number, line in enumerate(lines):
        match = BINDING.match(line)
        if match:
            _, arguments, text = known[match[2]]
            arguments = re.sub(r"^self(, )?", "", arguments)
            entries += entry(f"call out%{match[1]}({arguments})", text)
        match = GENERIC.match(line)
        if match:
            _, arguments, own = known[match[2]]
            arguments = re.sub(r"^self(, )?", "", arguments)
            entries += entry(f"call out%{match[1]}({arguments})", " ".join(comment_above(lines, number)) or own)
    return entries


def types(lines, public):
    sections = []
    for number, line in enumerate(lines):
        match = TYPE.match(line)
        if match and match[1] in public:
            end = next(i for i in range(number, len(lines)) if lines[i].strip().startswith("end type"))
            text = " ".join(comment_above(lines, number))
            members = [one[4:] for one in lines[number + 1:end] if " :: " in one and "procedure" not in one]
            private = lines[number + 1].strip() == "private"
            code = "" if private else "\n".join(members)
            sections.append(section(match[1], nodes.paragraph(text, text),
                                    *([nodes.literal_block(code, code, language="fortran")] if code else [])))
    return sections


def head(lines):
    """Returns the comment at the top of the file as a block of text."""
    end = next(i for i, line in enumerate(lines) if not line.startswith("!"))
    text = "\n".join(re.sub(r"^! ?", "", line) for line in lines[:end])
    return nodes.literal_block(text, text, language="text")


def constants(lines):
    code = "\n".join(line.strip() for line in lines if line.strip().startswith("enumerator ::"))
    return nodes.literal_block(code, code, language="fortran")


class FortranModule(Directive):
    required_arguments = 1
    optional_arguments = 1

    def run(self):
        environment = self.state.document.settings.env
        paths = [pathlib.Path(environment.srcdir, argument).resolve() for argument in self.arguments]
        for path in paths:
            environment.note_dependency(str(path))
        lines = whole_lines(paths[0])
        known, public = procedures(lines), public_names(lines)
        functions = nodes.definition_list()
        for name, (kind, arguments, text) in known.items():
            if name in public and kind == "function":
                functions += entry(f"{name}({arguments})", text)
        return [section("Conventions", head(lines)), section("Calls of a client", bound(lines, known)),
                section("Functions", functions), section("Status codes", constants(lines)),
                *(one for path in paths for one in types(whole_lines(path), public))]


def setup(app):
    app.add_directive("fortran-module", FortranModule)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
