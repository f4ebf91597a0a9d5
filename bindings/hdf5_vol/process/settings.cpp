#include "hdf5_vol/process/settings.hpp"

#include <optional>
#include <vector>

#include "process_client/words.hpp"

namespace tailrace::hdf5 {
namespace {

bool parse_word(const std::string& word, Settings& settings) {
  if (const std::optional<bool> of_client = process::read_word(word, settings.client)) return *of_client;
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "smallest") return process::read_size(value, 1, settings.smallest);
  if (key == "prefetch") return process::read_size(value, 0, settings.prefetch);
  settings.detach = value == "detach";
  return key == "close" && (value == "wait" || value == "detach");
}

}  // namespace

bool parse_settings(const std::string& text, Settings& settings, std::string& why) {
  std::vector<std::string> words;
  why = process::split_words(text, words);
  if (!why.empty()) return false;
  bool memory = false;  // the text sets what a configuration has
  for (const std::string& word : words) {
    if (!parse_word(word, settings)) {
      why = "found '" + word +
            "', expected config=FILE, place=thread, place=core, budget=SIZE, cpus=LIST, forward=HOST:PORT, "
            "key=FILE, smallest=SIZE, prefetch=SIZE, close=wait, close=detach or summary";
      return false;
    }
    for (const char* own : {"place=", "budget=", "cpus=", "forward="}) memory = memory || word.starts_with(own);
  }
  if (!settings.client.config.empty() && memory) {
    why = "found config=" + settings.client.config +
          " beside place, budget, cpus or forward, expected those in the file";
    return false;
  }
  if (settings.client.forward.empty() != settings.client.key.empty()) {
    why = settings.client.key.empty() ? "found forward without key=FILE" : "found key without forward=HOST:PORT";
    return false;
  }
  return true;
}

}  // namespace tailrace::hdf5
