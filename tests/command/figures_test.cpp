// The figures of jobs and statistics: clients of one server are put together, and what is no list of figures is
// refused. tests/python/figures has the messages.
#include "command/inspect/figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tailrace::impl {
namespace {

OrderedJson changed(OrderedJson of, const OrderedJson& changes) {
  of.update(changes);
  return of;
}

const OrderedJson kSizes = {{"count", 1}, {"bytes", 2}, {"most", 2}, {"histogram", {{2, 1}}}};
const OrderedJson kFile = {{"kind", "raw"},
                           {"path", "a"},
                           {"writes", 1},
                           {"bytes_written", 2},
                           {"reads", 0},
                           {"bytes_read", 0},
                           {"requests_merged", 0},
                           {"bytes_overwritten", 0},
                           {"bytes_from_memory", 0},
                           {"bytes_sieved", 0},
                           {"before", kSizes},
                           {"after", kSizes}};
const OrderedJson kIteration = {
    {"iteration", 0},       {"outcome", "published"}, {"begun", 1.0},        {"ended", 2.0},
    {"left", 3.0},          {"period", 4.0},          {"busy", 1.0},         {"writing", 0.5},
    {"filtering", 0.0},     {"waited", 0.0},          {"bytes_taken", 1024}, {"bytes_stored", 1024},
    {"chunks_filtered", 0}, {"chunks_relaxed", 0},    {"chunks_skipped", 0}};

OrderedJson list_of(const std::vector<OrderedJson>& all) { return all; }

std::string shown(const auto& show) {
  testing::internal::CaptureStdout();
  show();
  return testing::internal::GetCapturedStdout();
}

TEST(Figures, OfSeveralClientsTheCallsAreAddedAndTheServerCountsOnce) {
  const OrderedJson seen = changed(
      kFile, {{"writes", 2}, {"requests_merged", 4}, {"before", changed(kSizes, {{"count", 9}, {"bytes", 9216}})}});
  const std::vector<OrderedJson> lists = {
      list_of({kFile}), list_of({changed(kFile, {{"writes", 5}, {"requests_merged", 3}})}), list_of({seen})};
  for (const OrderedJson& list : lists) EXPECT_EQ(fault_of_files(list), "");
  const std::string text = shown([&] { show_files(lists); });
  const std::string line = text.substr(text.find("\na ") + 1);
  EXPECT_EQ(line.substr(0, line.find(" B")), "a     8       6") << text;
  EXPECT_NE(line.find("9 of 1 KiB"), std::string::npos) << text;
  EXPECT_NE(text.find("sizes in a, before and after merging:"), std::string::npos) << text;
}

TEST(Figures, AnIterationIsOpenUntilItIsForAllClients) {
  const std::vector<OrderedJson> lists = {
      list_of({kIteration,
               changed(kIteration, {{"iteration", 1}, {"begun", 5.0}, {"outcome", "open"}, {"left", nullptr}})}),
      list_of({changed(kIteration, {{"iteration", 1}, {"begun", 5.1}, {"waited", 0.25}})})};
  for (const OrderedJson& list : lists) EXPECT_EQ(fault_of_iterations(list), "");
  const std::string text = shown([&] { show_iterations(lists, "the core"); });
  const std::string line = text.substr(text.find("\n1 ") + 1);
  EXPECT_NE(line.find("open"), std::string::npos) << text;
  EXPECT_NE(line.find("2 KiB"), std::string::npos) << text;
  EXPECT_NE(line.find("250 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("the core was busy 25 % of an iteration, 25 % the worst (iteration 0)\n"), std::string::npos)
      << text;
}

TEST(Figures, OnlyTheLatestAreShown) {
  OrderedJson list = OrderedJson::array();
  for (int number = 0; number < 12; ++number) {
    list.push_back(changed(kIteration, {{"iteration", number}, {"begun", number}}));
  }
  const std::string text = shown([&] { show_iterations({list}, "the writer"); });
  EXPECT_TRUE(text.starts_with("the latest 8 of 12 iterations:\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11) << text;
}

TEST(Figures, NothingIsShownOfNothing) {
  EXPECT_EQ(shown([] { show_files({}); }), "");
  EXPECT_EQ(shown([] { show_iterations({OrderedJson::array()}, "the core"); }), "");
}

TEST(Figures, HostileNumbersAreRefused) {
  for (const char* wrong : {"-1", "1e999", "1e31", "true", "\"1\"", "null", "[]", "{}"}) {
    const OrderedJson value = OrderedJson::parse(wrong, nullptr, false);
    if (value.is_discarded()) continue;  // no JSON
    EXPECT_NE(fault_of_files(list_of({changed(kFile, {{"writes", value}})})), "") << wrong;
    EXPECT_NE(fault_of_iterations(list_of({changed(kIteration, {{"busy", value}})})), "") << wrong;
  }
}

}  // namespace
}  // namespace tailrace::impl
