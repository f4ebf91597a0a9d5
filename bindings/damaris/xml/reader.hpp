// read_model: from the text of a description in XML to a Model.
#pragma once

#include <string>
#include <string_view>

#include "damaris/xml/model.hpp"
#include "damaris/xml/report.hpp"

namespace tailrace::damaris {

// Reads and checks all of it. Names without an effect are warnings in `report`; they leave the rest as it is. Throws
// Error, with all errors, if anything is wrong.
Model read_model(std::string_view text, Report& report);

// Reads a file. Throws Error if it cannot be read.
std::string read_text(const std::string& file);

}  // namespace tailrace::damaris
