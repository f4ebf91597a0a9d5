#include "runtime/core/client_message.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace tailrace::impl {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

Status wrong(const std::string& what) { return Status(TAILRACE_INVALID_CONFIG, "the message of a client: " + what); }

std::string absolute(const std::string& path, const std::string& directory) {
  return path.empty() || path.front() == '/' ? path : directory + "/" + path;
}

}  // namespace

Result<std::string> encode_client(const ConfigInput& input) {
  Result<std::string> text = input.text ? Result<std::string>(*input.text) : read_config_text(input.file);
  if (!text.ok()) return text.status();
  std::error_code error;
  const fs::path directory = fs::current_path(error);
  if (error) return Status::of_errno("look for", "the current directory", error.value());
  const Result<FileRights> rights = FileRights::own();
  if (!rights.ok()) return rights.status();
  Json parameters = Json::object();
  for (const auto& [name, value] : input.parameters) {
    parameters[name] = value.is_real() ? Json(value.real()) : Json(value.whole());
  }
  Json message = {{"client", input.client},
                  {"file", input.file},
                  {"text", std::move(text).value()},
                  {"directory", directory.string()},
                  {"umask", rights.value().umask},
                  {"group", rights.value().group},
                  {"file_size_limit", rights.value().size_limit},
                  {"parameters", std::move(parameters)}};
  if (input.path_override) message["path"] = *input.path_override;
  if (input.files_override) message["files"] = *input.files_override;
  if (!input.program_python.empty()) message["python"] = input.program_python;
  // Names and paths need not be UTF-8.
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ClientMessage> decode_client(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return wrong("found no JSON object");
  try {
    ClientMessage message;
    message.input.client = json.at("client").get<int>();
    message.input.file = json.at("file").get<std::string>();
    message.input.text = json.at("text").get<std::string>();
    message.directory = json.at("directory").get<std::string>();
    message.rights = {json.at("umask").get<mode_t>() & 0777, json.value("group", ::getegid()),
                      json.at("file_size_limit").get<uint64_t>()};
    for (const auto& [name, value] : json.at("parameters").items()) {
      const bool real = value.is_number_float();
      message.input.parameters.emplace_back(name, real ? Number(value.get<double>()) : Number(value.get<int64_t>()));
    }
    if (json.contains("path")) message.input.path_override = json.at("path").get<std::string>();
    if (json.contains("files")) message.input.files_override = json.at("files").get<std::string>();
    message.input.program_python = json.value("python", "");
    if (message.directory.empty() || message.directory.front() != '/') return wrong("found a relative directory");
    return message;
  } catch (const Json::exception& error) {
    return wrong(error.what());
  }
}

Result<Config> config_of(const ClientMessage& message) {
  Result<Config> config = read_config(message.input);
  if (!config.ok()) return config;
  Config& of = config.value();
  for (std::string& path : of.storage.paths) path = absolute(path, message.directory);
  for (std::string& path : of.storage.stripes.directories) path = absolute(path, message.directory);
  for (std::string& root : of.storage.files) root = absolute(root, message.directory);
  of.log.file = absolute(of.log.file, message.directory);
  for (std::string& key : of.forward.keys) {
    if (!key.starts_with("~/")) key = absolute(key, message.directory);
  }
  return config;
}

}  // namespace tailrace::impl
