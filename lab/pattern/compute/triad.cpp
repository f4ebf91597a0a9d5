// triad: the third loop of McCalpin's STREAM, a = b + s c, over 256 MiB: as much memory bandwidth as a program can
// use.
//
// Three arrays that no cache holds. After each sweep they change their parts, so that the values go on; with s = -1
// they stay as large as they are. One pass is a piece of the arrays.
#include <utility>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/phased_worker.hpp"

namespace bench {
namespace {

constexpr size_t kPiece = 8192;                                   // elements of each array in one pass
constexpr size_t kPieces = (size_t{256} << 20) / 3 / 8 / kPiece;  // 256 MiB, but for less than a piece
constexpr size_t kElements = kPieces * kPiece;
constexpr double kScale = -1;

class Triad final : public PhasedWorker {
 public:
  Triad(int threads, Memory memory) : PhasedWorker(threads), arena_(memory, 3 * Arena::bytes_for<double>(kElements)) {
    for (std::span<double>* array : {&to_, &first_, &second_}) *array = arena_.take<double>(kElements);
    for (size_t i = 0; i < kElements; ++i) {
      to_[i] = 0;
      first_[i] = static_cast<double>(i % 1009);
      second_[i] = static_cast<double>(i % 1013) + 0.5;
    }
  }

  double result() const override {
    double sum = 0;
    for (size_t i = 0; i < kElements; i += kElements / 64) sum += to_[i] + first_[i] / 3 + second_[i] / 7;
    return sum;
  }

  std::vector<double> snapshot() const override { return {first_.begin(), first_.end()}; }

 protected:
  int phases() const override { return 1; }
  uint64_t tasks(int) const override { return kPieces; }

  void task(int, uint64_t index, int) override {
    const size_t at = index * kPiece;
    add(to_.data() + at, first_.data() + at, second_.data() + at);
  }

  void end_phase(int) override {
    std::swap(second_, to_);
    std::swap(first_, second_);
  }

 private:
  static void add(double* __restrict to, const double* __restrict first, const double* __restrict second) {
    for (size_t i = 0; i < kPiece; ++i) to[i] = first[i] + kScale * second[i];
  }

  Arena arena_;
  std::span<double> to_;
  std::span<double> first_;   // of the last sweep
  std::span<double> second_;  // of the sweep before it
};

}  // namespace

std::unique_ptr<ComputeWorker> make_triad(int threads, Memory memory) {
  return std::make_unique<Triad>(threads, memory);
}

}  // namespace bench
