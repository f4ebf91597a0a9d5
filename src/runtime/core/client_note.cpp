#include "runtime/core/client_note.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/os/process.hpp"
#include "place/core/runtime_directory.hpp"

namespace tailrace::impl {
namespace {

using Json = nlohmann::json;

// Reads the opened file, even if its name is removed or replaced meanwhile.
Result<std::string> text_of(const PrivateDirectory& directory, const std::string& name) {
  const Result<FileDescriptor> file = directory.open_file(name, O_RDONLY);
  if (!file.ok()) return file.status();
  std::string text;
  char some[4096];
  for (;;) {
    const ssize_t got = ::read(file.value().get(), some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::of_errno("read", directory.path_of(name), errno);
    if (got == 0) return text;
    text.append(some, static_cast<size_t>(got));
  }
}

}  // namespace

std::string ClientNote::fresh_name(int server) { return fmt::format("server_{}.new", server); }

bool ClientNote::alive() const { return began != 0 && process_begin(process) == began; }

Result<ClientNote> ClientNote::read(const PrivateDirectory& directory, int client) {
  const std::string name = RuntimeDirectory::client_note(client);
  const Result<std::string> text = text_of(directory, name);
  if (!text.ok()) return text.status();
  const Json json = Json::parse(text.value(), nullptr, false);
  const auto has = [&json](const char* key) { return json.contains(key) && json[key].is_number_integer(); };
  const bool whole = json.is_object() && has("server") && has("process") && has("began") &&
                     json.contains("message") && json["message"].is_string() &&
                     (!json.contains("run") || json["run"].is_string()) &&
                     (!json.contains("served") || json["served"].is_boolean());
  if (!whole) {
    return Status(TAILRACE_INTERNAL, fmt::format("'{}' is not what a server writes", directory.path_of(name)));
  }
  return ClientNote{json["server"].get<int>(), json["process"].get<pid_t>(),       json["began"].get<uint64_t>(),
                    json.value("run", ""),     json["message"].get<std::string>(), json.value("served", true)};
}

Status ClientNote::write_fresh(const PrivateDirectory& directory) const {
  const Json json = {{"server", server}, {"process", process}, {"began", began},
                     {"run", run},       {"message", message}, {"served", served}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string fresh = fresh_name(server);
  const Result<FileDescriptor> file = directory.open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.ok()) return file.status();
  const ssize_t put = ::write(file.value().get(), text.data(), text.size());
  if (put == static_cast<ssize_t>(text.size())) return {};
  return Status::of_errno("write", directory.path_of(fresh), put < 0 ? errno : ENOSPC);
}

Status ClientNote::put(const PrivateDirectory& directory, int client) const {
  if (Status status = write_fresh(directory); !status.ok()) return status;
  const std::string fresh = fresh_name(server);
  const std::string name = RuntimeDirectory::client_note(client);
  const int error = ::linkat(directory.fd(), fresh.c_str(), directory.fd(), name.c_str(), 0) == 0 ? 0 : errno;
  (void)directory.remove_file(fresh);
  if (error == 0) return {};
  if (error != EEXIST) return Status::of_errno("create", directory.path_of(name), error);
  return Status(TAILRACE_CLIENT_IN_USE,
                fmt::format("client {} is open already, or still being written: there is '{}'", client,
                            directory.path_of(name)));
}

Status ClientNote::replace(const PrivateDirectory& directory, int client) const {
  if (Status status = write_fresh(directory); !status.ok()) return status;
  const std::string name = RuntimeDirectory::client_note(client);
  if (::renameat(directory.fd(), fresh_name(server).c_str(), directory.fd(), name.c_str()) == 0) return {};
  return Status::of_errno("replace", directory.path_of(name), errno);
}

Status ClientNote::remove(const PrivateDirectory& directory, int client) {
  return directory.remove_file(RuntimeDirectory::client_note(client));
}

}  // namespace tailrace::impl
