// posix: the simplest way. A pwrite for each piece, through the page cache, which joins them as it can.
#include "lab/pattern/posix_file.hpp"
#include "lab/small/way.hpp"

namespace bench::small {
namespace {

class Posix final : public Way {
 public:
  explicit Posix(const Options& options) : file_(options.dir + "/" + kFile, O_RDWR | O_CLOEXEC) {}

  void write(std::span<const tailrace::Extent> pieces, std::span<const char> bytes) override {
    const char* from = bytes.data();
    for (const tailrace::Extent& piece : pieces) {
      file_.write_at(piece.offset, from, piece.length);
      from += piece.length;
    }
    calls_ += pieces.size();
  }

  void read(const tailrace::Extent& piece, std::span<char> bytes) override {
    const ssize_t got = pread(file_.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(piece.offset));
    require(got == static_cast<ssize_t>(bytes.size()), "read '" + file_.name() + "'", got < 0 ? errno : EIO);
    ++calls_;
  }

  Requests requests() const override { return {.transfers = calls_, .merged = 0}; }
  void sync() override { file_.sync(); }
  void close() override { file_.close(); }
  std::string description() const override { return "pwrite of each piece, through the page cache, fdatasync"; }

 private:
  PosixFile file_;
  uint64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Way> make_posix(const Options& options) { return std::make_unique<Posix>(options); }

}  // namespace bench::small
