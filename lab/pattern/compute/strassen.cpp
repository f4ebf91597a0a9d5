// strassen: the matrix product by Strassen's seven products instead of eight, three levels deep.
//
// The recursion is flattened. Each of the 7³ products at its bottom is a pass of the first phase: it sums its blocks
// of A and of B, and multiplies the two sums. Each of the 8² blocks of C is a pass of the second phase: it sums its
// products. Coefficients of three levels are the products of those of one level.
#include <algorithm>
#include <array>
#include <utility>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/matrices.hpp"
#include "lab/pattern/compute/phased_worker.hpp"

namespace bench {
namespace {

constexpr size_t kLevels = 3;
constexpr size_t kBlocks = 8;                         // along an edge
constexpr size_t kBlockSide = kMatrixSide / kBlocks;  // 48
constexpr size_t kBlockSize = kBlockSide * kBlockSide;
constexpr size_t kProducts = 343;
static_assert(kBlockSide * kBlocks == kMatrixSide);

// Coefficients of the quarters 11, 12, 21, 22, for each of the seven products.
using Coefficients = std::array<std::array<int, 4>, 7>;
constexpr Coefficients kOfA = {
    {{1, 0, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {-1, 0, 1, 0}, {0, 1, 0, -1}}};
constexpr Coefficients kOfB = {
    {{1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}}};
constexpr Coefficients kOfC = {
    {{1, 0, 0, 1}, {0, 0, 1, -1}, {0, 1, 0, 1}, {1, 0, 1, 0}, {-1, 1, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}}};

// A block that a product uses, or goes to.
struct Term {
  size_t row, column;  // of the block
  double sign;
};

// Returns the terms of product `product`, whose digits in base 7 choose the product on each level.
std::vector<Term> terms(const Coefficients& coefficients, size_t product) {
  std::vector<Term> found = {{0, 0, 1.0}};
  for (size_t level = 0, rest = product; level < kLevels; ++level, rest /= 7) {
    std::vector<Term> finer;
    for (const Term& term : found) {
      for (size_t quarter = 0; quarter < 4; ++quarter) {
        const int coefficient = coefficients[rest % 7][quarter];
        if (coefficient == 0) continue;
        finer.push_back({2 * term.row + quarter / 2, 2 * term.column + quarter % 2, term.sign * coefficient});
      }
    }
    found = std::move(finer);
  }
  return found;
}

// A product that goes into a block of C.
struct Part {
  size_t product;
  double sign;
};

class Strassen final : public PhasedWorker {
 public:
  Strassen(int threads, Memory memory)
      : PhasedWorker(threads),
        arena_(memory, 3 * Arena::bytes_for<double>(kMatrixSize) + Arena::bytes_for<double>(kProducts * kBlockSize)),
        sums_(static_cast<size_t>(threads)) {
    a_ = arena_.take<double>(kMatrixSize);
    b_ = arena_.take<double>(kMatrixSize);
    c_ = arena_.take<double>(kMatrixSize);
    products_ = arena_.take<double>(kProducts * kBlockSize);
    fill_left(a_);
    fill_left(c_);
    fill_right(b_);
    for (size_t product = 0; product < kProducts; ++product) {
      of_a_.push_back(terms(kOfA, product));
      of_b_.push_back(terms(kOfB, product));
      for (const Term& term : terms(kOfC, product)) {
        of_c_[term.row * kBlocks + term.column].push_back({product, term.sign});
      }
    }
  }

  double result() const override { return sample(a_) + sample(c_); }
  std::vector<double> snapshot() const override { return {a_.begin(), a_.end()}; }

 protected:
  int phases() const override { return 2; }
  uint64_t tasks(int phase) const override { return phase == 0 ? kProducts : kBlocks * kBlocks; }

  void task(int phase, uint64_t index, int thread) override {
    if (phase == 0) {
      multiply(index, sums_[static_cast<size_t>(thread)]);
    } else {
      combine(index);
    }
  }

  void end_phase(int phase) override {
    if (phase == 1) std::swap(a_, c_);
  }

 private:
  using Block = std::array<double, kBlockSize>;
  struct alignas(64) Sums {
    Block a, b;
  };

  static void add_up(std::span<const double> matrix, const std::vector<Term>& blocks, Block& sum) {
    sum.fill(0);
    for (const Term& term : blocks) {
      const double* from = matrix.data() + term.row * kBlockSide * kMatrixSide + term.column * kBlockSide;
      for (size_t i = 0; i < kBlockSide; ++i, from += kMatrixSide) {
        for (size_t j = 0; j < kBlockSide; ++j) sum[i * kBlockSide + j] += term.sign * from[j];
      }
    }
  }

  void multiply(size_t product, Sums& sums) {
    add_up(a_, of_a_[product], sums.a);
    add_up(b_, of_b_[product], sums.b);
    double* const to = products_.data() + product * kBlockSize;
    std::fill(to, to + kBlockSize, 0.0);
    for (size_t i = 0; i < kBlockSide; ++i) {
      for (size_t k = 0; k < kBlockSide; ++k) {
        const double factor = sums.a[i * kBlockSide + k];
        for (size_t j = 0; j < kBlockSide; ++j) to[i * kBlockSide + j] += factor * sums.b[k * kBlockSide + j];
      }
    }
  }

  void combine(size_t block) {
    double* const to = c_.data() + block / kBlocks * kBlockSide * kMatrixSide + block % kBlocks * kBlockSide;
    for (size_t i = 0; i < kBlockSide; ++i) std::fill_n(to + i * kMatrixSide, kBlockSide, 0.0);
    for (const Part& part : of_c_[block]) {
      const double* const from = products_.data() + part.product * kBlockSize;
      for (size_t i = 0; i < kBlockSide; ++i) {
        for (size_t j = 0; j < kBlockSide; ++j) to[i * kMatrixSide + j] += part.sign * from[i * kBlockSide + j];
      }
    }
  }

  Arena arena_;
  std::span<double> a_, b_, c_, products_;
  std::vector<Sums> sums_;  // one for each thread
  std::vector<std::vector<Term>> of_a_, of_b_;
  std::array<std::vector<Part>, kBlocks * kBlocks> of_c_;
};

}  // namespace

std::unique_ptr<ComputeWorker> make_strassen(int threads, Memory memory) {
  return std::make_unique<Strassen>(threads, memory);
}

}  // namespace bench
