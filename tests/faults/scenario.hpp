// Scenario: the output of a simulation that will be killed, all of it from one seed, so that the process that writes
// it and the one that checks the leftovers agree without communication. In place `core` all clients of a job use one
// configuration for what they share, that of the job's seed.
//
// An iteration has a few meshes, whose sizes stay, a vector of two components, a scalar, and two records of a species
// of particles, whose number changes; and attributes. Meshes have elements of several types; a block is words of 8
// bytes all the same.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace test {

struct Scenario {
  // A word as elements of a type: one of them, or several in a row.
  struct Element {
    const char* type;
    size_t bytes;
    size_t in_a_word() const { return 8 / bytes; }
  };

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
    most_particles = 1 + random() % 3000;
    const Element elements[] = {{"uint64", 8}, {"complex64", 8}, {"bool", 1}, {"float16", 2}, {"float32", 4}};
    for (size_t i = 0; i < variables; ++i) types.push_back(elements[random() % 5]);
    dimension_scales = random() % 3 == 0;
  }

  std::string config() const {
    std::string text = "tailrace: 1\nname: killed\nplace: {kind: " + place + ", cpus: none}\nlog: {level: \"off\"}\n";
    text += "memory: {budget: 4 MiB, when_full: " + when_full + "}\n";
    text += "storage: {backend: " + backend + ", durability: " + durability + ", existing: continue" + turns +
            "}\nformat: {dimension_scales: " + (dimension_scales ? "true" : "false") +
            "}\nparameters: {n: " + std::to_string(most_particles) + "}\nlayouts:\n";
    for (size_t i = 0; i < words.size(); ++i) text += "  l" + std::to_string(i) + ": {" + layout(i) + "}\n";
    text += "  list: {type: uint64, shape: [n]}\n  one: {type: complex64, shape: []}\nvariables:\n";
    text += "  E: {layout: l0, components: [x, y]}\n  s: {layout: one}\n";
    for (size_t i = 2; i < words.size(); ++i) text += "  " + name(i) + ": {layout: l" + std::to_string(i) + "}\n";
    return text + "particles:\n  ions: {layout: list, records: {position: {components: [x]}, weighting: {}}}\n";
  }

  // Puts the client into place `core`, in the job of the seed `job`.
  void share(uint64_t job) {
    const Scenario common(job);
    place = "core";
    backend = common.backend;
    durability = common.durability;
    dimension_scales = common.dimension_scales;
    // The server is on the second of two nodes that take turns, so blocks wait in its memory.
    if (job % 3 != 0) return;
    place = "core, node: 1, nodes: 2";
    turns = ", slots: true";
  }

  // The meshes, of which the first two are the vector's components, the records of the particles, and the scalar.
  size_t variables() const { return words.size() + 3; }
  std::string name(size_t variable) const {
    if (variable < 2) return variable == 0 ? "E/x" : "E/y";
    if (variable < words.size()) return std::string("v").append(std::to_string(variable));
    if (is_scalar(variable)) return "s";
    return variable == words.size() ? "ions/position/x" : "ions/weighting";
  }
  bool is_scalar(size_t variable) const { return variable == words.size() + 2; }
  bool is_mesh(size_t variable) const { return variable < words.size(); }
  Element element(size_t variable) const {
    if (is_scalar(variable)) return {"complex64", 8};
    return is_mesh(variable) ? types[variable == 1 ? 0 : variable] : Element{"uint64", 8};
  }
  // Returns the shape of a block in the file.
  std::vector<uint64_t> shape(int64_t iteration, size_t variable) const {
    std::vector<uint64_t> shape = {words_of(iteration, variable)};
    if (const size_t several = element(variable).in_a_word(); several > 1) shape.push_back(several);
    return shape;
  }
  std::string layout(size_t mesh) const {
    const std::vector<uint64_t> extents = shape(0, mesh);
    const std::string last = extents.size() > 1 ? ", " + std::to_string(extents[1]) : "";
    return "type: " + std::string(element(mesh).type) + ", shape: [" + std::to_string(extents[0]) + last + "]" +
           (extents.size() > 1 ? ", spacing: [0.5, 2], origin: [3, 0]" : ", spacing: [0.5], origin: [3]");
  }
  // Returns a coordinate along the first axis of a mesh.
  double coordinate(uint64_t i) const { return 3 + 0.5 * static_cast<double>(i); }
  uint64_t particles(int64_t iteration) const { return start(iteration, variables()) % (most_particles + 1); }
  uint64_t words_of(int64_t iteration, size_t variable) const {
    if (is_scalar(variable)) return 1;
    return is_mesh(variable) ? words[variable == 1 ? 0 : variable] : particles(iteration);
  }
  // The value of the attribute "residual" of an iteration, and of each variable in it.
  double residual(int64_t iteration) const { return static_cast<double>(start(iteration, 1) % 1000) / 4; }
  double time(int64_t iteration) const { return static_cast<double>(start(iteration, 0) % 1000) / 8; }

  // Word `i` of a block is start + i × step: every block differs from every other in every word.
  uint64_t start(int64_t iteration, size_t variable) const {
    return (seed * 1000003 + static_cast<uint64_t>(iteration)) * 0x9e3779b97f4a7c15U + variable;
  }
  static constexpr uint64_t kStep = 0xbf58476d1ce4e5b9U;

  void fill(int64_t iteration, size_t variable, uint64_t* block) const {
    uint64_t word = start(iteration, variable);
    for (uint64_t i = 0; i < words_of(iteration, variable); ++i, word += kStep) block[i] = word;
  }
  // Returns the index of the first wrong word, or the number of words in the block.
  uint64_t first_wrong(int64_t iteration, size_t variable, const uint64_t* block) const {
    uint64_t word = start(iteration, variable);
    for (uint64_t i = 0; i < words_of(iteration, variable); ++i, word += kStep) {
      if (block[i] != word) return i;
    }
    return words_of(iteration, variable);
  }

  const uint64_t seed;
  std::string place = "thread";
  std::string backend;
  std::string durability;
  std::string turns;
  std::string when_full;
  std::vector<uint64_t> words;  // of each mesh's block
  std::vector<Element> types;   // of the meshes
  bool dimension_scales = false;
  uint64_t most_particles = 1;
};

}  // namespace test
