// Tests of the C API on several back ends. Their parameter names the back end; on a machine without it they are
// skipped.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "run_rig.hpp"

namespace test {

class OnBackEnd : public ::testing::TestWithParam<std::string> {
 protected:
  Config config() const {
    Config config;
    config.backend = GetParam();
    return config;
  }
  Directory directory_;
};

}  // namespace test

// Ends the test unless `run`, an OpenRun, is open; skips it if the kernel lacks the back end.
#define OPEN_OR_SKIP(run)                                                \
  if (!(run).opened() && (run).error().status == TAILRACE_UNSUPPORTED) { \
    GTEST_SKIP() << "this back end: " << (run).error().message;          \
  }                                                                      \
  ASSERT_TRUE((run).opened()) << (run).error().message
