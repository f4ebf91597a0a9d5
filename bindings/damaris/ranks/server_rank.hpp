// The work of a dedicated rank.
#pragma once

#include <memory>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// The servers of a dedicated rank: a process for each store.
class ServerRank {
 public:
  // Starts them, and waits until clients can come. If one does not start, clients start it themselves, or say why.
  ServerRank(const Model& model, const std::vector<Outlet>& outlets);
  ~ServerRank();

  // Waits until they have ended, for `seconds` at most. `served`: clients came; else the servers are terminated.
  void wait(bool served, double seconds);

 private:
  struct Programs;
  std::unique_ptr<Programs> programs_;
};

}  // namespace tailrace::damaris
