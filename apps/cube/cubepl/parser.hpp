// Parser: makes a tree of CubePL.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "cube/cubepl/lexer.hpp"
#include "cube/cubepl/symbols.hpp"
#include "cube/cubepl/tree.hpp"

namespace tailrace::cube {

// Parses an expression. A variable is global if global(…) has declared it, here or in a program that was parsed
// before; so parse all initialisations first. Throws Error with the place of the first mistake.
Program parse(std::string_view text, const Source& source, Symbols& symbols);

// Returns the text with `suffix` behind the names of its local variables, so that programs which are put into one
// share none, and without what follows its last token, such as a semicolon or a comment. `globals` has the variables
// that programs before it declare, and gets those that it declares itself.
std::string rename_locals(std::string_view text, const Source& source, std::set<std::string>& globals,
                          const std::string& suffix);

}  // namespace tailrace::cube
