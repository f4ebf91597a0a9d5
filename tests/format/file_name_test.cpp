// Names of iterations' files, there and back.
#include "format/file_name.hpp"

#include <gtest/gtest.h>

#include "base/names/name_template.hpp"

namespace tailrace::impl {
namespace {

Config config_of(FormatKind kind, FilePer file_per) {
  Config config;
  config.name = "sim";
  config.format.kind = kind;
  config.format.file = "a_It{iteration}_Pr{node}.h5";
  config.storage.file_per = file_per;
  config.place.node = 2;
  return config;
}

TEST(FileName, IsOfTheSeries) {
  const Config config = config_of(FormatKind::hdf5, FilePer::process);
  EXPECT_EQ(file_name_of(config, 3, 12), "sim_c3_000012.h5");
  EXPECT_EQ(iteration_of(config, 3, "sim_c3_000012.h5"), 12);
  EXPECT_EQ(iteration_of(config, 3, "sim_c3_1234567.h5"), 1234567);
  for (const char* const other : {"sim_c3_00012.h5", "sim_c4_000012.h5", "sim_c3_00001x.h5", "sim_c3_000012.h5.part",
                                  "sim_c3_-00012.h5", "sim_c3_99999999999999999999.h5", ""}) {
    EXPECT_EQ(iteration_of(config, 3, other), std::nullopt) << other;
  }
}

TEST(FileName, OfAPlainFileIsThatOfItsTemplate) {
  const Config config = config_of(FormatKind::plain, FilePer::node);
  EXPECT_EQ(file_name_of(config, 3, 0), "a_It0_Pr2.h5");
  EXPECT_EQ(iteration_of(config, 3, "a_It120_Pr2.h5"), 120);
  for (const char* const other : {"a_It_Pr2.h5", "a_It1_Pr3.h5", "a_It1_Pr2.h5.part", "b_It1_Pr2.h5", "a_It1"}) {
    EXPECT_EQ(iteration_of(config, 3, other), std::nullopt) << other;
  }
}

TEST(NameTemplate, PutsNumbersInPlaceOfFields) {
  EXPECT_EQ(with_number("T{client}/P{client}", kClientField, 17), "T17/P17");
  EXPECT_TRUE(has_client("T/P{client}"));
  EXPECT_FALSE(has_client("T/P{node}"));
}

}  // namespace
}  // namespace tailrace::impl
