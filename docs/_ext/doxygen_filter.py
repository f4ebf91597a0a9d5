"""Doxygen's input filter: makes the comments of a C header comments for Doxygen, and prints the result.

Each `typedef struct x {…} x` becomes `struct x {…}`, because the reference would declare the name twice.
"""

import re
import sys

# Headlines inside the file, which describe no declaration.
HEADLINE = re.compile(r"\s*/\* (----|\dxx:)")


def marked(line):
    if HEADLINE.match(line):
        return line
    if re.match(r"/\* \w+\.h: ", line):
        return line.replace("/* ", "/** \\file\n * ", 1)
    if re.match(r"\s*/\* ", line):
        return line.replace("/* ", "/** ", 1)
    return line.replace(" /* ", " /**< ", 1)


def without_typedef(line):
    line = re.sub(r"^typedef (struct|enum) (\w+) \2;", r"\1 \2;", line)
    line = re.sub(r"^typedef (struct|enum) (\w+) \{", r"\1 \2 {", line)
    return re.sub(r"^\} \w+;", "};", line)


for text in open(sys.argv[1], encoding="utf-8"):
    print(without_typedef(marked(text)), end="")
