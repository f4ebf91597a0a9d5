// Parser: makes a tree of CubePL.
#pragma once

#include <string>
#include <string_view>

#include "cube/cubepl/lexer.hpp"
#include "cube/cubepl/symbols.hpp"
#include "cube/cubepl/tree.hpp"

namespace tailrace::cube {

// Parses an expression. A variable is global if global(…) has declared it, here or in a program that was parsed
// before; so parse all initialisations first. Throws Error with the place of the first mistake.
Program parse(std::string_view text, const Source& source, Symbols& symbols);

}  // namespace tailrace::cube
