// Where the stores of a description are written from, given the ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/ranks/forwarder_rank.hpp"
#include "damaris/ranks/ranks.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// Returns an outlet for each store in use. Throws Failure if a store cannot be written by these ranks. `goes_on`:
// the program has started before. `forwarding`: nullptr if there are no dedicated nodes. `lookup`: the values of
// parameters in this process, by which a client gets room for its blocks.
std::vector<Outlet> outlets_of(const Model& model, const Ranks& ranks, const Forwarding* forwarding, bool goes_on,
                               const Expression::Lookup& lookup);

// Returns the outlet from which scripts get their data; none if there are none, or no dedicated cores to run them.
// `run` differs from run to run.
std::optional<Outlet> script_outlet_of(const Model& model, const Ranks& ranks, const std::string& run);

// Makes the directory of scripts' files, and these; and removes all that.
class ScriptFiles {
 public:
  ScriptFiles(const Model& model, const Ranks& ranks, const Outlet& outlet, const std::string& run);
  ScriptFiles(const ScriptFiles&) = delete;
  ScriptFiles& operator=(const ScriptFiles&) = delete;
  ~ScriptFiles();

 private:
  const std::string directory_;
};

// Returns true if the server of these ranks writes the outlet's store: a file for all has one server of each node.
bool is_served(const Model& model, const Outlet& outlet, const Ranks& ranks);

}  // namespace tailrace::damaris
