// Descriptions for the tests.
#pragma once

#include <string>
#include <vector>

#include "damaris/xml/reader.hpp"

namespace tailrace::damaris {

// A description whose <data> and further elements are given.
inline std::string description(const std::string& data, const std::string& rest = "", int domains = 1) {
  return "<?xml version=\"1.0\"?>\n"
         "<simulation name=\"sim\" language=\"c\" xmlns=\"http://damaris.gforge.inria.fr/damaris/model\">\n"
         "<architecture><domains count=\"" +
         std::to_string(domains) +
         "\"/><dedicated cores=\"1\" nodes=\"0\"/>\n"
         "<placement/><buffer name=\"b\" size=\"1048576\"/><queue name=\"q\" size=\"100\"/></architecture>\n"
         "<data>\n" +
         data + "\n</data>\n" + rest + "</simulation>\n";
}

// For EXPECT_PRED2: the text contains all of these parts.
inline bool contains(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) return false;
  }
  return true;
}

inline Model read(const std::string& text) {
  Report report("sim.xml");
  return read_model(text, report);
}

}  // namespace tailrace::damaris
