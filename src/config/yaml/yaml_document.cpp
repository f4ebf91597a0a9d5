#include "config/yaml/yaml_document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

#include "base/names/utf8.hpp"

namespace tailrace::impl {
namespace {

YamlPlace place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

size_t count_nodes(const YamlNode& node) {
  size_t count = 1;
  for (const YamlNode& child : node.children) count += count_nodes(child);
  return count;
}

size_t depth_of(const YamlNode& node) {
  size_t deepest = 0;
  for (const YamlNode& child : node.children) deepest = std::max(deepest, depth_of(child));
  return deepest + 1;
}

// Builder: builds the tree from the parser's events. After a fault it ignores further events; a mistake in one value
// does not keep it from building the rest.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(YamlReport& report) : report_(report) {}

  // Returns true after a fault: there is no tree.
  bool failed() const { return failed_; }
  YamlNode take_root() { return std::move(root_); }
  // Returns the parser's position as a key path, for faults that the parser finds.
  std::string path() const;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fault(place_of(mark), {"a second document (after '---')", "one document"});
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.place = place_of(mark);
    complete(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.place = place_of(mark);
    node.text = value;
    node.in_quotes = tag == "!";
    if (failed_) return;
    check_tag(node.place, tag);
    check_encoding(node.place, value);
    complete(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map whose end has not been reached.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    std::optional<std::string> key{};  // read, but not its value
    bool repeated = false;             // the key stands before, and its value is left out
    YamlPlace key_place{};
    std::unordered_map<std::string, int> lines{};  // of each key
  };

  void mistake(YamlPlace place, const YamlReport::Fault& fault) { report_.fault(place, path(), fault); }
  void fault(YamlPlace place, const YamlReport::Fault& fault) {
    mistake(place, fault);
    failed_ = true;
  }
  void too_many(YamlPlace place) { fault(place, {"too many values", fmt::format("at most {}", yaml_most_nodes)}); }
  void check_tag(YamlPlace place, const std::string& tag);
  void check_encoding(YamlPlace place, const std::string& value);
  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
  void close();
  // Places a complete node: it becomes a key, a value, an item or the root.
  void complete(YamlNode node, YAML::anchor_t anchor);
  void take_key(const YamlNode& node);
  bool keep(YAML::anchor_t anchor, const YamlNode& node);

  YamlReport& report_;
  bool failed_ = false;
  int documents_ = 0;
  size_t nodes_ = 0;
  YamlNode root_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
};

std::string Builder::path() const {
  std::string path;
  for (const Open& open : stack_) {
    if (open.node.kind == YamlNode::Kind::list) {
      path += fmt::format("[{}]", open.node.children.size());
    } else if (open.key) {
      path += fmt::format("{}{}", path.empty() ? "" : ".", printable(*open.key));
    }
  }
  return path;
}

void Builder::check_tag(YamlPlace place, const std::string& tag) {
  if (tag.empty() || tag == "!" || tag == "?") return;
  mistake(place, {"the tag " + in_quotes(tag), "a plain value", "leave the tag out"});
}

// The parser accepts invalid UTF-8.
void Builder::check_encoding(YamlPlace place, const std::string& value) {
  if (is_utf8(value)) return;
  const bool is_key = !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::map && !stack_.back().key;
  mistake(place, {in_quotes(value), "text in UTF-8", "store the file in UTF-8"});
  failed_ = failed_ || is_key;
}

void Builder::open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
  if (failed_) return;
  check_tag(place_of(mark), tag);
  if (stack_.size() + 1 >= yaml_most_depth) {
    return fault(place_of(mark), {"a value nested too deeply", fmt::format("at most {} levels", yaml_most_depth)});
  }
  Open open{{}, anchor};
  open.node.kind = kind;
  open.node.place = place_of(mark);
  stack_.push_back(std::move(open));
}

void Builder::close() {
  if (failed_) return;
  Open done = std::move(stack_.back());
  stack_.pop_back();
  complete(std::move(done.node), done.anchor);
}

void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (failed_) return;
  const auto known = anchors_.find(anchor);
  if (known == anchors_.end()) {
    return fault(place_of(mark), {"an alias inside the value that it stands for", "an alias of an earlier value"});
  }
  nodes_ += count_nodes(known->second);
  if (nodes_ > yaml_most_nodes) return too_many(place_of(mark));
  if (stack_.size() + depth_of(known->second) > yaml_most_depth) {
    return fault(place_of(mark), {"a value nested too deeply", fmt::format("at most {} levels", yaml_most_depth)});
  }
  complete(known->second, 0);
}

void Builder::complete(YamlNode node, YAML::anchor_t anchor) {
  if (failed_) return;
  if (++nodes_ > yaml_most_nodes) return too_many(node.place);
  if (anchor != 0 && !keep(anchor, node)) return too_many(node.place);
  if (stack_.empty()) {
    root_ = std::move(node);
    return;
  }
  Open& parent = stack_.back();
  if (parent.node.kind == YamlNode::Kind::list) {
    parent.node.children.push_back(std::move(node));
    return;
  }
  if (!parent.key) return take_key(node);
  if (parent.repeated) {
    parent.key.reset();
    parent.repeated = false;
    return;
  }
  node.has_key = true;
  node.key = std::move(*parent.key);
  node.key_place = parent.key_place;
  parent.key.reset();
  parent.node.children.push_back(std::move(node));
}

// A copy counts as all its values: nested anchors would otherwise expand few values into many.
bool Builder::keep(YAML::anchor_t anchor, const YamlNode& node) {
  nodes_ += count_nodes(node);
  if (nodes_ <= yaml_most_nodes) anchors_[anchor] = node;
  return nodes_ <= yaml_most_nodes;
}

void Builder::take_key(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::scalar) return fault(node.place, {"a key that is not a name", "a name"});
  Open& parent = stack_.back();
  parent.key = node.text;
  parent.key_place = node.place;
  const auto [entry, first] = parent.lines.emplace(node.text, node.place.line);
  if (first) return;
  parent.repeated = true;
  mistake(node.place,
          {"the key a second time", "it once", fmt::format("it stands on line {} already", entry->second)});
}

// Returns true if `line` (counted from 0) or the line before it is indented with a tab, which YAML does not allow.
bool has_tab_before(const std::string& text, int line) {
  std::istringstream lines(text);
  std::string content;
  for (int i = 0; i <= line && std::getline(lines, content); ++i) {
    const size_t indentation = std::min(content.find_first_not_of(" \t"), content.size());
    if (i + 1 >= line && content.substr(0, indentation).find('\t') != std::string::npos) return true;
  }
  return false;
}

constexpr size_t longest_reason = 200;  // bytes; the parser's reasons contain pieces of the text

// The key path at the parser's fault may be incomplete; what there is still helps.
void report_syntax(const Builder& builder, const std::string& text, const YAML::Mark& mark, const std::string& why,
                   YamlReport& report) {
  const bool tab = !mark.is_null() && has_tab_before(text, mark.line);
  report.fault(place_of(mark), builder.path(),
               {fmt::format("text that is not YAML ({})", printable(why, longest_reason)), "YAML",
                tab ? "indent with spaces; YAML does not allow tabs"
                    : "check indentation, colons, quotes and brackets here and on the line before"});
}

}  // namespace

std::optional<YamlNode> parse_yaml(const std::string& text, YamlReport& report) {
  if (text.size() > yaml_most_bytes) {
    report.fault({}, "", {fmt::format("{} bytes", text.size()), fmt::format("at most {} bytes", yaml_most_bytes)});
    return std::nullopt;
  }
  Builder builder(report);
  bool is_yaml = true;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (!builder.failed() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& exception) {
    is_yaml = false;
    report_syntax(builder, text, exception.mark, exception.msg, report);
  } catch (const std::exception& exception) {
    is_yaml = false;
    report_syntax(builder, text, YAML::Mark::null_mark(), exception.what(), report);
  }
  if (!is_yaml || builder.failed()) return std::nullopt;
  return builder.take_root();
}

}  // namespace tailrace::impl
