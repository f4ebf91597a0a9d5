// Descriptions in XML: what is read, what is told of names without an effect, and how errors read.
#include "damaris/xml/reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/damaris/descriptions.hpp"

namespace tailrace::damaris {
namespace {

using Parts = std::vector<std::string>;

const std::string kParameters =
    "<parameter name=\"W\" type=\"int\" value=\"16\"/><parameter name=\"size\" type=\"int\" value=\"4\"/>\n"
    "<parameter name=\"dt\" type=\"double\" value=\"0.5\"/>\n";

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<std::string> warnings_of(const std::string& text) {
  Report report("sim.xml");
  (void)read_model(text, report);
  return report.warnings();
}

TEST(Reader, ReadsVariablesOfGroups) {
  const Model model = read(description(
      kParameters + "<layout name=\"row\" type=\"double\" dimensions=\"W/size\" global=\"W\" ghosts=\"1:2\"/>\n"
                    "<group name=\"a\" store=\"s\"><layout name=\"own\" type=\"int\" dimensions=\"3,W\"/>"
                    "<group name=\"b\"><variable name=\"t\" layout=\"row\" unit=\"K\" time-varying=\"false\"/>"
                    "<variable name=\"u\" layout=\"own\" enabled=\"false\"/></group>"
                    "<variable name=\"v\" layout=\"a/own\" store=\"#\"/></group>\n",
      "<storage><store name=\"s\" type=\"HDF5\"><option key=\"FileMode\">Collective</option>"
      "<option key=\"FilesPath\"> out/run_ </option></store></storage>"));
  ASSERT_EQ(model.variables.size(), 3U);
  EXPECT_EQ(model.variables[0].name, "a/b/t");
  EXPECT_EQ(model.variables[0].store, 0U);
  EXPECT_FALSE(model.variables[0].time_varying);
  EXPECT_EQ(model.layouts[model.variables[0].layout].name, "row");
  EXPECT_EQ(model.layouts[model.variables[1].layout].name, "a/own");
  EXPECT_FALSE(model.variables[1].enabled);
  EXPECT_EQ(model.variables[2].store, std::nullopt);
  EXPECT_EQ(model.stores[0].mode, FileMode::collective);
  EXPECT_EQ(model.stores[0].path, "out/run_");
  EXPECT_EQ(model.architecture.buffer, 1048576U);
}

TEST(Reader, TurnsLayoutsOfFortranRound) {
  const Model model =
      read(description(kParameters +
                       "<layout name=\"f\" language=\"fortran\" type=\"real\" dimensions=\"2,3\" global=\"4,5\" "
                       "ghosts=\"1:0,0:2\"/>"));
  const auto none = [](const std::string&) { return std::optional<int64_t>(); };
  const Layout& layout = model.layouts[0];
  EXPECT_EQ(layout.dimensions[0].value(none), 3);
  EXPECT_EQ(layout.global[0].value(none), 5);
  EXPECT_EQ(layout.ghosts[0].second.value(none), 2);
  EXPECT_EQ(layout.ghosts[1].first.value(none), 1);
}

TEST(Reader, WarnsOfNamesWithoutEffect) {
  const std::vector<std::string> warnings = warnings_of(
      description(kParameters + "<layout name=\"l\" type=\"int\" dimensions=\"W\" ghost=\"0:0\" comment=\"…\"/>\n"
                                "<variabel name=\"x\" layout=\"l\"/>\n"
                                "<variable name=\"y\" layout=\"l\" mesh=\"msh\"/>",
                  "<visit/>\n<logs/>\n"));
  ASSERT_EQ(warnings.size(), 5U);
  EXPECT_PRED2(contains, warnings[0], (Parts{"sim.xml:", "<logs>"}));
  EXPECT_PRED2(contains, warnings[1], (Parts{"sim.xml:9:", "<variabel name='x'>", "did you mean 'variable'?"}));
  EXPECT_PRED2(contains, warnings[2], (Parts{"sim.xml:8:", "'ghost'", "'ghosts'?"}));
  EXPECT_PRED2(contains, warnings[3], (Parts{"sim.xml:10:", "no mesh 'msh'"}));
  EXPECT_PRED2(contains, warnings[4], (Parts{"<visit>"}));
}

TEST(Reader, RefusesOnlyWhatIsToBeStoredOfTexts) {
  const std::string text = description(
      "<layout name=\"l\" type=\"string\" dimensions=\"12\"/><layout name=\"m\" type=\"label\" dimensions=\"1\"/>\n"
      "<variable name=\"free\" layout=\"l\"/><variable name=\"off\" layout=\"l\" store=\"s\" enabled=\"false\"/>"
      "<variable name=\"null\" layout=\"m\" store=\"n\"/>\n"
      "<variable name=\"stored\" layout=\"m\" store=\"s\"/>\n<variable name=\"seen\" layout=\"l\" script=\"p\"/>",
      "<storage><store name=\"s\" type=\"HDF5\"/><store name=\"n\" type=\"null\"/></storage>"
      "<scripts><pyscript name=\"p\" file=\"p.py\"/></scripts>");
  const Model model = read(text);
  ASSERT_EQ(model.variables.size(), 5U);
  for (const Variable& one : model.variables) {
    EXPECT_EQ(one.refused, one.name == "stored" || one.name == "seen") << one.name;
  }
  EXPECT_EQ(model.variables[3].store, std::nullopt);
  EXPECT_EQ(model.variables[4].script, "");
  const std::vector<std::string> warnings = warnings_of(text);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_PRED2(contains, warnings[0], (Parts{"<variable name='stored'>", "its blocks are refused"}));
  EXPECT_PRED2(contains, warnings[1], (Parts{"<variable name='seen'>"}));
}

TEST(Reader, SaysWhereWhatWasFoundAndExpected) {
  EXPECT_PRED2(
      contains, error_of(description(kParameters + "<layout name=\"l\" type=\"flaot\" dimensions=\"W\"/>")),
      (Parts{"sim.xml:8: <layout name='l'> type: found 'flaot', expected short, int,", "did you mean 'float'?"}));
  EXPECT_PRED2(contains, error_of(description("<layout name=\"l\" type=\"int\" dimensions=\"V\"/>")),
               (Parts{"found the name 'V', expected an integer parameter"}));
  EXPECT_PRED2(contains, error_of(description(kParameters + "<layout name=\"l\" type=\"int\" dimensions=\"dt\"/>")),
               (Parts{"the name 'dt', expected an integer parameter"}));
  EXPECT_PRED2(contains, error_of(description("<layout name=\"l\" type=\"int\" dimensions=\"2,3\" global=\"2\"/>")),
               (Parts{"global: found 1 items, expected 2, as 'dimensions' has"}));
  EXPECT_PRED2(contains, error_of(description("<layout name=\"l\" type=\"int\" dimensions=\"2*\"/>")),
               (Parts{"'2*', which ends too early"}));
  EXPECT_PRED2(contains, error_of(description("<variable name=\"v\" layout=\"l\"/>")),
               (Parts{"found 'l', expected the name of a layout, and there is none"}));
  EXPECT_PRED2(contains,
               error_of(description("<layout name=\"l\" type=\"int\" dimensions=\"2\"/>"
                                    "<variable name=\"v\" layout=\"l\" store=\"MyStor\"/>",
                                    "<storage><store name=\"MyStore\" type=\"HDF5\"/></storage>")),
               (Parts{"did you mean 'MyStore'?"}));
  EXPECT_PRED2(contains, error_of(description("<parameter name=\"p\" type=\"short\" value=\"40000\"/>")),
               (Parts{"found '40000', expected an integer of 16 bits"}));
  EXPECT_PRED2(contains,
               error_of(description("",
                                    "<storage><store name=\"s\" type=\"HDF5\"><option key=\"FileMode\">"
                                    "FilePerCor</option></store></storage>")),
               (Parts{"found 'FilePerCor', expected FilePerCore or Collective; did you mean 'FilePerCore'?"}));
  EXPECT_PRED2(contains, error_of("<simulation name=\"x\"><data/></simulation>"), (Parts{"found no <architecture>"}));
  EXPECT_PRED2(contains, error_of("<model/>"), (Parts{"expected <simulation>"}));
  EXPECT_PRED2(contains, error_of("<simulation"), (Parts{"sim.xml:1: expected XML"}));
}

TEST(Reader, ReportsAllErrors) {
  const std::string errors =
      error_of(description("<parameter name=\"p\" type=\"int\" value=\"x\"/>\n"
                           "<parameter name=\"p\" type=\"int\" value=\"1\"/>\n"
                           "<layout type=\"int\" dimensions=\"1\"/>"));
  EXPECT_PRED2(contains, errors, (Parts{"'x'", "a second one of the name 'p'", "no such attribute"}));
}

TEST(Reader, ReadsEventsAndScripts) {
  const Model model = read(
      description("",
                  "<actions><event name=\"e\" action=\"f\" library=\"l.so\" scope=\"group\"/>"
                  "<event name=\"h\" action=\"g\" execution=\"local\"/></actions>"
                  "<scripts><pyscript name=\"p\" file=\"p.py\" language=\"python\" frequency=\"2\"/></scripts>"));
  ASSERT_EQ(model.events.size(), 2U);
  EXPECT_EQ(model.events[0].scope, Scope::group);
  EXPECT_TRUE(model.events[1].local);
  ASSERT_EQ(model.scripts.size(), 1U);
  EXPECT_EQ(model.scripts[0].frequency, 2);
}

TEST(Reader, ReadsSoManyGroupsInOneAnother) {
  const auto nested = [](int depth) {
    std::string begin;
    std::string end;
    for (int i = 0; i < depth; ++i) {
      begin += "<group name=\"g" + std::to_string(i) + "\">";
      end += "</group>";
    }
    return description("<layout name=\"l\" type=\"int\" dimensions=\"2\"/>" + begin +
                       "<variable name=\"v\" layout=\"l\"/>" + end);
  };
  EXPECT_EQ(error_of(nested(64)), "");
  EXPECT_NE(error_of(nested(65)).find("found more than 64 groups in one another"), std::string::npos);
}

TEST(Reader, ReadsSoManyVariablesTimesDomains) {
  for (const size_t count : {size_t{16000}, size_t{16001}}) {
    std::string data = "<layout name=\"l\" type=\"int\" dimensions=\"2\"/>";
    for (size_t i = 0; i < count; ++i) data += "<variable name=\"v" + std::to_string(i) + "\" layout=\"l\"/>";
    const std::string error = error_of(description(data));
    EXPECT_EQ(error.empty(), count == 16000) << error.substr(0, 200);
    if (!error.empty()) {
      EXPECT_NE(error.find("found 16001 blocks, variables times domains, expected at most 16000"), std::string::npos)
          << error.substr(0, 200);
    }
  }
}

TEST(Report, KeepsSoManyProblemsAndForgetsNoError) {
  constexpr size_t kMostProblems = 200;
  Report report("sim.xml");
  for (size_t i = 0; i <= kMostProblems; ++i) report.warn(i, "has no effect");
  EXPECT_EQ(report.warnings().size(), kMostProblems);
  EXPECT_TRUE(report.ok());
  report.wrong(1, "data", "this", "that", "");
  EXPECT_FALSE(report.ok());
  EXPECT_THROW(report.check(), Error);
}

}  // namespace
}  // namespace tailrace::damaris
