// Clients of one output that have different lists of forwarders: one is refused, and is told both lists.
#include <gtest/gtest.h>

#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

class Lists : public ::testing::Test {
 protected:
  using OnLoss = RemoteFiles::OnLoss;
  Lists() {
    for (const char* const host : {"io1", "io2", "io3"}) rig_.add_forwarder(host);
  }
  Status open(std::vector<std::string> servers, OnLoss on_loss = OnLoss::next) {
    Doorbell doorbell;
    return rig_.connect(doorbell, log_, "late", std::move(servers), on_loss).status();
  }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
  KeptLog log_;
};

TEST_F(Lists, AreTheSameForAllClientsOfAnOutput) {
  const std::vector<std::string> first = {"io1", "io2"};
  {
    const ForwardedClient there(rig_, first);
    EXPECT_TRUE(open({"io2", "io1"}).ok()) << "the order does not matter";
    for (const OnLoss on_loss : {OnLoss::next, OnLoss::direct, OnLoss::fail}) {
      const Status refused = open({"io1", "io3"}, on_loss);
      EXPECT_EQ(refused.code(), TAILRACE_INVALID_CONFIG);
      const std::string& told = refused.fault().message;
      for (const char* const part : {"found io1, io3;", "expected io1, io2,", "client node ", "'/out/run'"}) {
        EXPECT_NE(told.find(part), std::string::npos) << told;
      }
    }
    EXPECT_NE(rig_.forwarders.at("io1")->log.text().find("client late is refused"), std::string::npos);
    rig_.output = "/out/another";
    EXPECT_TRUE(open({"io1", "io3"}).ok()) << "of another output";
    rig_.output = "/out/run";
  }
  for (int i = 0; i < 20; ++i) rig_.turn();
  const ForwardedClient next(rig_, {"io1", "io3"});  // the others have gone
  EXPECT_FALSE(open(first).ok());
}

TEST_F(Lists, AreComparedAtEachForwarder) {
  const ForwardedClient there(rig_, {"io2", "io3"});
  EXPECT_EQ(open({"io1", "io2"}).code(), TAILRACE_INVALID_CONFIG);
  EXPECT_EQ(open({"io1", "io3"}).code(), TAILRACE_INVALID_CONFIG);
  EXPECT_TRUE(open({"io1"}).ok()) << "they never meet";
}

// A forwarder that was not there at open is asked when it is needed: nobody else stands in if it refuses.
TEST_F(Lists, AreComparedWhenAForwarderComesLater) {
  rig_.kill("io2");
  ForwardedClient early(rig_, {"io1", "io2"}, OnLoss::next, TransferRecord::Confirm::written, "early");
  rig_.add_forwarder("io2");
  const ForwardedClient late(rig_, {"io2", "io3"});
  size_t refused = 0;
  std::vector<FileHandle> open;
  for (int i = 0; i < 20; ++i) {
    const Result<Opened> opened = early.files().open(scratch_ / std::to_string(i), OpenMode::create, 0);
    if (opened.ok()) {
      open.push_back(opened.value().file);
      continue;
    }
    ++refused;
    EXPECT_EQ(opened.status().code(), TAILRACE_INVALID_CONFIG) << opened.status().fault().message;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(rig_.forwarders.at("io1")->forwarder.open_files(), open.size());
  EXPECT_EQ(rig_.forwarders.at("io2")->forwarder.open_files(), 0u);
  for (const FileHandle file : open) early.files().close(file);
}

TEST_F(Lists, ManyForwardersAreNamedInPart) {
  std::vector<std::string> many = {"io1"};
  for (int i = 0; i < 1000; ++i) many.push_back("much-longer-name-of-a-forwarder-" + std::to_string(i) + ":4711");
  const ForwardedClient there(rig_, many);
  EXPECT_TRUE(open(many).ok());
  many.back() = "much-longer-name-of-a-forwarder-1000:4711";
  const Status refused = open(many);
  EXPECT_EQ(refused.code(), TAILRACE_INVALID_CONFIG) << refused.fault().message;
  const std::string& told = refused.fault().message;
  EXPECT_NE(told.find("(1001 forwarders, hash "), told.rfind("(1001 forwarders, hash ")) << told;
}

}  // namespace
}  // namespace tailrace::impl
