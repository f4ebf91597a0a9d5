// forward_bench: the program behind `tailrace bench forward`. One client writes or reads one raw file, by itself or
// through a forwarder, and prints one JSON document. Exit codes: 0 success, 1 failure, 2 wrong command line.
#include <tailrace/tailrace.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "lab/pattern/clock.hpp"
#include "lab/pattern/command_line.hpp"
#include "lab/pattern/document_main.hpp"
#include "lab/pattern/json.hpp"

namespace bench {
namespace {

enum class What { write, read, latency };
const Words<What> kWhat = {{"write", What::write}, {"read", What::read}, {"latency", What::latency}};

struct Options {
  What what = What::write;
  std::string dir;
  std::string forward;  // "": this process writes itself
  std::string key;
  uint64_t request = uint64_t{1} << 20;  // bytes
  uint64_t requests = 256;
  uint64_t budget = uint64_t{64} << 20;
  bool again = false;  // the file is written once before
  bool asked = false;
};

Options parse_options(int argc, char** argv) {
  CLI::App app{"One client and one raw file. Prints one JSON document.", "forward_bench"};
  Options options;
  app.add_option("--dir", options.dir, "the directory of the file")->required();
  add_words(app, "--what", options.what, kWhat, "latency: each write is waited for");
  app.add_option("--forward", options.forward, "the forwarder's address; without it this process writes itself");
  app.add_option("--key", options.key, "the forwarder's key file");
  app.add_option("--request", options.request, "bytes of a request")->check(CLI::Range(1ul, 1ul << 30));
  app.add_option("--requests", options.requests, "how many")->check(CLI::Range(1, 1 << 24));
  app.add_option("--budget", options.budget, "bytes of memory for data under way");
  app.add_flag("--again", options.again, "write the file once before, so that its memory is there");
  options.asked = parse(app, argc, argv);
  return options;
}

std::string quoted(const std::string& text) { return Json(text).dump(); }  // a JSON text is a YAML text

std::string config_of(const Options& options) {
  std::string text = "tailrace: 1\nname: forward_bench\nmemory: {budget: " + std::to_string(options.budget) +
                     "}\nstorage: {existing: replace, path: " + quoted(options.dir) +
                     "}\nlayouts: {none: {type: uint8, shape: [1]}}\nvariables: {none: {layout: none}}\n";
  if (options.forward.empty()) return text;
  text += "forward: {servers: [" + quoted(options.forward) + "], key: " + quoted(options.key);
  return text + "}\n";
}

// Results in seconds.
struct Result {
  double handed = 0;              // until the last write call had returned
  double whole = 0;               // until everything was written, or read
  std::vector<double> latencies;  // of each request, if each is waited for
};

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        client_(tailrace::open("forward_bench", 0, {.text = config_of(options)})),
        file_(client_.open_file("forward.raw", tailrace::FileMode::truncate)),
        bytes_(options.request) {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i * 37);
  }

  Result measure() {
    Result result;
    if (options_.what == What::latency) {
      write_each(16);  // warms up
      result.latencies = write_each(options_.requests);
    } else {
      if (options_.again) (void)write_all();
      result = write_all();
      if (options_.what == What::read) result = read_all();
    }
    description_ = client_.describe();
    file_.close();
    client_.close();
    return result;
  }

  const std::string& description() const { return description_; }

 private:
  Result write_all() {
    Result result;
    const double begun = now();
    for (uint64_t i = 0; i < options_.requests; ++i) file_.write(i * options_.request, bytes_);
    result.handed = now() - begun;
    client_.flush();
    result.whole = now() - begun;
    return result;
  }

  Result read_all() {
    Result result;
    const std::vector<char> written = bytes_;
    const double begun = now();
    for (uint64_t i = 0; i < options_.requests; ++i) {
      file_.read(i * options_.request, bytes_);
      if (bytes_ != written) throw RunError("request " + std::to_string(i) + " was read back wrong");
    }
    result.whole = result.handed = now() - begun;
    return result;
  }

  std::vector<double> write_each(uint64_t requests) {
    std::vector<double> latencies;
    for (uint64_t i = 0; i < requests; ++i) {
      const double begun = now();
      file_.write(i * options_.request, bytes_);
      client_.flush();
      latencies.push_back(now() - begun);
    }
    return latencies;
  }

  const Options& options_;
  tailrace::Client client_;
  tailrace::File file_;
  std::vector<char> bytes_;
  std::string description_;
};

std::string run(const Options& options) {
  Run one(options);
  Result result = one.measure();
  std::sort(result.latencies.begin(), result.latencies.end());
  const double median = result.latencies.empty() ? 0 : result.latencies[result.latencies.size() / 2];
  return text_of({{"forward_run", 1},
                  {"what", word_for(kWhat, options.what)},
                  {"bytes", options.request * options.requests},
                  {"handed", result.handed},
                  {"whole", result.whole},
                  {"latency", median},
                  {"description", one.description()}});
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::document_main("forward_bench", [&] {
    const bench::Options options = bench::parse_options(argc, argv);
    return options.asked ? bench::run(options) : "";
  });
}
