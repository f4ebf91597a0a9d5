// The common parts of the bench programs' command lines, over CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/pattern/errors.hpp"

namespace bench {

// The words for the values of an option.
template <class T>
using Words = std::vector<std::pair<std::string, T>>;

// Returns the word for a value; "" if it has none.
template <class T>
const char* word_for(const Words<T>& words, T value) {
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word.c_str();
  }
  return "";
}

// Returns a|b|c.
std::string listed(const std::vector<std::string>& words);

// Adds an option that takes one of a few words. All arguments but the texts must outlive the command line.
template <class T>
CLI::Option* add_words(CLI::App& app, const std::string& name, T& value, const Words<T>& words,
                       const std::string& what) {
  std::vector<std::string> names;
  for (const auto& [word, meaning] : words) names.push_back(word);
  const std::string expected = listed(names);
  const std::string first = word_for(words, value);
  return app
      .add_option_function<std::string>(
          name,
          [&value, &words, name, expected](const std::string& found) {
            for (const auto& [word, meaning] : words) {
              if (word != found) continue;
              value = meaning;
              return;
            }
            throw UsageError(name + ": found '" + found + "', expected " + expected);
          },
          what)
      ->option_text(expected + " = " + first);
}

// Returns false after --help, which it answers. Throws UsageError.
bool parse(CLI::App& app, int argc, char** argv);

}  // namespace bench
