// Reads the part of the configuration that is about forwarding: which forwarders carry out the transfers, or what a
// forwarder itself serves.
//
// Used only by config_yaml. It opens no file and resolves no host name.
#pragma once

#include "config/yaml/yaml_reader.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

void read_forward(const YamlValue& value, ForwardSettings& forward);

// Returns true if `text` is "HOST:PORT", with an IPv6 address in brackets and a port from `least_port` on.
bool is_address(std::string_view text, int least_port = 1);

}  // namespace tailrace::impl
