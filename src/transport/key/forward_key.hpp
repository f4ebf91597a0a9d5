// ForwardKey: the key that a forwarder and its clients have in common. Who has it may use the forwarder, and may pose
// as one.
//
// Its name is public: a few digits for logs and messages, by which people see that two files hold different keys. It
// is a subkey of its own, so it tells nothing about the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "transport/key/secret.hpp"
#include "transport/transport_module.hpp"

namespace tailrace::impl {

struct ForwardKey {
  Secret secret;
};

// The subkeys of a ForwardKey. docs/formats/key.md and python/tailrace/cli/key.py name the first; the second is the
// key of TLS.
enum class KeyUse : uint64_t { name = 1, tls = 5 };
Secret subkey_of(const ForwardKey& key, KeyUse use);

using KeyName = std::array<unsigned char, 8>;
KeyName name_bytes(const ForwardKey& key);
// "01ab-23cd-45ef-6789"
std::string text_of(const KeyName& name);
inline std::string name_of(const ForwardKey& key) { return text_of(name_bytes(key)); }
// Returns the key as TLS has it, with its name as the identity.
PreSharedKey pre_shared(const ForwardKey& key);

}  // namespace tailrace::impl
