// Document, Element: XML whose elements know their lines, and read their attributes as what these should be. What is
// wrong goes to the report, and reading goes on with a default. Only this header and its source know pugixml.
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "damaris/xml/expression.hpp"
#include "damaris/xml/report.hpp"

namespace tailrace::damaris {

class Element;

class Document {
 public:
  static constexpr size_t kMostBytes = size_t{16} << 20;

  // Throws Error if the text is no XML. The text need not outlive this object.
  Document(std::string_view text, Report& report);

  Element root() const;
  size_t line_at(std::ptrdiff_t offset) const;
  Report& report() const { return report_; }

 private:
  Report& report_;
  pugi::xml_document document_;
  std::vector<std::ptrdiff_t> line_breaks_;  // offsets, ascending
};

class Element {
 public:
  Element(const Document& document, pugi::xml_node node) : document_(&document), node_(node) {}

  bool exists() const { return !node_.empty(); }
  // Returns its name without the prefix of a namespace.
  std::string_view name() const;
  size_t line() const { return document_->line_at(node_.offset_debug()); }
  // Returns its text without white space around it.
  std::string text() const;
  std::string title() const;  // "<variable name='T'>", for messages

  // Returns the children that are elements.
  std::vector<Element> children() const;
  // Returns the first child of this name; it may not exist. Further ones are reported.
  Element only_child(std::string_view child) const;

  // Warn of attributes and of children with other names. `comment` and namespaces are always known.
  void know_attributes(const std::vector<std::string_view>& known) const;
  void know_children(const std::vector<std::string_view>& known) const;

  bool has(const char* attribute) const { return !node_.attribute(attribute).empty(); }
  std::string string(const char* attribute, const std::string& otherwise = {}) const;
  // Reports if the attribute is missing or empty.
  std::string required(const char* attribute) const;
  int64_t integer(const char* attribute, int64_t least, int64_t most, int64_t otherwise) const;
  bool flag(const char* attribute, bool otherwise) const;
  // Returns the index of the attribute's value in `words`, or `otherwise`.
  size_t choice(const char* attribute, const std::vector<std::string_view>& words, size_t otherwise) const;
  // Reads a list of expressions, separated by commas.
  std::vector<Expression> expressions(const char* attribute) const;

  void wrong(const std::string& attribute, const std::string& found, const std::string& expected,
             const std::string& hint = {}) const;
  void warn(const std::string& text) const;
  // Warns of something at another line of the same file.
  void warn_at(size_t line, const std::string& text) const { document_->report().warn(line, text); }

 private:
  const Document* document_;
  pugi::xml_node node_;
};

// Returns true if the text can be a part of file names, and of messages: UTF-8 without control characters, braces and
// backslashes.
bool is_plain_text(std::string_view text);

// Returns true if the text is a path of an HDF5 dataset: "a/b".
bool is_dataset_path(std::string_view path);

// Reads the whole text as an integer.
std::optional<int64_t> to_integer(std::string_view text);
std::optional<double> to_real(const std::string& text);

}  // namespace tailrace::damaris
