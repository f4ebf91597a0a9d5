#include "openfoam/handler/whole_lists.hpp"

#include <scalar.H>
#include <sphericalTensor.H>
#include <symmTensor.H>
#include <tensor.H>
#include <vector.H>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace tailrace::openfoam {
namespace {

constexpr size_t kOneLine = 10;  // rows of the longest list that OpenFOAM writes on one line

struct Type {
  std::string_view name;
  Row row;
};

template <typename T>
constexpr Row row_of() {
  return {T::nComponents, sizeof(Foam::scalar), 1};
}

constexpr std::array<Type, 5> kTypes = {{
    {"List<scalar>", {1, sizeof(Foam::scalar), 0}},
    {"List<vector>", row_of<Foam::vector>()},
    {"List<symmTensor>", row_of<Foam::symmTensor>()},
    {"List<tensor>", row_of<Foam::tensor>()},
    {"List<sphericalTensor>", row_of<Foam::sphericalTensor>()},
}};

// Numbers are compared, not their bytes: 0 is -0, and NaN is nothing.
bool is_uniform(const std::byte* numbers, size_t rows, Row row) {
  const auto number = [&](size_t at) {
    Foam::scalar value;
    std::memcpy(&value, numbers + at, sizeof value);
    return value;
  };
  for (size_t at = 0; at < rows * row.bytes(); at += sizeof(Foam::scalar)) {
    if (number(at) != number(at % row.bytes())) return false;
  }
  return true;
}

}  // namespace

bool WholeLists::begins(const Foam::word& text) {
  const auto has_name = [&](const Type& type) { return type.name == text; };
  const auto* const type = std::find_if(kTypes.begin(), kTypes.end(), has_name);
  if (type == kTypes.end()) return false;
  row_ = type->row;
  step_ = Step::name;
  return true;
}

bool WholeLists::step(Step from, Step to) {
  if (step_ != from) return false;
  step_ = to;
  return true;
}

bool WholeLists::takes(char letter) {
  if (letter == ' ' && step(Step::name, Step::space)) {
    recording_.put(letter);
    return true;
  }
  if (letter != '\n') return false;
  if (step(Step::space, Step::newline)) return true;
  if (!step(Step::length, Step::ready)) return false;
  if (length_ == 0) record(nullptr, 0);  // no bytes come
  return true;
}

bool WholeLists::takes(int64_t length) {
  if (length < 0 || !step(Step::newline, Step::length)) return false;
  length_ = length;
  return true;
}

bool WholeLists::record_gathered(int precision) {
  const std::vector<std::byte> numbers = std::exchange(gathered_, {});
  if (numbers.size() != static_cast<size_t>(length_) * row_.bytes()) return false;
  record(numbers.data(), precision);
  return true;
}

void WholeLists::leave() {
  const Step last = std::exchange(step_, Step::none);
  if (last >= Step::newline) recording_.put('\n');
  if (last >= Step::length) recording_.number(length_);
  if (last >= Step::ready) recording_.put('\n');
}

// As UList::writeList: equal rows once, a few rows on one line, many on lines of their own.
void WholeLists::record(const std::byte* numbers, int precision) {
  step_ = Step::none;
  const auto rows = static_cast<size_t>(length_);
  if (rows > 1 && is_uniform(numbers, rows, row_)) {
    recording_.number(length_);
    recording_.put('{');
    recording_.row(numbers, row_, precision);
    recording_.put('}');
  } else if (rows > kOneLine) {
    recording_.put('\n');
    recording_.number(length_);
    recording_.put('\n');
    recording_.put('(');
    recording_.put('\n');
    recording_.rows(numbers, rows, row_, precision);
    recording_.put(')');
    recording_.put('\n');
  } else {
    recording_.number(length_);
    recording_.put('(');
    for (size_t row = 0; row < rows; ++row) {
      if (row > 0) recording_.put(' ');
      recording_.row(numbers + row * row_.bytes(), row_, precision);
    }
    recording_.put(')');
  }
}

}  // namespace tailrace::openfoam
