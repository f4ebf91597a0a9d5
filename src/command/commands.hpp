// The commands of the program `tailrace` that need no Python: one source for each.
//
// Each function adds a subcommand to the parser, which runs it; the exit code goes to `code`. Their options, output
// and exit codes are those that docs/commands.md describes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/number.hpp"

namespace tailrace::impl {

void add_check(CLI::App& app, int& code);
void add_inspect(CLI::App& app, int& code);
void add_recover(CLI::App& app, int& code);
void add_serve(CLI::App& app, int& code);

using Parameters = std::vector<std::pair<std::string, Number>>;

// Adds the option --parameter NAME=NUMBER, which may be repeated; its values go to `to`.
CLI::Option* add_parameters(CLI::App& command, Parameters& to);

}  // namespace tailrace::impl
