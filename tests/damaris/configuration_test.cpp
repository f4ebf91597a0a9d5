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

TEST(Configuration, DescribesMeshesOfXdmfFiles) {
  const Model with_mesh = read(description(
      "<layout name=\"l\" type=\"int\" dimensions=\"3\"/><layout name=\"f\" type=\"int\" dimensions=\"3,3\"/>"
      "<group name=\"g\"><mesh name=\"m\" type=\"rectilinear\"><coord name=\"x\"/><coord name=\"g/y\"/></mesh>"
      "<variable name=\"x\" layout=\"l\" store=\"s\" visualizable=\"false\"/>"
      "<variable name=\"y\" layout=\"l\" store=\"s\"/></group>"
      "<variable name=\"t\" layout=\"f\" mesh=\"m\" store=\"s\" centering=\"nodal\"/>",
      "<storage><store name=\"s\" type=\"HDF5\"><option key=\"XDMFMode\">FirstIteration</option></store>"
      "</storage>",
      2));
  const std::string text = configuration_of(with_mesh, {});
  EXPECT_PRED2(contains, text, (Parts{"xdmf: first", "g_m_b1: {kind: rectilinear, coordinates: [g_x_b1, g_y_b1]"}));
  EXPECT_PRED2(contains, text, (Parts{"variables: [t_b1]}", "dataset: \"g/x/P{client}/B0\", xdmf: off"}));
  EXPECT_PRED2(contains, text, (Parts{"dataset: \"g/y/P{client}/B0\", xdmf: cell", "origin: [t_b0_at0, t_b0_at1]"}));
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
