// The kernels compute what they claim, and always the same, on any number of threads and in any portions.
#include <gtest/gtest.h>

#include <cmath>

#include "lab/pattern/compute/compute_worker.hpp"
#include "lab/pattern/compute/matrices.hpp"
#include "lab/pattern/compute/walk.hpp"
#include "lab/pattern/errors.hpp"

namespace bench {
namespace {

std::vector<double> after_cycles(const std::string& kernel, int cycles, int threads = 1) {
  const auto worker = make_compute_worker({kernel, threads, Memory::heap});
  worker->compute(worker->cycle() * static_cast<uint64_t>(cycles));
  return worker->snapshot();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double most = 0;
  for (size_t i = 0; i < found.size(); ++i) most = std::max(most, std::abs(found[i] - expected[i]));
  EXPECT_LE(most, tolerance);
}

TEST(Jacobi, one_sweep_is_the_stencil) {
  const std::vector<double> a = after_cycles("jacobi", 0);
  const std::vector<double> b = after_cycles("jacobi", 1);
  const auto side = static_cast<size_t>(std::lround(std::cbrt(static_cast<double>(a.size()))));
  ASSERT_EQ(side * side * side, a.size());
  const auto inside = [&](size_t i) { return i > 0 && i + 1 < side; };
  size_t wrong = 0;
  for (size_t k = 0; k < side; ++k) {
    for (size_t j = 0; j < side; ++j) {
      for (size_t i = 0; i < side; ++i) {
        const size_t at = (k * side + j) * side + i;
        double expected = a[at];  // the frame keeps its values
        if (inside(i) && inside(j) && inside(k)) {
          expected = 0.4 * a[at] + 0.1 * (a[at - 1] + a[at + 1] + a[at - side] + a[at + side] + a[at - side * side] +
                                          a[at + side * side]);
        }
        wrong += std::abs(b[at] - expected) > 1e-14 ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(Jacobi, blocked_is_bit_by_bit_the_naive_one) {
  EXPECT_EQ(after_cycles("jacobi-blocked", 3), after_cycles("jacobi", 3));
}

TEST(Matrices, the_right_one_is_orthogonal) {
  std::vector<double> b(kMatrixSize);
  fill_right(b);
  for (size_t i = 0; i < kMatrixSide; i += 37) {
    for (size_t j = 0; j < kMatrixSide; ++j) {
      double product = 0;
      for (size_t k = 0; k < kMatrixSide; ++k) product += b[i * kMatrixSide + k] * b[j * kMatrixSide + k];
      EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12);
    }
  }
}

TEST(Matrices, all_three_kernels_compute_the_product) {
  std::vector<double> a(kMatrixSize), b(kMatrixSize), expected(kMatrixSize, 0.0);
  fill_left(a);
  fill_right(b);
  for (size_t i = 0; i < kMatrixSide; ++i) {
    for (size_t k = 0; k < kMatrixSide; ++k) {
      const double factor = a[i * kMatrixSide + k];
      for (size_t j = 0; j < kMatrixSide; ++j) expected[i * kMatrixSide + j] += factor * b[k * kMatrixSide + j];
    }
  }
  for (const char* const kernel : {"matmul", "matmul-transposed", "strassen"}) {
    SCOPED_TRACE(kernel);
    expect_near(after_cycles(kernel, 0), a, 0);
    expect_near(after_cycles(kernel, 1), expected, 1e-11);
  }
}

TEST(Matrices, the_kernels_agree_after_several_products) {
  const std::vector<double> plain = after_cycles("matmul", 2);
  expect_near(after_cycles("matmul-transposed", 2), plain, 1e-11);
  expect_near(after_cycles("strassen", 2), plain, 1e-10);
}

TEST(Mandelbrot, knows_who_belongs_to_the_set) {
  const std::vector<double> image = after_cycles("mandelbrot", 1);
  const size_t columns = 128, rows = image.size() / columns;
  const auto at = [&](double x, double y) {
    const auto column = static_cast<size_t>(std::lround((x + 2.0) / 2.5 * (columns - 1)));
    const auto row = static_cast<size_t>(std::lround((y + 1.25) / 2.5 * static_cast<double>(rows - 1)));
    return image[row * columns + column];
  };
  EXPECT_EQ(at(0, 0), 256);    // inside: the maximum number of steps
  EXPECT_EQ(at(-1, 0), 256);   // the disc to the left
  EXPECT_LE(at(-2, 1.25), 2);  // outside
  EXPECT_LE(at(0.5, -1.25), 3);
  for (size_t row = 0; row < rows / 2; ++row) {  // the image is its own reflection in the real axis
    for (size_t column = 0; column < columns; ++column) {
      ASSERT_NEAR(image[row * columns + column], image[(rows - 1 - row) * columns + column], 1);
    }
  }
}

TEST(Walk, is_one_cycle_through_all_nodes) {
  for (const size_t size : {2U, 3U, 1000U}) {
    std::vector<Node> nodes(size);
    link_randomly(nodes, 7);
    std::vector<bool> seen(size, false);
    uint64_t at = 0;
    for (size_t step = 0; step < size; ++step) {
      ASSERT_LT(at, size);
      ASSERT_FALSE(seen[at]);
      seen[at] = true;
      at = nodes[at].next;
    }
    EXPECT_EQ(at, 0U);
  }
}

class EveryKernel : public testing::TestWithParam<std::string> {};

TEST_P(EveryKernel, does_not_show_portions) {
  const auto whole = make_compute_worker({GetParam(), 1, Memory::heap});
  const auto portions = make_compute_worker({GetParam(), 1, Memory::heap});
  whole->compute(700);
  for (const uint64_t passes : {1U, 0U, 299U, 400U}) portions->compute(passes);
  EXPECT_EQ(whole->result(), portions->result());
}

TEST_P(EveryKernel, computes_the_same_in_the_data_segment) {
  const auto heap = make_compute_worker({GetParam(), 2, Memory::heap});
  const auto segment = make_compute_worker({GetParam(), 2, Memory::data_segment});
  heap->compute(500);
  segment->compute(500);
  EXPECT_EQ(heap->result(), segment->result());
}

TEST_P(EveryKernel, computes_the_same_on_several_threads) {
  // Each thread of these has its own grid or chain, whose turn comes with every third pass.
  const uint64_t share = GetParam() == "busy" || GetParam() == "spin" ? 3 : 1;
  const auto one = make_compute_worker({GetParam(), 1, Memory::heap});
  const auto three = make_compute_worker({GetParam(), 3, Memory::heap});
  for (const uint64_t passes : {150U, 350U}) {
    one->compute(passes);
    three->compute(share * passes);
  }
  const double result = three->result();
  EXPECT_NEAR(result, static_cast<double>(share) * one->result(), share == 1 ? 0 : 1e-9);
}

TEST_P(EveryKernel, goes_on) {
  const auto worker = make_compute_worker({GetParam(), 1, Memory::heap});
  worker->compute(worker->cycle());
  const double before = worker->result();
  worker->compute(worker->cycle());
  EXPECT_NE(worker->result(), before);
  EXPECT_TRUE(std::isfinite(worker->result()));
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, testing::ValuesIn(kernel_names()),
                         [](const testing::TestParamInfo<std::string>& kernel) {
                           std::string name = kernel.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(Kernels, refuse_what_does_not_exist) {
  EXPECT_THROW(make_compute_worker({"lazy", 1, Memory::heap}), UsageError);
  EXPECT_THROW(make_compute_worker({"busy", 0, Memory::heap}), UsageError);
  const auto first = make_compute_worker({"busy", 1, Memory::data_segment});
  EXPECT_THROW(make_compute_worker({"busy", 1, Memory::data_segment}), UsageError);
}

}  // namespace
}  // namespace bench
