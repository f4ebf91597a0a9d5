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

TEST(ClientSettings, ATextHasWordsOfTheClientAndOfTheDoor) {
  ClientSettings settings;
  std::string own;
  const auto read = [&](const std::string& text) {
    return read_settings(text, settings, "trace=FILE", [&](const std::string& key, const std::string& value) {
      own += key + value + ";";
      return key == "trace=" || key == "relaxed";
    });
  };
  EXPECT_EQ(read("place=core trace=a=b relaxed summary trace="), "");
  EXPECT_EQ(own, "trace=a=b;relaxed;trace=;");
  EXPECT_EQ(settings.place, "core");
  EXPECT_TRUE(settings.summary);
  EXPECT_EQ(read("place=moon").find("found 'place=moon', expected config=FILE, "), 0u);
  EXPECT_TRUE(read("relaxed=").ends_with("key=FILE, trace=FILE or summary")) << "no word of the door";
  EXPECT_NE(read("%zz"), "");
  EXPECT_EQ(read("key=a.key"), "found key without forward=HOST:PORT");
  EXPECT_EQ(read("forward=one:1"), "");
  settings.key.clear();
  EXPECT_EQ(read("summary"), "found forward without key=FILE");
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
