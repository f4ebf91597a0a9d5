// Configurations of tailrace for the stores of a description.
#include "damaris/output/configuration.hpp"

#include <gtest/gtest.h>

#include "tests/damaris/descriptions.hpp"

namespace tailrace::damaris {
namespace {

Model model(const std::string& mode, int domains) {
  return read(
      description("<parameter name=\"n\" type=\"int\" value=\"6\"/>"
                  "<layout name=\"l\" type=\"long\" dimensions=\"n,2\" global=\"2*n,2\" ghosts=\"1:1,0:0\"/>"
                  "<group name=\"g\"><variable name=\"x\" layout=\"l\" store=\"s\"/>"
                  "<variable name=\"seen\" layout=\"l\"/></group>",
                  "<storage><store name=\"s\" type=\"HDF5\"><option key=\"FileMode\">" + mode +
                      "</option><option key=\"FilesPath\">out/a_</option></store></storage>",
                  domains));
}

using Parts = std::vector<std::string>;

TEST(Configuration, NamesDatasetsOfEachClientAndDomain) {
  const std::string text = configuration_of(model("FilePerCore", 2), {});
  EXPECT_PRED2(contains, text, (Parts{"file_per: node", "\"a_sim_It{iteration}_Pr{node}.h5\"", "path: \"out\""}));
  EXPECT_PRED2(contains, text, (Parts{"dataset: \"g/x/P{client}/B1\"", "g_x_b0_n0: 4"}));
  EXPECT_FALSE(contains(text, {"global"}) || contains(text, {"seen"}));
}

TEST(Configuration, JoinsBlocksOfAFileForAll) {
  const std::string text = configuration_of(model("Collective", 1), {});
  EXPECT_PRED2(contains, text, (Parts{"file_per: job", "\"a_sim_It{iteration}.h5\"", "dataset: \"g/x\""}));
  EXPECT_PRED2(contains, text, (Parts{"g_x_whole0: 12", "global: [g_x_whole0, g_x_whole1]"}));
}

TEST(Configuration, KeepsNamesApart) {
  const Model two =
      read(description("<layout name=\"l\" type=\"int\" dimensions=\"2\"/>"
                       "<variable name=\"a_b\" layout=\"l\" store=\"s\"/><group name=\"a\">"
                       "<variable name=\"b\" layout=\"l\" store=\"s\"/></group>",
                       "<storage><store name=\"s\" type=\"HDF5\"/></storage>"));
  const std::vector<StoredBlock> blocks = blocks_of(two, 0);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_NE(blocks[0].name, blocks[1].name);
}

}  // namespace
}  // namespace tailrace::damaris
