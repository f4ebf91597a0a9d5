#include "runtime/parts/descriptors.hpp"

#include <algorithm>
#include <thread>

#include "base/descriptor_limit.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPartOfProgram = 8;      // iterations get 1/8 of the program's descriptors
constexpr uint64_t kOfServer = 64;          // log, sockets, locks, ledger, plugin hosts, journals
constexpr uint64_t kOfClient = 10;          // segment, bell, connection, process, locks, a file that it reads
constexpr uint64_t kPartForIterations = 2;  // iterations get 1/2 of the rest; raw files get the others

}  // namespace

uint64_t descriptors_in_program() { return descriptor_limit() / kPartOfProgram; }

uint64_t descriptors_in_server(uint64_t clients) {
  const uint64_t limit = descriptor_limit();
  const uint64_t taken = kOfServer + kOfClient * clients;
  return limit > taken ? (limit - taken) / kPartForIterations / clients : 0;
}

uint32_t clients_to_expect() { return std::max(std::thread::hardware_concurrency(), 1U); }

}  // namespace tailrace::impl
