#include "runtime/core/shared_leavings.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "place/core/runtime_directory.hpp"
#include "runtime/core/client_message.hpp"
#include "runtime/core/client_note.hpp"

namespace tailrace::impl {
namespace {

bool is_same(const std::string& one, const std::string& other) {
  std::error_code error;
  return std::filesystem::equivalent(one, other, error) && !error;
}

std::string writer_of(const Config& config, int client) {
  return config.storage.shares_files() ? config.name + "_" + shared_writer_of(config) : series_of(config, client);
}

bool has_data_of(const PrivateDirectory& job, int client, const std::string& directory, const std::string& writer) {
  const Result<ClientNote> note = ClientNote::read(job, client);
  const auto message = note.ok() ? decode_client(note.value().message) : Result<ClientMessage>(note.status());
  const Result<Config> config = message.ok() ? config_of(message.value()) : Result<Config>(message.status());
  if (!config.ok() || writer_of(config.value(), client) != writer) return false;
  const auto& paths = config.value().storage.paths;
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return is_same(path, directory); });
}

}  // namespace

std::string job_with_data_of(const std::string& directory, const std::string& writer) {
  const std::string root = RuntimeDirectory::default_root();
  const Result<std::vector<std::string>> jobs = RuntimeDirectory::jobs(root);
  if (!jobs.ok()) return {};
  for (const std::string& job : jobs.value()) {
    // A job and its writers begin with the `name` of one configuration. Others' need not be read: there may be many.
    if (!writer.starts_with(RuntimeDirectory::name_in(job))) continue;
    const Result<RuntimeDirectory> in = RuntimeDirectory::open_existing(root, job);
    const auto names = in.ok() ? in.value().directory().names() : Result<std::vector<std::string>>(in.status());
    if (!names.ok()) continue;
    for (const int client : RuntimeDirectory::clients_of(names.value())) {
      if (has_data_of(in.value().directory(), client, directory, writer)) return job;
    }
  }
  return {};
}

}  // namespace tailrace::impl
