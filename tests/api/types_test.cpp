// Every element type in every rank, read back through tailrace and through HDF5: the same bytes, type and shape.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "hdf5_file.hpp"
#include "run_rig.hpp"

namespace {

struct Type {
  const char* name;
  tailrace_type type;
  size_t size;
  hid_t native;
};

std::vector<Type> all_types() {
  H5open();
  return {{"int8", TAILRACE_INT8, 1, H5T_NATIVE_INT8},
          {"int16", TAILRACE_INT16, 2, H5T_NATIVE_INT16},
          {"int32", TAILRACE_INT32, 4, H5T_NATIVE_INT32},
          {"int64", TAILRACE_INT64, 8, H5T_NATIVE_INT64},
          {"uint8", TAILRACE_UINT8, 1, H5T_NATIVE_UINT8},
          {"uint16", TAILRACE_UINT16, 2, H5T_NATIVE_UINT16},
          {"uint32", TAILRACE_UINT32, 4, H5T_NATIVE_UINT32},
          {"uint64", TAILRACE_UINT64, 8, H5T_NATIVE_UINT64},
          {"float32", TAILRACE_FLOAT32, 4, H5T_NATIVE_FLOAT},
          {"float64", TAILRACE_FLOAT64, 8, H5T_NATIVE_DOUBLE},
          {"long_double", TAILRACE_LONG_DOUBLE, sizeof(long double), H5T_NATIVE_LDOUBLE}};
}

// Odd extents, so that no block ends where a page or a sector does; the last dimension of 4 makes some large.
const std::vector<std::vector<uint64_t>> kShapes = {{1}, {4099}, {3, 5}, {31, 67}, {7, 1, 13}, {3, 5, 7, 11}};

struct Variable {
  std::string name;
  Type type;
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;
};

std::string list(const std::vector<uint64_t>& shape) {
  std::string text;
  for (const uint64_t extent : shape) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return text + "]";
}

// Returns random bytes for integers, for which every pattern is allowed. Floating-point values come from small
// numbers, so that no NaN's payload or padding depends on a reader's conversion.
std::vector<std::byte> values_of(const Type& type, size_t count, std::mt19937_64& random) {
  std::vector<std::byte> bytes(type.size * count);
  for (size_t i = 0; i < count; ++i) {
    const auto number = static_cast<int64_t>(random());
    std::byte* const at = bytes.data() + i * type.size;
    if (type.type == TAILRACE_FLOAT32) {
      const auto value = static_cast<float>(number);
      std::memcpy(at, &value, sizeof value);
    } else if (type.type == TAILRACE_FLOAT64) {
      const auto value = static_cast<double>(number);
      std::memcpy(at, &value, sizeof value);
    } else if (type.type == TAILRACE_LONG_DOUBLE) {
      const auto value = static_cast<long double>(number);
      std::memcpy(at, &value, 10);  // the rest is padding: zero
    } else {
      std::memcpy(at, &number, type.size);
    }
  }
  return bytes;
}

std::vector<Variable> all_variables() {
  std::mt19937_64 random(20100227);
  std::vector<Variable> variables;
  for (const Type& type : all_types()) {
    for (size_t i = 0; i < kShapes.size(); ++i) {
      size_t count = 1;
      for (const uint64_t extent : kShapes[i]) count *= extent;
      variables.push_back(
          {std::string(type.name) + "_" + std::to_string(i), type, kShapes[i], values_of(type, count, random)});
    }
  }
  return variables;
}

std::string config_of(const std::vector<Variable>& variables) {
  std::string layouts;
  std::string lines;
  for (const Variable& variable : variables) {
    layouts += "  l_" + variable.name + ": {type: " + variable.type.name + ", shape: " + list(variable.shape) + "}\n";
    lines += "  " + variable.name + ": {layout: l_" + variable.name + "}\n";
  }
  return "tailrace: 1\nname: types\nmemory: {budget: 8 MiB}\nlayouts:\n" + layouts + "variables:\n" + lines;
}

void expect_described(tailrace_client* client, const Variable& variable) {
  tailrace_variable_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(tailrace_variable(client, variable.name.c_str(), &info), TAILRACE_OK);
  EXPECT_EQ(info.type, variable.type.type);
  EXPECT_EQ(static_cast<size_t>(info.rank), variable.shape.size());
  EXPECT_EQ(info.bytes, variable.bytes.size());
  EXPECT_EQ(tailrace_expect(client, variable.name.c_str(), variable.type.type, info.rank, variable.shape.data()),
            TAILRACE_OK);
}

// By each verb in turn.
void hand_over(tailrace_client* client, const Variable& variable, size_t turn) {
  const char* const name = variable.name.c_str();
  if (turn % 3 == 0) {
    ASSERT_EQ(tailrace_write(client, name, 12, variable.bytes.data()), TAILRACE_OK);
  } else if (turn % 3 == 1) {
    void* memory = nullptr;
    ASSERT_EQ(tailrace_alloc(client, name, 12, &memory), TAILRACE_OK);
    std::memcpy(memory, variable.bytes.data(), variable.bytes.size());
    ASSERT_EQ(tailrace_commit(client, name, 12), TAILRACE_OK);
  } else {
    tailrace_ticket ticket{};
    ASSERT_EQ(tailrace_borrow(client, name, 12, variable.bytes.data(), &ticket), TAILRACE_OK);
  }
}

void expect_read_back(tailrace_client* client, const Variable& variable) {
  std::vector<std::byte> found(variable.bytes.size());
  ASSERT_EQ(tailrace_read(client, variable.name.c_str(), 12, found.data()), TAILRACE_OK);
  EXPECT_EQ(std::memcmp(found.data(), variable.bytes.data(), found.size()), 0) << variable.name;
}

class Types : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(BackEnds, Types, ::testing::Values("posix", "uring", "memory"),
                         [](const auto& test) { return test.param; });

TEST_P(Types, OfEveryKindAreReadBackEqual) {
  const test::Directory directory;
  const std::vector<Variable> variables = all_variables();
  const std::string text = config_of(variables) + "storage: {path: " + directory.path().string() +
                           ", backend: " + GetParam() + "}\nplace: " + test::usual_place() +
                           "\nlog: " + test::kNoLog + "\n";
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  tailrace_client* client = nullptr;
  const tailrace_status opened = tailrace_open_with("types.yaml", 0, &options, &client);
  if (opened == TAILRACE_UNSUPPORTED) GTEST_SKIP() << test::last_error(nullptr).message;
  ASSERT_EQ(opened, TAILRACE_OK) << test::last_error(nullptr).message;
  for (size_t i = 0; i < variables.size(); ++i) {
    expect_described(client, variables[i]);
    hand_over(client, variables[i], i);
  }
  for (const Variable& variable : variables) expect_read_back(client, variable);
  EXPECT_EQ(tailrace_end_iteration(client, 12), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(client), TAILRACE_OK);
  for (const Variable& variable : variables) expect_read_back(client, variable);
  EXPECT_EQ(tailrace_close(client), TAILRACE_OK);
  if (GetParam() == "memory") {
    EXPECT_TRUE(directory.names().empty());
    return;
  }
  const test::Hdf5File file(directory.path() / "types_c0_000012.h5");
  ASSERT_TRUE(file.opened());
  EXPECT_EQ(file.variables(12).size(), variables.size());
  for (const Variable& variable : variables) {
    EXPECT_EQ(file.bytes(12, variable.name), variable.bytes) << variable.name;
    EXPECT_TRUE(file.has_type(12, variable.name, variable.type.native)) << variable.name;
    EXPECT_EQ(file.shape(12, variable.name), std::vector<hsize_t>(variable.shape.begin(), variable.shape.end()));
  }
}

}  // namespace
