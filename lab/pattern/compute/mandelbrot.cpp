// mandelbrot: an image of the Mandelbrot set; one pass is a row. Rows take very different times, and the threads take
// them one by one.
//
// Rows come in an order that jumps across the image, so that any longer run of passes is about the same work.
#include <numeric>

#include "lab/pattern/compute/arena.hpp"
#include "lab/pattern/compute/kernels.hpp"
#include "lab/pattern/compute/phased_worker.hpp"

namespace bench {
namespace {

constexpr size_t kRows = 512;
constexpr size_t kColumns = 128;
constexpr size_t kJump = 197;  // coprime to kRows, so that every row has its turn
constexpr int kMost = 256;     // steps of a point

int steps(double x0, double y0) {
  double x = 0;
  double y = 0;
  int step = 0;
  for (; step < kMost && x * x + y * y <= 4; ++step) {
    const double next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
  }
  return step;
}

class Mandelbrot final : public PhasedWorker {
 public:
  Mandelbrot(int threads, Memory memory)
      : PhasedWorker(threads), arena_(memory, Arena::bytes_for<int>(kRows * kColumns)) {
    image_ = arena_.take<int>(kRows * kColumns);
    std::fill(image_.begin(), image_.end(), 0);
  }

  double result() const override {
    double sum = static_cast<double>(images_) * 1e6;
    for (uint64_t index = 0; index < done(); ++index) sum += row_sum(row_of(index)) * static_cast<double>(index + 1);
    return sum;
  }

  std::vector<double> snapshot() const override { return {image_.begin(), image_.end()}; }

 protected:
  int phases() const override { return 1; }
  uint64_t tasks(int) const override { return kRows; }

  void task(int, uint64_t index, int) override {
    const size_t row = row_of(index);
    const double y = -1.25 + 2.5 * static_cast<double>(row) / (kRows - 1);
    for (size_t column = 0; column < kColumns; ++column) {
      const double x = -2.0 + 2.5 * static_cast<double>(column) / (kColumns - 1);
      image_[row * kColumns + column] = steps(x, y);
    }
  }

  void end_phase(int) override { ++images_; }

 private:
  static size_t row_of(uint64_t index) { return index * kJump % kRows; }
  double row_sum(size_t row) const {
    const int* const begin = image_.data() + row * kColumns;
    return static_cast<double>(std::accumulate(begin, begin + kColumns, 0));
  }

  Arena arena_;
  std::span<int> image_;
  uint64_t images_ = 0;
};

}  // namespace

std::unique_ptr<ComputeWorker> make_mandelbrot(int threads, Memory memory) {
  return std::make_unique<Mandelbrot>(threads, memory);
}

}  // namespace bench
