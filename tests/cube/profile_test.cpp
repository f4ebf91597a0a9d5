// Anchors: what is read of them, what is kept when they are written, and where mistakes are.
#include "cube/profile/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cube/archive/archive.hpp"
#include "cube/archive/rows.hpp"
#include "testing/dice.hpp"
#include "testing/seeds.hpp"
#include "tests/cube/archives.hpp"

namespace tailrace::cube {
namespace {

// ---- the call tree ------------------------------------------------------------------------------------------

std::vector<CallPath> random_paths(uint64_t seed) {
  impl::Dice dice(seed);
  std::vector<CallPath> paths;
  std::vector<int32_t> open;
  const bool deep = dice.chance(30);
  for (uint64_t left = dice.below(200); left > 0; --left) {
    while (!open.empty() && dice.chance(deep ? 5 : 50)) open.pop_back();
    CallPath path;
    path.id = static_cast<uint32_t>(1000 + paths.size());
    path.parent = open.empty() ? -1 : open.back();
    open.push_back(static_cast<int32_t>(paths.size()));
    paths.push_back(path);
  }
  return paths;
}

std::vector<uint32_t> children_of(const std::vector<CallPath>& paths, int32_t parent) {
  std::vector<uint32_t> children;
  for (uint32_t path = 0; path < paths.size(); ++path) {
    if (paths[path].parent == parent) children.push_back(path);
  }
  return children;
}

// Numbers the children of each call path together, before it descends into each.
void number_widely(const std::vector<CallPath>& paths, uint32_t path, std::vector<uint32_t>& order) {
  const std::vector<uint32_t> children = children_of(paths, static_cast<int32_t>(path));
  order.insert(order.end(), children.begin(), children.end());
  for (const uint32_t child : children) number_widely(paths, child, order);
}

uint32_t size_below(const std::vector<CallPath>& paths, uint32_t path) {
  uint32_t size = 1;
  for (const uint32_t child : children_of(paths, static_cast<int32_t>(path))) size += size_below(paths, child);
  return size;
}

TEST(CubeCallTree, HasTheOrdersOfAPlainModel) {
  impl::for_seeds(100, [](uint64_t seed) {
    const std::vector<CallPath> paths = random_paths(seed);
    const CallTree tree(paths);
    std::vector<uint32_t> wide;
    for (const uint32_t root : children_of(paths, -1)) {
      wide.push_back(root);
      number_widely(paths, root, wide);
    }
    ASSERT_EQ(tree.size(), paths.size());
    for (uint32_t path = 0; path < paths.size(); ++path) {
      ASSERT_EQ(tree.by_wide_id(path), wide[path]);
      ASSERT_EQ(tree.wide_id(wide[path]), path);
      ASSERT_EQ(tree[path].children, children_of(paths, static_cast<int32_t>(path)));
      ASSERT_EQ(tree[path].end, path + size_below(paths, path));
    }
  });
}

// ---- reading ------------------------------------------------------------------------------------------------

constexpr const char* kAnchor = R"(<?xml version="1.0" encoding="UTF-8"?>
<!-- of a test -->
<cube version="4.4">
<attr key="Creator" value="a &amp; b"/>
<doc><mirrors><murl>http://one/</murl><murl>http://two/</murl></mirrors></doc>
<metrics>
 <metric id="4" type="INCLUSIVE" viztype="NORMAL"><disp_name>Time</disp_name><uniq_name> time </uniq_name>
  <dtype>DOUBLE</dtype><uom>sec</uom><url>u</url><descr>d &lt; e</descr>
  <metric id="7" type="PREDERIVED_EXCLUSIVE" viztype="GHOST"><uniq_name>mpi</uniq_name><dtype>FLOAT</dtype>
   <cubepl rowwise="false">
    metric::time(e) &lt; 1 and 2 < 3 && "&quot;"</cubepl>
   <cubeplinit>{ ${a} = 1; }</cubeplinit>
   <cubeplaggr cubeplaggrtype="plus">max(arg1, arg2)</cubeplaggr>
   <cubeplaggr cubeplaggrtype="minus">arg1</cubeplaggr>
   <cubeplaggr cubeplaggrtype="aggr">arg2</cubeplaggr></metric>
 </metric>
 <metric id="0" type="POSTDERIVED" viztype="VOID"><uniq_name>last</uniq_name><dtype>DOUBLE</dtype>
  <cubepl><![CDATA[1 < 2]]></cubepl></metric>
</metrics>
<program>
 <region id="5" mod="a.c" begin="3" end="9"><name>main</name><mangled_name>_main</mangled_name>
  <paradigm>user</paradigm><role>function</role><url>v</url><descr>w</descr></region>
 <region id="2" mod="MPI"><name>MPI_Send</name></region>
 <cnode id="10" calleeId="5">
  <parameter partype="string" parkey="who" parvalue="me"/><parameter partype="numeric" parkey="n" parvalue="12"/>
  <cnode id="30" calleeId="2"/><cnode id="20" calleeId="2"></cnode></cnode>
 <cnode id="1" calleeId="2"/>
</program>
<system><systemtreenode Id="0"><name>all</name><class>machine</class>
 <systemtreenode Id="1"><name>n1</name><class>node</class>
  <locationgroup Id="0"><name>Rank 3</name><rank>3</rank><type>process</type>
   <location Id="2"><name>t1</name><rank>1</rank><type>thread</type></location>
   <location Id="0"><name>t0</name><rank>0</rank><type>thread</type></location></locationgroup></systemtreenode>
</systemtreenode>
<topologies><cart name="c" ndims="1"><dim size="2" periodic="false"/></cart></topologies></system>
</cube>
)";

TEST(CubeProfile, HasTheMetricsOfAnAnchor) {
  const Profile profile = read_anchor(kAnchor, "anchor.xml");
  ASSERT_EQ(profile.metrics.size(), 3u);
  const Metric& time = profile.metrics[0];
  EXPECT_EQ(time.id, 4u);
  EXPECT_EQ(time.parent, -1);
  EXPECT_EQ(time.kind, Metric::Kind::inclusive);
  EXPECT_EQ(time.unique_name, "time");
  EXPECT_EQ(time.display_name, "Time");
  EXPECT_EQ(time.data_type, "DOUBLE");
  EXPECT_EQ(time.unit, "sec");
  EXPECT_EQ(time.url, "u");
  EXPECT_EQ(time.description, "d < e");
  EXPECT_FALSE(time.derived());
  const Metric& mpi = profile.metrics[1];
  EXPECT_EQ(mpi.parent, 0);
  EXPECT_EQ(mpi.visibility, Metric::Visibility::ghost);
  EXPECT_EQ(mpi.expression.text, "\n    metric::time(e) < 1 and 2 < 3 && \"\"\"");
  EXPECT_EQ(mpi.expression.line, 10u);
  EXPECT_FALSE(mpi.rowwise);
  EXPECT_EQ(mpi.init.text, "{ ${a} = 1; }");
  EXPECT_EQ(mpi.init.line, 12u);
  EXPECT_EQ(mpi.plus.text, "max(arg1, arg2)");
  EXPECT_EQ(mpi.minus.text, "arg1");
  EXPECT_EQ(mpi.aggregate.text, "arg2");
  const Metric& last = profile.metrics[2];
  EXPECT_EQ(last.parent, -1);
  EXPECT_EQ(last.kind, Metric::Kind::postderived);
  EXPECT_EQ(last.visibility, Metric::Visibility::hidden);
  EXPECT_EQ(last.expression.text, "1 < 2");
  EXPECT_TRUE(last.rowwise);
  EXPECT_EQ(profile.find_metric("mpi"), &profile.metrics[1]);
  EXPECT_EQ(profile.find_metric("none"), nullptr);
}

TEST(CubeProfile, HasTheProgramOfAnAnchor) {
  const Profile profile = read_anchor(kAnchor, "anchor.xml");
  EXPECT_EQ(profile.attributes, (std::vector<std::pair<std::string, std::string>>{{"Creator", "a & b"}}));
  EXPECT_EQ(profile.mirrors, (std::vector<std::string>{"http://one/", "http://two/"}));
  ASSERT_EQ(profile.regions.size(), 2u);
  const Region& main = profile.regions[0];
  EXPECT_EQ(main.id, 5u);
  EXPECT_EQ(main.name + main.mangled_name + main.module + main.paradigm + main.role + main.url + main.description,
            "main_maina.cuserfunctionvw");
  EXPECT_EQ(main.begin, 3);
  EXPECT_EQ(main.end, 9);
  EXPECT_EQ(profile.regions[1].begin, -1);
  std::vector<std::pair<uint32_t, uint32_t>> paths;  // ids, regions
  for (const CallPath& path : profile.tree.paths()) paths.emplace_back(path.id, path.region);
  EXPECT_EQ(paths, (std::vector<std::pair<uint32_t, uint32_t>>{{10, 0}, {30, 1}, {20, 1}, {1, 1}}));
  EXPECT_EQ(profile.tree[0].children, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(profile.tree[0].parameters,
            (std::vector<std::pair<std::string, std::string>>{{"who", "me"}, {"n", "12"}}));
}

TEST(CubeProfile, HasTheSystemOfAnAnchor) {
  const Profile profile = read_anchor(kAnchor, "anchor.xml");
  ASSERT_EQ(profile.nodes.size(), 2u);
  EXPECT_EQ(profile.nodes[1].parent, 0);
  EXPECT_EQ(profile.nodes[1].kind, "node");
  ASSERT_EQ(profile.groups.size(), 1u);
  EXPECT_EQ(profile.groups[0].node, 1u);
  EXPECT_EQ(profile.groups[0].rank, 3);
  ASSERT_EQ(profile.locations.size(), 2u);
  EXPECT_EQ(profile.locations[0].name, "t0");  // in the order of the ids
  EXPECT_EQ(profile.locations[1].id, 2u);
  EXPECT_EQ(profile.locations[1].rank, 1);
  EXPECT_EQ(profile.locations[1].type, "thread");
}

// Returns the anchor of a test with one part of its text replaced.
std::string altered(const std::string& from, const std::string& to) {
  std::string text = kAnchor;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CubeProfile, MistakesHaveTheirLine) {
  const std::vector<std::array<std::string, 3>> kMistakes = {
      {"</mirrors>", "</mirror>", "x:5: expected XML: Start-end tags mismatch, column 65"},
      {"&& \"&quot;\"</cubepl>", "&& 1</cubepl><b></c>", "x:11: expected XML: Start-end tags mismatch, column 56"},
      {"id=\"4\"", "id=\"four\"", "x:7: <metric>: expected a number for id, found \"four\""},
      {"id=\"7\"", "id=\"4\"", "x: expected metrics of different ids, found two of id 4"},
      {"<uniq_name>mpi", "<uniq_name>time", "x:9: <metric>: expected unique names, found two metrics time"},
      {"<uniq_name>mpi</uniq_name>", "", "x:9: <metric>: expected a <uniq_name>"},
      {"type=\"INCLUSIVE\"", "type=\"ODD\"", "x:7: <metric>: expected a type such as EXCLUSIVE"},
      {"region id=\"2\"", "region id=\"5\"", "x:23: <region>: expected regions of different ids, found two of id 5"},
      {"region id=\"2\"", "region", "x:23: <region>: expected an attribute id"},
      {"id=\"1\" calleeId=\"2\"", "id=\"1\" calleeId=\"3\"",
       "x:27: <cnode>: expected the id of a region for calleeId, found 3"},
      {"cnode id=\"20\"", "cnode id=\"10\"",
       "x:26: <cnode>: expected call paths of different ids, found two of id 10"},
      {"cnode id=\"20\"", "cnode id=\"-1\"", "x:26: <cnode>: expected a number for id, found \"-1\""},
      {"location Id=\"2\"", "location Id=\"0\"",
       "x:33: <location>: expected locations of different Ids, found two of 0"},
      {"<system>", "<system><machine/>", "x:29: <system>: expected <systemtreenode>, found <machine>"},
      {"</cube>", "", "x:36: expected XML: "},
  };
  for (const auto& [from, to, message] : kMistakes) EXPECT_ERROR(read_anchor(altered(from, to), "x"), message);
  EXPECT_ERROR(read_anchor("<other/>", "x"), "x: expected an element <cube>, found none");
  EXPECT_ERROR(read_anchor("", "x"), "x:1: expected XML: ");
  EXPECT_ERROR(read_metrics("<doc/>", "x"), "x: expected an element <metrics>, found none");
}

TEST(CubeProfile, CodeIsReadBetweenCommentsAndOutsideOfThem) {
  const std::vector<Metric> metrics = read_metrics(
      "<!-- of <cubepl> and </cubeplx -->\n<?metrics no?>\n<doc>Of &lt;metrics></doc>\n"
      "<metrics><!-- <metric><cubepl>1 < 2</cubepl></metric> -->\n"
      "<metric><uniq_name>a</uniq_name><cubepl><!-- a < b -->1 <\n 2<!-- more --> + 3</cubepl></metric>\n"
      "<metric><uniq_name>b</uniq_name><cubepl/><descr><![CDATA[a <cubepl> b]]></descr></metric></metrics>",
      "a.spec");
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].expression.text, "1 <\n 2 + 3");
  EXPECT_EQ(metrics[0].expression.line, 5u);
  EXPECT_EQ(metrics[1].expression.text, "");
  EXPECT_EQ(metrics[1].description, "a <cubepl> b");
}

// Cube writes these without quotes, which XML has.
TEST(CubeProfile, AttributesOfCodeMayHaveNoQuotes) {
  const std::vector<Metric> metrics = read_metrics(
      "<metrics><metric><uniq_name>a</uniq_name><cubepl rowwise=false>1 &lt; 2</cubepl>\n"
      "<cubeplaggr cubeplaggrtype=plus>max(arg1, arg2)</cubeplaggr><cubeplaggr a='b=c' cubeplaggrtype=minus >arg1"
      "</cubeplaggr><cubeplaggr cubeplaggrtype=\"aggr\">a=b</cubeplaggr></metric></metrics>",
      "a.spec");
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_FALSE(metrics[0].rowwise);
  EXPECT_EQ(metrics[0].expression.text, "1 < 2");
  EXPECT_EQ(metrics[0].plus.text, "max(arg1, arg2)");
  EXPECT_EQ(metrics[0].minus.text, "arg1");
  EXPECT_EQ(metrics[0].aggregate.text, "a=b");
  EXPECT_ERROR(
      read_metrics("<metrics><metric><uniq_name>a</uniq_name>\n<cubepl rowwise=false>1</cubepl><b></c>", "x"),
      "x:2: expected XML: Start-end tags mismatch, column 38");
}

// ---- writing ------------------------------------------------------------------------------------------------

void expect_equal(const std::vector<Metric>& found, const std::vector<Metric>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t at = 0; at < found.size(); ++at) {
    const Metric &one = found[at], &other = expected[at];
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.parent, other.parent);
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.visibility, other.visibility);
    EXPECT_EQ(one.unique_name, other.unique_name);
    EXPECT_EQ(one.display_name, other.display_name);
    EXPECT_EQ(one.data_type, other.data_type);
    EXPECT_EQ(one.unit, other.unit);
    EXPECT_EQ(one.url, other.url);
    EXPECT_EQ(one.description, other.description);
    EXPECT_EQ(one.expression.text, other.expression.text);
    EXPECT_EQ(one.init.text, other.init.text);
    EXPECT_EQ(one.plus.text, other.plus.text);
    EXPECT_EQ(one.minus.text, other.minus.text);
    EXPECT_EQ(one.aggregate.text, other.aggregate.text);
    EXPECT_EQ(one.rowwise, other.rowwise);
  }
}

void expect_equal_rest(const Profile& one, const Profile& other) {
  EXPECT_EQ(one.attributes, other.attributes);
  EXPECT_EQ(one.mirrors, other.mirrors);
  ASSERT_EQ(one.regions.size(), other.regions.size());
  for (size_t at = 0; at < one.regions.size(); ++at) {
    EXPECT_EQ(one.regions[at].name, other.regions[at].name);
    EXPECT_EQ(one.regions[at].role, other.regions[at].role);
    EXPECT_EQ(one.regions[at].begin, other.regions[at].begin);
  }
  ASSERT_EQ(one.tree.size(), other.tree.size());
  for (size_t at = 0; at < one.tree.size(); ++at) {
    EXPECT_EQ(one.tree[at].id, other.tree[at].id);
    EXPECT_EQ(one.tree[at].parent, other.tree[at].parent);
    EXPECT_EQ(one.tree[at].region, other.tree[at].region);
    EXPECT_EQ(one.tree[at].parameters, other.tree[at].parameters);
  }
  EXPECT_EQ(one.nodes.size(), other.nodes.size());
  EXPECT_EQ(one.groups.size(), other.groups.size());
  ASSERT_EQ(one.locations.size(), other.locations.size());
  for (size_t at = 0; at < one.locations.size(); ++at) {
    EXPECT_EQ(one.locations[at].id, other.locations[at].id);
    EXPECT_EQ(one.locations[at].name, other.locations[at].name);
    EXPECT_EQ(one.locations[at].rank, other.locations[at].rank);
    EXPECT_EQ(one.groups[one.locations[at].group].rank, other.groups[other.locations[at].group].rank);
  }
}

TEST(CubeProfile, AWrittenAnchorKeepsEverythingElse) {
  const Profile profile = read_anchor(kAnchor, "anchor.xml");
  std::vector<Metric> metrics = profile.metrics;
  metrics.push_back({});
  metrics.back().parent = 1;
  metrics.back().id = 99;
  metrics.back().unique_name = "new";
  metrics.back().expression.text = "1 < 2 && \"]]> &lt; <a>\"\n\t+ 1";
  const std::string text = write_anchor(profile, metrics);
  const Profile again = read_anchor(text, "written");
  // In the order of the document the new one, below the second, follows it.
  std::swap(metrics[2], metrics[3]);
  expect_equal(again.metrics, metrics);
  expect_equal_rest(again, profile);
  for (const char* kept : {"encoding=\"UTF-8\"", "<!-- of a test -->", "<cart name=\"c\" ndims=\"1\">",
                           "<dim size=\"2\" periodic=\"false\"", "partype=\"numeric\""}) {
    EXPECT_NE(text.find(kept), std::string::npos) << kept << " in\n" << text;
  }
  EXPECT_NE(text.find("type=\"PREDERIVED_EXCLUSIVE\" viztype=\"GHOST\""), std::string::npos);
  EXPECT_EQ(write_anchor(again, again.metrics), text);
}

TEST(CubeProfile, ANewAnchorHasAll) {
  Profile profile = read_anchor(kAnchor, "anchor.xml");
  profile.anchor.clear();
  const std::string text = write_anchor(profile, profile.metrics);
  const Profile again = read_anchor(text, "written");
  expect_equal(again.metrics, profile.metrics);
  expect_equal_rest(again, profile);
}

TEST(CubeProfile, OtherEncodingsBecomeUtf8) {
  const Profile profile = read_anchor(
      "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><cube><attr key=\"a\" value=\"\xe4\"/><metrics/></cube>", "x");
  EXPECT_EQ(profile.attributes[0].second, "\xc3\xa4");
  EXPECT_EQ(read_anchor(write_anchor(profile, {}), "y").attributes[0].second, "\xc3\xa4");
}

// ---- size ---------------------------------------------------------------------------------------------------

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t at = 0; at < times; ++at) all += text;
  return all;
}

TEST(CubeProfile, CallPathsMayBeAsDeepAsTheyLike) {
  constexpr size_t kDepth = 100'000;
  std::string text = "<cube><metrics/><program><region id=\"0\"><name>f</name></region>";
  for (size_t at = 0; at < kDepth; ++at) text += "<cnode id=\"" + std::to_string(at) + "\" calleeId=\"0\">";
  text += repeated("</cnode>", kDepth) + "</program><system/></cube>";
  Profile profile = read_anchor(text, "deep");
  ASSERT_EQ(profile.tree.size(), kDepth);
  EXPECT_EQ(profile.tree[kDepth - 1].parent, static_cast<int32_t>(kDepth - 2));
  EXPECT_EQ(profile.tree[0].end, kDepth);
  EXPECT_LT(write_anchor(profile, {}).size(), 2 * text.size());
  profile.anchor.clear();
  EXPECT_LT(write_anchor(profile, {}).size(), 2 * text.size());
}

TEST(CubeProfile, MetricsMayBeAsDeepAsTheyLike) {
  constexpr size_t kDepth = 200'000;
  std::string text = "<cube><metrics>";
  for (size_t at = 0; at < kDepth; ++at) {
    const std::string number = std::to_string(at);
    text += "<metric id=\"" + number + "\"><uniq_name>" + number + "</uniq_name>";
  }
  text += repeated("</metric>", kDepth) + "</metrics></cube>";
  const Profile profile = read_anchor(text, "deep");
  ASSERT_EQ(profile.metrics.size(), kDepth);
  EXPECT_GT(write_anchor(profile, profile.metrics).size(), text.size());
}

// If reading looked through all for each, it would take minutes.
TEST(CubeProfile, ALargeAnchor) {
  Profile profile;
  profile.regions.resize(1);
  profile.nodes = {{0, -1, "machine", "machine"}};
  std::vector<CallPath> paths(100'000);
  for (uint32_t at = 0; at < paths.size(); ++at) {
    paths[at].id = at;
    paths[at].parent = at % 10 == 0 ? -1 : static_cast<int32_t>(at - 1);
    profile.locations.push_back({at, at % 16, "thread " + std::to_string(at), "thread", at / 16});
    if (at % 16 == 0) profile.groups.push_back({at / 16, at / 16, "Rank", "process", 0});
  }
  profile.tree = CallTree(paths);
  const std::string text = write_anchor(profile, {});
  const Profile again = read_anchor(text, "large");
  EXPECT_EQ(again.locations.size(), 100'000u);
  ASSERT_EQ(again.tree.size(), paths.size());
  EXPECT_EQ(again.tree[99'999].parent, 99'998);
}

// ---- real profiles ------------------------------------------------------------------------------------------

const std::filesystem::path kShared = CUBE_DATA;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(CubeProfile, RealProfilesAreRead) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << kShared << " is missing";
  for (const char* name : {"blast", "kripke", "time"}) {
    const Archive archive((kShared / name / "profile.cubex").string());
    const std::string text = archive.text(archive.get("anchor.xml"));
    const Profile profile = read_anchor(text, name);
    EXPECT_EQ(profile.tree.size(), count(text, "<cnode "));
    EXPECT_EQ(profile.regions.size(), count(text, "<region "));
    EXPECT_EQ(profile.metrics.size(), count(text, "<metric "));
    EXPECT_EQ(profile.locations.size(), count(text, "<location "));
    size_t with_rows = 0;
    for (const Metric& metric : profile.metrics) {
      const Rows rows(archive, metric.id, data_type(metric.data_type), profile.tree.size(), profile.locations.size());
      std::string row(rows.row_bytes(), '\0');
      for (uint32_t id = 0; id < profile.tree.size(); ++id) rows.read(id, std::as_writable_bytes(std::span(row)));
      with_rows += !rows.index().ids.empty();
    }
    EXPECT_EQ(with_rows,
              static_cast<size_t>(std::count_if(archive.members().begin(), archive.members().end(),
                                                [](const Member& one) { return one.name.ends_with(".index"); })))
        << name;
    expect_equal_rest(read_anchor(write_anchor(profile, profile.metrics), "written"), profile);
    expect_equal(read_anchor(write_anchor(profile, profile.metrics), "written").metrics, profile.metrics);
  }
}

TEST(CubeProfile, RealSpecificationsAreRead) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << kShared << " is missing";
  for (const char* name : {"ghost", "void", "remapping", "scorep"}) {
    const std::string path = (kShared / "specs" / (std::string(name) + ".spec")).string();
    const std::string text = read_file(path);
    const std::vector<Metric> metrics = read_metrics(text, path);
    EXPECT_EQ(metrics.size(), count(text, "<metric ") + count(text, "<metric>")) << name;
    for (const Metric& metric : metrics) {
      if (metric.expression.text.empty()) continue;
      size_t begin = 0;
      for (size_t line = 1; line < metric.expression.line; ++line) begin = text.find('\n', begin) + 1;
      const std::string line = text.substr(begin, text.find('\n', begin) - begin);
      EXPECT_NE(line.find("<cubepl"), std::string::npos) << path << ":" << metric.expression.line;
    }
  }
}

}  // namespace
}  // namespace tailrace::cube
