// Stops or kills the server of a node, for tests of what its clients see.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "core_files.hpp"

namespace test {

inline Config config_with_loss(const std::string& on_server_loss) {
  Config config = core_config();
  config.place = "{kind: core, cpus: none, on_server_loss: " + on_server_loss + "}";
  return config;
}

// Stops the server, and returns when it has stopped.
inline void stop_server(const CoreNode& node) {
  const std::vector<pid_t> servers = node.servers();
  ASSERT_EQ(servers.size(), 1u);
  kill(servers[0], SIGSTOP);
  for (std::string state; state.find("State:\tT") == std::string::npos;) {
    state = text_of("/proc/" + std::to_string(servers[0]) + "/status");
    ASSERT_FALSE(state.empty());
  }
}

inline void kill_server(const CoreNode& node) {
  ASSERT_GE(node.kill_servers(SIGKILL), 1);
  node.wait_end_of_servers();
}

}  // namespace test
