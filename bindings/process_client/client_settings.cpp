#include "process_client/client_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <locale>
#include <sstream>
#include <string_view>

#include "process_client/words.hpp"

namespace tailrace::process {
namespace {

constexpr uint64_t kMostCpus = 1 << 20;

// Returns the text as a string of YAML.
std::string in_quotes(const std::string& text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < ' ') {
      quoted += std::string("\\x") + kDigits[byte / 16] + kDigits[byte % 16];
      continue;
    }
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

// Returns each item of "a,b" in quotes.
std::string each_in_quotes(const std::string& list) {
  std::istringstream items(list);
  std::string quoted;
  for (std::string item; std::getline(items, item, ',');) quoted += (quoted.empty() ? "" : ", ") + in_quotes(item);
  return quoted;
}

// Reads a whole number. Returns false if `text` is none.
bool read_number(const std::string& text, uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end;
}

struct Unit {
  std::string_view name;
  uint64_t bytes;
};

// Those of sizes in the configuration.
constexpr Unit kUnits[] = {{"", 1},
                           {"B", 1},
                           {"KiB", uint64_t{1} << 10},
                           {"MiB", uint64_t{1} << 20},
                           {"GiB", uint64_t{1} << 30},
                           {"TiB", uint64_t{1} << 40},
                           {"kB", 1'000},
                           {"MB", 1'000'000},
                           {"GB", 1'000'000'000},
                           {"TB", 1'000'000'000'000}};
constexpr double kMostSize = 0x1p60;  // as in the configuration

// Reads "2,3". Returns false if it is no list of numbers.
bool read_cpus(const std::string& text, std::vector<int>& cpus) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    uint64_t cpu = 0;
    if (!read_number(item, cpu) || cpu > kMostCpus) return false;
    cpus.push_back(static_cast<int>(cpu));
  }
  return !cpus.empty() && text.back() != ',';
}

std::string list_of(const std::vector<int>& cpus) {
  std::string list;
  for (const int cpu : cpus) list += (list.empty() ? "" : ", ") + std::to_string(cpu);
  return list;
}

}  // namespace

// No prefault: most programs need a part of the budget, and taking memory delays a program that writes at once. Not
// direct by default: HDF5 promises no more than the page cache, which takes short writes faster.
std::string ClientSettings::configuration(const std::string& name) const {
  const std::string memory = "{budget: " + std::to_string(budget) + (place == "thread" ? ", prefault: false}" : "}");
  const std::string forwarders =
      forward.empty() ? "" : "forward: {servers: [" + each_in_quotes(forward) + "], key: " + in_quotes(key) + "}\n";
  const std::string chosen = !cpus.empty() ? ", cpus: [" + list_of(cpus) + "]" : pinned ? "" : ", cpus: none";
  return "tailrace: 1\nname: " + name + "\nplace: {kind: " + place + chosen +
         "}\nstorage: {path: ., direct: " + (direct ? "true" : "false") + "}\nmemory: " + memory + "\n" + forwarders +
         "log: {level: error}\n";
}

// Fractions of a unit are taken, fractions of a byte are not.
bool read_size(const std::string& text, uint64_t least, uint64_t& bytes) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const Unit& one) { return one.name == std::string_view(text).substr(digits); });
  double number = 0;
  std::istringstream stream(text.substr(0, digits));  // GCC 10 has no std::from_chars for fractions
  stream.imbue(std::locale::classic());
  if (unit == std::end(kUnits) || !(stream >> number) || !stream.eof()) return false;
  const double size = number * static_cast<double>(unit->bytes);
  if (size > kMostSize || size != std::floor(size)) return false;
  bytes = static_cast<uint64_t>(size);
  return bytes >= least;
}

std::optional<bool> read_word(const std::string& word, ClientSettings& settings) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (word == "summary") {
    settings.summary = true;
  } else if (key == "config") {
    settings.config = value;
    return !value.empty();
  } else if (key == "place") {
    settings.place = value;
    return value == "thread" || value == "core";
  } else if (key == "cpus") {
    settings.cpus.clear();
    return read_cpus(value, settings.cpus);
  } else if (key == "budget") {
    return read_size(value, 1, settings.budget);
  } else if (key == "forward") {
    settings.forward = value;
    return !value.empty();
  } else if (key == "key") {
    settings.key = value;
    return !value.empty();
  } else {
    return std::nullopt;
  }
  return true;
}

std::string read_settings(const std::string& text, ClientSettings& settings, const std::string& own_words,
                          const std::function<bool(const std::string& key, const std::string& value)>& own) {
  std::vector<std::string> words;
  if (const std::string wrong = split_words(text, words); !wrong.empty()) return wrong;
  for (const std::string& word : words) {
    const std::optional<bool> of_client = read_word(word, settings);
    const size_t value = std::min(word.find('='), word.size() - 1) + 1;
    if (of_client ? *of_client : own(word.substr(0, value), word.substr(value))) continue;
    return "found '" + word +
           "', expected config=FILE, place=thread, place=core, budget=SIZE, cpus=LIST, forward=HOST:PORT, "
           "key=FILE, " +
           own_words + " or summary";
  }
  if (settings.forward.empty() == settings.key.empty()) return "";
  return settings.key.empty() ? "found forward without key=FILE" : "found key without forward=HOST:PORT";
}

}  // namespace tailrace::process
