// The matrices that the matrix kernels multiply repeatedly: A becomes A·B.
//
// B is orthogonal and dense, so the products neither grow nor vanish nor repeat themselves soon.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace bench {

// 3 · 128: three halvings lead to Strassen's blocks of 48.
constexpr size_t kMatrixSide = 384;
constexpr size_t kMatrixSize = kMatrixSide * kMatrixSide;

inline void fill_left(std::span<double> a) {
  for (size_t i = 0; i < kMatrixSize; ++i) a[i] = static_cast<double>(i * 7919 % 2003) / 2003 - 0.5;
}

// Fills in a Householder reflection with its columns rotated by one: I − 2 v vᵀ, |v| = 1, column j at j + 1.
inline void fill_right(std::span<double> b) {
  const auto v = [](size_t i) { return static_cast<double>(i % 17 + 1); };
  double square = 0;
  for (size_t i = 0; i < kMatrixSide; ++i) square += v(i) * v(i);
  for (size_t i = 0; i < kMatrixSide; ++i) {
    for (size_t j = 0; j < kMatrixSide; ++j) {
      b[i * kMatrixSide + (j + 1) % kMatrixSide] = (i == j ? 1.0 : 0.0) - 2 * v(i) * v(j) / square;
    }
  }
}

// Samples a few elements from all over a matrix.
inline double sample(std::span<const double> matrix) {
  double sum = 0;
  for (size_t i = 0; i < kMatrixSize; i += kMatrixSize / 64 + 1) sum += std::abs(matrix[i]);
  return sum;
}

}  // namespace bench
