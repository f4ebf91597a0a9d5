// The output of the command `tailrace`: what goes to a terminal can not command it.
#include "command/output/output.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace tailrace::impl {
namespace {

TEST(Output, NoByteOfANameCommandsTheTerminal) {
  EXPECT_EQ(printable_line("größe µ 48 × 64"), "größe µ 48 × 64");
  EXPECT_EQ(printable_line("\x1b[2Jevil\r\n\a"), "�[2Jevil���");
  EXPECT_EQ(printable_line("\xc2\x9b"
                           "31m"),
            "�31m");                                           // a control character of C1
  EXPECT_EQ(printable_line("cut \xe2\x82 \xff"), "cut �� �");  // no UTF-8
  EXPECT_EQ(printable_line("a\xe2\x80\xae"
                           "b\xe2\x81\xa6"),
            "a�b�");  // they turn the order of letters round
  EXPECT_EQ(printable_line(std::string_view("a\0b", 3)), "a�b");
}

TEST(Output, ATableIsAlignedByCharacters) {
  testing::internal::CaptureStdout();
  print_table({"name", "size"}, {{"größe", "1"}, {"a\nb", "22"}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "name   size\ngröße  1\na�b    22\n");
}

TEST(Output, AMessageOfSeveralLinesKeepsThem) {
  testing::internal::CaptureStderr();
  complain("one\ntwo\x1b");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tailrace: one\ntwo�\n");
}

TEST(Output, SizesAndTimesHaveThreeDigits) {
  for (const auto& [bytes, text] : {std::pair(0.0, "0 B"), std::pair(1023.0, "1023 B"), std::pair(1536.0, "1.5 KiB"),
                                    std::pair(268435456.0, "256 MiB"), std::pair(1e15, "909 TiB")}) {
    EXPECT_EQ(size_text(bytes), text);
  }
  for (const auto& [seconds, text] : {std::pair(0.0, "0 s"), std::pair(0.4, "400 ms"), std::pair(5.3e-6, "5.3 µs"),
                                      std::pair(2657.0, "44 min 17 s"), std::pair(3600.0, "1 h"),
                                      std::pair(-7322.0, "-2 h 2 min 2 s"), std::pair(9.999, "10 s")}) {
    EXPECT_EQ(time_text(seconds), text);
  }
}

}  // namespace
}  // namespace tailrace::impl
