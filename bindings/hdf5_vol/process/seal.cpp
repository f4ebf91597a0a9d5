#include "hdf5_vol/process/seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tailrace::hdf5 {
namespace {

constexpr char kSignature[] = "\211HDF\r\n\032\n";
constexpr size_t kSignatureBytes = sizeof kSignature - 1;
// Stands in place of the seal. Where it begins, a superblock has its version, which is 0 to 3.
constexpr char kUnsealed[] = "tailrace";

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

// The signature and the seal, in the file's order.
struct Head {
  char signature[kSignatureBytes];
  std::array<std::byte, 8> seal;
  bool is_hdf5() const { return std::memcmp(signature, kSignature, kSignatureBytes) == 0; }
};
static_assert(sizeof(Head) == kSignatureBytes + sizeof(Seal::bytes));
static_assert(sizeof kUnsealed - 1 == sizeof(Seal::bytes));

bool read_head(int file, uint64_t at, Head& head) {
  return ::pread(file, &head, sizeof head, static_cast<off_t>(at)) == static_cast<ssize_t>(sizeof head);
}

}  // namespace

std::optional<Seal> take_seal(const std::string& path, uint64_t superblock, std::string& why) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  Head head;
  if (file.number() < 0) {
    why = std::string("it cannot be opened: ") + std::strerror(errno);
    return std::nullopt;
  }
  if (!read_head(file.number(), superblock, head) || !head.is_hdf5()) {
    why = "HDF5 has closed it without a superblock";
    return std::nullopt;
  }
  const Seal seal{superblock + kSignatureBytes, head.seal};
  if (::pwrite(file.number(), kUnsealed, sizeof seal.bytes, static_cast<off_t>(seal.offset)) !=
      static_cast<ssize_t>(sizeof seal.bytes)) {
    why = std::string("its superblock cannot be written: ") + std::strerror(errno);
    return std::nullopt;
  }
  return seal;
}

// HDF5 looks for the superblock at 0, 512, 1024, 2048, and so on.
bool lacks_seal(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Head head;
  for (uint64_t at = 0; read_head(file.number(), at, head); at = at == 0 ? 512 : 2 * at) {
    if (head.is_hdf5()) return std::memcmp(head.seal.data(), kUnsealed, sizeof head.seal) == 0;
  }
  return false;
}

}  // namespace tailrace::hdf5
