// ClientSettings: the settings that every door for unchanged programs has, and how words set them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tailrace::process {

struct ClientSettings {
  std::string config;            // name of a configuration file; then place and budget are not given
  std::string place = "thread";  // or "core"
  uint64_t budget = uint64_t{256} << 20;
  bool summary = false;  // reports at the end, on standard error, what was carried

  // Returns the text of the configuration for a client without a file; `name` names its series.
  std::string configuration(const std::string& name) const;
};

// Sets what the word sets: config=FILE, place=thread, place=core, budget=BYTES or summary. Returns false if its value
// is wrong, and none if it is no such word.
std::optional<bool> read_word(const std::string& word, ClientSettings& settings);

// Reads a number of bytes. Returns false if `text` is not a number, or is smaller than `least`.
bool read_bytes(const std::string& text, uint64_t least, uint64_t& bytes);

}  // namespace tailrace::process
