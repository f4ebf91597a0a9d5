#include "base/os/file_mutex.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>

#include "base/os/process.hpp"
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tailrace::impl {
namespace {

// The contents of the file. The C library defines the mutex: its size stands for its version.
struct Content {
  uint64_t mark = 0;
  uint64_t mutex_size = 0;
  // The latest holder: the holder of the mutex writes them, and no other process reads them.
  uint64_t began = 0;  // as process_begin() says
  pid_t process = 0;
  alignas(64) pthread_mutex_t mutex;
};

constexpr uint64_t kMark = 0x31'78'65'74'75'6d'72'74;           // "trmutex1"
constexpr Nanoseconds kEndOfHolder = std::chrono::seconds(10);  // most time for a killed process to end
constexpr int kMutexAttempts = 100;                             // against files that others create and remove

Content* map_content(int file) {
  void* memory = mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Content*>(memory);
}

void note_this_process(Content& content) {
  content.process = ::getpid();
  content.began = process_begin(content.process);
}

// A process that dies loses its mutexes before its files are closed: for a moment its locks of files are still held.
void wait_end_of_holder(const Content& content) {
  if (content.process == 0 || content.process == ::getpid()) return;
  const Result<ProcessHandle> holder = ProcessHandle::open(content.process);
  const uint64_t began = process_begin(content.process);  // 0: its first thread has ended, and perhaps not all
  const bool is_another = began != 0 && began != content.began;
  if (holder.ok() && !is_another) (void)holder.value().wait_end(kEndOfHolder);
}

void unmap_content(void* memory) { munmap(memory, sizeof(Content)); }

void construct(Content* memory) {
  Content* content = new (memory) Content{};
  pthread_mutexattr_t attributes;
  int failed = pthread_mutexattr_init(&attributes);
  failed |= pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  failed |= pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  failed |= pthread_mutex_init(&content->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  TAILRACE_ASSERT(failed == 0);
  content->mutex_size = sizeof content->mutex;
  content->mark = kMark;
}

// The file gets its name when its contents are complete. Succeeds if another process was first.
Status make(const PrivateDirectory& directory, const std::string& name) {
  const Result<FileDescriptor> file = directory.open_file(".", O_RDWR | O_TMPFILE);
  if (!file.ok()) return Status::of_errno("create", directory.path_of(name), file.status().fault().system_errno);
  const int fd = file.value().get();
  if (ftruncate(fd, sizeof(Content)) != 0) return Status::of_errno("create", directory.path_of(name), errno);
  Content* content = map_content(fd);
  if (content == nullptr) return Status::of_errno("map", directory.path_of(name), errno);
  construct(content);
  unmap_content(content);
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  if (linkat(AT_FDCWD, self.c_str(), directory.fd(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
  if (errno == EEXIST) return {};
  return Status::of_errno("create", directory.path_of(name), errno);
}

int lock_until(pthread_mutex_t* mutex, const Deadline& deadline) {
#ifdef __SANITIZE_THREAD__
  // The sanitizer knows neither pthread_mutex_clocklock nor that EOWNERDEAD means locked.
  const timespec moment = to_timespec(std::chrono::system_clock::now().time_since_epoch() + deadline.left());
  const int error = pthread_mutex_timedlock(mutex, &moment);
  if (error == EOWNERDEAD) {
    __tsan_mutex_pre_lock(mutex, 0);
    __tsan_mutex_post_lock(mutex, 0, 0);
  }
  return error;
#else
  const timespec moment = deadline.moment();
  return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &moment);
#endif
}

Status wrong_content(const std::string& path) {
  return Status(TAILRACE_IO_ERROR, fmt::format("'{}' is not a lock of this version of tailrace", path));
}

}  // namespace

Result<FileMutex> FileMutex::open(const PrivateDirectory& directory, const std::string& name) {
  for (int attempt = 0; attempt < kMutexAttempts; ++attempt) {
    Result<FileMutex> mutex = open_existing(directory, name);
    if (mutex.ok() || mutex.status().fault().system_errno != ENOENT) return mutex;
    if (const Status status = make(directory, name); !status.ok()) return status;
  }
  return Status(TAILRACE_IO_ERROR,
                fmt::format("other processes keep creating and removing '{}'", directory.path_of(name)));
}

Result<FileMutex> FileMutex::open_existing(const PrivateDirectory& directory, const std::string& name) {
  const std::string path = directory.path_of(name);
  Result<FileDescriptor> file = directory.open_file(name, O_RDWR);
  if (!file.ok()) return file.status();
  // Checks the size before mapping: memory beyond the end of a file cannot be read.
  struct stat info {};
  if (fstat(file.value().get(), &info) != 0) return Status::of_errno("stat", path, errno);
  if (static_cast<uint64_t>(info.st_size) != sizeof(Content)) return wrong_content(path);
  Content* content = map_content(file.value().get());
  if (content == nullptr) return Status::of_errno("map", path, errno);
  FileMutex mutex(path, std::move(file).value(), content);
  if (content->mark != kMark || content->mutex_size != sizeof(pthread_mutex_t)) return wrong_content(path);
  return mutex;
}

Result<FileMutex::Held> FileMutex::lock(const Deadline& deadline) {
  const int error = lock_until(mutex(), deadline);
  // The data that the dead holder was changing are not in this memory, so there is nothing to repair.
  if (error == EOWNERDEAD) TAILRACE_ASSERT(pthread_mutex_consistent(mutex()) == 0);
  if (error == 0 || error == EOWNERDEAD) {
    Held held(mutex());
    Content& content = *static_cast<Content*>(memory_.get());
    if (error == EOWNERDEAD) wait_end_of_holder(content);
    note_this_process(content);
    return held;
  }
  if (error != ETIMEDOUT) return Status::of_errno("lock", path_, error);
  return Status(TAILRACE_TIMEOUT, fmt::format("'{}' was held by another process for {} ms", path_,
                                              deadline.limit() / std::chrono::milliseconds(1)));
}

pthread_mutex_t* FileMutex::mutex() const { return &static_cast<Content*>(memory_.get())->mutex; }

bool FileMutex::is_removed() const {
  struct stat info {};
  return fstat(file_.get(), &info) != 0 || info.st_nlink == 0;
}

void FileMutex::remove() {
  if (!is_removed()) unlink(path_.c_str());
}

void FileMutex::Unlock::operator()(pthread_mutex_t* mutex) const {
  TAILRACE_ASSERT(pthread_mutex_unlock(mutex) == 0);
}

void FileMutex::Unmap::operator()(void* memory) const { unmap_content(memory); }

}  // namespace tailrace::impl
