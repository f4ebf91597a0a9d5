#include "transport/key/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/os/file_descriptor.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kMostText = 4096;   // bytes of a key file
constexpr size_t kMostEntry = 4096;  // bytes of this user's entry in the list of users
constexpr mode_t kOthers = 0077;
constexpr std::string_view kWord = "tailrace-key-";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kComment =
    "# A key of tailrace. Forwarders and clients that have it trust each other: keep it secret, with mode 0600.\n";
constexpr size_t kDigits = 2 * sizeof(Secret);
constexpr const char* kExpected = "expected 'tailrace-key-1', a space and 64 hexadecimal digits";

// The contents of a key file, wiped when it ends.
struct Text {
  Text() = default;
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { sodium_memzero(bytes.data(), bytes.size()); }
  std::string_view view() const { return {bytes.data(), size}; }

  std::array<char, kMostText + 1> bytes = {};
  size_t size = 0;
};

Result<std::string> home_directory() {
  const char* const given = std::getenv("HOME");
  if (given != nullptr && given[0] == '/') return std::string(given);
  std::array<char, kMostEntry> memory;
  struct passwd entry {};
  struct passwd* found = nullptr;
  const int error = ::getpwuid_r(::geteuid(), &entry, memory.data(), memory.size(), &found);
  if (error == 0 && found != nullptr) return std::string(found->pw_dir);
  return Status(TAILRACE_NOT_FOUND,
                fmt::format("found no home directory of user {} for a path that begins with '~/', "
                            "expected HOME to name it",
                            ::geteuid()));
}

Result<std::string> expand(const std::string& path) {
  if (!path.starts_with("~/")) return path;
  Result<std::string> home = home_directory();
  if (!home.ok()) return home;
  return home.value() + path.substr(1);
}

Status refuse(const std::string& file, int error, std::string message) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "read the key";
  fault.file = file;
  fault.system_errno = error;
  fault.message = std::move(message);
  return Status(std::move(fault));
}

Status refuse_line(const std::string& file, size_t line, const std::string& message) {
  Fault fault;
  fault.code = TAILRACE_INVALID_CONFIG;
  fault.operation = "read the key";
  fault.file = file;
  fault.message = fmt::format("{}:{}: {}", file, line, message);
  return Status(std::move(fault));
}

FileDescriptor open_again(const std::string& file, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(file.c_str(), flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

Status check_private(int fd, const std::string& file) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Status::of_errno("stat", file, errno);
  if (!S_ISREG(info.st_mode)) {
    return refuse(file, S_ISDIR(info.st_mode) ? EISDIR : EINVAL,
                  fmt::format("'{}' is {}; expected a key file", file,
                              S_ISDIR(info.st_mode) ? "a directory" : "no regular file"));
  }
  if (info.st_uid != ::geteuid()) {
    return refuse(
        file, EPERM,
        fmt::format("'{}' is a file of user {}; expected a key file of user {}", file, info.st_uid, ::geteuid()));
  }
  if ((info.st_mode & kOthers) == 0) return {};
  return refuse(file, EPERM,
                fmt::format("'{}' has mode {:04o}, so others may use the key; expected 0600: chmod 600 '{}'", file,
                            info.st_mode & 07777, file));
}

Result<FileDescriptor> open_private(const std::string& file) {
  FileDescriptor fd = open_again(file, O_RDONLY | O_NONBLOCK, 0);  // opening a FIFO must not wait
  if (!fd.is_open() && errno == ELOOP) {
    return refuse(file, ELOOP, fmt::format("'{}' is a symbolic link; expected a key file", file));
  }
  if (!fd.is_open()) return Status::of_errno("open the key file", file, errno);
  if (Status status = check_private(fd.get(), file); !status.ok()) return status;
  return fd;
}

Status read_text(int fd, const std::string& file, Text& text) {
  while (text.size < text.bytes.size()) {
    const ssize_t count = ::read(fd, text.bytes.data() + text.size, text.bytes.size() - text.size);
    if (count == 0) return {};
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::of_errno("read", file, errno);
    text.size += static_cast<size_t>(count);
  }
  return refuse(file, EFBIG, fmt::format("'{}' has more than {} bytes; expected a key file", file, kMostText));
}

// Returns the word behind kWord if it looks like a version; only such a word may be shown.
std::string version_in(std::string_view line) {
  const std::string_view rest = line.substr(kWord.size());
  const size_t length = rest.find(' ');
  const bool is_number = length >= 1 && length <= 3 && rest.find_first_not_of("0123456789") >= length;
  return is_number ? std::string(rest.substr(0, length)) : "";
}

Result<ForwardKey> parse_line(std::string_view line, const std::string& file, size_t number) {
  if (!line.starts_with(kWord)) return refuse_line(file, number, fmt::format("found no key, {}", kExpected));
  const std::string version = version_in(line);
  if (version.empty()) return refuse_line(file, number, fmt::format("found no version, {}", kExpected));
  if (version != kVersion) {
    return refuse_line(file, number, fmt::format("found a key of version {}, {}", version, kExpected));
  }
  const std::string_view digits = line.substr(kWord.size() + kVersion.size() + 1);
  ForwardKey key;
  size_t length = 0;
  if (digits.size() != kDigits) {
    return refuse_line(file, number, fmt::format("found a key of length {}, {}", digits.size(), kExpected));
  }
  if (sodium_hex2bin(key.secret.bytes.data(), key.secret.bytes.size(), digits.data(), digits.size(), nullptr, &length,
                     nullptr) != 0 ||
      length != sizeof(Secret)) {
    return refuse_line(file, number, fmt::format("found other characters than digits in the key, {}", kExpected));
  }
  if (sodium_is_zero(key.secret.bytes.data(), key.secret.bytes.size()) != 0) {
    return refuse_line(file, number, "found a key of zeros, expected one that `tailrace key new` has made");
  }
  return key;
}

Result<ForwardKey> parse(std::string_view text, const std::string& file) {
  std::optional<ForwardKey> key;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (key) return refuse_line(file, number, "found more behind the key, expected one key");
    const Result<ForwardKey> found = parse_line(line, file, number);
    if (!found.ok()) return found;
    key = found.value();
  }
  if (!key) return refuse_line(file, number + 1, fmt::format("found the end of the file, {}", kExpected));
  return *key;
}

Status write_text(int fd, const std::string& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::of_errno("write", file, errno);
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Status write_key(int fd, const std::string& file, const ForwardKey& key) {
  if (::fchmod(fd, 0600) != 0) return Status::of_errno("chmod", file, errno);  // whatever the umask is
  Text text;
  text.size = kComment.copy(text.bytes.data(), kComment.size());
  text.size += kWord.copy(text.bytes.data() + text.size, kWord.size());
  text.size += kVersion.copy(text.bytes.data() + text.size, kVersion.size());
  text.bytes[text.size++] = ' ';
  sodium_bin2hex(text.bytes.data() + text.size, kDigits + 1, key.secret.bytes.data(), key.secret.bytes.size());
  text.size += kDigits;
  text.bytes[text.size++] = '\n';
  if (Status status = write_text(fd, file, text.view()); !status.ok()) return status;
  return ::fsync(fd) == 0 ? Status() : Status::of_errno("sync", file, errno);
}

}  // namespace

Result<ForwardKey> read_key(const std::string& path) {
  start_sodium();
  const Result<std::string> file = expand(path);
  if (!file.ok()) return file.status();
  const Result<FileDescriptor> fd = open_private(file.value());
  if (!fd.ok()) return fd.status();
  Text text;
  if (Status status = read_text(fd.value().get(), file.value(), text); !status.ok()) return status;
  return parse(text.view(), file.value());
}

Status make_key(const std::string& path, const RandomBytes& random) {
  start_sodium();
  const Result<std::string> file = expand(path);
  if (!file.ok()) return file.status();
  const FileDescriptor fd = open_again(file.value(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!fd.is_open()) return Status::of_errno("create the key file", file.value(), errno);
  ForwardKey key;
  random(std::as_writable_bytes(std::span(key.secret.bytes)));
  const Status status = write_key(fd.get(), file.value(), key);
  if (!status.ok()) ::unlink(file.value().c_str());
  return status;
}

}  // namespace tailrace::impl
