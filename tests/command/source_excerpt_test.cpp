// The line of a configuration that a mistake is about. tests/python/command/test_check.py has it in whole messages.
#include "command/output/source_excerpt.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tailrace::impl {
namespace {

using Lines = std::vector<std::string>;

TEST(SourceExcerpt, ACaretIsBelowThePlaceAlsoBehindWideLetters) {
  EXPECT_EQ(source_excerpt("a: 1\nb: 2\n", 2, 4, "try 3"), (Lines{"   2 | b: 2", "     |    ^", "     = try 3"}));
  EXPECT_EQ(source_excerpt("\"ä\": x\r\n", 1, 7, ""), (Lines{"   1 | \"ä\": x", "     |      ^"}));
}

TEST(SourceExcerpt, APlaceThatTheTextDoesNotHave) {
  EXPECT_EQ(source_excerpt("", 3, 1, ""), Lines{});
  EXPECT_EQ(source_excerpt("", 3, 1, "hint"), Lines{"  = hint"});
  EXPECT_EQ(source_excerpt("a", 0, 0, ""), Lines{});
  EXPECT_EQ(source_excerpt("ab", 1, 99, ""), (Lines{"   1 | ab", "     |   ^"}));
  EXPECT_EQ(source_excerpt("ab", 1, -1, ""), (Lines{"   1 | ab", "     | ^"}));
}

TEST(SourceExcerpt, ControlCharactersAndBytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(source_excerpt("\x1b[2J\t\xff", 1, 1, "")[0], "   1 | �[2J �");
}

TEST(SourceExcerpt, ALongLineIsCutAroundThePlace) {
  const Lines lines = source_excerpt(std::string(500, 'x') + "!" + std::string(500, 'y'), 1, 501, "");
  EXPECT_LT(lines[0].size(), 120u);
  EXPECT_EQ(lines[0].find('!') - 2, lines[1].find('^'));  // "…" has three bytes
}

}  // namespace
}  // namespace tailrace::impl
