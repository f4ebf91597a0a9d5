#include "transport/key/forward_key.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tailrace::impl {

Secret subkey_of(const ForwardKey& key, KeyUse use) {
  return derive(key.secret, static_cast<uint64_t>(use), "tr.key.1");
}

KeyName name_bytes(const ForwardKey& key) {
  const Secret whole = subkey_of(key, KeyUse::name);
  KeyName name;
  std::copy_n(whole.bytes.begin(), name.size(), name.begin());
  return name;
}

std::string text_of(const KeyName& name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && i % 2 == 0) text += '-';
    text += fmt::format("{:02x}", name[i]);
  }
  return text;
}

PreSharedKey pre_shared(const ForwardKey& key) { return {name_of(key), subkey_of(key, KeyUse::tls).bytes}; }

}  // namespace tailrace::impl
