// Expressions of parameters, as dimensions of layouts have them.
#include "damaris/xml/expression.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tailrace::damaris {
namespace {

const std::map<std::string, int64_t> kValues = {{"n", 7}, {"size", 2}, {"zero", 0}, {"most", INT64_MAX}};

int64_t value(const std::string& text) {
  return Expression(text).value([](const std::string& name) {
    const auto found = kValues.find(name);
    return found == kValues.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Expression, ComputesAsC) {
  EXPECT_EQ(value("3"), 3);
  EXPECT_EQ(value(" n "), 7);
  EXPECT_EQ(value("1+n*size"), 15);
  EXPECT_EQ(value("(1+n)*size"), 16);
  EXPECT_EQ(value("n/size"), 3);
  EXPECT_EQ(value("n%size"), 1);
  EXPECT_EQ(value("20/2/5"), 2);
  EXPECT_EQ(value("10-3-2"), 5);
  EXPECT_EQ(value("-n+10"), 3);
  EXPECT_EQ(value("2*-3"), -6);
}

TEST(Expression, RefusesWhatItCannotRead) {
  for (const char* const text :
       {"", " ", "1+", "(1", "1)", "1 2", "n n", "a.b", "1//2", "*2", "99999999999999999999"}) {
    EXPECT_THROW(value(text), ExpressionError) << text;
  }
  EXPECT_THROW(Expression(std::string(1000, '(')), ExpressionError);
  EXPECT_THROW(Expression(std::string(1000, '-') + "1"), ExpressionError);
}

TEST(Expression, HasSoManyParenthesesOrSignsInOneAnother) {
  const auto nested = [](size_t depth) { return std::string(depth, '(') + "n" + std::string(depth, ')'); };
  constexpr auto kMost = static_cast<size_t>(Expression::kMostDepth);
  EXPECT_EQ(value(nested(kMost)), 7);
  EXPECT_THROW(value(nested(kMost + 1)), ExpressionError);
  EXPECT_EQ(value(std::string(kMost, '-') + "n"), 7);
  EXPECT_THROW(value(std::string(kMost + 1, '-') + "n"), ExpressionError);
}

TEST(Expression, SaysWhyItHasNoValue) {
  for (const char* const text : {"n/zero", "n%zero", "most+1", "most*2", "unknown"}) {
    EXPECT_THROW(value(text), ExpressionError) << text;
  }
}

TEST(Expression, NamesItsParametersOnce) {
  EXPECT_EQ(Expression("n*(size+n)").names(), (std::vector<std::string>{"n", "size"}));
}

TEST(SplitList, CutsOutsideParentheses) {
  EXPECT_EQ(split_list(" a, (b,c) ,d", ','), (std::vector<std::string>{"a", "(b,c)", "d"}));
}

}  // namespace
}  // namespace tailrace::damaris
