// Attributes that a program may set: their names and values.
#include "model/attribute.hpp"

#include <gtest/gtest.h>

namespace tailrace::impl {
namespace {

TEST(Attribute, NamesAreUtf8) {
  const auto code = [](std::string_view name) { return check_attribute_name(AttributeOf::iteration, name).code(); };
  for (const std::string_view name : {"a",
                                      "Gr\xc3\xb6\xc3\x9f"
                                      "e",
                                      "\xf0\x9f\x8c\x8a"}) {
    EXPECT_EQ(code(name), TAILRACE_OK) << name;
  }
  for (const std::string_view name : {"",
                                      "Gr\xf6"
                                      "e",
                                      "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xff", "a/b", "a\tb", "time"}) {
    EXPECT_EQ(code(name), TAILRACE_INVALID_ARGUMENT) << name;
  }
}

// In the file, each text of a list takes as much room as the longest.
TEST(Attribute, AListOfTextsHasALargestTable) {
  std::vector<std::string> texts(64);
  texts[5] = std::string(kMostTextTable / texts.size() - 1, 'x');
  EXPECT_TRUE(check_attribute_value(texts).ok());
  texts[7] = texts[5] + "x";
  const Status refused = check_attribute_value(texts);
  EXPECT_EQ(refused.code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_NE(refused.fault().message.find("65600 bytes"), std::string::npos) << refused.fault().message;
}

}  // namespace
}  // namespace tailrace::impl
