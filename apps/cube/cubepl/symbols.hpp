// Symbols: the names that the programs of one specification share: global variables, metrics, and metrics that
// programs define themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "cube/cubepl/tree.hpp"
#include "cube/profile/profile.hpp"

namespace tailrace::cube {

class Symbols {
 public:
  // A metric that a program defines, such as cube::metric::prederived::NAME(e) << … >>.
  struct Defined {
    std::string name;
    Metric::Kind kind;
    Program program;
    std::string text;  // of the program
  };

  // Returns a number for the name of a metric, which need not exist.
  uint32_t metric(const std::string& name) { return number_of(name, metrics_, metric_numbers_); }
  const std::vector<std::string>& metrics() const { return metrics_; }

  // Makes a global variable; returns its number.
  uint32_t global(const std::string& name) { return number_of(name, globals_, global_numbers_); }
  bool is_global(const std::string& name) const { return global_numbers_.contains(name); }
  const std::vector<std::string>& globals() const { return globals_; }

  void define(Defined metric) { defined_.push_back(std::move(metric)); }
  const std::deque<Defined>& defined() const { return defined_; }

 private:
  using Numbers = std::unordered_map<std::string, uint32_t>;

  static uint32_t number_of(const std::string& name, std::vector<std::string>& names, Numbers& numbers) {
    const auto [found, made] = numbers.try_emplace(name, static_cast<uint32_t>(names.size()));
    if (made) names.push_back(name);
    return found->second;
  }

  std::vector<std::string> metrics_;
  Numbers metric_numbers_;
  std::vector<std::string> globals_;
  Numbers global_numbers_;
  std::deque<Defined> defined_;
};

}  // namespace tailrace::cube
