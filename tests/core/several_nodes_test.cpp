// A node of several that write files together: its data wait in shared memory, and others go on (promise 5).
#include <gtest/gtest.h>

#include <array>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;

std::string text_of_node(const std::string& name) {
  return "tailrace: 1\nname: " + name +
         "\nplace: {kind: core, cpus: none, clients: 1, node: 0, nodes: 2}\nmemory: {budget: 1 MiB}\n"
         "storage: {file_per: job, existing: continue}\nlog: {level: error}\n"
         "format: {kind: plain, file: \"f_{iteration}.h5\"}\n"
         "layouts:\n  half: {type: float64, shape: [100], global: [200], offset: [0]}\n"
         "variables:\n  u: {layout: half}\n";
}

tailrace_status open_node(const Directory& directory, const std::string& name, tailrace_client** client) {
  const std::string configuration = text_of_node(name);
  const std::string path = directory.path();
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = configuration.c_str();
  options.path = path.c_str();
  return tailrace_open_with("nodes.yaml", 0, &options, client);
}

// A client that opens, ends an iteration when it is told to, and then waits for its death.
[[noreturn]] void be_node_client(const Directory& directory, int told, int go) {
  tailrace_client* client = nullptr;
  char byte = 'x';
  if (open_node(directory, "first", &client) != TAILRACE_OK) _exit(1);
  if (::write(told, &byte, 1) != 1 || ::read(go, &byte, 1) != 1) _exit(2);
  const std::vector<double> values(100, 1.5);
  if (tailrace_write(client, "u", 7, values.data()) != TAILRACE_OK) _exit(3);
  if (tailrace_end_iteration(client, 7) != TAILRACE_OK) _exit(4);
  if (::write(told, &byte, 1) != 1) _exit(5);
  for (;;) pause();
}

// Leaves an iteration of the first node in shared memory: the server has stopped before, and all have died.
void leave_data(const CoreNode& node, const Directory& directory) {
  std::array<int, 2> told{};
  std::array<int, 2> go{};
  ASSERT_EQ(pipe(told.data()), 0);
  ASSERT_EQ(pipe(go.data()), 0);
  const pid_t client = fork();
  if (client == 0) be_node_client(directory, told[1], go[0]);
  char byte = 'x';
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  ASSERT_EQ(node.kill_servers(SIGSTOP), 1);
  ASSERT_EQ(::write(go[1], &byte, 1), 1);
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  node.kill_servers(SIGKILL);
  node.wait_end_of_servers();
  for (const int end : {told[0], told[1], go[0], go[1]}) close(end);
}

TEST(SeveralNodes, WhatADeadServerHadIsWritten) {
  const CoreNode node;
  const Directory directory;
  leave_data(node, directory);
  EXPECT_EQ(node.drain(), std::vector<int>());
  EXPECT_TRUE(test::fs::exists(directory.path() / "f_7.h5.part"));
  EXPECT_TRUE(test::fs::exists(directory.path() / "f_7.h5.part.n0"));
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// The other nodes have gone on without it, so that a file of its part alone would stay for ever.
TEST(SeveralNodes, WhatWasGivenUpIsAnErrorAndLeavesNothing) {
  for (const bool directory_goes : {false, true}) {
    const CoreNode node;
    const Directory directory;
    leave_data(node, directory);
    test::fs::remove(directory.path() / ".first_n0.lock");
    if (directory_goes) test::fs::remove_all(directory.path());
    EXPECT_EQ(node.drain().size(), 1u);
    EXPECT_EQ(test::fs::exists(directory.path()), !directory_goes);
    EXPECT_FALSE(test::fs::exists(directory.path() / "f_7.h5.part"));
    EXPECT_FALSE(test::fs::exists(directory.path() / "f_7.h5.part.n0"));
    EXPECT_EQ(node.leavings(), std::vector<std::string>());
  }
}

// Its server would look for data under its own name alone, and the others would not wait for what it has not found.
TEST(SeveralNodes, ARunOfAnotherNameIsRefusedWhileDataMayWait) {
  const CoreNode node;
  const Directory directory;
  leave_data(node, directory);
  std::ofstream(directory.path() / "f_7.h5.part") << "the other node's";
  tailrace_client* client = nullptr;
  EXPECT_EQ(open_node(directory, "second", &client), TAILRACE_EXISTS);
  const std::string why = test::last_error(nullptr).message;
  EXPECT_NE(why.find(".first_n0.lock"), std::string::npos) << why;
  EXPECT_NE(why.find("tailrace recover"), std::string::npos) << why;
  EXPECT_EQ(node.drain(), std::vector<int>());
  EXPECT_TRUE(test::fs::exists(directory.path() / "f_7.h5.part.n0"));
}

}  // namespace
