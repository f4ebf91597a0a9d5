#include "process_client/process_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <random>
#include <utility>

#include "process_client/bytes/extents.hpp"
#include "process_client/counted.hpp"

namespace tailrace::process {
namespace {

// Limits for the parts of a write with tickets: no part may need more than a quarter of the budget.
constexpr uint64_t kLeastPart = 4096;  // bytes
constexpr size_t kMostExtents = 4096;
constexpr uint64_t kMostLent = uint64_t{1} << 30;  // bytes for one ticket

constexpr double kPatienceOfClient = 0;

// Returns the directory for locks and logs, which do not belong beside the program's files. A forwarder may open
// nothing outside its roots, and the program most likely works below one of them.
std::string session_directory(const std::string& key, bool forwarded) {
  if (forwarded) return "./.tailrace-" + key + "-" + std::to_string(getuid());
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const char* const temporary = std::getenv("TMPDIR");
  const std::string root = runtime != nullptr ? runtime : temporary != nullptr ? temporary : "/tmp";
  return root + "/tailrace-" + key + "-" + std::to_string(getuid());
}

ProcessClient::Failure last_failure(tailrace_client* client) {
  tailrace_error error{};
  error.struct_size = sizeof error;
  tailrace_last_error(client, &error);
  return {error.message != nullptr ? error.message : "", error.system_errno};
}

// Opens a client whose number is the process's, or another one if that is in use: processes of several nodes or
// containers may have the same number, and the same directory for locks.
tailrace_status open_with_a_free_number(const char* name, const tailrace_open_options& options,
                                        tailrace_client** client) {
  constexpr int kMostTries = 4;
  constexpr unsigned kMostProcesses = 1U << 22;  // of Linux; other numbers are larger
  auto number = static_cast<unsigned>(getpid());
  for (int tries = 1;; ++tries) {
    const tailrace_status status = tailrace_open_with(name, static_cast<int>(number), &options, client);
    if (status != TAILRACE_CLIENT_IN_USE || tries == kMostTries) return status;
    number = kMostProcesses + std::random_device{}() % (1U << 30);
  }
}

void tell(const ProcessClient::Refusal& refused) {
  if (refused.status != TAILRACE_OK) std::fprintf(stderr, "tailrace: %s\n", refused.message.c_str());
}

void tell(const std::map<std::string, std::vector<ProcessClient::Failure>>& failures) {
  for (const auto& [file, of_it] : failures) {
    for (const ProcessClient::Failure& failure : of_it)
      std::fprintf(stderr, "tailrace: %s\n", failure.message.c_str());
  }
}

}  // namespace

void drain_at_signals(void (*at_signal)()) {
  const auto drain = [](void* function) { reinterpret_cast<void (*)()>(function)(); };
  tailrace_drain_at_signals(drain, reinterpret_cast<void*>(at_signal), kPatienceOfClient);
}

bool wait_for_departed(int process, bool only_looks) {
  constexpr double kSilent = 10;  // seconds
  constexpr double kMost = 600;   // as place.patience
  if (tailrace_wait_for_departed(process, only_looks ? 0 : kSilent) == TAILRACE_OK) return true;
  if (only_looks) return false;
  const std::string why = last_failure(nullptr).message;
  std::fprintf(stderr, "tailrace: waiting for up to %.0f s: %s\n", kMost, why.c_str());
  if (tailrace_wait_for_departed(process, kMost) == TAILRACE_OK) return true;
  std::fprintf(stderr, "tailrace: going on without waiting longer: %s\n", last_failure(nullptr).message.c_str());
  return false;
}

void ProcessClient::end() {
  const std::lock_guard lock(mutex_);
  if (client_ != nullptr) tell(flush_all());
  if (!std::exchange(told_, true)) report_summary();
  if (client_ == nullptr) return;
  tailrace_close(client_);
  client_ = nullptr;
  ended_ = true;
  for (const auto& [file, failures] : failures_) failed_.insert(file);
  tell(std::exchange(failures_, {}));
}

void ProcessClient::end_by_signal() {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return;
  tell(flush_all());
  for (const auto& [file, failures] : failures_) failed_.insert(file);
  tell(std::exchange(failures_, {}));
}

void ProcessClient::report_summary() {
  if (!settings_.summary) return;
  const std::string how = settings_.config.empty() ? "place " + settings_.place : settings_.config;
  const std::string more = door_.more_summary != nullptr ? door_.more_summary() : std::string();
  if (writes_ == 0) {
    std::fprintf(stderr, "tailrace: no write of %s data was carried (%s)%s\n", door_.name, how.c_str(), more.c_str());
    return;
  }
  tailrace_stats stats{};
  stats.struct_size = sizeof stats;
  if (client_ != nullptr && tailrace_get_stats(client_, &stats) != TAILRACE_OK) return;
  std::fprintf(stderr,
               "tailrace: %s of %s data, %.1f MiB, carried (%s): copied in %.3f s, waited for memory "
               "%.3f s, for files %.3f s; %s, %s%s\n",
               counted(writes_, "write").c_str(), door_.name, static_cast<double>(bytes_) / (1 << 20), how.c_str(),
               stats.seconds_copying, stats.seconds_waiting_memory, stats.seconds_waiting_ticket,
               counted(stats.transfers, "transfer").c_str(),
               counted(stats.failures - refused_reads_, "failure").c_str(), more.c_str());
}

bool ProcessClient::configure(const ClientSettings& settings) {
  const std::lock_guard lock(mutex_);
  if (tried_) return false;
  settings_ = settings;
  return true;
}

void ProcessClient::after_fork_in_child() {
  client_ = nullptr;
  tried_ = false;
  reached_ = handed_over_;
  flush_.reset();
  failures_.clear();
  told_ = false;
  ended_ = false;
  failed_.clear();
  writes_ = 0;
  bytes_ = 0;
  mutex_.unlock();
}

bool ProcessClient::summary() {
  const std::lock_guard lock(mutex_);
  return settings_.summary;
}

uint64_t ProcessClient::budget() {
  const std::lock_guard lock(mutex_);
  return settings_.budget;
}

bool ProcessClient::open_client() {
  if (tried_) return client_ != nullptr;
  tried_ = true;
  const std::string text = settings_.configuration(door_.key);
  const std::string directory = session_directory(door_.key, !settings_.forward.empty());
  const bool by_file = !settings_.config.empty();
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.files = "/";
  options.flush_waits = 1;
  if (!by_file) options.config_text = text.c_str();
  if (!by_file) options.path = directory.c_str();
  const std::string name = by_file ? settings_.config : std::string("tailrace's own for ") + door_.name;
  if (open_with_a_free_number(name.c_str(), options, &client_) == TAILRACE_OK) {
    std::atexit(door_.at_exit);  // it runs before the end of what the client has made
    std::at_quick_exit(door_.at_exit);
    if (door_.at_signal != nullptr) drain_at_signals(door_.at_signal);
    tailrace_stats stats{};
    stats.struct_size = sizeof stats;
    // A configuration file may set another budget than the default.
    if (tailrace_get_stats(client_, &stats) == TAILRACE_OK) settings_.budget = stats.memory_budget;
    return true;
  }
  std::fprintf(stderr, "tailrace: %s writes its data itself, since tailrace could not be opened: %s\n", door_.name,
               last_failure(nullptr).message.c_str());
  client_ = nullptr;
  return false;
}

bool ProcessClient::keep_earlier(tailrace_status status) {
  if (status != TAILRACE_EARLIER_FAILURE) return false;
  tailrace_error error{};
  error.struct_size = sizeof error;
  tailrace_last_error(client_, &error);
  const std::string file = std::filesystem::path(error.file != nullptr ? error.file : "").lexically_normal();
  all_failed_[file] = {all_failed_[file].count + 1, error.system_errno};
  failures_[file].push_back(
      {error.message != nullptr ? error.message : tailrace_status_text(error.status), error.system_errno});
  return true;
}

ProcessClient::Refusal ProcessClient::refusal(tailrace_status status) {
  if (status == TAILRACE_OK || keep_earlier(status)) return {};
  const Failure failure = last_failure(client_);
  return {status, failure.message, failure.system_errno};
}

bool ProcessClient::open(const std::string& path, tailrace_file* out, int how) {
  const std::lock_guard lock(mutex_);
  return open_client() &&
         tailrace_file_open(client_, path.c_str() + 1, TAILRACE_FILE_WRITE | how, out) == TAILRACE_OK;
}

void ProcessClient::give_up(tailrace_file file) {
  const std::lock_guard lock(mutex_);
  if (client_ != nullptr) keep_earlier(tailrace_file_give_up(file));
}

ProcessClient::Refusal ProcessClient::seal(tailrace_file file, uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  return refusal(tailrace_file_seal(file, offset, bytes.size(), bytes.data()));
}

ProcessClient::Refusal ProcessClient::iclose(tailrace_file file, tailrace_ticket* ticket) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  return refusal(tailrace_file_iclose(file, ticket));
}

bool ProcessClient::has_ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool ProcessClient::has_failed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return failed_.contains(path);
}

void ProcessClient::close(tailrace_file file) {
  const std::lock_guard lock(mutex_);
  if (client_ != nullptr) keep_earlier(tailrace_file_close(file));
}

ProcessClient::Refusal ProcessClient::write(tailrace_file file, std::span<const tailrace_extent> extents,
                                            const void* data, uint64_t writes) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  count(writes, extents);
  return refusal(tailrace_file_write(file, extents.size(), extents.data(), data));
}

void ProcessClient::count_own(uint64_t writes, std::span<const tailrace_extent> extents) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(watches_end_, true)) std::atexit(door_.at_exit);
  count(writes, extents);
}

void ProcessClient::count(uint64_t writes, std::span<const tailrace_extent> extents) {
  ++handed_over_;
  writes_ += writes;
  bytes_ += bytes_of(extents);
}

ProcessClient::Refusal ProcessClient::iwrite(tailrace_file file, std::span<const tailrace_extent> extents,
                                             const void* data, std::vector<tailrace_ticket>& tickets) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  count(1, extents);
  const uint64_t most = std::max(settings_.budget / 8, kLeastPart);
  const auto* from = static_cast<const std::byte*>(data);
  std::vector<tailrace_extent> part;
  uint64_t bytes = 0;
  const auto send = [&] {
    if (part.empty()) return Refusal();
    tailrace_ticket ticket{};
    const tailrace_status status = tailrace_file_iwrite(file, part.size(), part.data(), from, &ticket);
    if (ticket.client != nullptr) tickets.push_back(ticket);
    from += std::exchange(bytes, 0);
    part.clear();
    return refusal(status);
  };
  for (tailrace_extent rest : extents) {
    while (rest.length > 0) {
      const uint64_t length = std::min(rest.length, most - bytes);
      part.push_back({rest.offset, length});
      rest = {rest.offset + length, rest.length - length};
      bytes += length;
      if (bytes < most && part.size() < kMostExtents) continue;
      if (const Refusal refused = send(); refused.status != TAILRACE_OK) return refused;
    }
  }
  return send();
}

// Writes it in parts, since a ticket is for less than 4 GiB.
ProcessClient::Refusal ProcessClient::lend(tailrace_file file, const tailrace_extent& extent, const void* data,
                                           std::vector<tailrace_ticket>& tickets) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  const auto* const bytes = static_cast<const std::byte*>(data);
  ++handed_over_;
  for (uint64_t done = 0; done < extent.length;) {
    const tailrace_extent part{extent.offset + done, std::min(extent.length - done, kMostLent)};
    tailrace_ticket ticket{};
    const tailrace_status status = tailrace_file_borrow(file, 1, &part, bytes + done, &ticket);
    if (ticket.client != nullptr) tickets.push_back(ticket);
    if (const Refusal refused = refusal(status); refused.status != TAILRACE_OK) return refused;
    done += part.length;
  }
  count(1, {&extent, 1});
  return {};
}

ProcessClient::Refusal ProcessClient::wait(tailrace_ticket ticket, int64_t milliseconds, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  tailrace_status status = TAILRACE_OK;
  do {
    status = tailrace_wait(ticket, milliseconds);
  } while (keep_earlier(status));
  if (status == TAILRACE_OK || status == TAILRACE_TIMEOUT) return {status, ""};
  const auto told = failures_.find(path);
  Failure failure = told != failures_.end() ? told->second.front() : last_failure(client_);
  if (failure.system_errno == 0) failure.system_errno = all_failed_[path].latest_errno;
  return {status, failure.message, failure.system_errno};
}

ProcessClient::Refusal ProcessClient::read(tailrace_file file, std::span<const tailrace_extent> extents, void* data) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr) return {TAILRACE_CLOSED, "the process is ending"};
  const tailrace_status status = tailrace_file_read(file, extents.size(), extents.data(), data);
  if (status == TAILRACE_IO_ERROR) ++refused_reads_;
  return refusal(status);
}

ProcessClient::Refusal ProcessClient::flush() {
  const std::lock_guard lock(mutex_);
  return client_ != nullptr ? flush_all() : Refusal();
}

ProcessClient::Refusal ProcessClient::flush_all() {
  tailrace_status status = TAILRACE_OK;
  do {
    status = tailrace_flush(client_);
  } while (keep_earlier(status));
  if (status == TAILRACE_OK) reached_ = handed_over_;
  return refusal(status);
}

uint64_t ProcessClient::mark() {
  const std::lock_guard lock(mutex_);
  if (client_ != nullptr) begin_flush();
  return handed_over_;
}

bool ProcessClient::reached(uint64_t mark) {
  const std::lock_guard lock(mutex_);
  if (client_ == nullptr || mark <= reached_) return true;
  if (flush_) {
    tailrace_status status = TAILRACE_OK;
    do {
      status = tailrace_wait(flush_->ticket, 0);
    } while (keep_earlier(status));
    if (status != TAILRACE_TIMEOUT) {
      reached_ = std::max(reached_, flush_->mark);
      flush_.reset();
    }
  }
  if (mark > reached_) begin_flush();
  return mark <= reached_;
}

void ProcessClient::begin_flush() {
  if (flush_ || handed_over_ == reached_) return;
  tailrace_ticket ticket{};
  keep_earlier(tailrace_iflush(client_, &ticket));
  if (ticket.client != nullptr) flush_ = {ticket, handed_over_};
}

ProcessClient::Failed ProcessClient::failed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = all_failed_.find(path);
  return found != all_failed_.end() ? found->second : Failed();
}

std::vector<ProcessClient::Failure> ProcessClient::take_failures(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (failures_.empty()) return {};
  const auto found = failures_.find(path);
  if (found == failures_.end()) return {};
  std::vector<Failure> taken = std::move(found->second);
  failures_.erase(found);
  return taken;
}

}  // namespace tailrace::process
