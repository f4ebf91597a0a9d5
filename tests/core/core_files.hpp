// Writes by test::Config in the tests of place `core`, and checks the files.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core_node.hpp"
#include "hdf5_file.hpp"

namespace test {

inline const char* const kVariables[] = {"a", "b", "c", "d", "e", "f"};

inline Config core_config() {
  Config config;
  config.place = "{kind: core, cpus: none}";
  config.log = "{level: error}";  // the server's log is beside the files
  return config;
}

inline std::string file_of(int client, int64_t iteration) {
  char name[64];
  std::snprintf(name, sizeof name, "run_c%d_%06lld.h5", client, static_cast<long long>(iteration));
  return name;
}

// Returns the log of a server that a client has started, if the configuration names none.
inline fs::path log_of(const fs::path& directory, int server = 0) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return directory / ("run_core" + std::to_string(server) + "_" + host + ".log");
}

// Writes all variables of an iteration.
inline tailrace_status write_blocks(tailrace_client* client, int64_t iteration, int different = 0) {
  for (int variable = 0; variable < 6; ++variable) {
    const std::vector<double> values = block(iteration, variable + different);
    const tailrace_status status = tailrace_write(client, kVariables[variable], iteration, values.data());
    if (status != TAILRACE_OK) return status;
  }
  return TAILRACE_OK;
}

inline tailrace_status write_iteration(tailrace_client* client, int64_t iteration, int different = 0) {
  const tailrace_status status = write_blocks(client, iteration, different);
  return status == TAILRACE_OK ? tailrace_end_iteration(client, iteration) : status;
}

inline void expect_exact(const fs::path& path, int64_t iteration, int different = 0) {
  const Hdf5File file(path);
  ASSERT_TRUE(file.opened()) << path;
  for (int variable = 0; variable < 6; ++variable) {
    const std::vector<double> values = block(iteration, variable + different);
    const std::vector<std::byte> bytes = file.bytes(iteration, kVariables[variable]);
    ASSERT_EQ(bytes.size(), values.size() * sizeof(double)) << path;
    ASSERT_EQ(std::memcmp(bytes.data(), values.data(), bytes.size()), 0) << path << " " << kVariables[variable];
  }
}

}  // namespace test
