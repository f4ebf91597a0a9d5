// ActionRig: a configuration, shared memory with blocks, and a runner with real plugin hosts.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "action/action_runner.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {

// Shared memory of one client, as the server sees it.
class TestSegment {
 public:
  explicit TestSegment(size_t bytes) : fd_(::memfd_create("segment", MFD_CLOEXEC)), bytes_(bytes) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    EXPECT_NE(memory_, MAP_FAILED);
  }
  TestSegment(const TestSegment&) = delete;
  ~TestSegment() { ::munmap(memory_, bytes_); }

  int fd() const { return fd_.get(); }
  size_t bytes() const { return bytes_; }
  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + offset);
  }

 private:
  FileDescriptor fd_;
  size_t bytes_;
  void* memory_ = nullptr;
};

// Returns the file in the source tree or, if there is none, in the build tree.
inline std::string plugin_file(const std::string& name) {
  const std::string source = std::string(TEST_PLUGINS "/") + name;
  return std::filesystem::exists(source) ? source : std::string(TEST_LIBRARIES "/") + name;
}
inline std::string plugin_library(const std::string& name) { return std::string(TEST_LIBRARIES "/") + name; }

inline Action action_of(Action::Run run, const std::string& file, const std::string& function) {
  Action action;
  action.event = "storm";
  action.run = run;
  action.file = file;
  action.function = function;
  action.text = function;
  return action;
}
inline Action in_library(const std::string& function) {
  return action_of(Action::Run::library, plugin_library("libaction_plugin.so"), function);
}
inline Action in_python(const std::string& function, const std::string& file = "plugin.py") {
  return action_of(Action::Run::python, plugin_file(file), function);
}

class ActionRig {
 public:
  // "height" is float64 [2, 3] in an array of [8, 3]; "counts" is int32 [4].
  explicit ActionRig(std::vector<Action> actions) {
    config.python_environment = TEST_PYTHON_ENVIRONMENT;
    config.layouts = {layout(ElementType::float64, {2, 3}, {8, 3}, {2, 0}),
                      layout(ElementType::int32, {4}, {4}, {0})};
    config.variables.resize(2);
    config.variables[0].name = "height";
    config.variables[0].unit.symbol = "m";
    config.variables[1].name = "counts";
    config.variables[1].layout = 1;
    config.actions = std::move(actions);
    make_runner(TEST_HOST);
  }

  void make_runner(const std::string& executable) {
    ActionOptions options;
    options.host_executable = executable;
    auto made = ActionRunner::create(config, options, clock);
    ASSERT_TRUE(made.ok());
    runner = std::move(made).value();
    ASSERT_TRUE(runner->add_segment(1, segment.fd(), segment.bytes()).ok());
  }

  // Returns a block of "height" at a new place, whose elements are `value`.
  HeldBlock height(int source, int64_t iteration, double value) {
    const HeldBlock block = place(0, source, iteration);
    for (int i = 0; i < 6; ++i) segment.at<double>(block.offset)[i] = value;
    return block;
  }
  HeldBlock counts(int source, int64_t iteration, int32_t value) {
    const HeldBlock block = place(1, source, iteration);
    for (int i = 0; i < 4; ++i) segment.at<int32_t>(block.offset)[i] = value;
    return block;
  }

  // Runs the event and waits for its end.
  EndedEvent run(std::vector<HeldBlock> blocks, int64_t iteration = 5) {
    const uint64_t number = runner->run(event(iteration), std::move(blocks));
    wait_until([&] { return !ended.empty() && ended.back().number == number; });
    return ended.empty() ? EndedEvent() : ended.back();
  }
  static DueEvent event(int64_t iteration) { return {"storm", iteration, Action::Scope::client, {3}}; }

  // Sleeps where the server would. Fails after a minute.
  template <class Condition>
  void wait_until(const Condition& condition) {
    constexpr int minute = 60'000;
    take(runner->progress());
    while (!condition()) {
      pollfd wake{runner->fd(), POLLIN, 0};
      const bool now = runner->deadline() <= clock.now();
      const int ready = ::poll(&wake, 1, now ? 0 : minute);
      if (ready == 0 && !now) {
        ADD_FAILURE() << "nothing has come for a minute";
        return;
      }
      take(runner->progress());
    }
  }

  std::string message(size_t failure = 0) const {
    return failure < failures.size() ? failures[failure].status.fault().message : "(no failure)";
  }

  Config config;
  SimClock clock;
  TestSegment segment{size_t{1} << 20};
  std::vector<ActionFailure> failures;
  std::vector<EndedEvent> ended;
  std::unique_ptr<ActionRunner> runner;

 private:
  static Layout layout(ElementType type, std::vector<uint64_t> shape, std::vector<uint64_t> global,
                       std::vector<uint64_t> offset) {
    Layout made;
    made.type = type;
    made.shape = std::move(shape);
    made.global_shape = std::move(global);
    made.offset = std::move(offset);
    return made;
  }

  HeldBlock place(uint32_t variable, int source, int64_t iteration) {
    HeldBlock block;
    block.variable = variable;
    block.source = source;
    block.iteration = iteration;
    block.segment = 1;
    block.offset = next_;
    block.layout = &config.layouts[config.variables[variable].layout];
    block.length = block.layout->bytes();
    next_ += 4096;
    return block;
  }

  void take(ActionProgress progress) {
    for (ActionFailure& failure : progress.failures) failures.push_back(std::move(failure));
    for (EndedEvent& one : progress.ended) ended.push_back(std::move(one));
  }

  uint64_t next_ = 0;
};

// Returns success if `part` is in `text`.
inline testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "expected '" << part << "' in: " << text;
}

// Returns the finding of that key; fails the test if there is none of that type.
template <class T>
T finding(const ActionEnd& end, const std::string& key) {
  for (const Finding& one : end.findings) {
    if (one.key != key) continue;
    if (const T* value = std::get_if<T>(&one.value)) return *value;
    ADD_FAILURE() << key << " has another type";
    return {};
  }
  ADD_FAILURE() << "no finding " << key;
  return {};
}

}  // namespace tailrace::impl
