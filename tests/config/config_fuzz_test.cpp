// Random edits of right configurations: each one is accepted or refused with a message, and none crashes or throws.
//
// The test prints the seed; TAILRACE_SEED=<seed> repeats a run, TAILRACE_MUTATIONS=<n> makes it longer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "config/config_yaml.hpp"
#include "model/unit.hpp"

namespace tailrace::impl {
namespace {

using Random = std::mt19937_64;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

uint64_t print_seed() {
  const uint64_t seed = from_environment("TAILRACE_SEED", std::random_device{}());
  printf("repeat with TAILRACE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

size_t below(Random& random, size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); }

std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Pieces with a meaning for YAML or the schema, which chance would rarely produce.
constexpr std::string_view pieces[] = {
    "\n",
    "\t",
    "  ",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "!!int ",
    "!",
    "|\n",
    ">\n",
    "---\n",
    "...\n",
    "? ",
    "<<: ",
    "~",
    "null",
    "%",
    "@",
    "`",
    "-1",
    "0",
    "1e400",
    "99999999999999999999",
    "nan",
    "\xff",
    "\xef\xbb\xbf",
    "nx",
    "client",
    "m^-3",
    "MiB",
    "\xc2\x85",
    "\\",
    "9223372036854775807",
};

void edit(std::string& text, Random& random) {
  if (text.empty()) text.push_back(' ');
  const size_t at = below(random, text.size());
  const size_t length = 1 + below(random, std::min<size_t>(text.size() - at, 12));
  switch (below(random, 6)) {
    case 0: text[at] = static_cast<char>(below(random, 256)); break;
    case 1: text.erase(at, length); break;
    case 2: text.insert(at, text.substr(below(random, text.size()), 1 + below(random, 40))); break;
    case 3: text.insert(at, pieces[below(random, std::size(pieces))]); break;
    case 4: text.replace(at, length, pieces[below(random, std::size(pieces))]); break;
    case 5: text.resize(at); break;
  }
}

TEST(fuzz, edited_configurations) {
  Random random(print_seed());
  const std::string originals[] = {
      read_whole(TEST_FOLDER "/right/full.yaml"),
      read_whole(TEST_FOLDER "/right/design.yaml"),
      read_whole(TEST_FOLDER "/right/least.yaml"),
  };
  const uint64_t mutations = from_environment("TAILRACE_MUTATIONS", 3000);
  uint64_t right = 0;
  for (uint64_t i = 0; i < mutations; ++i) {
    ConfigInput input;
    input.file = "fuzz.yaml";
    std::string text = originals[below(random, std::size(originals))];
    for (size_t edits = 1 + below(random, 4); edits > 0; --edits) edit(text, random);
    input.text = text;
    std::optional<Result<Config>> result;
    ASSERT_NO_THROW(result.emplace(read_config(input))) << text;
    if (result->ok()) {
      ++right;
      const Config& config = result->value();
      ASSERT_FALSE(config.storage.paths.empty()) << text;
      for (const Variable& variable : config.variables) {
        ASSERT_LT(variable.layout, config.layouts.size()) << text;
        ASSERT_LE(config.layout_of(variable).bytes(), config.memory.budget) << text;
      }
      continue;
    }
    const Status status = result->status();
    ASSERT_EQ(status.code(), TAILRACE_INVALID_CONFIG) << text;
    ASSERT_TRUE(status.fault().message.starts_with("fuzz.yaml:")) << status.fault().message;
    ASSERT_NE(status.fault().message.find(", expected "), std::string::npos) << status.fault().message;
  }
  printf("%llu of %llu were right all the same\n", static_cast<unsigned long long>(right),
         static_cast<unsigned long long>(mutations));
}

TEST(fuzz, random_units) {
  Random random(print_seed());
  const char* const terms[] = {"m", "kg", "s", "Pa", "k", "^", "**", "-",   "2",
                               "/", "*",  " ", ".",  "1", "%", "(",  "\xc2"};
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (size_t length = below(random, 12); length > 0; --length) text += terms[below(random, std::size(terms))];
    const auto unit = parse_unit(text);
    if (unit.ok()) {
      ASSERT_GT(unit.value().factor, 0) << text;
    } else {
      ASSERT_FALSE(unit.status().fault().message.empty()) << text;
    }
  }
}

}  // namespace
}  // namespace tailrace::impl
