#include "damaris/xml/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "damaris/xml/element.hpp"
#include "damaris/xml/read_data.hpp"

namespace tailrace::damaris {
namespace {

constexpr size_t kLongestName = 80;
constexpr size_t kLongestPath = 2000;
constexpr int64_t kMostDomains = 4096;
constexpr int64_t kMostCores = 64;
constexpr int64_t kMostNodes = 65536;
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

void read_architecture(const Element& element, Architecture& to) {
  element.know_attributes({"name"});
  element.know_children({"domains", "dedicated", "placement", "buffer", "queue"});
  if (const Element domains = element.only_child("domains"); domains.exists()) {
    domains.know_attributes({"count"});
    to.domains = domains.integer("count", 1, kMostDomains, to.domains);
  }
  if (const Element dedicated = element.only_child("dedicated"); dedicated.exists()) {
    dedicated.know_attributes({"cores", "nodes"});
    to.dedicated_cores = dedicated.integer("cores", 0, kMostCores, 0);
    to.dedicated_nodes = dedicated.integer("nodes", 0, kMostNodes, 0);
  }
  if (const Element placement = element.only_child("placement"); placement.exists()) {
    placement.know_attributes({"mask", "start", "step", "blocksize"});
    if (!placement.string("mask").empty() || placement.has("start") || placement.has("step")) {
      placement.warn("has no effect: the last ranks of each node are the dedicated ones");
    }
  }
  if (const Element buffer = element.only_child("buffer"); buffer.exists()) {
    buffer.know_attributes({"name", "size", "type", "blocks", "enabled"});
    buffer.required("size");
    to.buffer = static_cast<uint64_t>(
        buffer.integer("size", 1, std::numeric_limits<int64_t>::max(), static_cast<int64_t>(to.buffer)));
  }
  if (const Element queue = element.only_child("queue"); queue.exists()) {
    queue.know_attributes({"name", "size"});
    queue.integer("size", 1, kMost, 100);
  }
}

void read_option(const Element& option, Store& to) {
  option.know_attributes({"key"});
  const std::string key = option.required("key");
  const std::string text = option.text();
  const std::vector<std::string_view> keys = {"FileMode", "XDMFMode", "FilesPath"};
  if (key == "FilesPath") {
    to.path = text;
    const std::string prefix = text.substr(text.rfind('/') + 1);
    if (!is_plain_text(text) || prefix.starts_with('.') || prefix.size() > kLongestName ||
        text.size() > kLongestPath) {
      option.wrong("", in_quotes(text), "a directory that ends with '/', and the beginning of file names");
    }
  } else if (key == "FileMode") {
    const std::vector<std::string_view> modes = {"FilePerCore", "Collective"};
    if (text != "FilePerCore" && text != "Collective" && text != "CollectiveTest") {
      option.wrong("", in_quotes(text), one_of(modes), did_you_mean(text, modes));
    }
    to.mode = text == "FilePerCore" ? FileMode::file_per_core : FileMode::collective;
  } else if (key == "XDMFMode") {
    const std::vector<std::string_view> modes = {"NoIteration", "FirstIteration", "EveryIteration"};
    const auto found = std::find(modes.begin(), modes.end(), text);
    if (found == modes.end()) option.wrong("", in_quotes(text), one_of(modes), did_you_mean(text, modes));
    constexpr XdmfMode choices[] = {XdmfMode::none, XdmfMode::first_iteration, XdmfMode::every_iteration};
    if (found != modes.end()) to.xdmf = choices[found - modes.begin()];
  } else if (!key.empty()) {
    const std::string hint = did_you_mean(key, keys);
    option.warn("has no effect" + (hint.empty() ? "" : "; " + hint));
  }
}

void read_storage(const Element& element, Model& to) {
  element.know_children({"store"});
  for (const Element& child : element.children()) {
    if (child.name() != "store") continue;
    child.know_attributes({"name", "type", "frequency"});
    child.know_children({"option"});
    Store store;
    store.name = child.required("name");
    child.required("type");
    store.writes = child.choice("type", {"HDF5", "null"}, 0) == 0;
    store.frequency = child.integer("frequency", 1, kMost, 1);
    for (const Element& option : child.children()) {
      if (option.name() == "option") read_option(option, store);
    }
    const bool twice =
        std::any_of(to.stores.begin(), to.stores.end(), [&](const Store& other) { return other.name == store.name; });
    if (twice) child.wrong("name", "a second store of this name", "each name once");
    to.stores.push_back(std::move(store));
  }
}

void read_event(const Element& element, Model& to) {
  element.know_attributes({"name", "action", "execution", "library", "scope", "external"});
  constexpr Scope scopes[] = {Scope::core, Scope::group, Scope::broadcast, Scope::global};
  Event event;
  event.name = element.required("name");
  event.action = element.required("action");
  event.library = element.string("library");
  event.scope = scopes[element.choice("scope", {"core", "group", "bcast", "global"}, 0)];
  event.local = element.choice("execution", {"remote", "local", "coupled"}, 0) == 1;
  to.events.push_back(std::move(event));
}

void read_actions(const Element& element, Model& to) {
  element.know_children({"event", "script", "error"});
  for (const Element& child : element.children()) {
    if (child.name() == "event") read_event(child, to);
    if (child.name() == "script") child.warn("has no effect here: expected <pyscript> in <scripts>");
    if (child.name() == "error") child.warn("has no effect: no iteration is dropped when the buffer is full");
  }
}

void read_scripts(const Element& element, Model& to) {
  element.know_children({"pyscript"});
  for (const Element& child : element.children()) {
    if (child.name() != "pyscript") continue;
    child.know_attributes({"name", "file", "execution", "language", "scope", "external", "frequency",
                           "scheduler-file", "nthreads", "timeout", "keep-workers"});
    child.choice("language", {"python"}, 0);
    to.scripts.push_back({child.required("name"), child.required("file"), child.integer("frequency", 1, kMost, 1)});
    if (!child.string("scheduler-file").empty()) {
      child.warn("the attribute 'scheduler-file' has no effect: scripts get no Dask workers");
    }
  }
}

// Elements of programs that show data while they are computed, and of logs.
void read_unused(const Element& root) {
  for (const char* const name : {"visit", "paraview"}) {
    if (const Element element = root.only_child(name); element.exists()) {
      element.warn("has no effect: tailrace does not show data while they are computed");
    }
  }
  if (const Element log = root.only_child("log"); log.exists()) {
    log.know_attributes({"FileName", "RotationSize", "LogFormat", "LogLevel", "Flush"});
    log.choice("LogLevel", {"trace", "debug", "info", "warning", "error", "fatal"}, 3);
  }
}

void check_scripts(const Element& root, const Model& model) {
  std::vector<std::string_view> names;
  for (const Script& script : model.scripts) names.emplace_back(script.name);
  for (const Variable& variable : model.variables) {
    const std::string& name = variable.script;
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    root.wrong("", "the script " + in_quotes(name) + " of variable " + in_quotes(variable.name),
               names.empty() ? "a <pyscript> of this name" : one_of(names), did_you_mean(name, names));
  }
}

}  // namespace

Model read_model(std::string_view text, Report& report) {
  const Document document(text, report);
  const Element root = document.root();
  if (root.name() != "simulation") {
    root.wrong("", "this root element", "<simulation>");
    report.check();
  }
  root.know_attributes({"name", "language"});
  root.know_children({"architecture", "data", "storage", "actions", "scripts", "visit", "paraview", "log"});
  Model model;
  model.name = root.required("name");
  const bool fits = is_plain_text(model.name) && model.name.size() <= kLongestName && model.name.front() != '.' &&
                    model.name.find('/') == std::string::npos;
  if (!model.name.empty() && !fits) root.wrong("name", in_quotes(model.name), "the beginning of file names");
  const bool fortran = read_language(root, false);
  const Element architecture = root.only_child("architecture");
  if (!architecture.exists()) root.wrong("", "no <architecture>", "one");
  if (architecture.exists()) read_architecture(architecture, model.architecture);
  if (const Element storage = root.only_child("storage"); storage.exists()) read_storage(storage, model);
  const Element data = root.only_child("data");
  if (!data.exists()) root.wrong("", "no <data>", "one");
  if (data.exists()) read_data(data, fortran, model);
  if (const Element actions = root.only_child("actions"); actions.exists()) read_actions(actions, model);
  if (const Element scripts = root.only_child("scripts"); scripts.exists()) read_scripts(scripts, model);
  check_scripts(root, model);
  read_unused(root);
  report.check();
  return model;
}

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::getline(stream, text, '\0');  // does not throw if it cannot be read, as the stream's buffer does
  if (stream.bad() || !stream.is_open())
    throw Error(file + ": cannot be read: " + std::generic_category().message(errno));
  return text;
}

}  // namespace tailrace::damaris
