#include "storage/posix/write_thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

std::thread start_with_signals_blocked(auto&& body) {
  const SignalsBlocked blocked;
  return std::thread(body);
}

int64_t carry_out(const Job& job) {
  const Transfer& transfer = job.transfer;
  const int count = static_cast<int>(transfer.segments.size());
  const off_t offset = static_cast<off_t>(transfer.offset);
  ssize_t result = 0;
  if (transfer.room > 0) {
    (void)::fallocate(job.descriptor, FALLOC_FL_KEEP_SIZE, offset, static_cast<off_t>(transfer.room));
  }
  switch (transfer.kind) {
    case Transfer::Kind::read: result = ::preadv(job.descriptor, transfer.segments.data(), count, offset); break;
    case Transfer::Kind::write: result = ::pwritev(job.descriptor, transfer.segments.data(), count, offset); break;
    case Transfer::Kind::sync: result = job.directory ? ::fsync(job.descriptor) : ::fdatasync(job.descriptor); break;
  }
  return result < 0 ? -errno : result;
}

}  // namespace

WriteThread::WriteThread(CompletionQueue& done, uint32_t depth, std::shared_ptr<CpuGroup> cpus)
    : done_(done), cpus_(std::move(cpus)), queue_(depth), thread_(start_with_signals_blocked([this] { run(); })) {}

WriteThread::~WriteThread() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void WriteThread::put(const Job& job) {
  {
    const MutexLock lock(mutex_);
    queue_.push(job);
  }
  wake_.notify_one();
}

void WriteThread::run() {
  pthread_setname_np(pthread_self(), "tailrace-io");
  std::optional<CpuGroup::Member> here;
  if (cpus_) here.emplace(*cpus_);
  while (true) {
    Job job;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && queue_.empty()) wake_.wait(mutex_);
      if (queue_.empty()) return;
      job = queue_.pop();
    }
    done_.put({job.transfer.tag, carry_out(job)});
  }
}

}  // namespace tailrace::impl
