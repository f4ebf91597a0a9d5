// The words that set a door's settings.
#include "process_client/client_settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "process_client/words.hpp"

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
  const std::pair<const char*, uint64_t> sizes[] = {{"budget=1GiB", uint64_t{1} << 30},
                                                    {"budget=1.5MiB", uint64_t{3} << 19},
                                                    {"budget=2kB", 2000},
                                                    {"budget=7B", 7}};
  for (const auto& [word, bytes] : sizes) {
    EXPECT_EQ(read_word(word, settings), std::optional(true)) << word;
    EXPECT_EQ(settings.budget, bytes) << word;
  }
  EXPECT_EQ(read_word("config=io.yaml", settings), std::optional(true));
  EXPECT_EQ(settings.config, "io.yaml");
}

TEST(ClientSettings, WrongValuesAreRefusedAndOtherWordsLeftToTheDoor) {
  ClientSettings settings;
  for (const char* word : {"place=moon",        "place=",     "budget=0",        "budget=4k",
                           "budget=",           "budget=1.5", "budget=1GIB",     "budget=-1",
                           "budget=9999999TiB", "budget=GiB", "budget=1.5.1MiB", "cpus=2KiB",
                           "config=",           "place",      "cpus=",           "cpus=1,",
                           "cpus=,1",           "cpus=one",   "cpus=-1",         "cpus=9999999"}) {
    EXPECT_EQ(read_word(word, settings), std::optional(false)) << word;
  }
  for (const char* word : {"smallest=1", "summary=1", "", "="}) {
    EXPECT_EQ(read_word(word, settings), std::nullopt) << word;
  }
}

TEST(ClientSettings, PathsKeepTheirLetters) {
  ClientSettings settings;
  EXPECT_EQ(read_word("forward=one:1,[::1]:2", settings), std::optional(true));
  EXPECT_EQ(read_word("key=/a b/it's \"q\"\\\n", settings), std::optional(true));
  EXPECT_NE(settings.configuration("io").find(
                "forward: {servers: [\"one:1\", \"[::1]:2\"], key: \"/a b/it's \\\"q\\\"\\\\\\x0a\"}\n"),
            std::string::npos)
      << settings.configuration("io");
}

TEST(Words, AreDividedAtBlanksAndDecoded) {
  std::vector<std::string> words;
  EXPECT_EQ(split_words("  place=core\tkey=/a%20b/%27%22%25%0A  summary ", words), "");
  EXPECT_EQ(words, (std::vector<std::string>{"place=core", "key=/a b/'\"%\n", "summary"}));
}

TEST(Words, ThatAreQuotedWronglyAreNamed) {
  for (const char* wrong : {"key=%", "key=100%", "key=%2", "key=%zz", "key=%0x", "key=%-1", "key=%00", "%"}) {
    std::vector<std::string> words;
    EXPECT_EQ(
        split_words(std::string("summary ") + wrong, words).find("found '" + std::string(wrong) + "', expected"), 0U)
        << wrong;
  }
}

}  // namespace
}  // namespace tailrace::process
