#include "config/config_forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace tailrace::impl {
namespace {

constexpr std::string_view address_rule = "an address HOST:PORT, such as io1:4711";
constexpr std::string_view listen_rule = "an address HOST:PORT, such as 0.0.0.0:4711; port 0: any that is free";
constexpr int64_t most_forwarders = 4096;
constexpr int64_t most_strangers = 16384;
constexpr int64_t most_connections = 8;
constexpr std::chrono::milliseconds least_handshake{100};
constexpr std::chrono::minutes most_handshake{1};

std::vector<std::string> read_servers(const YamlValue& value) {
  std::vector<std::string> servers;
  const auto add = [&](const YamlValue& item) {
    std::string address = item.text(address_rule);
    if (!is_address(address)) return item.wrong(address_rule);
    if (std::find(servers.begin(), servers.end(), address) != servers.end()) return item.wrong("each address once");
    servers.push_back(std::move(address));
  };
  if (value.is_scalar()) {
    add(value);
  } else {
    for (const YamlValue& item : value.items("an address, or a list of addresses")) add(item);
  }
  return servers;
}

std::vector<std::string> read_roots(const YamlValue& value) {
  constexpr std::string_view rule = "an absolute path of a directory, or a list of them";
  std::vector<std::string> roots;
  const auto add = [&](const YamlValue& item) {
    std::string root = item.text(rule);
    if (!root.starts_with('/')) return item.wrong(rule);
    roots.push_back(std::move(root));
  };
  if (value.is_scalar()) {
    add(value);
  } else {
    for (const YamlValue& item : value.items(rule)) add(item);
  }
  return roots;
}

constexpr std::string_view key_rule = "the name of a key file (tailrace key new FILE)";

std::vector<std::string> read_keys(const YamlValue& value) {
  std::vector<std::string> keys;
  if (value.is_scalar()) return {value.text(key_rule)};
  for (const YamlValue& item :
       value.items("the name of a key file, or a list of them: the new key, and an old one")) {
    keys.push_back(item.text(key_rule));
  }
  if (keys.empty()) value.wrong(key_rule);
  return keys;
}

// Connections that have not shown yet that they have a key.
void read_strangers(const YamlValue& value, ForwardSettings::Strangers& strangers) {
  value.only({"most", "of_one_address", "time"});
  if (const auto most = value.find("most")) {
    strangers.most = static_cast<uint32_t>(most->integer(1, most_strangers));
    strangers.of_one_address = std::min(strangers.of_one_address, strangers.most);
  }
  if (const auto one = value.find("of_one_address")) {
    strangers.of_one_address = static_cast<uint32_t>(one->integer(1, std::max(strangers.most, 1u)));
  }
  if (const auto time = value.find("time")) {
    strangers.time = time->duration(least_handshake, most_handshake, "'5 s' or '500 ms'");
  }
}

constexpr std::string_view kTransportLetters = "abcdefghijklmnopqrstuvwxyz0123456789_:";
constexpr std::string_view kDeviceLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:.-@";

// Returns true if each item of the list, which UCX reads, is a plain name: UCX knows others that mean all, or all but
// some (`^`), or exactly one (`\\`).
bool has_plain_names(std::string_view list, std::string_view letters) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view one = list.substr(begin, end - begin);
    const std::string_view name = one.substr(0, one.find(':'));
    if (name.empty() || name == "all" || name == "tcp") return false;
    if (one.find_first_not_of(letters) != std::string_view::npos) return false;
    begin = end + 1;
  }
  return true;
}

// The transport, and what protects it.
void read_transport(const YamlValue& value, ForwardSettings& forward) {
  if (const auto transport = value.find("transport")) forward.ucx = transport->choice({"tcp", "ucx"}) == 1;
  const auto trusted = value.find("trusted_network");
  const bool is_trusted = trusted && trusted->flag();
  if (const auto devices = value.find("devices")) {
    constexpr std::string_view rule = "names of devices of UCX, such as mlx5_0:1 or mlx5_0:1,mlx5_1:1";
    forward.devices = devices->text(rule);
    if (!has_plain_names(forward.devices, kDeviceLetters)) devices->wrong(rule);
  }
  if (const auto transports = value.find("transports")) {
    constexpr std::string_view rule =
        "transports of a fabric, such as rc or rc,ud; not tcp, by which UCX opens ports on "
        "all interfaces";
    forward.transports = transports->text(rule);
    if (!has_plain_names(forward.transports, kTransportLetters)) transports->wrong(rule);
  }
  if (const auto connections = value.find("connections"); connections && connections->raw() != "auto") {
    const auto number = connections->maybe_integer();
    if (!number || *number < 1 || *number > most_connections) connections->wrong("auto, or 1 to 8");
    forward.connections = static_cast<uint32_t>(number.value_or(0));
  }
  if (!forward.ucx) {
    if (const auto key = value.require("key", key_rule)) forward.keys = read_keys(*key);
    for (const char* name : {"trusted_network", "devices", "transports"}) {
      if (const auto other = value.find(name)) {
        other->fault_at_key(fmt::format("{} without transport: ucx", name), "it beside transport: ucx alone");
      }
    }
    return;
  }
  if (const auto one = value.find("connections")) {
    one->fault_at_key("connections beside transport: ucx", "none: UCX makes those that it needs");
  }
  if (const auto key = value.find("key")) key->fault_at_key("a key beside transport: ucx", "none: UCX uses no key");
  if (!is_trusted) {
    value.fault_at_key("transport: ucx without trusted_network: true",
                       "it: UCX neither authenticates nor encrypts, and all who reach its ports may write into the "
                       "memory of this process. Only a network whose operator keeps strangers out may use it");
  }
  if (forward.devices.empty()) {
    value.fault_at_key("transport: ucx without devices", "devices: those that UCX may use, such as mlx5_0:1");
  }
}

}  // namespace

bool is_address(std::string_view text, int least_port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (host.find(':') != std::string_view::npos && !bracketed) return false;
  const std::string_view port = text.substr(colon + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc{} && end == port.data() + port.size() && number >= least_port && number <= 65535;
}

void read_forward(const YamlValue& value, ForwardSettings& forward) {
  value.only({"servers", "key", "on_forwarder_loss", "confirm", "spread", "transport", "trusted_network", "devices",
              "transports", "connections", "listen", "roots", "number", "strangers"});
  if (const auto servers = value.find("servers")) forward.servers = read_servers(*servers);
  if (const auto listen = value.find("listen")) {
    forward.listen = listen->text(listen_rule);
    if (!is_address(forward.listen, 0)) listen->wrong(listen_rule);
  }
  if (const auto roots = value.find("roots")) forward.roots = read_roots(*roots);
  read_transport(value, forward);
  value.choose("on_forwarder_loss", {"next", "direct", "fail"}, forward.on_loss);
  value.choose("confirm", {"written", "durable", "received"}, forward.confirm);
  if (const auto spread = value.find("spread")) forward.spread = spread->choice({"files", "domains"}) == 1;
  if (const auto number = value.find("number")) {
    forward.number = static_cast<uint32_t>(number->integer(0, most_forwarders - 1));
  }
  if (const auto strangers = value.find("strangers")) {
    read_strangers(*strangers, forward.strangers);
    if (forward.listen.empty()) {
      strangers->fault_at_key("strangers without listen", "it beside listen: a program accepts no connections");
    }
  }
  if (!value.trusts({"forward.servers", "forward.listen", "forward.roots"})) return;
  if (forward.servers.empty() && forward.listen.empty()) {
    value.fault_at_key("neither servers nor listen",
                       "servers (of a program that writes), or listen (of a forwarder)");
  }
  if (!forward.listen.empty() && forward.roots.empty()) {
    value.fault_at_key("listen without roots", "roots: the directories in which clients may write");
  }
}

}  // namespace tailrace::impl
