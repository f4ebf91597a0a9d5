// Output through tailrace: fields are packed into its memory and committed; it writes while the solver continues.
//
// It uses alloc and commit, so that no field is ever copied. The configuration is a text made from the grid, so there
// is no file to keep consistent with the program. It is the same in all processes: parameters, given when a process
// opens its client, set that process's rows. Only this file of the application uses tailrace.
#include <tailrace/tailrace.hpp>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "error.hpp"
#include "numbers_list.hpp"
#include "output.hpp"

namespace tsunami {
namespace {

// Returns the text in double quotes: YAML accepts JSON's strings.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// A server must know how many clients to wait for; a thread has only one.
std::string place(const OutputSpec& spec) {
  if (spec.place == "thread") return "{kind: thread}";
  return "{kind: " + spec.place + ", clients: " + std::to_string(spec.processes_of_node) + "}";
}

std::string forward(const OutputSpec& spec) {
  if (spec.forward.empty()) return "";
  std::string servers;
  for (const std::string& address : spec.forward) servers += (servers.empty() ? "" : ", ") + quoted(address);
  return "forward: {servers: [" + servers + "], key: " + quoted(spec.key) + "}\n";
}

std::string configuration(const OutputSpec& spec) {
  std::ostringstream yaml;
  yaml << "tailrace: 1\n"
       << "name: " << spec.name << "\n"
       << "place: " << place(spec) << "\n"
       << "memory: {budget: " << spec.budget << ", when_full: block}\n"
       << "storage: {existing: replace, path: " << quoted(spec.directory) << ", backend: " << spec.backend
       << ", durability: " << spec.durability << ", file_per: " << spec.file_per << "}\n"
       << (spec.trace ? "measurements: {report: true, trace: true}\n" : "") << forward(spec)
       << "time: {dt: " << shortest(spec.interval) << ", unit: s}\n"
       << "layouts:\n"
       << "  field:\n"
       << "    type: " << (spec.precision == Precision::float32 ? "float32" : "float64") << "\n"
       << "    shape: [rows, " << spec.nx << "]\n"
       << "    global: [" << spec.rows << ", " << spec.nx << "]\n"
       << "    offset: [first_row, 0]\n"
       << "    axes: " << (spec.degrees ? "[latitude, longitude]" : "[\"y\", \"x\"]") << "\n"
       << "    spacing: [" << shortest(spec.dy) << ", " << shortest(spec.dx) << "]\n"
       << "    origin: [" << shortest(spec.y0) << ", " << shortest(spec.x0) << "]\n"
       << "    unit: " << (spec.degrees ? "deg" : "m") << "\n"
       << "variables:\n";
  for (const VariableSpec& v : spec.variables) {
    yaml << "  " << v.name << ": {layout: field, unit: " << v.unit << ", description: " << quoted(v.description)
         << ", compress: " << spec.compress << ", precision: " << spec.stored << "}\n";
  }
  return yaml.str();
}

[[noreturn]] void fail(const tailrace::Error& error) { throw Error(std::string("tailrace: ") + error.what()); }

class TailraceOutput final : public Output {
 public:
  explicit TailraceOutput(const OutputSpec& spec) : spec_(spec) {
    try {
      tailrace::Options options;
      options.text = configuration(spec_);
      options.parameters = {{"rows", static_cast<std::int64_t>(spec_.ny)},
                            {"first_row", static_cast<std::int64_t>(spec_.first_row)}};
      client_ = tailrace::open("tsunami's own configuration", spec_.process, options);
      description_ = client_.describe();
    } catch (const tailrace::Error& error) {
      fail(error);
    }
  }

  void* field(std::size_t variable, std::int64_t iteration) override {
    const std::string& name = spec_.variables[variable].name;
    try {
      if (spec_.precision == Precision::float32) return client_.alloc<float>(name, iteration).data();
      return client_.alloc<double>(name, iteration).data();
    } catch (const tailrace::Error& error) {
      fail(error);
    }
  }

  void put(std::size_t variable, std::int64_t iteration) override {
    try {
      client_.commit(spec_.variables[variable].name, iteration);
    } catch (const tailrace::Error& error) {
      fail(error);
    }
  }

  void end_iteration(std::int64_t iteration) override {
    try {
      client_.end_iteration(iteration);
    } catch (const tailrace::Error& error) {
      fail(error);
    }
    if (spec_.file_per == "process") {
      for (int process = 0; process < spec_.processes; ++process) add_file("_c", process, iteration);
    } else {
      add_file("_n", 0, iteration);
    }
  }

  void close() override {
    try {
      client_.flush();
      last_ = read_counters();
      client_.close();
    } catch (const tailrace::Error& error) {
      fail(error);
    }
  }

  std::string description() const override { return description_; }
  std::vector<std::string> files() const override { return files_; }

  Counters counters() override {
    if (!last_.empty()) return last_;
    try {
      return read_counters();
    } catch (const tailrace::Error& error) {
      fail(error);
    }
  }

 private:
  void add_file(const char* whose, int number, std::int64_t iteration) {
    char tail[40];
    std::snprintf(tail, sizeof tail, "%s%d_%06lld.h5", whose, number, static_cast<long long>(iteration));
    files_.push_back((std::filesystem::path(spec_.directory) / (spec_.name + tail)).string());
  }

  Counters read_counters() const {
    const tailrace::Stats s = client_.stats();
    return {{"seconds_writing", s.seconds_writing},
            {"seconds_waiting_memory", s.seconds_waiting_memory},
            {"seconds_waiting_ticket", s.seconds_waiting_ticket},
            {"seconds_copying", s.seconds_copying},
            {"bytes_accepted", static_cast<double>(s.bytes_accepted)},
            {"bytes_written", static_cast<double>(s.bytes_written)},
            {"blocks_accepted", static_cast<double>(s.blocks_accepted)},
            {"blocks_written", static_cast<double>(s.blocks_written)},
            {"blocks_failed", static_cast<double>(s.blocks_failed)},
            {"iterations_published", static_cast<double>(s.iterations_published)},
            {"memory_budget", static_cast<double>(s.memory_budget)},
            {"memory_peak", static_cast<double>(s.memory_peak)}};
  }

  const OutputSpec spec_;
  tailrace::Client client_;
  std::string description_;
  std::vector<std::string> files_;
  Counters last_;  // their values before close()
};

}  // namespace

std::unique_ptr<Output> make_tailrace_output(const OutputSpec& spec) {
  return std::make_unique<TailraceOutput>(spec);
}

}  // namespace tsunami
