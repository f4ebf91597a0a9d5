#include "model.hpp"

#include <algorithm>
#include <fstream>

namespace tailrace::test {
namespace {

std::string listed(const Shape& shape) {
  std::string text;
  for (const hsize_t length : shape) text += (text.empty() ? "" : ", ") + std::to_string(length);
  return '(' + text + ')';
}

}  // namespace

std::string describe(const Model& model) {
  return model.file.substr(model.file.rfind('/') + 1) + ":" + model.name + listed(model.shape) +
         (model.chunk.empty() ? "" : " in chunks of " + listed(model.chunk)) + (model.written ? "" : " unwritten");
}

void Model::write(const std::vector<size_t>& elements, const std::vector<int>& values) {
  if (elements.empty()) return;
  if (!written && !fills) std::fill(numbers.begin(), numbers.end(), kUnknown);
  written = true;
  for (size_t i = 0; i < elements.size(); ++i) numbers[elements[i]] = values[i];
}

void Model::extend(const Shape& to) {
  std::vector<int> moved(product(to), fill);
  for (size_t element = 0; element < moved.size(); ++element) {
    size_t rest = element;
    size_t before = 0;
    size_t stride = 1;
    bool there = true;
    for (size_t axis = to.size(); axis-- > 0; rest /= to[axis]) {
      there &= rest % to[axis] < shape[axis];
      before += rest % to[axis] * stride;
      stride *= shape[axis];
    }
    if (there) moved[element] = numbers[before];
  }
  shape = to;
  numbers = std::move(moved);
}

void Model::clear() {
  written = false;
  const bool is_known = alloc_time != H5D_ALLOC_TIME_EARLY || fills;
  numbers.assign(product(shape), is_known ? fill : kUnknown);
}

void save(const std::vector<Model>& models, const std::string& path) {
  std::ofstream out(path);
  for (const Model& model : models) {
    out << model.file << ' ' << model.name << ' ' << static_cast<int>(model.family) << ' ' << model.written << ' '
        << static_cast<int>(model.fill_time) << ' ' << static_cast<int>(model.alloc_time) << ' '
        << model.numbers.size();
    for (const int number : model.numbers) out << ' ' << number;
    out << '\n';
  }
}

std::vector<Model> load(const std::string& path) {
  std::vector<Model> models;
  std::ifstream in(path);
  Model model;
  int family = 0;
  int fill_time = 0;
  int alloc_time = 0;
  for (size_t count = 0;
       in >> model.file >> model.name >> family >> model.written >> fill_time >> alloc_time >> count;
       models.push_back(model)) {
    model.family = static_cast<Family>(family);
    model.fill_time = static_cast<H5D_fill_time_t>(fill_time);
    model.alloc_time = static_cast<H5D_alloc_time_t>(alloc_time);
    model.numbers.resize(count);
    for (int& number : model.numbers) in >> number;
  }
  return models;
}

}  // namespace tailrace::test
