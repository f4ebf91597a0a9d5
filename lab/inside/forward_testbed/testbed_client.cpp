#include "lab/inside/forward_testbed/testbed_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/log.hpp"
#include "base/os/file_descriptor.hpp"
#include "lab/inside/forward_testbed/modelled_storage.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage/remote/remote_storage.hpp"
#include "transport/key/key_file.hpp"
#include "transport/loader/load_transport.hpp"

namespace tailrace::impl::study {
namespace {

// The processes share it. All accesses are seq_cst; each process writes `ready` and `last` once.
struct Start {
  std::atomic<uint32_t> ready{0};
  std::atomic<bool> go{false};
  std::atomic<int64_t> last{0};  // nanoseconds of the steady clock at which the last one ended
};

constexpr Nanoseconds kLook = std::chrono::milliseconds(1);

bool own_files(const TestbedOptions& options) { return options.program.pattern == Pattern::files; }

std::string path_of(const TestbedOptions& options, uint32_t process) {
  return options.directory + "/" + (own_files(options) ? fmt::format("own{}", process) : "shared");
}

uint64_t offset_of(const ProgramParameters& program, uint32_t process, uint32_t request) {
  switch (program.pattern) {
    case Pattern::strided: return (uint64_t{request} * program.clients + process) * program.bytes;
    case Pattern::contiguous: return (uint64_t{process} * program.requests + request) * program.bytes;
    case Pattern::files: break;
  }
  return request * program.bytes;
}

Status make_files(const TestbedOptions& options) {
  const ProgramParameters& program = options.program;
  const uint32_t count = own_files(options) ? program.clients : 1;
  const uint64_t size = program.bytes * program.requests * program.clients / count;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string path = path_of(options, i);
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0) return Status::of_errno("create", path, errno);
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return Status::of_errno("resize", path, errno);
  }
  return {};
}

// One process.
class Client {
 public:
  Client(const TestbedOptions& options, uint32_t process, Start& start)
      : options_(options), process_(process), start_(start), bytes_(options.program.bytes, std::byte{7}) {}

  Status run() {
    auto log = open_log(LogLevel::warning, "", fmt::format("testbed {}", process_));
    if (!log.ok()) return log.status();
    log_ = std::move(log).value();
    auto storage = options_.forwarders.empty() ? open_modelled() : open_remote();
    if (!storage.ok()) return storage.status();
    storage_ = std::move(storage).value();
    const OpenMode mode = options_.program.writes ? OpenMode::edit : OpenMode::read;
    const Result<Opened> opened = storage_->files().open(path_of(options_, process_), mode, 0);
    if (!opened.ok()) return opened.status();
    ++start_.ready;
    while (!start_.go) std::this_thread::sleep_for(kLook);
    Status status;
    for (uint32_t i = 0; status.ok() && i < options_.program.requests; ++i) status = transfer(opened.value().file, i);
    const int64_t now = clock_.now().count();
    int64_t last = start_.last;
    while (last < now && !start_.last.compare_exchange_weak(last, now)) {
    }
    storage_->files().close(opened.value().file);
    return status;
  }

 private:
  Result<std::unique_ptr<Storage>> open_modelled() {
    auto servers = ModelledServers::open(options_.servers);
    if (!servers.ok()) return servers.status();
    auto inner = PosixStorage::create(doorbell_, {1, 4, false, {}});
    if (!inner.ok()) return inner.status();
    return std::unique_ptr<Storage>(
        new ModelledStorage(std::move(inner).value(), std::move(servers).value(), clock_));
  }

  Result<std::unique_ptr<Storage>> open_remote() {
    Result<ForwardKey> key = read_key(options_.key);
    if (!key.ok()) return key.status();
    auto transport = load_transport(TransportKind::tcp, doorbell_, {.keys = {pre_shared(key.value())}});
    if (!transport.ok()) return transport.status();
    RemoteStorage::Options remote;
    remote.servers = {options_.forwarders[process_ % options_.forwarders.size()]};
    remote.name = fmt::format("process {}", process_);
    auto storage = RemoteStorage::create(std::move(transport).value(), nullptr, clock_, doorbell_, *log_, remote);
    if (!storage.ok()) return storage.status();
    return std::unique_ptr<Storage>(std::move(storage).value());
  }

  Status transfer(FileHandle file, uint32_t request) {
    const iovec segment{bytes_.data(), bytes_.size()};
    Transfer transfer;
    transfer.kind = options_.program.writes ? Transfer::Kind::write : Transfer::Kind::read;
    transfer.file = file;
    transfer.offset = offset_of(options_.program, process_, request);
    transfer.segments = {&segment, 1};
    storage_->submit(transfer);
    Completion done;
    while (storage_->reap({&done, 1}) == 0) {
      doorbell_.prepare();
      if (storage_->reap({&done, 1}) > 0) {
        doorbell_.cancel();
        break;
      }
      std::optional<Nanoseconds> limit = storage_->due();
      if (limit) limit = std::max(*limit - clock_.now(), Nanoseconds::zero());
      doorbell_.sleep(limit);
    }
    if (done.result == static_cast<int64_t>(bytes_.size())) return {};
    if (done.result < 0)
      return Status::of_errno("transfer", path_of(options_, process_), static_cast<int>(-done.result));
    return Status(TAILRACE_IO_ERROR,
                  fmt::format("transfer {}: found {} bytes, expected {}", request, done.result, bytes_.size()));
  }

  const TestbedOptions& options_;
  const uint32_t process_;
  Start& start_;
  const SteadyClock clock_;
  Doorbell doorbell_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Storage> storage_;
};

int run_client(const TestbedOptions& options, uint32_t process, Start& start) {
  const Status status = Client(options, process, start).run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "forward_testbed: process %u: %s\n", process, status.fault().message.c_str());
  return 1;
}

// Returns false if a child has ended badly; `all`: waits for all of them.
bool children_are_well(bool all) {
  int code = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &code, all ? 0 : WNOHANG)) > 0;) {
    if (code != 0) return false;
  }
  return true;
}

}  // namespace

Result<TestbedResult> run_testbed(const TestbedOptions& options) {
  if (Status made = make_files(options); !made.ok()) return made;
  auto servers = ModelledServers::open(options.servers);
  if (!servers.ok()) return servers.status();
  const ModelledServers::Counts before = servers.value()->counts();
  void* const shared = ::mmap(nullptr, sizeof(Start), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return Status::of_errno("map", "", errno);
  auto& start = *new (shared) Start;
  const Status failed(TAILRACE_IO_ERROR, "a process has failed");
  for (uint32_t process = 0; process < options.program.clients; ++process) {
    const pid_t child = ::fork();
    if (child < 0) return Status::of_errno("fork", "", errno);
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // none waits for a beginning that never comes
      ::_exit(run_client(options, process, start));
    }
  }
  while (start.ready < options.program.clients) {
    if (!children_are_well(false)) return failed;
    std::this_thread::sleep_for(kLook);
  }
  const SteadyClock clock;
  const Nanoseconds begun = clock.now();
  start.go = true;
  if (!children_are_well(true)) return failed;
  TestbedResult result;
  result.seconds = 1e-9 * static_cast<double>(start.last - begun.count());
  result.counts = servers.value()->counts();
  result.counts.requests -= before.requests;
  result.counts.seeks -= before.seeks;
  return result;
}

}  // namespace tailrace::impl::study
