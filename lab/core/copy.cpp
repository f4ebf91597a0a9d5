#include "lab/core/copy.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <tailrace/tailrace.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>

#include "lab/core/cpus.hpp"
#include "lab/core/program_config.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/errors.hpp"
#include "lab/pattern/json.hpp"
#include "lab/pattern/memory.hpp"

namespace bench::core {
namespace {

constexpr uint64_t kSlack = uint64_t{1} << 20;

// A file in memory, mapped and touched, like the memory that clients share with the server.
class SharedMemory {
 public:
  explicit SharedMemory(uint64_t bytes) : bytes_(bytes) {
    const int file = memfd_create("core_bench", MFD_CLOEXEC);
    require(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0, "make shared memory");
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    require(memory != MAP_FAILED, "map shared memory");
    ::close(file);
    madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 1, bytes);
    data_ = static_cast<char*>(memory);
  }
  ~SharedMemory() { munmap(data_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  char* data() const { return data_; }

 private:
  const uint64_t bytes_;
  char* data_ = nullptr;
};

std::string config_of(const CopyOptions& options) {
  return "tailrace: 1\nname: copy\nplace: {kind: core}\nmemory: {budget: " +
         std::to_string(2 * options.bytes + kSlack) + "}\n" + storage(options.dir) +
         "layouts:\n  bytes: {type: uint8, shape: [" + std::to_string(options.bytes) +
         "]}\nvariables:\n  block: {layout: bytes}\n";
}

// The copies, in alternating order. Before each a block leaves and is waited for, so that all find the cache as it is
// between outputs, not full of another's dirty lines.
class Rounds {
 public:
  explicit Rounds(const CopyOptions& options)
      : options_(options),
        from_(options.bytes),
        private_(options.bytes),
        shared_(options.bytes),
        client_(tailrace::open("core_bench", 0, {.text = config_of(options)})) {}

  void round(int number) {
    const std::array<std::function<void()>, 3> ways = {
        [this] { time(write_, [this] { write(); }); },
        [this] { time(into_private_, [this] { copy_to(private_.data()); }); },
        [this] { time(into_shared_, [this] { copy_to(shared_.data()); }); }};
    for (size_t turn = 0; turn < ways.size(); ++turn) ways[(turn + static_cast<size_t>(number)) % ways.size()]();
  }

  std::string document() {
    Json json = {{"core_copy", 1},
                 {"bytes", options_.bytes},
                 {"description", client_.describe()},
                 {"waited_memory", client_.stats().seconds_waiting_memory},
                 {"write", write_},
                 {"memcpy_private", into_private_},
                 {"memcpy_shared", into_shared_}};
    client_.close();
    return text_of(json);
  }

 private:
  void write() {
    client_.write("block", iteration_, std::span(reinterpret_cast<const uint8_t*>(from_.data()), options_.bytes));
  }
  void copy_to(char* to) {
    std::memcpy(to, from_.data(), options_.bytes);
    asm volatile("" : : "r"(to) : "memory");  // keeps the copy
  }

  template <class Copy>
  void time(std::vector<double>& seconds, Copy copy) {
    write();
    leave();
    const double start = now();
    copy();
    seconds.push_back(now() - start);
    leave();
  }

  // Removes the files, which would fill the disk.
  void leave() {
    client_.end_iteration(iteration_);
    client_.flush();
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "/copy_c0_%06d.h5", static_cast<int>(iteration_));
    ::unlink((options_.dir + name.data()).c_str());
    ++iteration_;
  }

  const CopyOptions options_;
  Buffer from_;
  Buffer private_;
  SharedMemory shared_;
  std::vector<double> write_;
  std::vector<double> into_private_;
  std::vector<double> into_shared_;
  int64_t iteration_ = 0;
  tailrace::Client client_;
};

}  // namespace

std::string copy(const CopyOptions& options) {
  leave_last_cpu();
  Rounds rounds(options);
  for (int number = 0; number < options.count; ++number) rounds.round(number);
  return rounds.document();
}

}  // namespace bench::core
