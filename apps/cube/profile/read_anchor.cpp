#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>
#include <unordered_map>

#include "cube/archive/error.hpp"
#include "cube/profile/anchor_text.hpp"
#include "cube/profile/profile.hpp"

namespace tailrace::cube {

namespace {

bool is_entity(std::string_view text) {
  for (const std::string_view entity : {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#"}) {
    if (text.starts_with(entity)) return true;
  }
  return false;
}

// Returns the size of the comment or CDATA section with which `text` begins; 0: it begins with neither.
size_t markup_size(std::string_view text) {
  const bool comment = text.starts_with("<!--");
  if (!comment && !text.starts_with("<![CDATA[")) return 0;
  const size_t end = text.find(comment ? "-->" : "]]>", 4);
  return end == std::string_view::npos ? text.size() : end + 3;
}

// Appends CubePL as XML has it.
void append_escaped(std::string_view code, std::string& to) {
  for (size_t at = 0; at < code.size(); ++at) {
    const std::string_view rest = code.substr(at);
    if (const size_t size = markup_size(rest)) {
      to += rest.substr(0, size);
      at += size - 1;
    } else if (code[at] == '<') {
      to += "&lt;";
    } else if (code[at] == '&' && !is_entity(rest)) {
      to += "&amp;";
    } else {
      to += code[at];
    }
  }
}

// Returns where the first <cubepl…> is that no comment or CDATA section contains; npos: there is none.
size_t find_code(std::string_view text, size_t at) {
  for (at = text.find('<', at); at != std::string_view::npos; at = text.find('<', at)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<cubepl")) return at;
    at += std::max<size_t>(1, markup_size(rest));
  }
  return at;
}

// Appends a tag with quotes around the values of its attributes: Cube writes <cubepl rowwise=false>.
void append_quoted(std::string_view tag, std::string& to) {
  for (size_t at = 0; at < tag.size(); ++at) {
    to += tag[at];
    if (tag[at] == '"' || tag[at] == '\'') {
      const size_t end = std::min(tag.find(tag[at], at + 1), tag.size() - 1);
      to += tag.substr(at + 1, end - at);
      at = end;
    } else if (tag[at] == '=' && at + 1 < tag.size() && std::strchr("\"' >", tag[at + 1]) == nullptr) {
      const size_t end = std::min(tag.find_first_of(" \t\r\n/>", at + 1), tag.size());
      to.append("\"").append(tag.substr(at + 1, end - at - 1)).append("\"");
      at = end - 1;
    }
  }
}

// Escapes what lies between <cubepl…> and </cubepl…>. Line breaks stay where they are.
std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size() + text.size() / 16);
  for (size_t at = 0; at < text.size();) {
    const size_t tag = find_code(text, at);
    size_t begin = tag == std::string_view::npos ? tag : text.find('>', tag);
    if (begin == std::string_view::npos) return result.append(text.substr(at));
    const bool empty = text[begin - 1] == '/';  // <cubepl/>
    ++begin;
    result.append(text.substr(at, tag - at));
    append_quoted(text.substr(tag, begin - tag), result);
    const size_t end = empty ? begin : std::min(text.find("</cubepl", begin), text.size());
    append_escaped(text.substr(begin, end - begin), result);
    at = end;
  }
  return result;
}

// Returns the bytes of the UTF-8 letter with which `text` begins; 0: it begins with none.
size_t letter_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  uint32_t code = first & (0xffU >> (bytes + 1));
  for (size_t at = 1; at < bytes; ++at) {
    const auto next = static_cast<unsigned char>(text[at]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong = code < (bytes == 2 ? 0x80u : bytes == 3 ? 0x800u : 0x10000u);
  return overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

// Returns true if pugixml decodes the text itself: wide letters, or Latin-1 that is declared.
bool is_decoded(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return true;
  if (text.substr(0, 4).find('\0') != std::string_view::npos) return true;
  std::string head(text.substr(0, std::min(text.find('>'), text.size())));
  std::transform(head.begin(), head.end(), head.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; });
  return head.starts_with("<?xml") &&
         (head.find("iso-8859-1") != std::string::npos || head.find("latin1") != std::string::npos);
}

// Returns the text in UTF-8. Cube writes the names of a program as they are, beside a declaration of UTF-8: bytes
// that are no UTF-8 are taken for Latin-1.
std::string in_utf8(std::string_view text) {
  if (is_decoded(text)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (const size_t bytes = letter_bytes(text.substr(at))) {
      result += text.substr(at, bytes);
      at += bytes;
    } else {
      const auto byte = static_cast<unsigned char>(text[at++]);
      result += static_cast<char>(0xc0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return result;
}

// Returns the place in `text` of one in what escaped() made of it.
size_t before_escaping(std::string_view text, std::string_view escaped, size_t place) {
  size_t at = 0;
  for (size_t other = 0; other < place && at < text.size(); ++at) {
    if (escaped[other] == '"' && text[at] != '"') ++other;  // around the value of an attribute
    const bool less = text[at] == '<' && escaped[other] == '&';
    const bool ampersand = text[at] == '&' && !is_entity(text.substr(at));
    other += less ? 4 : ampersand && escaped.substr(other).starts_with("&amp;") ? 5 : 1;
  }
  return at;
}

}  // namespace

AnchorText::AnchorText(const std::string& raw, std::string from) : name(std::move(from)) {
  const std::string text = in_utf8(raw);
  text_ = escaped(text);
  const pugi::xml_parse_result result = document.load_buffer(text_.data(), text_.size(), pugi::parse_full);
  if (result) return;
  const size_t place = before_escaping(text, text_, static_cast<size_t>(std::max<ptrdiff_t>(0, result.offset)));
  const size_t line_break = std::string_view(text).substr(0, place).rfind('\n');  // npos: in the first line
  throw Error(name + ":" + std::to_string(line_at(result.offset)) + ": expected XML: " + result.description() +
              ", column " + std::to_string(place - line_break));
}

size_t AnchorText::line_at(std::ptrdiff_t offset) const {
  const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
  return 1 + static_cast<size_t>(std::count(text_.begin(), end, '\n'));
}

size_t AnchorText::line_of(const pugi::xml_node& node) const { return line_at(node.offset_debug()); }

void AnchorText::refuse(const pugi::xml_node& node, const std::string& what) const {
  throw Error(name + ":" + std::to_string(line_of(node)) + ": <" + node.name() + ">: " + what);
}

namespace {

class Reader {
 public:
  explicit Reader(const AnchorText& text) : text_(text) {}

  std::vector<Metric> metrics(const pugi::xml_node& list) {
    std::vector<Metric> metrics;
    std::set<std::string> names;
    std::vector<std::pair<pugi::xml_node, int>> open;  // with the parent's number
    push_children(open, list, "metric", -1);
    while (!open.empty()) {
      const auto [node, parent] = open.back();
      open.pop_back();
      Metric metric = this->metric(node);
      metric.parent = parent;
      if (!names.insert(metric.unique_name).second) {
        text_.refuse(node, "expected unique names, found two metrics " + metric.unique_name);
      }
      metrics.push_back(std::move(metric));
      push_children(open, node, "metric", static_cast<int>(metrics.size() - 1));
    }
    return metrics;
  }

  void read(Profile& profile) {
    const pugi::xml_node root = text_.document.child("cube");
    if (!root) throw Error(text_.name + ": expected an element <cube>, found none");
    for (const pugi::xml_node& attribute : root.children("attr")) {
      profile.attributes.emplace_back(attribute.attribute("key").value(), attribute.attribute("value").value());
    }
    for (const pugi::xml_node& mirror : root.child("doc").child("mirrors").children("murl")) {
      profile.mirrors.emplace_back(mirror.child_value());
    }
    profile.metrics = metrics(root.child("metrics"));
    std::set<unsigned> ids;
    for (const Metric& metric : profile.metrics) {
      if (!ids.insert(metric.id).second) {
        throw Error(text_.name + ": expected metrics of different ids, found two of id " + std::to_string(metric.id));
      }
    }
    read_regions(root.child("program"), profile);
    read_call_paths(root.child("program"), profile);
    read_system(root.child("system"), profile);
  }

 private:
  using Open = std::vector<std::pair<pugi::xml_node, int>>;

  // In reverse, since the last one is taken first.
  static void push_children(Open& open, const pugi::xml_node& node, const char* name, int parent) {
    const size_t before = open.size();
    for (const pugi::xml_node& child : node.children(name)) open.emplace_back(child, parent);
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(before), open.end());
  }

  template <typename T>
  T number(const pugi::xml_node& node, const char* attribute, T otherwise) const {
    const char* const text = node.attribute(attribute).value();
    if (*text == '\0') return otherwise;
    T value{};
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error != std::errc() || *end != '\0') {
      text_.refuse(node, std::string("expected a number for ") + attribute + ", found \"" + text + "\"");
    }
    return value;
  }

  uint32_t id(const pugi::xml_node& node, const char* attribute) const {
    if (!node.attribute(attribute)) text_.refuse(node, std::string("expected an attribute ") + attribute);
    return number<uint32_t>(node, attribute, 0);
  }

  int64_t rank(const pugi::xml_node& node) const {
    const std::string text = trimmed(node.child_value("rank"));
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  static std::string trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return "";
    return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
  }

  Metric metric(const pugi::xml_node& node) const {
    Metric metric;
    metric.id = number<unsigned>(node, "id", 0);
    metric.unique_name = trimmed(node.child_value("uniq_name"));
    if (metric.unique_name.empty()) text_.refuse(node, "expected a <uniq_name>");
    metric.display_name = trimmed(node.child_value("disp_name"));
    metric.data_type = trimmed(node.child_value("dtype"));
    metric.unit = trimmed(node.child_value("uom"));
    metric.url = trimmed(node.child_value("url"));
    metric.description = trimmed(node.child_value("descr"));
    if (const char* const kind = node.attribute("type").value(); *kind != '\0') metric.kind = this->kind(node, kind);
    const std::string visibility = node.attribute("viztype").value();
    if (visibility == "GHOST") metric.visibility = Metric::Visibility::ghost;
    if (visibility == "VOID") metric.visibility = Metric::Visibility::hidden;
    metric.expression = code(node.child("cubepl"));
    metric.init = code(node.child("cubeplinit"));
    const std::string_view rowwise = node.child("cubepl").attribute("rowwise").value();
    metric.rowwise = rowwise != "false";
    for (const pugi::xml_node& aggregation : node.children("cubeplaggr")) {
      const std::string_view which = aggregation.attribute("cubeplaggrtype").value();
      (which == "minus" ? metric.minus : which == "aggr" ? metric.aggregate : metric.plus) = code(aggregation);
    }
    return metric;
  }

  Metric::Kind kind(const pugi::xml_node& node, std::string_view name) const {
    for (const auto& [kind, known] : kKindNames) {
      if (name == known) return kind;
    }
    if (name == "SIMPLE") return Metric::Kind::exclusive;
    text_.refuse(node, "expected a type such as EXCLUSIVE, INCLUSIVE or POSTDERIVED, found " + std::string(name));
  }

  // The text may be in several pieces, between comments.
  Metric::Code code(const pugi::xml_node& node) const {
    Metric::Code code;
    for (const pugi::xml_node& piece : node.children()) {
      if (piece.type() != pugi::node_pcdata && piece.type() != pugi::node_cdata) continue;
      if (code.text.empty()) code.line = text_.line_of(piece);
      code.text += piece.value();
    }
    return code;
  }

  void read_regions(const pugi::xml_node& program, Profile& profile) {
    for (const pugi::xml_node& node : program.children("region")) {
      Region region;
      region.id = id(node, "id");
      region.name = node.child_value("name");
      region.mangled_name = node.child_value("mangled_name");
      region.module = node.attribute("mod").value();
      region.begin = number<int64_t>(node, "begin", -1);
      region.end = number<int64_t>(node, "end", -1);
      region.paradigm = node.child_value("paradigm");
      region.role = node.child_value("role");
      region.url = node.child_value("url");
      region.description = node.child_value("descr");
      if (!region_numbers_.try_emplace(region.id, profile.regions.size()).second) {
        text_.refuse(node, "expected regions of different ids, found two of id " + std::to_string(region.id));
      }
      profile.regions.push_back(std::move(region));
    }
  }

  void read_call_paths(const pugi::xml_node& program, Profile& profile) {
    std::vector<CallPath> paths;
    std::set<uint32_t> ids;
    Open open;
    push_children(open, program, "cnode", -1);
    while (!open.empty()) {
      const auto [node, parent] = open.back();
      open.pop_back();
      CallPath path;
      path.id = id(node, "id");
      path.parent = parent;
      const uint32_t callee = id(node, "calleeId");
      const auto region = region_numbers_.find(callee);
      if (region == region_numbers_.end()) {
        text_.refuse(node, "expected the id of a region for calleeId, found " + std::to_string(callee));
      }
      path.region = static_cast<uint32_t>(region->second);
      for (const pugi::xml_node& parameter : node.children("parameter")) {
        path.parameters.emplace_back(parameter.attribute("parkey").value(), parameter.attribute("parvalue").value());
      }
      if (!ids.insert(path.id).second) {
        text_.refuse(node, "expected call paths of different ids, found two of id " + std::to_string(path.id));
      }
      paths.push_back(std::move(path));
      push_children(open, node, "cnode", static_cast<int>(paths.size() - 1));
    }
    profile.tree = CallTree(std::move(paths));
  }

  void read_system(const pugi::xml_node& system, Profile& profile) {
    if (system.child("machine")) {
      text_.refuse(system,
                   "expected <systemtreenode>, found <machine>, a form of Cube before 4.1, which is not supported");
    }
    Open open;
    push_children(open, system, "systemtreenode", -1);
    std::set<uint32_t> ids;
    while (!open.empty()) {
      const auto [node, parent] = open.back();
      open.pop_back();
      const auto number = static_cast<uint32_t>(profile.nodes.size());
      profile.nodes.push_back({id(node, "Id"), parent, node.child_value("name"), node.child_value("class")});
      read_groups(node, number, profile, ids);
      push_children(open, node, "systemtreenode", static_cast<int>(number));
    }
    // Rows have their values in the order of the ids.
    std::sort(profile.locations.begin(), profile.locations.end(),
              [](const Location& one, const Location& other) { return one.id < other.id; });
  }

  void read_groups(const pugi::xml_node& node, uint32_t number, Profile& profile, std::set<uint32_t>& ids) {
    for (const pugi::xml_node& child : node.children("locationgroup")) {
      const auto group = static_cast<uint32_t>(profile.groups.size());
      profile.groups.push_back(
          {id(child, "Id"), rank(child), child.child_value("name"), trimmed(child.child_value("type")), number});
      for (const pugi::xml_node& each : child.children("location")) {
        profile.locations.push_back(
            {id(each, "Id"), rank(each), each.child_value("name"), trimmed(each.child_value("type")), group});
        if (!ids.insert(profile.locations.back().id).second) {
          text_.refuse(each, "expected locations of different Ids, found two of " +
                                 std::to_string(profile.locations.back().id));
        }
      }
    }
  }

  const AnchorText& text_;
  std::unordered_map<uint32_t, size_t> region_numbers_;
};

}  // namespace

const Metric* Profile::find_metric(const std::string& unique_name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.unique_name == unique_name; });
  return found == metrics.end() ? nullptr : &*found;
}

Profile read_anchor(std::string text, const std::string& name) {
  Profile profile;
  profile.anchor = std::move(text);
  const AnchorText anchor(profile.anchor, name);
  Reader(anchor).read(profile);
  return profile;
}

// A specification is one element <metrics>, or several elements without one around them.
std::vector<Metric> read_metrics(const std::string& text, const std::string& name) {
  const AnchorText specification(text, name);
  const pugi::xml_node found = specification.document.find_node([](const pugi::xml_node& node) {
    return node.type() == pugi::node_element && std::strcmp(node.name(), "metrics") == 0;
  });
  if (!found) throw Error(name + ": expected an element <metrics>, found none");
  return Reader(specification).metrics(found);
}

}  // namespace tailrace::cube
