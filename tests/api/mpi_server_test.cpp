// The servers that tailrace_mpi.hpp starts, without MPI: it reports how they ended.
#include <gtest/gtest.h>
#include <tailrace/tailrace_mpi.hpp>

#include <fstream>

#include "run_rig.hpp"

namespace {

namespace fs = test::fs;

// Returns the text on stderr when a server's program is this script.
std::string said_of(const std::string& script) {
  const test::Directory directory;
  const fs::path program = directory.path() / "server";
  std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
  fs::permissions(program, fs::perms::owner_all);
  tailrace::mpi::SplitOptions options;
  options.program = program;
  testing::internal::CaptureStderr();
  tailrace::mpi::detail::ServerProcess server("sim.yaml", 0, {}, options);
  server.wait_ready();
  server.wait_end();
  return testing::internal::GetCapturedStderr();
}

TEST(MpiServer, SaysHowItEnded) {
  EXPECT_EQ(said_of("exit 0"), "");
  EXPECT_EQ(said_of("exit 1"), "tailrace::mpi: a server ended with exit status 1\n");
  EXPECT_EQ(said_of("exit 200"), "tailrace::mpi: a server ended with exit status 200\n");
  EXPECT_EQ(said_of("kill -9 $$"), "tailrace::mpi: a server ended with signal 9 (Killed)\n");
}

}  // namespace
