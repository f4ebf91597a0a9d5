// TraceFile: a trace that tailrace has written, read back, and the rules that every trace keeps
// (docs/formats/measurements.md).
//
// It compares times in nanoseconds; in the file they are microseconds with three decimals.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run_rig.hpp"

namespace test {

using Json = nlohmann::json;

// Returns the JSON in a file; null, and a failure of the test, if it is none.
inline Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream) << file;
  Json json = Json::parse(stream, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << file << " is not JSON";
  return json.is_discarded() ? Json() : json;
}

// Returns how many of `count` events of the writer a trace has: none in place `core`, where the trace has only the
// client's events.
inline size_t of_writer(size_t count) { return in_place_core() ? 0 : count; }

class TraceFile {
 public:
  struct Event {
    std::string phase, category, name;
    int64_t begin = 0;
    int64_t end = 0;  // for X events
    Json arguments;
    int64_t id = -1;

    bool is(const std::string& of_category, const std::string& of_name) const {
      return category == of_category && name == of_name;
    }
  };
  // One block in the writer.
  struct Block {
    std::string variable;
    int64_t iteration = -1;
    uint64_t bytes = 0;
    bool failed = false;
    int64_t queued = 0, begun = 0, ended = 0;
  };

  explicit TraceFile(const std::filesystem::path& file) : json_(read_json(file)) {
    if (json_.is_object()) read();
  }

  const Json& json() const { return json_; }
  const std::vector<Event>& calls() const { return calls_; }
  const std::vector<Event>& publications() const { return publications_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  uint64_t dropped() const { return json_["otherData"]["dropped_events"]; }

  // Returns the calls of this name.
  std::vector<Event> calls(const std::string& category, const std::string& name) const {
    std::vector<Event> found;
    for (const Event& call : calls_) {
      if (call.is(category, name)) found.push_back(call);
    }
    return found;
  }

  // Calls follow one another; only "memory", the wait for room, may be inside another call, or alone.
  void expect_calls_in_order() const {
    std::vector<Event> verbs, memory;
    for (const Event& call : calls_) (call.is("wait", "memory") ? memory : verbs).push_back(call);
    for (size_t i = 1; i < verbs.size(); ++i) {
      EXPECT_GE(verbs[i].begin, verbs[i - 1].end) << verbs[i - 1].name << ", then " << verbs[i].name;
    }
    for (const Event& wait : memory) {
      const auto around = std::find_if(verbs.begin(), verbs.end(), [&](const Event& verb) {
        return verb.begin <= wait.begin && wait.end <= verb.end;
      });
      if (around != verbs.end()) continue;
      for (const Event& verb : verbs) EXPECT_TRUE(wait.end <= verb.begin || verb.end <= wait.begin) << verb.name;
    }
  }

  // Expects that blocks are written after they were queued, and that nothing is under way at the end.
  void expect_blocks_in_order() const {
    for (const Block& block : blocks_) {
      EXPECT_LE(block.queued, block.begun) << block.variable << " " << block.iteration;
      EXPECT_LE(block.begun, block.ended) << block.variable << " " << block.iteration;
    }
    for (const auto& [name, values] : levels_) {
      EXPECT_TRUE(std::is_sorted(values.begin(), values.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
      })) << name;
      for (const auto& [when, value] : values) EXPECT_GE(value, 0) << name;
      if (!values.empty()) {
        EXPECT_EQ(values.back().second, 0) << name;
      }
    }
  }

  // Returns the highest value of a counter.
  int64_t peak(const std::string& counter) const {
    int64_t peak = 0;
    if (levels_.count(counter) == 0) return 0;
    for (const auto& [when, value] : levels_.at(counter)) peak = std::max(peak, value);
    return peak;
  }

 private:
  static int64_t nanoseconds(const Json& microseconds) {
    EXPECT_TRUE(microseconds.is_number()) << microseconds;
    return microseconds.is_number() ? std::llround(microseconds.get<double>() * 1e3) : 0;
  }

  void read() {
    EXPECT_EQ(json_["displayTimeUnit"], "ms");
    EXPECT_EQ(json_["otherData"]["tailrace_trace"], 1);
    for (const Json& raw : json_["traceEvents"]) {
      const std::string phase = raw.at("ph");
      EXPECT_TRUE(raw.at("pid").is_number_integer());
      pid_ = pid_ < 0 ? raw.at("pid").get<int64_t>() : pid_;
      EXPECT_EQ(raw["pid"], pid_);
      if (phase == "M") {
        names_[raw.at("name").get<std::string>() + std::to_string(raw.at("tid").get<int>())] = raw["args"]["name"];
      } else if (phase == "C") {
        EXPECT_EQ(raw.at("args").size(), 1U);
        levels_[raw.at("name")].emplace_back(nanoseconds(raw.at("ts")), raw["args"].begin()->get<int64_t>());
      } else {
        add(phase, raw);
      }
    }
    EXPECT_TRUE(open_.empty()) << "a span that does not end";
    EXPECT_EQ(names_["thread_name1"], "program");
    EXPECT_EQ(names_["thread_name2"], "tailrace writer");
    EXPECT_FALSE(names_["process_name1"].empty());
  }

  void add(const std::string& phase, const Json& raw) {
    Event event{phase,
                raw.at("cat"),
                raw.at("name"),
                nanoseconds(raw.at("ts")),
                0,
                raw.value("args", Json::object()),
                raw.value("id", int64_t{-1})};
    if (phase == "X") {
      EXPECT_EQ(raw.at("tid"), 1);
      EXPECT_TRUE(event.category == "handover" || event.category == "wait") << raw;
      EXPECT_GE(raw.at("dur").get<double>(), 0.0) << raw;
      event.end = event.begin + nanoseconds(raw.at("dur"));
      calls_.push_back(std::move(event));
    } else if (phase == "b") {
      EXPECT_EQ(raw.at("tid"), 2);
      EXPECT_TRUE(open_.emplace(key(event), event).second) << "begun twice: " << raw;
    } else if (phase == "e") {
      const auto begun = open_.find(key(event));
      ASSERT_TRUE(begun != open_.end()) << "ended without a beginning: " << raw;
      Event span = begun->second;
      open_.erase(begun);
      span.end = event.begin;
      EXPECT_LE(span.begin, span.end) << raw;
      add_span(span);
    } else {
      ADD_FAILURE() << "a phase that is not documented: " << raw;
    }
  }

  void add_span(const Event& span) {
    if (span.category == "publish") {
      EXPECT_TRUE(ids_.insert({span.id, 2}).second) << "an id that is not unique: " << span.id;
      return publications_.push_back(span);
    }
    if (span.category == "queued") {
      EXPECT_TRUE(ids_.insert({span.id, 0}).second) << "an id that is not unique: " << span.id;
      const bool of_file = span.arguments.contains("file");
      blocks_.push_back({span.arguments.at(of_file ? "file" : "variable"),
                         of_file ? int64_t{-1} : span.arguments.at("iteration").get<int64_t>(),
                         span.arguments.at("bytes"), span.arguments.value("failed", false), span.begin, span.end, 0});
      EXPECT_EQ(span.name, blocks_.back().variable);
      return;
    }
    ASSERT_EQ(span.category, "writing");
    ASSERT_EQ(ids_[span.id], 0) << "written without having been queued";
    ids_[span.id] = 1;
    EXPECT_EQ(span.name, blocks_.back().variable);
    EXPECT_EQ(span.begin, blocks_.back().begun);
    blocks_.back().ended = span.end;
  }

  static std::tuple<std::string, std::string, int64_t> key(const Event& event) {
    return {event.category, event.name, event.id};
  }

  Json json_;
  int64_t pid_ = -1;
  std::map<std::string, std::string> names_;
  std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> levels_;
  std::map<std::tuple<std::string, std::string, int64_t>, Event> open_;
  std::map<int64_t, int> ids_;  // 0 queued, 1 written, 2 of a publication
  std::vector<Event> calls_, publications_;
  std::vector<Block> blocks_;
};

}  // namespace test
