#include "settings.hpp"

#include <charconv>
#include <sstream>

namespace tailrace::hdf5 {
namespace {

bool parse_bytes(const std::string& text, uint64_t least, uint64_t& bytes) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, bytes);
  return error == std::errc() && at == end && bytes >= least;
}

bool parse_word(const std::string& word, Settings& settings) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (word == "summary") {
    settings.summary = true;
  } else if (key == "config" && !value.empty()) {
    settings.config = value;
  } else if (key == "place" && (value == "thread" || value == "core")) {
    settings.place = value;
  } else if (key == "prefetch") {
    return parse_bytes(value, 0, settings.prefetch);
  } else if (key == "close" && (value == "wait" || value == "detach")) {
    settings.detach = value == "detach";
  } else if (key != "budget" && key != "smallest") {
    return false;
  } else {
    return parse_bytes(value, 1, key == "budget" ? settings.budget : settings.smallest);
  }
  return true;
}

}  // namespace

// Programs that write HDF5 may be short: half a second for memory before the first byte is written would be much.
std::string Settings::configuration() const {
  const std::string memory = "{budget: " + std::to_string(budget) + (place == "thread" ? ", prefault: false}" : "}");
  return "tailrace: 1\nname: hdf5\nplace: {kind: " + place + "}\nstorage: {path: .}\nmemory: " + memory +
         "\nlog: {level: error}\n";
}

bool parse_settings(const std::string& text, Settings& settings, std::string& why) {
  std::istringstream words(text);
  bool memory = false;  // is said here
  for (std::string word; words >> word;) {
    if (!parse_word(word, settings)) {
      why = "found '" + word +
            "', expected config=FILE, place=thread, place=core, budget=BYTES, smallest=BYTES, prefetch=BYTES, "
            "close=wait, close=detach or summary";
      return false;
    }
    memory = memory || word.starts_with("place=") || word.starts_with("budget=");
  }
  if (!settings.config.empty() && memory) {
    why = "found config=" + settings.config + " beside place or budget, expected those in the file";
    return false;
  }
  return true;
}

}  // namespace tailrace::hdf5
