// The Python file by which tailrace runs a script of Damaris: its function gives the script the data as Damaris does.
#pragma once

#include <string>

#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// Facts of a run that scripts get.
struct ScriptFacts {
  int server = 0;
  int servers_of_node = 1;
  int clients_of_node = 1;
  int nodes = 1;
  std::string run;  // a text of its own for each run
};

// The function of the file, to which the action is bound.
inline constexpr const char* kScriptFunction = "run";

std::string script_program(const Model& model, const Script& script, const ScriptFacts& facts);

}  // namespace tailrace::damaris
