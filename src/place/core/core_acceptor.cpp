#include "place/core/core_acceptor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "model/wire/core_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kAnswerIn = Nanoseconds{100'000'000};  // for messages, which fit into an empty socket

constexpr Nanoseconds kGreetingIn = std::chrono::seconds(5);  // from a new connection; clients greet at once
constexpr size_t kMostStrangers = 256;                        // ungreeted connections
constexpr Nanoseconds kSilence = std::chrono::seconds(1);  // beyond them, the oldest goes if it is silent for so long
constexpr Nanoseconds kNoDescriptors = Nanoseconds{100'000'000};  // pause after a lack of descriptors
constexpr size_t kMostWaiting = 64;                               // clients whose number is still in use
constexpr size_t kMostHeldUp = 1024;                              // … or that wait for the files of another one

// The source of an event; its number completes the tag.
enum class About : uint32_t { listener, doorbell, watched, stranger, socket, process, bell };

uint64_t tag(About about, int number) { return static_cast<uint64_t>(about) << 32 | static_cast<uint32_t>(number); }
About about_of(uint64_t tag) { return static_cast<About>(tag >> 32); }
int number_of(uint64_t tag) { return static_cast<int>(static_cast<uint32_t>(tag)); }

// Reads a whole file that a client sent, and may be changing meanwhile.
Result<std::string> read_configuration(const FileDescriptor& file, uint64_t bytes) {
  if (bytes > kMostConfiguration) {
    return Status(TAILRACE_INVALID_CONFIG,
                  fmt::format("the configuration: found {} bytes, expected at most {}", bytes, kMostConfiguration));
  }
  // Reading a pipe could make the server wait.
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return Status(TAILRACE_INVALID_CONFIG, "the configuration: found no regular file");
  }
  std::string text(bytes, '\0');
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t some = ::pread(file.get(), text.data() + length, text.size() - length, static_cast<off_t>(length));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return Status::of_errno("read", "the configuration", some < 0 ? errno : ENODATA);
    length += static_cast<size_t>(some);
  }
  return text;
}

template <class T>
std::span<const std::byte> bytes_of(const T& message) {
  return std::as_bytes(std::span(&message, 1));
}

}  // namespace

CoreAcceptor::CoreAcceptor(const PrivateDirectory& directory, UnixListener& listener, EpollSet& epoll,
                           Doorbell& doorbell, Host& host, Log& log, std::string fresh_segment)
    : directory_(directory),
      listener_(listener),
      epoll_(epoll),
      doorbell_(doorbell),
      host_(host),
      log_(log),
      fresh_segment_(std::move(fresh_segment)) {
  const auto add = [this](int fd, About about, EpollSet::Trigger trigger) {
    const Status status = epoll_.add(fd, tag(about, 0), trigger);
    TAILRACE_REQUIRE(status.ok());
  };
  listen();
  add(doorbell_.fd(), About::doorbell, EpollSet::Trigger::edge);
}

CoreAcceptor::~CoreAcceptor() = default;

Status CoreAcceptor::adopt(int number, std::unique_ptr<Segment> segment, std::optional<ProcessHandle> process) {
  auto made = make_client(number, std::move(segment));
  if (!made.ok()) return made.status();
  std::unique_ptr<Client> client = std::move(made).value();
  if (process) {
    client->process = std::move(process);
    Status status = watch(*client, client->process->fd(), tag(About::process, number), EpollSet::Trigger::edge);
    if (!status.ok()) return status;
  }
  clients_[number] = std::move(client);
  return {};
}

Result<std::unique_ptr<CoreAcceptor::Client>> CoreAcceptor::make_client(int number,
                                                                        std::unique_ptr<Segment> segment) {
  std::unique_ptr<Client> client;
  try {
    client = std::make_unique<Client>();
  } catch (const std::system_error& error) {
    return Status::of_errno("make", "a client's bell", error.code().value());
  }
  client->number = number;
  client->segment = std::move(segment);
  client->log = log_.part();
  return client;
}

Status CoreAcceptor::watch(int fd) { return epoll_.add(fd, tag(About::watched, 0), EpollSet::Trigger::level); }

void CoreAcceptor::listen() {
  const Status status = epoll_.add(listener_.fd(), tag(About::listener, 0), EpollSet::Trigger::level);
  TAILRACE_REQUIRE(status.ok());
  paused_.reset();
}

// While nothing can be accepted, connections wait in the listener, which must not wake the server for them.
void CoreAcceptor::pause_listening(Nanoseconds at_most) {
  if (!paused_) epoll_.remove(listener_.fd());
  paused_ = Deadline(at_most);
}

void CoreAcceptor::begin_round() {
  if (paused_ && paused_->left() == Nanoseconds::zero()) listen();
  for (const int number : std::exchange(prepared_, {})) let_in(number);
  if (std::exchange(number_is_free_, false)) {  // answer the clients that wait for it
    for (Waiting& one : std::exchange(waiting_, {})) {
      if (!one.socket.peer_gone()) answer(std::move(one.socket), one.hello, std::move(one.configuration));
    }
  }
  while (!strangers_.empty() && strangers_.front().until.left() == Nanoseconds::zero()) {
    log_.warning("a connection has not said hello within {} s", kGreetingIn / std::chrono::seconds(1));
    drop_oldest_stranger();
  }
  for (const auto& [number, client] : clients_) client->segment->follow();
}

void CoreAcceptor::wait(std::optional<Nanoseconds> limit) {
  limit = doorbell_.bounded(limit);
  const auto at_most = [&limit](Nanoseconds left) { limit = std::min(limit.value_or(left), left); };
  if (!strangers_.empty()) at_most(strangers_.front().until.left());
  if (paused_) at_most(paused_->left());
  for (const uint64_t event : epoll_.wait(limit)) look_at(event);
}

void CoreAcceptor::distrusted(int number, const Status& why) {
  Client& client = *clients_[number];
  client.log->warning("client {} is lost: {}; its data are still written", number, why.fault().message);
  hear_no_more(client);
}

void CoreAcceptor::dismissed(int number, bool died) {
  host_.dismissed(number);
  Client& client = *clients_[number];
  hear_no_more(client);
  client.log->info("client {} has {}", number, died ? "left without saying goodbye" : "left");
  clients_.erase(number);
  freed();
}

void CoreAcceptor::look_at(uint64_t event) {
  const int number = number_of(event);
  switch (about_of(event)) {
    case About::listener: return meet();
    case About::stranger: {
      const auto found = std::find_if(strangers_.begin(), strangers_.end(),
                                      [number](const Stranger& one) { return one.socket.fd() == number; });
      // By now it may be another connection with the same descriptor, which has sent nothing.
      if (found == strangers_.end() || wait_for_events(number, POLLIN, Nanoseconds::zero()) == 0) return;
      UnixSocket socket = std::move(found->socket);
      strangers_.erase(found);
      epoll_.remove(socket.fd());
      greet(std::move(socket));
      if (paused_) listen();
      return;
    }
    case About::socket: {
      const auto found = clients_.find(number);
      if (found != clients_.end() && found->second->socket) hear(*found->second);
      return;
    }
    case About::process: {
      const auto found = clients_.find(number);
      if (found == clients_.end() || !found->second->process || found->second->process->alive()) return;
      return lose(*found->second, true, "its process has ended");
    }
    case About::doorbell:
    case About::watched:
    case About::bell: return;  // the next round looks at the rings
  }
}

// The server greets those that are here before it accepts more.
void CoreAcceptor::meet() {
  for (;;) {
    if (strangers_.size() >= kMostStrangers) {
      const Nanoseconds silent_in = strangers_.front().until.left() - (kGreetingIn - kSilence);
      if (silent_in > Nanoseconds::zero()) return pause_listening(silent_in);
      if (!is_silent(strangers_.front())) return pause_listening(kSilence);
      drop_oldest_stranger();
    }
    Result<std::optional<UnixSocket>> socket = listener_.accept();
    const int error = socket.ok() ? 0 : socket.status().fault().system_errno;
    if (error == EMFILE || error == ENFILE) {
      if (!strangers_.empty() && is_silent(strangers_.front()) && drop_oldest_stranger()) continue;
      log_.warning("a connection cannot be accepted: {}", socket.status().fault().message);
      return pause_listening(kNoDescriptors);
    }
    if (!socket.ok()) return log_.warning("a connection cannot be accepted: {}", socket.status().fault().message);
    if (!socket.value()) return;
    UnixSocket& stranger = *socket.value();
    if (const Status status = stranger.check_same_user(); !status.ok()) {
      log_.warning("a connection is refused: {}", status.fault().message);
      continue;
    }
    const Status watched = epoll_.add(stranger.fd(), tag(About::stranger, stranger.fd()), EpollSet::Trigger::level);
    if (!watched.ok()) return log_.warning("a connection cannot be watched: {}", watched.fault().message);
    strangers_.push_back({std::move(stranger), kGreetingIn});
  }
}

bool CoreAcceptor::is_silent(const Stranger& stranger) const {
  return wait_for_events(stranger.socket.fd(), POLLIN, Nanoseconds::zero()) == 0;
}

// Drops the oldest connection without a greeting; an honest client connects again. Returns false if there is none.
bool CoreAcceptor::drop_oldest_stranger() {
  if (strangers_.empty()) return false;
  epoll_.remove(strangers_.front().socket.fd());
  strangers_.pop_front();
  return true;
}

// Handles a connection that has sent a message or closed.
void CoreAcceptor::greet(UnixSocket socket) {
  Hello hello;
  Result<Message> message = socket.receive(std::as_writable_bytes(std::span(&hello, 1)), 1, Nanoseconds::zero());
  if (!message.ok()) return;  // a client that gave up
  Status status;
  if (message.value().bytes != sizeof hello || hello.magic != kCoreMagic || message.value().descriptors.size() != 1) {
    status = Status(TAILRACE_INVALID_ARGUMENT, "the server received a message that is not a greeting");
  } else if (hello.version != kCoreVersion) {
    status = Status(TAILRACE_UNSUPPORTED,
                    fmt::format("the node's server is of another version of tailrace: found greeting {}, expected {}",
                                hello.version, kCoreVersion));
  } else {
    Result<std::string> text = read_configuration(message.value().descriptors[0], hello.configuration);
    if (text.ok()) return answer(std::move(socket), hello, std::move(text).value());
    status = text.status();
  }
  refuse(socket, hello.client, status);
}

void CoreAcceptor::answer(UnixSocket socket, const Hello& hello, std::string configuration) {
  const Result<bool> next_run =
      hello.again == 0 ? host_.is_of_next_run(hello.client, socket.peer().pid) : Result<bool>(false);
  if (!next_run.ok()) {
    host_.refused();
    return refuse(socket, hello.client, next_run.status());
  }
  next_run_waits_ = next_run_waits_ || next_run.value();
  const auto found = clients_.find(hello.client);
  const bool is_new = found == clients_.end();
  const bool number_is_taken =
      is_new ? host_.has_files_of(hello.client) : (found->second->newcomer || host_.gone(hello.client));
  const bool waits = number_is_taken || (is_new && host_.is_busy());
  if (next_run.value() || (waits && hello.again == 0)) {
    std::erase_if(waiting_, [](const Waiting& one) { return one.socket.peer_gone(); });
    if (waiting_.size() >= (number_is_taken ? kMostWaiting : kMostHeldUp)) {
      return refuse(socket, hello.client,
                    Status(TAILRACE_CLIENT_IN_USE, "too many clients wait for numbers that are still in use"));
    }
    waiting_.push_back({std::move(socket), hello, std::move(configuration)});
    return;
  }
  Waiting one{std::move(socket), hello, std::move(configuration)};
  const Status status = enter(one);
  if (status.ok()) return;
  host_.refused();
  refuse(one.socket, hello.client, status);
}

void CoreAcceptor::refuse(UnixSocket& socket, int client, const Status& status) {
  Welcome answer;
  answer.server = ::getpid();
  answer.refusal = to_record(0, status);
  log_.warning("client {} is refused: {}", client, status.fault().message);
  (void)socket.send(bytes_of(answer), {}, kAnswerIn);
}

// Welcomes a client that has come back. A new one is welcomed when its files are prepared. Takes the connection,
// unless it fails.
Status CoreAcceptor::enter(Waiting& one) {
  const Hello& hello = one.hello;
  Result<ProcessHandle> process = one.socket.peer_process();
  if (!process.ok()) return process.status();
  const auto found = clients_.find(hello.client);
  if (found == clients_.end()) {
    return hello.again != 0 ? host_.unknown(hello.client) : meet(one, std::move(process).value());
  }
  Client& client = *found->second;
  const bool waits = !client.socket && !client.newcomer && !host_.gone(client.number);  // for its client to come back
  // An earlier server died before it could welcome the client.
  const bool unknown_to_it =
      client.segment->control().client_state.load(std::memory_order_acquire) == ChannelControl::kClientUnaware;
  const bool is_new_again =
      unknown_to_it && client.process && client.process->pid() == process.value().pid() && hello.again == 0;
  if (waits && (hello.again != 0 || is_new_again)) {
    unwatch(client);
    client.process = std::move(process).value();
    return welcome(client, one.socket, is_new_again ? host_.last_iteration(client.number) : LastIteration());
  }
  return Status(TAILRACE_CLIENT_IN_USE, fmt::format("client {} is open already, or still being written (process {})",
                                                    hello.client, client.process ? client.process->pid() : 0));
}

Status CoreAcceptor::meet(Waiting& one, ProcessHandle process) {
  const int number = one.hello.client;
  const Result<Needs> needs = host_.admit(number, process.pid(), one.configuration);
  if (!needs.ok()) return needs.status();
  const std::string& name = fresh_segment_;
  Result<std::unique_ptr<Segment>> segment =
      Segment::create(directory_, name, needs.value().sizes, needs.value().pool);
  if (!segment.ok()) return segment.status();
  auto made = make_client(number, std::move(segment).value());
  if (!made.ok()) {
    (void)directory_.remove_file(name);
    return made.status();
  }
  Client& client = *(clients_[number] = std::move(made).value());
  client.process = std::move(process);
  client.ahead = needs.value().ahead;
  const Status status = host_.prepare(number, *client.segment);
  if (!status.ok()) {
    clients_.erase(number);
    (void)directory_.remove_file(name);
    return status;
  }
  client.newcomer = std::move(one);
  ++newcomers_;
  return {};
}

// Welcomes a client whose files are prepared, or refuses it.
void CoreAcceptor::let_in(int number) {
  Client& client = *clients_.at(number);
  Waiting one = std::move(*client.newcomer);
  client.newcomer.reset();
  --newcomers_;
  const Result<bool> served = host_.serve(number);
  Status status = served.status();
  if (served.ok() && served.value()) {
    client.log->info("client {} has come", number);
    status = welcome(client, one.socket, host_.last_iteration(number));
    // From here on, since it shares the cpu with this thread: the client's open has waited for all before.
    if (status.ok()) client.segment->take_ahead(client.ahead);
  } else {
    clients_.erase(number);
  }
  if (served.ok() && !served.value()) {
    next_run_waits_ = true;
    waiting_.push_back(std::move(one));
  }
  freed();
  if (status.ok()) return;
  host_.refused();
  refuse(one.socket, number, status);
}

// Gives a client its channel, and watches it. Takes the socket, unless it fails.
Status CoreAcceptor::welcome(Client& client, UnixSocket& socket, const Result<LastIteration>& last) {
  unwatch(client);
  const auto add = [&](int fd, About about, EpollSet::Trigger trigger) {
    return watch(client, fd, tag(about, client.number), trigger);
  };
  Status status = add(socket.fd(), About::socket, EpollSet::Trigger::level);
  if (status.ok()) status = add(client.process->fd(), About::process, EpollSet::Trigger::edge);
  if (status.ok()) status = add(client.bell.fd(), About::bell, EpollSet::Trigger::edge);
  if (status.ok()) status = give_channel(client, socket, last);
  if (status.ok()) {
    client.socket = std::move(socket);
  } else {
    lose(client, true, status.fault().message);
  }
  return status;
}

Status CoreAcceptor::give_channel(Client& client, UnixSocket& socket, const Result<LastIteration>& last) {
  Welcome welcome;
  const ChannelSizes& sizes = client.segment->sizes();
  welcome.server = ::getpid();
  welcome.variables = sizes.variables;
  welcome.ring = sizes.ring;
  welcome.tickets = sizes.tickets;
  welcome.blocks = sizes.blocks;
  welcome.pool = client.segment->pool().size();
  std::snprintf(welcome.description, sizeof welcome.description, "%s", host_.description().c_str());
  if (last.ok()) welcome.last = last.value();
  if (!last.ok()) welcome.last_unknown = to_record(0, last.status());
  const int descriptors[] = {client.segment->fd(), client.bell.fd()};
  return socket.send(bytes_of(welcome), descriptors, kAnswerIn);
}

// Handles the client's goodbye, or the end of its connection.
void CoreAcceptor::hear(Client& client) {
  Goodbye goodbye;
  const Result<Message> message =
      client.socket->receive(std::as_writable_bytes(std::span(&goodbye, 1)), 0, Nanoseconds::zero());
  if (!message.ok() && message.status().code() == TAILRACE_TIMEOUT) return;
  const bool kind = message.ok() && message.value().bytes == sizeof goodbye && goodbye.magic == kCoreMagic;
  lose(client, !kind, message.ok() ? "it sent a message that is not a goodbye" : "it has closed its connection");
}

void CoreAcceptor::lose(Client& client, bool died, const std::string& why) {
  if (host_.gone(client.number)) return;
  host_.lose(client.number, died);
  if (died) client.log->warning("client {} is lost: {}; what it committed is still written", client.number, why);
  hear_no_more(client);
}

void CoreAcceptor::hear_no_more(Client& client) {
  unwatch(client);
  client.socket.reset();
}

Status CoreAcceptor::watch(Client& client, int fd, uint64_t tag, EpollSet::Trigger trigger) {
  Status status = epoll_.add(fd, tag, trigger);
  if (status.ok()) client.watched.push_back(fd);
  return status;
}

void CoreAcceptor::unwatch(Client& client) {
  for (const int fd : client.watched) epoll_.remove(fd);
  client.watched.clear();
}

}  // namespace tailrace::impl
