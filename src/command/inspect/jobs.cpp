#include "command/inspect/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "command/inspect/figures.hpp"
#include "command/output/output.hpp"
#include "runtime/core/core_server.hpp"
#include "runtime/core/job_status.hpp"

namespace tailrace::impl {
namespace {

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  std::string text = error ? path : found.string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<nlohmann::json> status(const std::string& output) {
  const Result<std::string> text = job_status(default_runtime_root(), "", output);
  if (!text.ok()) return text.status();
  return nlohmann::json::parse(text.value()).at("jobs");
}

// Returns a member as text; "-" if there is none.
std::string text_of_member(const nlohmann::json& holder, const char* name) {
  return holder.contains(name) ? holder[name].dump() : "-";
}

bool is_of(const nlohmann::json& client, const nlohmann::json& server) {
  return client.contains("server") && client["server"] == server.at("server");
}

// Returns the share of its life, 0 to 1, in which a server had transfers under way; none if not known.
std::optional<double> busy_share(const nlohmann::json& job, const nlohmann::json& server) {
  const double age = server.value("age_seconds", 0.0);
  double most = -1;
  for (const nlohmann::json& client : job.at("clients")) {
    if (is_of(client, server)) most = std::max(most, client.value("busy_seconds", -1.0));
  }
  return most < 0 || age <= 0 ? std::nullopt : std::optional(std::min(1.0, most / age));
}

std::vector<Row> server_rows(const nlohmann::json& job) {
  std::vector<Row> rows;
  for (const nlohmann::json& server : job.at("servers")) {
    const auto share = busy_share(job, server);
    const bool is_known = server.contains("age_seconds");
    rows.push_back({server.at("server").dump(), text_of_member(server, "process"),
                    !server.at("alive").get<bool>() ? "dead"
                    : is_known                      ? fmt::format("{:.0f} s", server["age_seconds"].get<double>())
                                                    : "-",
                    share ? fmt::format("{:.0f} %", 100 * *share) : "-"});
  }
  return rows;
}

std::vector<Row> client_rows(const nlohmann::json& job) {
  std::vector<Row> rows;
  for (const nlohmann::json& client : job.at("clients")) {
    const auto count = [&](const char* name) { return client.value(name, uint64_t{0}); };
    const auto size = [&](const char* name) { return size_text(static_cast<double>(count(name))); };
    rows.push_back({client.at("client").dump(),
                    client.at("process").dump() + (client.at("alive").get<bool>() ? "" : " (dead)"),
                    text_of_member(client, "server"), size("budget"), size("bytes_pending"),
                    std::to_string(count("blocks_pending") + count("verbs_waiting")),
                    fmt::format("{} blocks, {}", count("blocks_written"), size("bytes_written")),
                    std::to_string(count("blocks_failed"))});
  }
  return rows;
}

// Returns a list of each client of a server; nothing if one is wrong: a client has overwritten its own memory.
std::vector<OrderedJson> lists_of(const nlohmann::json& job, const nlohmann::json& server, const char* name,
                                  std::string (*fault_of)(const OrderedJson&)) {
  std::vector<OrderedJson> lists;
  for (const nlohmann::json& client : job.at("clients")) {
    if (!is_of(client, server) || !client.contains(name)) continue;
    lists.push_back(OrderedJson::parse(client[name].dump()));
    if (!fault_of(lists.back()).empty()) return {};
  }
  return lists;
}

}  // namespace

void show_job(const nlohmann::json& job) {
  say(fmt::format("job {}: {}; {} of shared memory", job.at("job").get<std::string>(),
                  job.at("alive").get<bool>() ? "running" : "died, and left what `tailrace recover` writes",
                  size_text(job.at("shared_bytes").get<double>())));
  print_table({"server", "process", "alive for", "busy"}, server_rows(job));
  print_table({"client", "process", "server", "budget", "held by server", "blocks waiting", "written", "failed"},
              client_rows(job));
  const bool is_alone = job.at("servers").size() == 1;
  for (const nlohmann::json& server : job.at("servers")) {
    show_iterations(lists_of(job, server, "iterations", fault_of_iterations),
                    is_alone ? "the core" : "core " + server.at("server").dump());
    show_files(lists_of(job, server, "files", fault_of_files));
  }
}

Result<nlohmann::json> all_jobs() { return status(""); }

Result<nlohmann::json> jobs_of(const std::string& directory) {
  const std::string real = real_path(directory);
  const Result<nlohmann::json> all = status(real);
  if (!all.ok()) return all.status();
  nlohmann::json found = nlohmann::json::array();
  for (const nlohmann::json& job : all.value()) {
    const nlohmann::json& output = job.at("output");
    const auto is_it = [&](const nlohmann::json& one) { return real_path(one.get<std::string>()) == real; };
    if (std::any_of(output.begin(), output.end(), is_it)) found.push_back(job);
  }
  return found;
}

}  // namespace tailrace::impl
