#include "base/net/socket_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

namespace tailrace::impl {
namespace {

struct HostAndPort {
  std::string host;
  std::string port;
};

bool is_port(const std::string& text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<HostAndPort> split(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || !is_port(address.substr(colon + 1))) return std::nullopt;
  std::string host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return std::nullopt;
  }
  if (host.empty()) return std::nullopt;
  return HostAndPort{std::move(host), address.substr(colon + 1)};
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

int look_up(const HostAndPort& wanted, int family, int flags, Addresses& found) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(wanted.host.c_str(), wanted.port.c_str(), &hints, &first);
  if (error == 0) found.reset(first);
  return error;
}

}  // namespace

Result<SocketAddress> resolve_address(const std::string& address, int family) {
  const std::optional<HostAndPort> wanted = split(address);
  if (!wanted) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("the network address '{}': expected HOST:PORT, with HOST in brackets if it is an IPv6 "
                              "address, and PORT 0 to 65535",
                              address));
  }
  Addresses found(nullptr, &freeaddrinfo);
  int error = look_up(*wanted, family, AI_NUMERICHOST, found);  // never asks a server
  if (error != 0) error = look_up(*wanted, family, 0, found);
  if (error != 0) {
    return Status(TAILRACE_NOT_FOUND,
                  fmt::format("the network address '{}': found no {} address of '{}': {}", address,
                              family == AF_INET6 ? "IPv6" : "IPv4", wanted->host, gai_strerror(error)));
  }
  SocketAddress result;
  std::memcpy(&result.storage, found->ai_addr, found->ai_addrlen);
  result.size = found->ai_addrlen;
  return result;
}

std::string text_of_address(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(four.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(six.sin6_port));
  }
  return fmt::format("an address of family {}", address.ss_family);
}

}  // namespace tailrace::impl
