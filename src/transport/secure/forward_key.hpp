// ForwardKey: the key that a forwarder and its clients have in common. Who has it may use the forwarder, and may pose
// as one.
//
// Its name is public: a few digits for logs and messages, by which people see that two files hold different keys. It
// is a subkey of its own, so it tells nothing about the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "transport/secure/secret.hpp"

namespace tailrace::impl {

struct ForwardKey {
  Secret secret;
};

// The subkeys of a ForwardKey. docs/formats/key.md and python/tailrace/cli/key.py name the first.
enum class KeyUse : uint64_t { name = 1, hello = 2, refusal = 3, transcript = 4 };
Secret subkey_of(const ForwardKey& key, KeyUse use);

using KeyName = std::array<unsigned char, 8>;
KeyName name_bytes(const ForwardKey& key);
// "01ab-23cd-45ef-6789"
std::string text_of(const KeyName& name);
inline std::string name_of(const ForwardKey& key) { return text_of(name_bytes(key)); }

}  // namespace tailrace::impl
