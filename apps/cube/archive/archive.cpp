#include "cube/archive/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <set>

#include "cube/archive/counted.hpp"
#include "cube/archive/error.hpp"
#include "cube/archive/header_sums.hpp"

namespace tailrace::cube {
namespace {

struct Closing {
  void operator()(struct archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<struct archive, Closing>;

std::string reason() { return std::strerror(errno); }

// libarchive does not name every damage that it finds.
std::string reason(struct archive* reader) {
  const char* const text = archive_error_string(reader);
  return text != nullptr ? text : "it is damaged";
}

// Returns a reader of what a compressed file contains, as one member. Of a plain file the filter is NONE.
Reader open_compressed(int descriptor, const std::string& path) {
  Reader reader(archive_read_new());
  archive_read_support_format_raw(reader.get());
  // Not all that libarchive knows: for some it would start a program that the file names by its first bytes.
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_lzma(reader.get());
  archive_read_support_filter_zstd(reader.get());
  if (lseek(descriptor, 0, SEEK_SET) != 0) throw Error(path + ": expected a regular file");
  if (archive_read_open_fd(reader.get(), descriptor, 1 << 16) != ARCHIVE_OK) {
    throw Error(path + ": expected a Cube profile, a tar archive: " + reason(reader.get()));
  }
  return reader;
}

// Gives libarchive the bytes of a plain tar archive, with the check sums mended.
struct PlainTar {
  static la_ssize_t read(struct archive* reader, void* self, const void** bytes) {
    auto& tar = *static_cast<PlainTar*>(self);
    ssize_t got = -1;
    do {
      got = ::pread(tar.descriptor, tar.block.data(), tar.block.size(), static_cast<off_t>(tar.at));
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      archive_set_error(reader, errno, "%s", std::strerror(errno));
      return -1;
    }
    tar.sums.mend(tar.at, std::span(tar.block).first(static_cast<size_t>(got)));
    tar.at += static_cast<uint64_t>(got);
    *bytes = tar.block.data();
    return got;
  }
  // Not beyond the end of the file, so that what is cut off is noticed.
  static la_int64_t skip(struct archive*, void* self, la_int64_t bytes) {
    auto& tar = *static_cast<PlainTar*>(self);
    const uint64_t left = tar.file_bytes - std::min(tar.at, tar.file_bytes);
    const uint64_t part = std::min(static_cast<uint64_t>(bytes), left);
    tar.at += part;
    return static_cast<la_int64_t>(part);
  }

  const int descriptor;
  const uint64_t file_bytes;
  const HeaderSums& sums;
  uint64_t at = 0;
  std::vector<std::byte> block = std::vector<std::byte>(1 << 16);
};

// Returns a reader that stands before the first member. `tar` must live as long.
Reader open_plain(PlainTar& tar, const std::string& path) {
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open2(reader.get(), &tar, nullptr, PlainTar::read, PlainTar::skip, nullptr) != ARCHIVE_OK) {
    throw Error(path + ": expected a Cube profile, a tar archive: " + reason(reader.get()));
  }
  return reader;
}

// Returns true if there is a further member. Damage is an error.
bool next_member(struct archive* reader, archive_entry*& entry, const std::string& path) {
  const int result = archive_read_next_header(reader, &entry);
  if (result == ARCHIVE_EOF) return false;
  if (result == ARCHIVE_OK) return true;
  throw Error(path + ": expected the header of a member: " + reason(reader));
}

// Returns true if there is a further member that is a file. Others, such as folders, are passed over.
bool next_file(struct archive* reader, archive_entry*& entry, const std::string& path) {
  while (next_member(reader, entry, path)) {
    if (archive_entry_filetype(entry) == AE_IFREG) return true;
  }
  return false;
}

std::string name_of(archive_entry* entry) {
  const char* const name = archive_entry_pathname(entry);
  std::string text = name != nullptr ? name : "";
  return text.starts_with("./") ? text.substr(2) : text;
}

int open_nameless(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
  std::string name = folder + "/tailrace-cube-XXXXXX";
  const int made = mkostemp(name.data(), O_CLOEXEC);
  if (made >= 0) ::unlink(name.c_str());
  return made;
}

void write_all(int descriptor, const void* data, size_t bytes, const std::string& folder) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(folder + ": the profile cannot be unpacked there: " + reason());
    from += written;
    bytes -= static_cast<size_t>(written);
  }
}

uint64_t bytes_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) throw Error(path + ": " + reason());
  if (!S_ISREG(status.st_mode)) throw Error(path + ": expected a regular file");
  return static_cast<uint64_t>(status.st_size);
}

// Fills a part with the next bytes of a compressed file, and returns how many; 0: it is at its end.
using Source = std::function<size_t(std::span<char>)>;

// By zlib, because libarchive does not compare the check sums of gzip.
Source gzip_source(int descriptor, const std::string& path) {
  lseek(descriptor, 0, SEEK_SET);
  const std::shared_ptr<gzFile_s> file(gzdopen(dup(descriptor), "rb"), gzclose);
  if (!file) throw Error(path + ": cannot be read: " + reason());
  return [file, path](std::span<char> to) {
    const int got = gzread(file.get(), to.data(), static_cast<unsigned>(to.size()));
    int code = Z_OK;
    const std::string why = gzerror(file.get(), &code);
    if (got < 0 || code != Z_OK) throw Error(path + ": expected a whole gzip stream: " + why);
    return static_cast<size_t>(got);
  };
}

// To the end of the stream, not of the tar in it: the last check sum is there.
Source other_source(int descriptor, const std::string& path) {
  const std::shared_ptr<struct archive> reader = open_compressed(descriptor, path);
  archive_entry* whole = nullptr;
  next_member(reader.get(), whole, path);
  return [reader, path](std::span<char> to) {
    const la_ssize_t got = archive_read_data(reader.get(), to.data(), to.size());
    if (got < 0) throw Error(path + ": expected a whole compressed stream: " + reason(reader.get()));
    return static_cast<size_t>(got);
  };
}

// Unpacks into a file without a name, at most `most` bytes, and returns that.
int unpack(const Source& source, const std::string& folder, uint64_t most, const std::string& path) {
  const int unpacked = open_nameless(folder);
  if (unpacked < 0) throw Error(folder + ": the profile cannot be unpacked there: " + reason());
  try {
    std::vector<char> part(1 << 18);
    uint64_t all = 0;
    while (const size_t got = source(part)) {
      all += got;
      if (all > most) {
        throw Error(path + ": expected a compressed profile of at most " + std::to_string(most) +
                    " bytes, found more: unpack it first if it is right");
      }
      write_all(unpacked, part.data(), got, folder);
    }
  } catch (...) {
    ::close(unpacked);
    throw;
  }
  return unpacked;
}

// The data of a member end where the header of the next one begins, but for the padding; libarchive says where it
// stands after the headers of one, whatever their kind.
void read_members(struct archive* reader, const std::string& path, uint64_t file_bytes,
                  std::vector<Member>& members) {
  for (archive_entry* entry = nullptr; next_file(reader, entry, path);) {
    const std::string name = name_of(entry);
    if (archive_entry_sparse_count(entry) > 0) {
      throw Error(path + ": " + name + ": expected a member that is stored whole, found one with holes");
    }
    if (archive_entry_size(entry) < 0) throw Error(path + ": " + name + ": expected a size of 0 or more");
    const Member member{name, static_cast<uint64_t>(archive_filter_bytes(reader, 0)),
                        static_cast<uint64_t>(archive_entry_size(entry))};
    if (member.offset > file_bytes || member.bytes > file_bytes - member.offset) {
      throw Error(path + ": " + name + ": expected " + counted(member.bytes, "byte") + " from " +
                  std::to_string(member.offset) + " on, found the end of the file at " + std::to_string(file_bytes));
    }
    members.push_back(member);
  }
}

// Returns what a gzip stream contains.
std::string unzip(const std::string& zipped, uint64_t most, const std::string& what) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw Error(what + ": zlib has no memory");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ending(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
  stream.avail_in = static_cast<uInt>(zipped.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    const size_t before = text.size();
    text.resize(before + std::max<size_t>(1 << 16, before / 2));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(text.size() - before);
    result = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
    if (text.size() > most) {
      throw Error(what + ": expected a gzip stream of at most " + std::to_string(most) +
                  " bytes, found more: unpack it first if it is right");
    }
  }
  if (result != Z_STREAM_END)
    throw Error(what + ": expected a whole gzip stream, found one that is damaged or cut off");
  return text;
}

}  // namespace

Archive::Archive(const std::string& path, const std::string& scratch, uint64_t most_unpacked) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw Error(path + ": " + reason());
  try {
    const uint64_t packed_bytes = bytes_of(descriptor_, path);
    Reader packed = open_compressed(descriptor_, path);
    archive_entry* whole = nullptr;
    next_member(packed.get(), whole, path);
    if (const int filter = archive_filter_code(packed.get(), 0); filter != ARCHIVE_FILTER_NONE) {
      const bool gzip = filter == ARCHIVE_FILTER_GZIP && archive_filter_count(packed.get()) == 2;  // with NONE
      const char* const temporary = std::getenv("TMPDIR");
      const std::string folder = !scratch.empty() ? scratch : (temporary != nullptr ? temporary : "/tmp");
      const Source source = gzip ? gzip_source(descriptor_, path) : other_source(descriptor_, path);
      const int unpacked = unpack(source, folder, most_unpacked + kMostRatio * packed_bytes, path);
      ::close(descriptor_);
      descriptor_ = unpacked;
    }
    const HeaderSums sums(descriptor_);
    PlainTar tar{descriptor_, bytes_of(descriptor_, path), sums};
    read_members(open_plain(tar, path).get(), path, tar.file_bytes, members_);
    if (sums.odd() > 0) {
      warning_ = path + ": the check sums of " + std::to_string(sums.odd()) +
                 " headers are off by octal 40, as CubeWriter 4.8 writes them";
    }
    std::set<std::string> names;
    for (const Member& member : members_) {
      if (!names.insert(member.name).second) throw Error(path + ": found two members " + member.name);
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Archive::~Archive() { ::close(descriptor_); }

const Member* Archive::find(const std::string& name) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& one) { return one.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

const Member& Archive::get(const std::string& name) const {
  const Member* const found = find(name);
  if (found == nullptr) throw Error(path_ + ": expected a member " + name + ", found none");
  return *found;
}

void Archive::read(const Member& member, uint64_t offset, std::span<std::byte> to) const {
  if (offset > member.bytes || to.size() > member.bytes - offset) {
    throw Error(path_ + ": " + member.name + ": expected " + counted(offset + to.size(), "byte") + ", found " +
                std::to_string(member.bytes));
  }
  uint64_t place = member.offset + offset;
  while (!to.empty()) {
    const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(path_ + ": " + member.name + ": " + reason());
    if (got == 0) throw Error(path_ + ": " + member.name + ": the file ends within it");
    to = to.subspan(static_cast<size_t>(got));
    place += static_cast<uint64_t>(got);
  }
}

std::string Archive::text(const Member& member, uint64_t most) const {
  if (member.bytes > most) {
    throw Error(path_ + ": " + member.name + ": expected at most " + std::to_string(most) + " bytes, found " +
                std::to_string(member.bytes));
  }
  std::string text(member.bytes, '\0');
  read(member, 0, std::as_writable_bytes(std::span(text)));
  const bool zipped = text.size() > 2 && text[0] == '\x1f' && text[1] == '\x8b';
  return zipped ? unzip(text, std::min(most, most_unpacked(text.size())), path_ + ": " + member.name) : text;
}

}  // namespace tailrace::cube
