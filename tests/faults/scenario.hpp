// Scenario: the output of a simulation that will be killed, all of it from one seed, so that the process that writes
// it and the one that checks the leftovers agree without communication. In place `core` all clients of a job use one
// configuration for what they share, that of the job's seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace test {

struct Scenario {
  explicit Scenario(uint64_t of) : seed(of) {
    std::mt19937_64 random(of);
    const char* const backends[] = {"auto", "posix", "uring", "posix"};
    const char* const durabilities[] = {"written", "written", "durable", "accepted"};
    const char* const policies[] = {"block", "block", "sync"};
    backend = backends[random() % 4];
    durability = durabilities[random() % 4];
    when_full = policies[random() % 3];
    const size_t variables = 3 + random() % 3;
    for (size_t i = 0; i < variables; ++i) {
      // From 64 bytes to 2 MiB, with every order of magnitude equally likely.
      const uint64_t largest = uint64_t{8} << (random() % 16);
      words.push_back(largest + random() % largest);
    }
  }

  std::string config() const {
    std::string text = "tailrace: 1\nname: killed\nplace: {kind: " + place + ", cpus: none}\nlog: {level: \"off\"}\n";
    text += "memory: {budget: 4 MiB, when_full: " + when_full + "}\n";
    text += "storage: {backend: " + backend + ", durability: " + durability + ", existing: continue" + turns +
            "}\nlayouts:\n";
    for (size_t i = 0; i < words.size(); ++i) {
      text += "  l" + std::to_string(i) + ": {type: uint64, shape: [" + std::to_string(words[i]) + "]}\n";
    }
    text += "variables:\n";
    for (size_t i = 0; i < words.size(); ++i) text += "  " + name(i) + ": {layout: l" + std::to_string(i) + "}\n";
    return text;
  }

  // Puts the client into place `core`, in the job of the seed `job`.
  void share(uint64_t job) {
    const Scenario common(job);
    place = "core";
    backend = common.backend;
    durability = common.durability;
    // The server is on the second of two nodes that take turns, so blocks wait in its memory.
    if (job % 3 != 0) return;
    place = "core, node: 1, nodes: 2";
    turns = ", slots: true";
  }

  static std::string name(size_t variable) { return std::string("v").append(std::to_string(variable)); }

  // Word `i` of a block is start + i × step: every block differs from every other in every word.
  uint64_t start(int64_t iteration, size_t variable) const {
    return (seed * 1000003 + static_cast<uint64_t>(iteration)) * 0x9e3779b97f4a7c15U + variable;
  }
  static constexpr uint64_t kStep = 0xbf58476d1ce4e5b9U;

  void fill(int64_t iteration, size_t variable, uint64_t* block) const {
    uint64_t word = start(iteration, variable);
    for (uint64_t i = 0; i < words[variable]; ++i, word += kStep) block[i] = word;
  }
  // Returns the index of the first wrong word, or the number of words in the block.
  uint64_t first_wrong(int64_t iteration, size_t variable, const uint64_t* block) const {
    uint64_t word = start(iteration, variable);
    for (uint64_t i = 0; i < words[variable]; ++i, word += kStep) {
      if (block[i] != word) return i;
    }
    return words[variable];
  }

  const uint64_t seed;
  std::string place = "thread";
  std::string backend;
  std::string durability;
  std::string turns;
  std::string when_full;
  std::vector<uint64_t> words;  // of each variable's block
};

}  // namespace test
