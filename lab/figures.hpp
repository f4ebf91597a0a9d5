// The figures of a benchmark as JSON, from which `make figures` makes tables (lab/tailrace_lab/figures).
//
// The document has "tailrace_figures", the version of its format; when and by which program it was made; and "rows":
// objects of names and numbers, a row for each measurement.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace lab {

struct Arguments {
  bool tiny = false;  // runs only seconds, to check that it works; measures nothing
  std::string json;   // file for the figures; empty: none
};

// Reads [--tiny] [--json FILE]; anything else ends the program with a message and code 2.
inline Arguments arguments_of(int argc, char** argv, const char* program) {
  Arguments found;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tiny") == 0) {
      found.tiny = true;
    } else if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      found.json = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--tiny] [--json FILE]\n", program);
      std::exit(2);
    }
  }
  return found;
}

// Writes the figures, if they go to a file. Returns the program's exit code: 1, with a message, if it cannot.
inline int write_figures(const std::string& file, const char* program, bool tiny, nlohmann::json rows) {
  if (file.empty()) return 0;
  char created[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  nlohmann::json document = {
      {"tailrace_figures", 1}, {"created", created}, {"command", program}, {"rows", std::move(rows)}};
  if (tiny) document["quick"] = true;
  std::ofstream out(file);
  out << document.dump(1) << "\n";
  if (out.flush()) return 0;
  std::fprintf(stderr, "%s: %s cannot be written\n", program, file.c_str());
  return 1;
}

}  // namespace lab
