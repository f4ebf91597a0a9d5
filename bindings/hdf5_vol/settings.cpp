#include "settings.hpp"

#include <charconv>
#include <sstream>

namespace tailrace::hdf5 {
namespace {

bool parse_bytes(const std::string& text, uint64_t& bytes) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, bytes);
  return error == std::errc() && at == end && bytes > 0;
}

bool parse_word(const std::string& word, Settings& settings, std::string& why) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (word == "summary") {
    settings.summary = true;
  } else if (key == "config" && !value.empty()) {
    settings.config = value;
  } else if (key == "place" && (value == "thread" || value == "core")) {
    settings.place = value;
  } else if (key != "budget" || !parse_bytes(value, settings.budget)) {
    why = "found '" + word + "', expected config=FILE, place=thread, place=core, budget=BYTES or summary";
    return false;
  }
  return true;
}

}  // namespace

std::string Settings::configuration() const {
  return "tailrace: 1\nname: hdf5\nplace: {kind: " + place +
         "}\nstorage: {path: .}\nmemory: {budget: " + std::to_string(budget) + "}\nlog: {level: error}\n";
}

bool parse_settings(const std::string& text, Settings& settings, std::string& why) {
  std::istringstream words(text);
  size_t count = 0;
  for (std::string word; words >> word; ++count) {
    if (!parse_word(word, settings, why)) return false;
  }
  if (!settings.config.empty() && count > (settings.summary ? 2 : 1)) {
    why = "found config=" + settings.config + " beside place or budget, expected those in the file";
    return false;
  }
  return true;
}

}  // namespace tailrace::hdf5
