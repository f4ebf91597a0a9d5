#include "damaris/run/outlets.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "damaris/include/Damaris.h"
#include "damaris/output/script_program.hpp"
#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {
namespace {

constexpr uint64_t kLeastBudget = uint64_t{1} << 20;
constexpr uint64_t kPage = 4096;
constexpr double kPatience = 120;  // seconds without any progress

// The buffer is that of a node; its clients have equal parts, but each has room for the largest block.
uint64_t budget_of(const Model& model, const Ranks& ranks, size_t store, size_t stores,
                   const Expression::Lookup& lookup) {
  const uint64_t buffer = model.architecture.buffer;
  const uint64_t part = buffer / static_cast<uint64_t>(ranks.clients_of_node()) / stores;
  const uint64_t largest = std::min(largest_block(model, store, lookup), buffer);
  const uint64_t room = (largest + kPage) / kPage * kPage + kLeastBudget;
  return std::max({part, kLeastBudget, largest > part ? room : uint64_t{0}});
}

}  // namespace

std::vector<Outlet> outlets_of(const Model& model, const Ranks& ranks, const Forwarding* forwarding, bool goes_on,
                               const Expression::Lookup& lookup) {
  const std::vector<size_t> stores = stores_in_use(model);
  std::vector<Outlet> outlets;
  for (const size_t store : stores) {
    const bool collective = model.stores[store].mode == FileMode::collective;
    Outlet outlet;
    outlet.store = store;
    outlet.dedicated = ranks.has_servers();
    outlet.server = std::to_string(ranks.server());
    outlet.servers = std::to_string(std::max(1, ranks.servers()));
    outlet.clients = std::to_string(collective ? ranks.clients_of_node() : ranks.clients_of_server());
    if (collective) {
      outlet.node = ranks.node();
      outlet.nodes = ranks.nodes();
    }
    if (!collective) outlet.cpus = ranks.server_cpus();
    outlet.budget = budget_of(model, ranks, store, stores.size(), lookup);
    outlet.patience = kPatience;
    outlet.empty_at_first = true;
    outlet.goes_on = goes_on;
    if (forwarding != nullptr) {
      outlet.forwarders = forwarding->servers();
      outlet.key = forwarding->key();
    }
    outlets.push_back(outlet);
  }
  return outlets;
}

std::optional<Outlet> script_outlet_of(const Model& model, const Ranks& ranks, const std::string& run) {
  const bool wanted = std::any_of(model.variables.begin(), model.variables.end(), [](const Variable& variable) {
    return !variable.script.empty() && variable.enabled;
  });
  if (!wanted || !ranks.has_servers()) return std::nullopt;
  Outlet outlet;
  outlet.scripts = true;
  outlet.server = std::to_string(ranks.server());
  outlet.servers = std::to_string(ranks.servers());
  outlet.clients = std::to_string(ranks.clients_of_server());
  outlet.cpus = ranks.server_cpus();
  const uint64_t part = model.architecture.buffer / static_cast<uint64_t>(ranks.clients_of_node());
  outlet.budget = std::max(part, 4 * kLeastBudget);
  outlet.patience = kPatience;
  outlet.empty_at_first = true;
  outlet.goes_on = true;
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  outlet.directory = (error ? "/tmp" : temporary.string()) + "/tailrace-damaris-" + run + "-" + outlet.server;
  for (size_t i = 0; i < model.scripts.size(); ++i) {
    outlet.programs.push_back(outlet.directory + "/script" + std::to_string(i) + ".py");
  }
  return outlet;
}

ScriptFiles::ScriptFiles(const Model& model, const Ranks& ranks, const Outlet& outlet, const std::string& run)
    : directory_(outlet.directory) {
  if (mkdir(directory_.c_str(), 0700) != 0) {
    say("scripts: the directory '" + directory_ + "' cannot be made: " + std::generic_category().message(errno));
    return;
  }
  const int servers = static_cast<int>(model.architecture.dedicated_cores);
  const ScriptFacts facts{ranks.server(), servers, ranks.clients_of_node(), ranks.nodes(), run};
  for (size_t i = 0; i < model.scripts.size(); ++i) {
    std::ofstream(outlet.programs[i]) << script_program(model, model.scripts[i], facts);
  }
}

ScriptFiles::~ScriptFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

bool is_served(const Model& model, const Outlet& outlet, const Ranks& ranks) {
  return model.stores[outlet.store].mode == FileMode::file_per_core || ranks.is_first_server_of_node();
}

}  // namespace tailrace::damaris
