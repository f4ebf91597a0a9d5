// core_hostile CONFIGURATION DIRECTORY NAME CLIENT TIMES LIES SEED [cut | silent | greet]: a client of place `core`
// that misbehaves.
//
// It attaches TIMES times, as clients CLIENT, CLIENT + 1, … of the job NAME that writes to DIRECTORY. It greets the
// server as any client does (sometimes already with a lie). Then it writes something LIES times into what it shares
// with the server: its ring, counters, pool, free stack, tickets, bells and socket; or it truncates the segment. It
// prints a byte after each attachment. It ends normally whatever the server does, as long as there is one. With `cut`
// truncation is its only lie: it writes LIES whole iterations, each byte of them kHonest, and truncates the segment
// while they are on their way. With `silent` it connects TIMES times, sends nothing, prints a byte when all
// connections exist, and waits until the server has closed them. With `greet` it greets in each of them, prints the
// byte, and waits for all answers.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/memory/range_allocator.hpp"
#include "base/os/unix_socket.hpp"
#include "model/wire/attribute_wire.hpp"
#include "model/wire/core_wire.hpp"
#include "model/wire/file_wire.hpp"
#include "place/core/runtime_directory.hpp"
#include "raw_client.hpp"
#include "runtime/core/client_message.hpp"

namespace {

using namespace tailrace::impl;
using test::Attached;
using test::file_of;
using test::kAnswer;
using test::welcomed;

constexpr std::byte kHonest{0x3c};
constexpr uint32_t kVariables = 6;

std::mt19937_64 random_bits;
bool only_cuts = false;

uint64_t below(uint64_t limit) { return random_bits() % limit; }
bool one_in(uint64_t many) { return below(many) == 0; }
// All orders of magnitude are equally likely; so are the ends of the range.
uint64_t any_number() { return one_in(8) ? ~uint64_t{0} - below(4) : random_bits() >> below(64); }

// Like a writer that races with the server.
void scribble(std::byte* at, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    reinterpret_cast<std::atomic<unsigned char>*>(at + i)->store(static_cast<unsigned char>(random_bits()),
                                                                 std::memory_order_relaxed);
  }
}

// Changes a byte of the message, but none of the path: with another one the server would make a directory outside the
// test's own.
void change(std::string& text, const std::string& path) {
  const size_t at = below(text.size());
  for (size_t found = text.find(path); found != std::string::npos; found = text.find(path, found + 1)) {
    if (at >= found && at < found + path.size()) return;
  }
  text[at] = static_cast<char>(random_bits());
}

bool say_hello(UnixSocket& socket, const ConfigInput& input) {
  const Result<std::string> said = encode_client(input);
  if (!said.ok()) std::exit(1);
  std::string text = said.value();
  if (!only_cuts && one_in(16)) change(text, *input.path_override);
  const FileDescriptor file = file_of(text);
  Hello hello;
  hello.client = input.client;
  hello.configuration = text.size();
  if (!only_cuts && one_in(16)) scribble(reinterpret_cast<std::byte*>(&hello) + below(sizeof hello), 1);
  const std::vector<int> files(!only_cuts && one_in(32) ? below(UnixSocket::kMaxDescriptors) : 1, file.get());
  const size_t bytes = !only_cuts && one_in(32) ? 1 + below(sizeof hello) : sizeof hello;
  return socket.send(std::as_bytes(std::span(&hello, 1)).first(bytes), files, kAnswer).ok();
}

std::optional<Attached> attach(const RuntimeDirectory& job, const ConfigInput& input, uint64_t block_bytes) {
  Result<UnixSocket> socket = UnixSocket::connect(job.directory(), RuntimeDirectory::server_socket(0), kAnswer);
  if (!socket.ok()) {
    std::fprintf(stderr, "there is no server: %s\n", socket.status().fault().message.c_str());
    std::exit(1);
  }
  if (one_in(64)) return std::nullopt;  // never says hello
  if (!say_hello(socket.value(), input)) return std::nullopt;
  return welcomed(std::move(socket).value(), block_bytes);
}

// ---- lies -----------------------------------------------------------------------------------------------------

// Puts a path or a list of extents into a block, usually a valid one.
void put_file_block(Attached& at, const Descriptor& verb) {
  std::byte* const block = at.segment->pool().data() + verb.bytes.address;
  if (verb.verb == Verb::file_open || verb.verb == Verb::file_remove) {
    const std::string path = one_in(16) ? "../escaped.raw" : "hostile" + std::to_string(below(3)) + ".raw";
    const uint32_t mode = kFileWrite | (one_in(4) ? kFileTruncate : 0) | (one_in(4) ? kFilePublish : 0);
    FileOpening opening;
    opening.mode = mode;
    opening.length = static_cast<uint32_t>(path.size());
    std::memcpy(block, &opening, sizeof opening);
    std::memcpy(block + sizeof opening, path.data(), path.size());
    return;
  }
  const auto count = static_cast<uint32_t>(1 + below(8));
  const FileList list{kFileWireVersion, one_in(32) ? static_cast<uint32_t>(any_number()) : count, 256};
  std::memcpy(block, &list, sizeof list);
  for (uint32_t i = 0; i < count; ++i) {
    const Extent extent{one_in(32) ? any_number() : i * 1000 + below(500),
                        one_in(32) ? any_number() : 1 + below(480)};
    std::memcpy(block + sizeof list + i * sizeof extent, &extent, sizeof extent);
  }
}

Descriptor some_file_verb(Attached& at, Descriptor verb) {
  verb.iteration = -1;
  verb.ticket = writes_file(verb.verb) ? kNoTicket : 1 + below(10000);
  if (verb.verb == Verb::file_open) {
    verb.variable = ++at.opened;
    at.opened_block = verb.bytes.block;
  } else {
    verb.variable = one_in(16) ? static_cast<uint32_t>(below(at.opened + 2)) : at.opened;
  }
  if (verb.verb == Verb::file_close && !one_in(32)) verb.bytes.block = at.opened_block;
  if (verb.verb == Verb::file_write_at) {
    const auto length = static_cast<uint32_t>(at.block_bytes - below(at.block_bytes));
    verb.at = {verb.bytes.address, one_in(32) ? any_number() : below(10000), verb.bytes.block,
               one_in(32) ? static_cast<uint32_t>(any_number()) : length, verb.bytes.handed};
  } else if (verb.verb == Verb::file_truncate || verb.verb == Verb::file_allocate) {
    const bool cuts = verb.verb == Verb::file_truncate && !one_in(32);
    // Never so much that the machine's disk becomes full; sizes that no file may have are refused.
    verb.range = {cuts ? 0 : below(10000), one_in(32) ? kMostFileEnd + 1 : below(10000)};
  } else if (verb.verb != Verb::file_sync && verb.verb != Verb::file_size && verb.verb != Verb::file_close) {
    if (verb.verb == Verb::file_remove && !one_in(32)) verb.variable = 0;
    put_file_block(at, verb);
  }
  return verb;
}

// Returns the first part of an attribute, which may be the only one, or any part.
Descriptor some_attribute(Attached& at, Descriptor verb) {
  std::vector<std::byte> bytes = to_bytes(one_in(2) ? "note" : "time", AttributeValue(double(below(3))));
  if (one_in(4)) bytes[below(bytes.size())] = static_cast<std::byte>(below(256));
  verb.part = attribute_part(bytes, 0);
  if (one_in(8)) verb.part.count = static_cast<uint16_t>(below(5));
  if (one_in(8)) verb.part.index = static_cast<uint16_t>(below(5));
  if (one_in(8)) verb.part.length = static_cast<uint8_t>(below(64));
  if (one_in(2)) verb.variable = kNoVariable;
  verb.sequence = at.sequence;
  return verb;
}

// Returns a verb that could be valid.
Descriptor some_verb(Attached& at) {
  Descriptor verb;
  constexpr Verb kVerbs[] = {Verb::write,          Verb::write,  Verb::read,      Verb::end_iteration, Verb::flush,
                             Verb::drop_iteration, Verb::signal, Verb::parameter, Verb::attribute};
  constexpr Verb kFileVerbs[] = {Verb::file_open,     Verb::file_write,    Verb::file_write, Verb::file_write_at,
                                 Verb::file_read,     Verb::file_sync,     Verb::file_close, Verb::file_size,
                                 Verb::file_truncate, Verb::file_allocate, Verb::file_remove};
  verb.verb = kVerbs[below(std::size(kVerbs))];
  verb.variable = static_cast<uint32_t>(below(kVariables));
  verb.iteration = static_cast<int64_t>(below(4));
  verb.sequence = ++at.sequence;
  verb.ticket = one_in(2) ? below(10000) : kNoTicket;
  if (verb.verb == Verb::signal) {
    std::memset(verb.event, 'a' + static_cast<int>(below(3)), sizeof verb.event);
    verb.event[1 + below(kMaxEvent)] = '\0';
    return verb;
  }
  if (verb.verb == Verb::parameter) {
    verb.setting = {
        static_cast<int64_t>(any_number()), static_cast<uint32_t>(below(2)), one_in(16) ? 2U : 1U, 0, 0, {}};
    if (one_in(4)) verb.setting.is_real = 1;
    verb.variable = static_cast<uint32_t>(below(3));
    return verb;
  }
  if (verb.verb == Verb::attribute) return some_attribute(at, verb);
  const uint64_t room = (at.segment->pool().size() - at.block_bytes) / RangeAllocator::kGrain;
  verb.bytes.address = below(room + 1) * RangeAllocator::kGrain;
  verb.bytes.length = at.block_bytes;
  verb.bytes.block = static_cast<uint32_t>(below(at.segment->sizes().blocks));
  verb.bytes.handed = static_cast<int64_t>(any_number());
  if (!one_in(3)) return verb;
  verb.verb = at.opened == 0 ? Verb::file_open : kFileVerbs[below(std::size(kFileVerbs))];
  return some_file_verb(at, verb);
}

// Returns one that could not.
Descriptor no_verb(Attached& at) {
  Descriptor verb = some_verb(at);
  switch (below(9)) {
    case 0: verb.verb = static_cast<Verb>(random_bits()); break;
    case 1: verb.variable = static_cast<uint32_t>(any_number()); break;
    case 2: verb.iteration = static_cast<int64_t>(any_number()); break;
    case 3: verb.sequence = any_number(); break;
    case 4: verb.bytes.address = any_number(); break;
    case 5: verb.bytes.length = any_number(); break;
    case 6: verb.bytes.block = static_cast<uint32_t>(any_number()); break;
    case 7:  // only a server in the client's own process can read there
      verb.verb = Verb::file_borrow;
      verb.iteration = -1;
      verb.variable = at.opened;
      break;
    default: scribble(reinterpret_cast<std::byte*>(&verb), sizeof verb);
  }
  return verb;
}

void push(Attached& at, const Descriptor& verb) { (void)at.channel().ring.push(verb); }

void scribble_counters(Attached& at) {
  ChannelControl& control = at.segment->control();
  const auto number = static_cast<uint32_t>(any_number());
  switch (below(4)) {
    case 0: return control.ring.pushed.store(number);
    case 1: return control.ring.popped.store(number);
    case 2: return control.ring.popped.store(control.ring.pushed.load() - static_cast<uint32_t>(below(8)));
    default: return control.free_head.top.store(number);
  }
}

void scribble_parts(Attached& at) {
  const uint64_t size = at.parts().size();
  const uint64_t begin = below(one_in(2) ? sizeof(ChannelControl) : size - 64);
  scribble(at.parts().data() + begin, 1 + below(64));
}

void scribble_pool(Attached& at) {
  const std::span<std::byte> pool = at.segment->pool();
  scribble(pool.data() + below(pool.size() - 64), 64);
}

void scribble_tickets(Attached& at) {
  for (int i = 0; i < 8; ++i) (void)at.channel().tickets.open();
  at.channel().life.store(static_cast<uint32_t>(any_number()));
  at.channel().ended[below(at.channel().ended.size())].store(any_number());
  at.segment->control().client_state.store(static_cast<uint32_t>(below(4)));
}

void abuse_bell(const Attached& at) {
  const int bell = at.bell.get();
  uint64_t count = one_in(2) ? ~uint64_t{0} - 1 : any_number();
  fcntl(bell, F_SETFL, O_NONBLOCK);
  const ssize_t done = one_in(2) ? ::read(bell, &count, sizeof count) : ::write(bell, &count, sizeof count);
  if (done > 0 && one_in(2)) fcntl(bell, F_SETFL, 0);
}

void ring_bell(Attached& at) {
  const uint64_t one = 1;
  fcntl(at.bell.get(), F_SETFL, O_NONBLOCK);
  if (!at.segment->control().server_asleep.claim() && !one_in(8)) return;
  if (::write(at.bell.get(), &one, sizeof one) < 0) return;  // it is full, so it has rung
}

void abuse_socket(Attached& at) {
  const std::vector<std::byte> bytes(1 + below(one_in(4) ? 100000 : 64));
  const std::vector<int> files(below(UnixSocket::kMaxDescriptors + 1), at.bell.get());
  (void)at.socket.send(bytes, files, kAnswer);
}

// Truncates the server's file; sometimes restores its size, with zeros.
void cut(Attached& at) {
  const uint64_t size = at.segment->pool().size() + at.parts().size();
  const uint64_t left = one_in(2) ? 0 : below(size);
  if (ftruncate(at.segment->fd(), static_cast<off_t>(left)) != 0) std::exit(1);
  if (one_in(8) && ftruncate(at.segment->fd(), static_cast<off_t>(size)) != 0) std::exit(1);
  at.cut = true;
  const uint64_t one = 1;
  fcntl(at.bell.get(), F_SETFL, O_NONBLOCK);
  if (::write(at.bell.get(), &one, sizeof one) < 0) return;  // it is full, so it has rung
}

void any_lie(Attached& at) {
  switch (below(6)) {
    case 0: return scribble_parts(at);
    case 1: return scribble_counters(at);
    case 2: return scribble_pool(at);
    case 3: return scribble_tickets(at);
    case 4: return abuse_bell(at);
    default: return one_in(16) ? abuse_socket(at) : push(at, one_in(2) ? some_verb(at) : no_verb(at));
  }
}

// The lies of an attachment are of one kind: lies that end it at once would hide the others.
constexpr uint64_t kMoods = 9;
void lie(Attached& at, uint64_t mood) {
  const bool now = one_in(2);
  switch (mood) {
    case 0: push(at, some_verb(at)); break;
    case 1: push(at, one_in(16) ? no_verb(at) : some_verb(at)); break;
    case 2: now ? scribble_pool(at) : push(at, some_verb(at)); break;
    case 3: now ? scribble_tickets(at) : push(at, some_verb(at)); break;
    case 4: now ? abuse_bell(at) : push(at, some_verb(at)); break;
    case 5: now ? scribble_counters(at) : push(at, some_verb(at)); break;
    case 6: scribble_parts(at); break;
    case 7: one_in(16) ? cut(at) : push(at, some_verb(at)); break;
    default: any_lie(at);
  }
  if (!at.cut && one_in(4)) ring_bell(at);
}

void leave(Attached& at) {
  if (one_in(2)) return;  // without goodbye
  const Goodbye goodbye;
  (void)at.socket.send(std::as_bytes(std::span(&goodbye, 1)), {}, kAnswer);
  for (int i = 0; i < 16 && !at.cut; ++i) any_lie(at);  // it goes on after its goodbye
}

// ---- the truth, cut short -------------------------------------------------------------------------------------

void write_iteration(Attached& at, int64_t iteration) {
  Descriptor verb;
  verb.verb = Verb::write;
  verb.iteration = iteration;
  verb.bytes.length = at.block_bytes;
  for (uint32_t variable = 0; variable < kVariables; ++variable) {
    verb.variable = variable;
    verb.sequence = ++at.sequence;
    verb.bytes.block = static_cast<uint32_t>(verb.sequence) % at.segment->sizes().blocks;
    verb.bytes.address = variable * at.block_bytes;
    push(at, verb);
  }
  Descriptor end;
  end.verb = Verb::end_iteration;
  end.iteration = iteration;
  end.sequence = ++at.sequence;
  push(at, end);
  ring_bell(at);
}

void write_and_cut(Attached& at, int iterations) {
  std::fill(at.segment->pool().begin(), at.segment->pool().end(), kHonest);
  const int last = static_cast<int>(below(static_cast<uint64_t>(iterations)));
  for (int iteration = 0; iteration <= last; ++iteration) write_iteration(at, iteration);
  const uint64_t spins = uint64_t{1} << below(24);
  for (std::atomic<uint64_t> i{0}; i < spins;) ++i;
  const uint64_t left = below(2) * below(kVariables * at.block_bytes);
  if (ftruncate(at.segment->fd(), static_cast<off_t>(left)) != 0) std::exit(1);
}

// Returns when none of the connections is open any more.
void connect_and_say_nothing(const RuntimeDirectory& job, int times) {
  std::vector<UnixSocket> silent;
  for (int time = 0; time < times; ++time) {
    Result<UnixSocket> socket = UnixSocket::connect(job.directory(), RuntimeDirectory::server_socket(0), kAnswer);
    if (!socket.ok()) std::exit(1);
    silent.push_back(std::move(socket).value());
  }
  if (::write(STDOUT_FILENO, ".", 1) != 1) std::exit(1);
  for (const UnixSocket& socket : silent) {
    if (wait_for_events(socket.fd(), POLLIN, kAnswer) == 0) std::exit(1);
  }
}

// Connects TIMES times, greets each time in a way that the server refuses, prints a byte, and returns when all have
// their answer.
void greet_and_await_answers(const RuntimeDirectory& job, int times) {
  std::vector<UnixSocket> sockets;
  for (int time = 0; time < times; ++time) {
    Result<UnixSocket> socket = UnixSocket::connect(job.directory(), RuntimeDirectory::server_socket(0), kAnswer);
    if (!socket.ok()) std::exit(1);
    Hello hello;
    hello.version = kCoreVersion + 1;
    const FileDescriptor file = test::file_of("a configuration");
    const int descriptor = file.get();
    if (!socket.value().send(std::as_bytes(std::span(&hello, 1)), {&descriptor, 1}, kAnswer).ok()) std::exit(1);
    sockets.push_back(std::move(socket).value());
  }
  if (::write(STDOUT_FILENO, ".", 1) != 1) std::exit(1);
  for (UnixSocket& socket : sockets) {
    Welcome welcome;
    const auto answer = socket.receive(std::as_writable_bytes(std::span(&welcome, 1)), 2, kAnswer);
    if (!answer.ok() || welcome.refusal.code != TAILRACE_UNSUPPORTED) std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8 && argc != 9) return 2;
  only_cuts = argc == 9 && std::strcmp(argv[8], "cut") == 0;
  const int times = std::atoi(argv[5]);
  const int lies = std::atoi(argv[6]);
  random_bits.seed(std::strtoull(argv[7], nullptr, 10));
  const Result<RuntimeDirectory> job =
      RuntimeDirectory::open(RuntimeDirectory::default_root(), RuntimeDirectory::job_name(argv[3], argv[2]));
  ConfigInput input;
  input.file = argv[1];
  input.path_override = argv[2];
  input.client = std::atoi(argv[4]);
  const Result<Config> config = read_config(input);
  if (!job.ok() || !config.ok()) return 1;
  if (argc == 9 && std::strcmp(argv[8], "silent") == 0) {
    connect_and_say_nothing(job.value(), times);
    return 0;
  }
  if (argc == 9 && std::strcmp(argv[8], "greet") == 0) {
    greet_and_await_answers(job.value(), times);
    return 0;
  }
  const uint64_t block_bytes = config.value().layouts[0].bytes();
  for (int time = 0; time < times; ++time, ++input.client) {
    std::optional<Attached> at = attach(job.value(), input, block_bytes);
    if (at && only_cuts) {
      write_and_cut(*at, lies);
    } else if (at) {
      const uint64_t mood = below(kMoods);
      for (int i = 0; i < lies && !at->cut; ++i) lie(*at, mood);
      leave(*at);
    }
    if (::write(STDOUT_FILENO, ".", 1) != 1) return 1;
  }
  return 0;
}
