// jacobi, jacobi-blocked: the 7-point stencil of the explicit heat equation in three dimensions, out of place: B =
// alpha A + beta (the six neighbours of A). One pass is a box of the grid, one phase a sweep.
//
// The two differ only in the order of the points: naive goes plane by plane, blocked in boxes whose three planes stay
// in the second-level cache. So both give the same numbers, bit by bit.
#include <utility>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/phased_worker.hpp"

namespace bench {
namespace {

constexpr size_t kSide = 128;       // points along an edge, without the frame
constexpr size_t kRow = kSide + 2;  // including the frame, which keeps its values
constexpr size_t kPlane = kRow * kRow;
constexpr size_t kPoints = kPlane * kRow;
constexpr double kAlpha = 0.4;
constexpr double kBeta = 0.1;

// The shape of the boxes into which a sweep is divided; x is never divided.
struct Cut {
  size_t planes;
  size_t rows;
};
constexpr Cut kNaive{2, kSide};
constexpr Cut kBlocked{16, 16};  // the same number of points
static_assert(kNaive.planes * kNaive.rows == kBlocked.planes * kBlocked.rows);

class Jacobi final : public PhasedWorker {
 public:
  Jacobi(int threads, Memory memory, Cut cut)
      : PhasedWorker(threads), cut_(cut), arena_(memory, 2 * Arena::bytes_for<double>(kPoints)) {
    from_ = arena_.take<double>(kPoints);
    to_ = arena_.take<double>(kPoints);
    for (size_t i = 0; i < kPoints; ++i) from_[i] = to_[i] = static_cast<double>(i * 7919 % 1009) / 1009;
  }

  double result() const override {
    double sum = 0;
    for (size_t i = kPlane + 1; i < kPoints; i += kPoints / 64) sum += from_[i] + to_[i];
    return sum;
  }

  std::vector<double> snapshot() const override { return {from_.begin(), from_.end()}; }

 protected:
  int phases() const override { return 1; }
  uint64_t tasks(int) const override { return kSide / cut_.planes * (kSide / cut_.rows); }

  void task(int, uint64_t index, int) override {
    const size_t columns = kSide / cut_.rows;
    const size_t k0 = 1 + index / columns * cut_.planes;
    const size_t j0 = 1 + index % columns * cut_.rows;
    for (size_t k = k0; k < k0 + cut_.planes; ++k) {
      for (size_t j = j0; j < j0 + cut_.rows; ++j)
        row(from_.data() + k * kPlane + j * kRow, to_.data() + k * kPlane + j * kRow);
    }
  }

  void end_phase(int) override { std::swap(from_, to_); }

 private:
  static void row(const double* __restrict a, double* __restrict b) {
    for (size_t i = 1; i <= kSide; ++i) {
      b[i] =
          kAlpha * a[i] + kBeta * (a[i - 1] + a[i - kRow] + a[i - kPlane] + a[i + 1] + a[i + kRow] + a[i + kPlane]);
    }
  }

  const Cut cut_;
  Arena arena_;
  std::span<double> from_;
  std::span<double> to_;
};

}  // namespace

std::unique_ptr<ComputeWorker> make_jacobi(int threads, Memory memory) {
  return std::make_unique<Jacobi>(threads, memory, kNaive);
}

std::unique_ptr<ComputeWorker> make_jacobi_blocked(int threads, Memory memory) {
  return std::make_unique<Jacobi>(threads, memory, kBlocked);
}

}  // namespace bench
