#include "transport/key/random_bytes.hpp"

#include <sodium.h>

#include "transport/key/secret.hpp"

namespace tailrace::impl {

RandomBytes system_random() {
  start_sodium();
  return [](std::span<std::byte> bytes) { randombytes_buf(bytes.data(), bytes.size()); };
}

}  // namespace tailrace::impl
