// Fuzzes the messages of clients to the server of a node: the configurations in their greetings, and the verbs in
// their rings.
//
// The first byte says what the input is: a client's greeting (even), or verbs of two clients (odd), some as they are
// and some nearly valid; the clients share a node's files. Properties: nothing crashes; a refused message gives the
// reason in one line, and an accepted one has absolute paths; a client that breaks the rules is thrown out, and when
// both have gone nothing is under way, whatever they sent; only reads write to a pool.
#include <array>
#include <cstring>
#include <set>

#include "model/wire/file_wire.hpp"
#include "runtime/core/client_message.hpp"
#include "target.hpp"
#include "testing/node_rig.hpp"
#include "testing/sample_config.hpp"

namespace tailrace::fuzz {
namespace {

using namespace impl;  // NOLINT: it is their test

constexpr int kClients = 2;
constexpr uint64_t kPool = 4096;

void check_message(const std::string& text) {
  const Result<ClientMessage> message = decode_client(text);
  if (!message.ok()) return require_readable(message.status().fault().message);
  TAILRACE_REQUIRE(message.value().directory.starts_with('/'));
  const Result<Config> config = config_of(message.value());
  if (!config.ok()) return TAILRACE_REQUIRE(!config.status().fault().message.empty());
  for (const std::string& path : config.value().storage.paths) TAILRACE_REQUIRE(path.starts_with('/'));
}

Config config_of_client(int client) {
  Config config = sample_config({"out"}, {{"whole", ElementType::uint8, {600}}, {"own", ElementType::float64, {4}}});
  config.storage.file_per = FilePer::node;
  config.storage.backend = Backend::memory;
  config.place.clients = kClients;
  config.memory.budget = kPool;
  config.layouts[0].global_shape = {600 * kClients};
  config.layouts[0].offset = {600 * static_cast<uint64_t>(client)};
  return config;
}

// A node whose clients are played.
class Node final {
 public:
  void send(int client, const Descriptor& verb) {
    if (here_.contains(client) && !rig_.channel(static_cast<size_t>(client)).ring.push(verb)) work();
  }

  // Fills in the block of a verb about a raw file: a path or a list of extents, usually a valid one.
  void fill(int client, const Descriptor& verb, const uint8_t* from) {
    if (verb.bytes.address + 256 > kPool) return;
    std::byte* const block = rig_.channel(static_cast<size_t>(client)).memory.data() + verb.bytes.address;
    if (verb.verb == Verb::file_open || verb.verb == Verb::file_remove) {
      const char* const paths[] = {"a", "b/../c", "/d", "a/./b"};
      const std::string path = paths[from[4] % 4];
      FileOpening opening;
      opening.mode = from[5] % 32u;
      opening.length = static_cast<uint32_t>(path.size() + from[5] / 250);
      std::memcpy(block, &opening, sizeof opening);
      std::memcpy(block + sizeof opening, path.data(), path.size());
      return;
    }
    const uint32_t count = from[4] % 4u;
    const FileList list{kFileWireVersion, count, 64 + from[5] / 200 * 1000u};
    std::memcpy(block, &list, sizeof list);
    for (uint32_t i = 0; i < count; ++i) {
      const Extent extent{i * 10u + from[5] % 8u, i == 2 ? from[6] : uint64_t{5}};
      std::memcpy(block + sizeof list + i * sizeof extent, &extent, sizeof extent);
    }
  }

  void work() {
    const ClientRings::Round round = rig_.server().rings().work();
    for (const auto& [client, why] : round.distrusted) require_readable(why.fault().message);
    for (const auto& [client, died] : round.dismissed) here_.erase(client);
  }

  // Both go, and everything that they sent ends.
  void end() {
    for (const int client : here_) {
      if (!rig_.server().members().is_gone(client)) rig_.server().rings().lose(client, client == 0);
    }
    for (int round = 0; !here_.empty(); ++round) {
      TAILRACE_REQUIRE(round < 10'000);
      work();
    }
  }

 private:
  const SteadyClock clock_;
  NodeRig rig_{{config_of_client(0), config_of_client(1)},
               {.channel = {.ring = 16, .tickets = 8, .blocks = 16}, .clock = &clock_}};
  std::set<int> here_ = {0, 1};  // not dismissed
};

// Builds a verb from eight bytes, usually one that could be valid.
Descriptor nearly_right(const uint8_t* from, uint64_t sequence) {
  Descriptor verb;
  verb.verb = static_cast<Verb>(from[0] % (static_cast<uint8_t>(Verb::attribute) + 1));
  verb.variable = from[1] % 3;
  verb.iteration = static_cast<int8_t>(from[2] % 8 - 1);
  verb.sequence = sequence;
  verb.ticket = from[3] % 4 == 0 ? from[4] : kNoTicket;
  if (verb.verb == Verb::signal) {
    std::memset(verb.event, from[5], from[6] % sizeof verb.event);
    return verb;
  }
  if (verb.verb == Verb::attribute) {
    verb.part.count = from[6] % 4;
    verb.part.index = from[7] % 4;
    verb.part.length = from[5] % 32;
    std::memset(verb.part.bytes, from[5], sizeof verb.part.bytes);
    if (from[1] >= 200) verb.variable = kNoVariable;
    return verb;
  }
  if (is_of_file(verb.verb)) {
    verb.iteration = from[2] < 250 ? -1 : 0;
    if (from[3] < 250) verb.ticket = 1 + from[3];
    verb.bytes = {from[7] % 12 * uint64_t{256}, 256, from[7] % 17u, 0, 0};
    if (verb.verb == Verb::file_truncate) verb.range = {from[7] / 250u, from[6]};
    if (verb.verb == Verb::file_allocate) verb.range = {from[7], from[6]};
    if (verb.verb == Verb::file_remove && from[6] < 250) verb.variable = 0;
    return verb;
  }
  const uint64_t lengths[] = {600, 32, 0, from[6]};
  verb.bytes = {from[5] * uint64_t{16}, from[6] < 200 ? lengths[verb.variable % 2] : lengths[from[6] % 4],
                from[7] % 20u, 0, 0};
  return verb;
}

void check_verbs(const uint8_t* data, size_t size) {
  Node node;
  std::array<uint64_t, 2> sequences = {};
  while (size > 0) {
    const uint8_t how = *data++;
    --size;
    const int client = how & 1;
    const bool raw = (how & 14) == 14;
    const size_t bytes = raw ? sizeof(Descriptor) : 8;
    if (size < bytes) break;
    const uint64_t sequence = ++sequences[static_cast<size_t>(client)];
    Descriptor verb = nearly_right(data, sequence);
    if (raw) std::memcpy(static_cast<void*>(&verb), data, sizeof verb);
    if ((how & 16) == 0) verb.sequence = sequence;
    if (!raw && is_of_file(verb.verb)) node.fill(client, verb, data);
    data += bytes;
    size -= bytes;
    node.send(client, verb);
    if ((how & 16) != 0) node.work();
  }
  node.end();
}

}  // namespace
}  // namespace tailrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tailrace::fuzz;
  if (size == 0) return 0;
  if (*data % 2 == 0) {
    check_message({reinterpret_cast<const char*>(data + 1), size - 1});
  } else {
    check_verbs(data + 1, size - 1);
  }
  return 0;
}
