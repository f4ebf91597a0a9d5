// ClientSettings: the settings that every door for unchanged programs has, and the words that set them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tailrace::process {

struct ClientSettings {
  std::string config;            // path of a configuration file; excludes place, budget and forward
  std::string place = "thread";  // or "core"
  uint64_t budget = uint64_t{256} << 20;
  std::vector<int> cpus = {};  // the writer is pinned to one of them; empty: tailrace chooses (`place.cpus: auto`)
  bool pinned = true;          // false: the writer is not pinned, if there are no `cpus`
  std::string forward = {};    // addresses of forwarders, separated by commas; empty: this node writes itself
  std::string key = {};        // the key file, for these
  bool direct = false;         // long writes bypass the page cache; the door decides
  bool summary = false;        // at the end, report on standard error what was carried

  // Returns the text of the configuration for a client without a file; `name` is the name of its series.
  std::string configuration(const std::string& name) const;
};

// Sets what the word (of words.hpp) says: config=FILE, place=thread, place=core, budget=SIZE, cpus=NUMBER[,…],
// forward=HOST:PORT[,…], key=FILE or summary. Returns false if its value is wrong, and none if the word is not one of
// these.
std::optional<bool> read_word(const std::string& word, ClientSettings& settings);

// Reads the words of a text, for the client and for the door. `own` sets what another word than the client's says: it
// gets the word up to its equals sign, with it, and the value behind it, and returns false if the word is none of the
// door's, or the value is wrong. `own_words` are these words, for messages. Returns what is wrong; "" if nothing is.
std::string read_settings(const std::string& text, ClientSettings& settings, const std::string& own_words,
                          const std::function<bool(const std::string& key, const std::string& value)>& own);

// Reads a size as the configuration has it, without a blank: "1.5GiB", "4096". Returns false if `text` is none, or if
// it is smaller than `least`.
bool read_size(const std::string& text, uint64_t least, uint64_t& bytes);

}  // namespace tailrace::process
