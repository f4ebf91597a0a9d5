// The words that set a door's settings.
#include "process_client/client_settings.hpp"

#include <gtest/gtest.h>

namespace tailrace::process {
namespace {

TEST(ClientSettings, WordsSetThem) {
  ClientSettings settings;
  for (const char* word : {"place=core", "budget=4096", "summary"}) {
    EXPECT_EQ(read_word(word, settings), std::optional(true)) << word;
  }
  EXPECT_EQ(settings.place, "core");
  EXPECT_EQ(settings.budget, 4096u);
  EXPECT_TRUE(settings.summary);
  EXPECT_EQ(settings.configuration("io").find("cpus"), std::string::npos);
  EXPECT_EQ(read_word("cpus=3,12", settings), std::optional(true));
  EXPECT_NE(settings.configuration("io").find("place: {kind: core, cpus: [3, 12]}"), std::string::npos);
  EXPECT_EQ(read_word("config=io.yaml", settings), std::optional(true));
  EXPECT_EQ(settings.config, "io.yaml");
}

TEST(ClientSettings, WrongValuesAreRefusedAndOtherWordsLeftToTheDoor) {
  ClientSettings settings;
  for (const char* word : {"place=moon", "place=", "budget=0", "budget=4k", "budget=", "config=", "place",
                           "cpus=", "cpus=1,", "cpus=,1", "cpus=one", "cpus=-1", "cpus=9999999"}) {
    EXPECT_EQ(read_word(word, settings), std::optional(false)) << word;
  }
  for (const char* word : {"smallest=1", "summary=1", "", "="}) {
    EXPECT_EQ(read_word(word, settings), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace tailrace::process
