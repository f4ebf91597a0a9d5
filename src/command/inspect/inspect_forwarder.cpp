#include "command/inspect/inspect_forwarder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "command/output/output.hpp"
#include "runtime/forward/forward_status.hpp"

namespace tailrace::impl {
namespace {

using Json = nlohmann::json;

std::string size_in(const Json& of, const char* member) { return size_text(of.at(member).get<double>()); }

Row client_row(const Json& client) {
  const auto text = [&](const char* member) { return std::to_string(client.at(member).get<uint64_t>()); };
  return {client.at("name").get<std::string>() + (client.at("gone").get<bool>() ? " (gone)" : ""),
          client.at("address").get<std::string>(),
          text("files"),
          text("waiting"),
          text("under_way"),
          size_in(client, "held_bytes"),
          size_in(client, "written_bytes"),
          size_in(client, "read_bytes"),
          text("failed")};
}

void show_forwarder(const std::string& address, const Json& state) {
  const double seconds = state.at("seconds").get<double>();
  const double lived = std::max(seconds, 1e-9);
  const double written = state.at("bytes_written").get<double>();
  say(fmt::format("forwarder {}: serves {}; schedule {}", address,
                  fmt::join(state.at("roots").get<std::vector<std::string>>(), ", "),
                  state.at("schedule").get<std::string>()));
  say(fmt::format("  {} written in {:.0f} s ({}/s), storage busy {:.0f} % of the time", size_text(written), seconds,
                  size_text(std::floor(written / lived)), 100 * state.at("busy_seconds").get<double>() / lived));
  say(fmt::format("  memory: {} of {} held, {} at most; {} open files", size_in(state, "memory_held_bytes"),
                  size_in(state, "memory_bytes"), size_in(state, "memory_peak_bytes"),
                  state.at("files").get<uint64_t>()));
  for (const Json& server : state.at("servers")) {
    say(fmt::format("  data server {}: {} queued", server.at("server").dump(), size_in(server, "queued_bytes")));
  }
  std::vector<Row> rows;
  for (const Json& client : state.at("clients")) rows.push_back(client_row(client));
  if (rows.empty()) {
    say("  no clients");
    return;
  }
  print_table({"client", "address", "files", "waiting", "under way", "held", "written", "read", "failed"},
              std::move(rows));
}

}  // namespace

int inspect_forwarder(const std::string& address, const std::string& key, bool as_json) {
  if (key.empty()) {
    complain("inspect: found --forward without --key FILE");
    return kWrongUsage;
  }
  const Result<std::string> text = forward_status(address, key);
  if (!text.ok()) {
    complain(text.status().fault().message);
    return kFailure;
  }
  // Another machine has sent this: it may be anything.
  const Json state = Json::parse(text.value(), nullptr, false);
  try {
    as_json ? print_json(state) : show_forwarder(address, state);
  } catch (const Json::exception& error) {
    complain(fmt::format("{}: found an answer that is no state of a forwarder ({})", address, error.what()));
    return kFailure;
  }
  return kSuccess;
}

}  // namespace tailrace::impl
