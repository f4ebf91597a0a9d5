// ForwarderRank: the work of a dedicated node. Its first rank runs a forwarder (docs/forwarding.md), which writes
// what the other nodes hand over by network.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "damaris/ranks/lifelines.hpp"
#include "damaris/ranks/ranks.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// The forwarders of a run, as all its processes know them. The first rank of each node keeps the file of the key,
// which differs from run to run.
class Forwarding {
 public:
  // Collective over all ranks. Starts the forwarders. Throws Failure, on all ranks, if one of them cannot start.
  // `run` differs from run to run.
  Forwarding(const Model& model, const Ranks& ranks, const std::string& run);
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;
  ~Forwarding();

  // On a dedicated node: waits until all processes that hand over to it have ended this, or died.
  void wait();

  const std::vector<std::string>& servers() const { return servers_; }  // addresses
  const std::string& key() const { return key_; }                       // the path of the key file

 private:
  class Process;
  struct Place;

  LifeToken share_key(const Ranks& ranks, const std::string& run);
  void lead(const Model& model, const Ranks& ranks, const LifeToken& token, Place& own);
  void meet(const Ranks& ranks, const std::vector<Place>& places, const LifeToken& token);

  std::string key_;
  bool keeps_key_ = false;
  std::vector<std::string> servers_;
  std::unique_ptr<Process> process_;      // of the rank that leads a dedicated node,
  std::unique_ptr<Lifelines> lifelines_;  // as well
  std::vector<Lifeline> lifeline_;        // of others: to those
};

}  // namespace tailrace::damaris
