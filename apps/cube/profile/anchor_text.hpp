// AnchorText: an XML document, for reading and writing anchors, with errors that have their place in the text.
#pragma once

#include <pugixml.hpp>

#include <array>
#include <string>
#include <utility>

#include "cube/profile/profile.hpp"

namespace tailrace::cube {

inline constexpr std::array<std::pair<Metric::Kind, const char*>, 5> kKindNames = {{
    {Metric::Kind::exclusive, "EXCLUSIVE"},
    {Metric::Kind::inclusive, "INCLUSIVE"},
    {Metric::Kind::prederived_exclusive, "PREDERIVED_EXCLUSIVE"},
    {Metric::Kind::prederived_inclusive, "PREDERIVED_INCLUSIVE"},
    {Metric::Kind::postderived, "POSTDERIVED"},
}};

// An XML document, and where it is from. Cube writes CubePL with bare "<" and "&", which are taken as letters.
struct AnchorText {
  // Throws Error with the place of a mistake in the XML.
  AnchorText(const std::string& raw, std::string name);

  size_t line_of(const pugi::xml_node& node) const;
  // Throws Error for an element.
  [[noreturn]] void refuse(const pugi::xml_node& node, const std::string& what) const;

  pugi::xml_document document;
  const std::string name;

 private:
  size_t line_at(std::ptrdiff_t offset) const;

  std::string text_;
};

}  // namespace tailrace::cube
