#include "openfoam/handler/figures.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace tailrace::openfoam {
namespace {

constexpr size_t kMostHandOvers = 100'000;

std::string row(const std::string& name, const OutputCosts::Object& one, const std::string& shield) {
  char line[200];
  const double output = one.program + one.writer;
  std::snprintf(line, sizeof line, "  %-24s %6llu %10.2f %12.4f %12.4f %12s %9.1f %%\n", name.c_str(),
                static_cast<unsigned long long>(one.files), static_cast<double>(one.bytes) / (1 << 20), one.program,
                one.writer, shield.c_str(), output > 0 ? 100 * one.writer / output : 0.0);
  return line;
}

std::string in_seconds(double seconds, int digits = 4) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, seconds);
  return text;
}

// Returns an event of the trace. Objects' names have no quotes and no backslashes.
std::string event(const char* phase, const char* category, const std::string& object, int64_t output, double at,
                  uint64_t process, const std::string& more, const std::string& more_arguments = "") {
  char text[400];
  std::snprintf(text, sizeof text,
                "{\"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %llu, \"tid\": %d, \"ts\": %.3f, "
                "\"args\": {\"variable\": \"%s\", \"iteration\": %lld%s}%s}",
                phase, category, category[0] == 'h' ? "write" : object.c_str(),
                static_cast<unsigned long long>(process), category[0] == 'h' ? 1 : 2, at * 1e6, object.c_str(),
                static_cast<long long>(output), more_arguments.c_str(), more.c_str());
  return text;
}

}  // namespace

void OutputCosts::add(const OutputCosts& other) {
  for (const auto& [name, more] : other.objects) {
    Object& one = objects[name];
    one.files += more.files;
    one.bytes += more.bytes;
    one.program = std::max(one.program, more.program);
    one.writer = std::max(one.writer, more.writer);
    if (more.shield >= 0) one.shield = one.shield < 0 ? more.shield : std::min(one.shield, more.shield);
  }
  waiting = std::max(waiting, other.waiting);
}

// OpenFOAM's names have no blanks.
std::string OutputCosts::text() const {
  std::ostringstream text;
  text.precision(17);
  text << waiting;
  for (const auto& [name, one] : objects) {
    text << ' ' << name << ' ' << one.files << ' ' << one.bytes << ' ' << one.program << ' ' << one.writer << ' '
         << one.shield;
  }
  return text.str();
}

OutputCosts OutputCosts::read(const std::string& text) {
  OutputCosts costs;
  std::istringstream from(text);
  from >> costs.waiting;
  std::string name;
  for (Object one; from >> name >> one.files >> one.bytes >> one.program >> one.writer >> one.shield;) {
    costs.objects[name] = one;
  }
  return costs;
}

std::string OutputCosts::table() const {
  char head[200];
  std::snprintf(head, sizeof head, "  %-24s %6s %10s %12s %12s %12s %11s\n", "object", "files", "MiB", "program (s)",
                "writer (s)", "shield (s)", "overlap");
  std::string lines = head;
  Object all;
  for (const auto& [name, one] : objects) {
    lines += row(name, one, one.shield < 0 ? "-" : in_seconds(one.shield));
    all.files += one.files;
    all.bytes += one.bytes;
    all.program += one.program;
    all.writer += one.writer;
  }
  return lines + row("all", all, "") + "  The program waited " + in_seconds(waiting) + " s.\n";
}

void Figures::add(const std::string& name, int64_t output, double begun, double handed_over) {
  Object& object = objects_[name];
  if (object.handed_over_at > 0) {
    const double shield = begun - object.handed_over_at;
    object.shield = object.shield < 0 ? shield : std::min(object.shield, shield);
  }
  object.seconds += handed_over - begun;
  object.handed_over_at = handed_over;
  if (hand_overs_.size() < kMostHandOvers) {
    hand_overs_.push_back({name, output, begun, handed_over});
  } else {
    ++dropped_;
  }
}

OutputCosts Figures::costs(Writer& writer) const {
  OutputCosts all;
  for (const auto& [name, cost] : writer.costs()) {
    const auto found = objects_.find(name);
    const Object object = found != objects_.end() ? found->second : Object();
    all.objects[name] = {cost.files, cost.bytes, object.seconds, cost.seconds, object.shield};
  }
  all.waiting = writer.seconds_waiting();
  return all;
}

std::string Figures::trace(const std::vector<FileTimes>& files, uint64_t process) const {
  std::string text = "{\"otherData\": {\"tailrace_trace\": 1, \"program\": \"OpenFOAM\", \"dropped_events\": " +
                     std::to_string(dropped_) + "}, \"traceEvents\": [";
  const char* separator = "\n";
  const auto add_event = [&](const std::string& one) {
    text += separator + one;
    separator = ",\n";
  };
  for (const HandOver& one : hand_overs_) {
    add_event(event("X", "handover", one.object, one.output, one.begun, process,
                    ", \"dur\": " + in_seconds((one.ended - one.begun) * 1e6)));
  }
  size_t id = 0;
  for (const FileTimes& file : files) {
    const std::string more = ", \"id\": " + std::to_string(++id);
    const auto block = [&](const char* phase, const char* category, double at, const std::string& arguments = "") {
      add_event(event(phase, category, file.object, file.output, at, process, more, arguments));
    };
    block("b", "queued", file.begun);
    block("e", "queued", file.writing);
    block("b", "writing", file.writing);
    block("e", "writing", file.ended,
          ", \"seconds\": " + in_seconds(file.seconds, 6) + ", \"formatting\": " + in_seconds(file.formatting, 6));
  }
  return text + "\n]}\n";
}

}  // namespace tailrace::openfoam
