// matmul, matmul-transposed: the matrix product by three loops. One pass is a quarter of a row of the product.
//
// The plain one walks down the columns of B with a stride of one row. The transposed one first transposes B (a
// separate phase, in every product) and then reads both matrices along their rows.
#include <utility>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/matrices.hpp"
#include "lab/pattern/compute/phased_worker.hpp"

namespace bench {
namespace {

constexpr size_t kSide = kMatrixSide;
constexpr size_t kQuarter = kSide / 4;

double plain_element(const double* row, const double* column) {
  double sum = 0;
  for (size_t k = 0; k < kSide; ++k) sum += row[k] * column[k * kSide];
  return sum;
}

// Uses four sums at once, since additions to one sum would wait for each other.
double transposed_element(const double* row, const double* column) {
  double sum[4] = {0, 0, 0, 0};
  for (size_t k = 0; k < kSide; k += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sum[lane] += row[k + lane] * column[k + lane];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

class Matmul final : public PhasedWorker {
 public:
  Matmul(int threads, Memory memory, bool transposed)
      : PhasedWorker(threads), transposed_(transposed), arena_(memory, 4 * Arena::bytes_for<double>(kMatrixSize)) {
    a_ = arena_.take<double>(kMatrixSize);
    b_ = arena_.take<double>(kMatrixSize);
    c_ = arena_.take<double>(kMatrixSize);
    turned_ = arena_.take<double>(kMatrixSize);
    fill_left(a_);
    fill_left(c_);
    fill_right(b_);
  }

  double result() const override { return sample(a_) + sample(c_); }
  std::vector<double> snapshot() const override { return {a_.begin(), a_.end()}; }

 protected:
  int phases() const override { return transposed_ ? 2 : 1; }
  uint64_t tasks(int phase) const override { return multiplies(phase) ? kSide * 4 : 4; }

  void task(int phase, uint64_t index, int) override {
    if (multiplies(phase)) {
      multiply(index / 4, index % 4 * kQuarter);
    } else {
      transpose(index * kQuarter);
    }
  }

  void end_phase(int phase) override {
    if (multiplies(phase)) std::swap(a_, c_);
  }

 private:
  bool multiplies(int phase) const { return phase == phases() - 1; }

  void transpose(size_t first) {
    for (size_t i = 0; i < kSide; ++i) {
      for (size_t j = first; j < first + kQuarter; ++j) turned_[j * kSide + i] = b_[i * kSide + j];
    }
  }

  void multiply(size_t i, size_t first) {
    const double* const row = a_.data() + i * kSide;
    for (size_t j = first; j < first + kQuarter; ++j) {
      c_[i * kSide + j] =
          transposed_ ? transposed_element(row, turned_.data() + j * kSide) : plain_element(row, b_.data() + j);
    }
  }

  const bool transposed_;
  Arena arena_;
  std::span<double> a_, b_, c_, turned_;
};

}  // namespace

std::unique_ptr<ComputeWorker> make_matmul(int threads, Memory memory) {
  return std::make_unique<Matmul>(threads, memory, false);
}

std::unique_ptr<ComputeWorker> make_matmul_transposed(int threads, Memory memory) {
  return std::make_unique<Matmul>(threads, memory, true);
}

}  // namespace bench
