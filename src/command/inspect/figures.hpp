// The lists "files" and "iterations" of statistics (docs/formats/measurements.md) and of jobs: the requests for each
// file, and how busy the writer was in each of the latest iterations. Checks them, combines clients, prints tables.
#pragma once

#include <string>
#include <vector>

#include "command/output/output.hpp"

namespace tailrace::impl {

// Return why a list is malformed: where, what was found, what was expected; "" if it is right.
std::string fault_of_files(const OrderedJson& list);
std::string fault_of_iterations(const OrderedJson& list);
// Returns why a member is no number of 0 or more; "" if it is one.
std::string fault_of_number(const OrderedJson& holder, const std::string& name, const std::string& where);
// Return a value, or a member, for a message; "nothing" if there is none.
std::string found_text(const OrderedJson& value);
std::string found_text(const OrderedJson& holder, const std::string& name);

// Print the lists of several clients of one server together; nothing if there is nothing. REQUIRES: they are right.
void show_files(const std::vector<OrderedJson>& lists);
// `who`: "the core" or "the writer".
void show_iterations(const std::vector<OrderedJson>& lists, const std::string& who);

}  // namespace tailrace::impl
