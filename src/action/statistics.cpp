#include "action/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "base/assert.hpp"
#include "filter/half.hpp"

namespace tailrace::impl {
namespace {

// Values summed in a row: the error of the mean grows with this number and with the number of such runs, not with
// their product.
constexpr size_t kRun = 4096;

// The edges of the bins, computed as numpy.linspace does.
class Bins {
 public:
  Bins(double first, double last) : first_(first), last_(last) {
    if (first_ == last_) {
      first_ -= 0.5;
      last_ += 0.5;
    }
    width_ = last_ / kHistogramBins - first_ / kHistogramBins;
    const double step = (last_ - first_) / kHistogramBins;
    for (size_t i = 0; i < kHistogramBins; ++i) {
      const auto at = static_cast<double>(i);
      // The range itself may exceed the largest double.
      edges_[i] = std::isfinite(step) ? first_ + at * step
                                      : first_ * (1 - at / kHistogramBins) + last_ * (at / kHistogramBins);
    }
    edges_[kHistogramBins] = last_;
  }

  size_t of(double value) const {
    const double at = (value / 2 - first_ / 2) / (width_ / 2);
    // Written so that it also handles NaN and infinity, which a width of 0 produces.
    size_t bin = at >= kHistogramBins - 1 ? kHistogramBins - 1 : at > 0 ? static_cast<size_t>(at) : 0;
    // Compares with the edges, as the quotient is rounded. It may be off by one, or more for a range of few doubles.
    while (bin > 0 && value < edges_[bin]) --bin;
    while (bin + 1 < kHistogramBins && value >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  double first_;
  double last_;
  double width_ = 0;
  std::array<double, kHistogramBins + 1> edges_{};
};

enum class Half : uint16_t {};

template <class T>
double value_of(const T& raw) {
  return static_cast<double>(raw);
}
double value_of(Half raw) { return float_of(static_cast<uint16_t>(raw)); }
// Complex numbers have no order; their magnitude has.
template <class T>
double value_of(const std::complex<T>& raw) {
  return std::abs(std::complex<double>(raw));
}

template <class T>
class Scan {
 public:
  explicit Scan(std::span<const std::byte> bytes)
      : values_(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)) {
    TAILRACE_REQUIRE(bytes.size() % sizeof(T) == 0);
  }

  Statistics run() {
    const long double sum = first_pass();
    if (found_.finite == 0) {
      found_.least = found_.mean = found_.most = std::numeric_limits<double>::quiet_NaN();
      return found_;
    }
    found_.mean = static_cast<double>(sum / static_cast<long double>(found_.finite));
    const Bins bins(found_.least, found_.most);
    for (const T raw : values_) {
      const double value = value_of(raw);
      if (std::isfinite(value)) ++found_.histogram[bins.of(value)];
    }
    return found_;
  }

 private:
  // Counts, and finds the least and largest value; returns the sum.
  long double first_pass() {
    found_.least = std::numeric_limits<double>::infinity();
    found_.most = -found_.least;
    long double sum = 0;
    for (size_t begin = 0; begin < values_.size(); begin += kRun) {
      long double part = 0;
      for (const T raw : values_.subspan(begin, std::min(kRun, values_.size() - begin))) {
        const double value = value_of(raw);
        if (!std::isfinite(value)) {
          ++(std::isnan(value) ? found_.nan : found_.infinite);
          continue;
        }
        ++found_.finite;
        found_.least = std::min(found_.least, value);
        found_.most = std::max(found_.most, value);
        part += value;
      }
      sum += part;
    }
    return sum;
  }

  const std::span<const T> values_;
  Statistics found_;
};

}  // namespace

Statistics statistics_of(std::span<const std::byte> bytes, ElementType type) {
  switch (type) {
    case ElementType::int8: return Scan<int8_t>(bytes).run();
    case ElementType::int16: return Scan<int16_t>(bytes).run();
    case ElementType::int32: return Scan<int32_t>(bytes).run();
    case ElementType::int64: return Scan<int64_t>(bytes).run();
    case ElementType::uint8: return Scan<uint8_t>(bytes).run();
    case ElementType::uint16: return Scan<uint16_t>(bytes).run();
    case ElementType::uint32: return Scan<uint32_t>(bytes).run();
    case ElementType::uint64: return Scan<uint64_t>(bytes).run();
    case ElementType::float32: return Scan<float>(bytes).run();
    case ElementType::float64: return Scan<double>(bytes).run();
    case ElementType::long_double: return Scan<long double>(bytes).run();
    case ElementType::boolean: return Scan<uint8_t>(bytes).run();
    case ElementType::float16: return Scan<Half>(bytes).run();
    case ElementType::complex64: return Scan<std::complex<float>>(bytes).run();
    case ElementType::complex128: return Scan<std::complex<double>>(bytes).run();
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
