// Simulates the study that introduced TWINS ("Coordinating data access at I/O forwarding nodes"): many processes read
// small strided parts of one file, through forwarders or not, on data servers with disks that seek.
//
// Engine and schedulers are the real ones; clock, network, servers and disks are simulated. docs/forward-study.md has
// the set-up and the results.
#include <cstdio>

#include "lab/inside/forward_study/scale_run.hpp"
#include "lab/inside/forward_study/study_options.hpp"
#include "lab/inside/forward_study/study_sweep.hpp"
#include "lab/inside/forward_study/study_table.hpp"

namespace tailrace::impl::study {
namespace {

// Returns false if the file cannot be written.
bool write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

int run(const StudyOptions& options) {
  if (options.scale) {
    run_scale(options);
    return 0;
  }
  std::printf("%s%u runs each, seeds from %llu\n\n", describe(options.parameters).c_str(), options.runs,
              static_cast<unsigned long long>(options.seed));
  if (options.sweeps) {
    sweep(options);
    return 0;
  }
  const std::vector<Line> lines = measure(options.parameters, options.schedules, options.runs, options.seed);
  print(options.parameters, lines);
  const bool written = options.json.empty() ||
                       write_file(options.json, json_of(options.parameters, lines, options.runs, options.seed));
  if (!written) std::fprintf(stderr, "forward_study: cannot write '%s'\n", options.json.c_str());
  return written ? 0 : 1;
}

int main_of(const std::vector<std::string>& words) {
  const Result<StudyOptions> options = read_options(words);
  if (!options.ok()) {
    std::fprintf(stderr, "forward_study: %s\n", options.status().fault().message.c_str());
    return 2;
  }
  if (!options.value().helps) return run(options.value());
  std::printf("%s", usage().c_str());
  return 0;
}

}  // namespace
}  // namespace tailrace::impl::study

int main(int argc, char** argv) { return tailrace::impl::study::main_of({argv + 1, argv + argc}); }
