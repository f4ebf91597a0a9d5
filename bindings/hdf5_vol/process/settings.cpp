#include "hdf5_vol/process/settings.hpp"

#include <algorithm>
#include <vector>

#include "process_client/words.hpp"

namespace tailrace::hdf5 {
namespace {

// Returns true if the word sets what a configuration has.
bool is_in_configuration(const std::string& word) {
  return word.starts_with("place=") || word.starts_with("budget=") || word.starts_with("cpus=") ||
         word.starts_with("forward=");
}

}  // namespace

bool parse_settings(const std::string& text, Settings& settings, std::string& why) {
  why = process::read_settings(text, settings.client, "smallest=SIZE, prefetch=SIZE, close=wait, close=detach",
                               [&settings](const std::string& key, const std::string& value) {
                                 if (key == "smallest=") return process::read_size(value, 1, settings.smallest);
                                 if (key == "prefetch=") return process::read_size(value, 0, settings.prefetch);
                                 settings.detach = value == "detach";
                                 return key == "close=" && (value == "wait" || value == "detach");
                               });
  std::vector<std::string> words;
  if (why.empty() && !settings.client.config.empty()) process::split_words(text, words);
  if (std::any_of(words.begin(), words.end(), is_in_configuration)) {
    why = "found config=" + settings.client.config +
          " beside place, budget, cpus or forward, expected those in the file";
  }
  return why.empty();
}

}  // namespace tailrace::hdf5
