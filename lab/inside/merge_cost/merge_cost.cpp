// Measures what merging costs for an extent: finding conflicts, sorting, joining, and forgetting again, without
// storage.
//
// Lists of 4 KiB extents side by side, so that everything that can be joined is: one list in order, one in random
// order, the rows of a matrix from 64 clients, and as many requests of one extent each. Also large requests that
// nothing can be merged with, compared with copying as many bytes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "engine/merge/merge.hpp"
#include "engine/queue/request_queue.hpp"
#include "lab/figures.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPiece = 4096;
constexpr uint64_t kClients = 64;
constexpr uint64_t kLarge = 1 << 20;

enum class Lists { sorted, random, strided, singles };

const char* name_of(Lists lists) {
  switch (lists) {
    case Lists::sorted: return "one list in order";
    case Lists::random: return "one list in any order";
    case Lists::strided: return "64 clients, rows";
    case Lists::singles: return "a request an extent";
  }
  return "";
}

// Memory that is never used, and is not contiguous.
Piece piece_at(uint64_t number) {
  return {{number * kPiece, kPiece}, reinterpret_cast<std::byte*>((number + 1) * 2 * kPiece)};
}

std::vector<Request> requests_of(Lists lists, uint64_t extents) {
  const uint64_t count = lists == Lists::strided ? kClients : lists == Lists::singles ? extents : 1;
  std::vector<Request> requests(count);
  for (uint64_t i = 0; i < extents; ++i) requests[i % count].pieces.push_back(piece_at(i));
  std::mt19937_64 random(1);
  if (lists == Lists::random) std::shuffle(requests[0].pieces.begin(), requests[0].pieces.end(), random);
  if (lists == Lists::singles) std::shuffle(requests.begin(), requests.end(), random);
  for (uint64_t i = 0; i < count; ++i) {
    requests[i].file = 1;
    requests[i].client = static_cast<uint32_t>(i);
  }
  return requests;
}

// Returns the processor's time, so that other programs matter less.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Cost {
  double seconds = 0;
  size_t accesses = 0;
};

Cost once(std::vector<Request> requests) {
  RequestQueue queue(static_cast<uint32_t>(requests.size()), {true, true, false});
  const double start = now();
  std::vector<const Request*> admitted;
  for (Request& request : requests) admitted.push_back(queue.admit(std::move(request)));
  std::vector<Share> shares;
  for (const Request* request : admitted) shares.push_back({request, queue.begin(request->slot)});
  const std::vector<Access> accesses = merge(shares, {uint64_t{8} << 20, kPiece, 1024});
  std::vector<RequestQueue::Ended> ended;
  std::vector<const Request*> ready;
  for (const Request* request : admitted) queue.finish(request->slot, {}, ended, ready);
  return {now() - start, accesses.size()};
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Adds a row for each number of extents.
void measure_all(bool tiny, nlohmann::json& rows) {
  std::printf("merging: ns an extent (median of several), and accesses made\n");
  std::printf("  %10s", "extents");
  for (const Lists lists : {Lists::sorted, Lists::random, Lists::strided, Lists::singles}) {
    std::printf(" %28s", name_of(lists));
  }
  std::printf("\n");
  for (uint64_t extents = 100; extents <= (tiny ? 100'000 : 10'000'000); extents *= 10) {
    std::printf("  %10llu", static_cast<unsigned long long>(extents));
    nlohmann::json row = {{"extents", extents}};
    for (const Lists lists : {Lists::sorted, Lists::random, Lists::strided, Lists::singles}) {
      if (lists == Lists::singles && extents > 1'000'000) continue;  // more than a program may have pending
      const std::vector<Request> requests = requests_of(lists, extents);
      std::vector<double> times;
      size_t accesses = 0;
      const int rounds = tiny ? 1 : extents < 100'000 ? 21 : 5;
      for (int round = 0; round < rounds; ++round) {
        const Cost cost = once(requests);
        times.push_back(cost.seconds);
        accesses = cost.accesses;
      }
      const double each = 1e9 * median(times) / static_cast<double>(extents);
      std::printf(" %17.0f ns, %5zu", each, accesses);
      row[name_of(lists)] = each;
    }
    rows.push_back(row);
    std::printf("\n");
  }
}

// Requests of 1 MiB with gaps between them.
void measure_large(bool tiny, nlohmann::json& rows) {
  const uint64_t count = tiny ? 8 : 1024;
  std::vector<Request> requests(count);
  for (uint64_t i = 0; i < count; ++i) {
    requests[i].file = 1;
    requests[i].client = static_cast<uint32_t>(i % kClients);
    requests[i].pieces = {{{2 * i * kLarge, kLarge}, reinterpret_cast<std::byte*>((i + 1) * 2 * kLarge)}};
  }
  const std::vector<std::byte> from(kLarge * 16, std::byte{1});
  std::vector<std::byte> to(kLarge * 16);
  std::vector<double> merging;
  std::vector<double> copying;
  for (int round = 0; round < (tiny ? 1 : 21); ++round) {
    merging.push_back(once(requests).seconds / static_cast<double>(count));
    const double start = now();
    for (uint64_t at = 0; at < to.size(); at += kLarge) std::memcpy(to.data() + at, from.data() + at, kLarge);
    copying.push_back((now() - start) / static_cast<double>(to.size() / kLarge));
  }
  const double share = median(merging) / median(copying);
  std::printf("1 MiB that has nothing to be merged with: %.0f ns, %.2f %% of copying it once (%.0f ns)\n",
              1e9 * median(merging), 100 * share, 1e9 * median(copying));
  rows.push_back({{"what", "1 MiB alone"}, {"share", share}});
}

}  // namespace
}  // namespace tailrace::impl

int main(int argc, char** argv) {
  const lab::Arguments arguments = lab::arguments_of(argc, argv, "merge_cost");
  nlohmann::json rows;
  tailrace::impl::measure_all(arguments.tiny, rows);
  tailrace::impl::measure_large(arguments.tiny, rows);
  return lab::write_figures(arguments.json, "merge_cost", arguments.tiny, rows);
}
