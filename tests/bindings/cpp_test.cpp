// Tests of tailrace.hpp: it offers in C++ what the C interface offers, and owns what it claims to own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <complex>

#include <array>
#include <cerrno>
#include <filesystem>
#include <numeric>
#include <tailrace/tailrace.hpp>
#include <thread>

namespace fs = std::filesystem;

namespace {

// A directory of its own for each test, removed at its end.
class CppBinding : public testing::Test {
 protected:
  CppBinding() : directory_(fs::temp_directory_path() / ("tailrace_cpp_" + std::to_string(getpid()))) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    std::iota(plane_.begin(), plane_.end(), 0.5F);
    std::iota(large_.begin(), large_.end(), 1.0);
  }
  ~CppBinding() override { fs::remove_all(directory_); }

  tailrace::Options options(const std::string& when_full = "block") const {
    const std::string text =
        "tailrace: 1\nname: cpp\nstorage: {existing: continue}\nmemory: {budget: 1 MiB, when_full: " + when_full +
        "}\nlayouts:\n  plane: {type: float32, shape: [ny, 6]}\n  large: {type: float64, shape: [65536]}\n"
        "variables:\n  height: {layout: plane}\n  depth: {layout: plane}\n  a: {layout: large}\n  b: {layout: "
        "large}\n"
        "  c: {layout: large}\n";
    return {.text = text, .path = directory_, .parameters = {{"ny", 4}}};
  }

  // The error that `call` throws.
  template <class Call>
  static tailrace::Error error_of(Call call) {
    try {
      call();
    } catch (const tailrace::Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return tailrace::Error({});
  }

  fs::path file(int iteration) const { return directory_ / ("cpp_c0_00000" + std::to_string(iteration) + ".h5"); }

  const fs::path directory_;
  std::vector<float> plane_ = std::vector<float>(24);
  std::vector<double> large_ = std::vector<double>(65536);
};

TEST_F(CppBinding, WritesAndReadsByEachVerb) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  EXPECT_TRUE(out.write("height", 1, plane_));
  std::span<double> a = out.alloc<double>("a", 1);
  ASSERT_EQ(a.size(), large_.size());
  EXPECT_EQ(out.alloc<double>("a", 1).data(), a.data());
  std::copy(large_.begin(), large_.end(), a.begin());
  EXPECT_TRUE(out.commit("a", 1));
  const tailrace::Ticket ticket = out.borrow("b", 1, large_);
  EXPECT_TRUE(ticket);
  EXPECT_TRUE(out.signal("storm", 1));
  EXPECT_TRUE(out.end_iteration(1));
  ticket.wait();
  EXPECT_TRUE(ticket.test());
  EXPECT_TRUE(ticket.wait(std::chrono::milliseconds(0)));
  out.flush();
  std::vector<float> plane(24);
  out.read("height", 1, plane);
  EXPECT_EQ(plane, plane_);
  std::vector<double> large(65536);
  out.read("a", 1, std::span(large));
  EXPECT_EQ(large, large_);
  EXPECT_EQ(out.stats().blocks_written, 3U);
  EXPECT_EQ(out.stats().signals, 1U);
  EXPECT_NE(out.describe(), "");
  EXPECT_EQ(out.describe("height").shape[0], 4U);
  out.close();
  EXPECT_TRUE(fs::exists(file(1)));
}

TEST_F(CppBinding, HasRawFilesAndSaysWhatBecameOfThem) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  tailrace::File rows = out.open_file("rows.raw", tailrace::FileMode::truncate_immediate);
  rows.write(100, plane_);
  std::vector<float> back(plane_.size());
  rows.read(100, back);
  EXPECT_EQ(back, std::vector<float>(plane_.begin(), plane_.end()));
  rows.close();
  const tailrace::FileStats of = out.file_stats("rows.raw");
  EXPECT_EQ(of.writes, 1U);
  EXPECT_EQ(of.bytes_read, back.size() * sizeof(float));
  EXPECT_EQ(of.waiting.count, 2U);
  EXPECT_EQ(error_of([&] { out.file_stats("none.raw"); }).status(), TAILRACE_NOT_FOUND);
}

TEST_F(CppBinding, ChangesShapesAndSwitchesVariables) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  out.set_parameters({{"ny", 2}});
  EXPECT_EQ(out.describe("height").shape[0], 2U);
  const std::vector<float> smaller(12, 2.0F);
  EXPECT_TRUE(out.write("height", 0, smaller));
  EXPECT_EQ(error_of([&] { out.write("height", 0, plane_); }).status(), TAILRACE_WRONG_SHAPE);
  out.set_parameters({{"ny", 0}});
  EXPECT_TRUE(out.write("depth", 0, std::vector<float>()));
  EXPECT_TRUE(out.alloc<float>("depth", 1).empty());
  EXPECT_TRUE(out.commit("depth", 1));
  const tailrace::Error error = error_of([&] { out.set_parameters({{"nx", 2}}); });
  EXPECT_EQ(error.status(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.what()).find("'nx'"), std::string::npos) << error.what();
  out.enable("a", false);
  const tailrace::Ticket nothing = out.borrow("a", 0, large_);
  EXPECT_FALSE(nothing);
  nothing.wait();
  out.enable("a");
  EXPECT_TRUE(out.borrow("a", 1, large_));
  EXPECT_TRUE(out.end_iteration(0));
  EXPECT_TRUE(out.end_iteration(1));
  out.close();
  EXPECT_TRUE(fs::exists(file(0)));
  EXPECT_TRUE(fs::exists(file(1)));
}

TEST_F(CppBinding, TakesEveryContiguousRange) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  std::array<float, 24> array{};
  const float raw[24] = {};
  EXPECT_TRUE(out.write("height", 0, array));
  EXPECT_TRUE(out.write("height", 0, raw));
  EXPECT_TRUE(out.write("height", 0, std::span<const float>(plane_)));
  EXPECT_TRUE(out.write("height", 0, std::vector<float>(24)));
  out.borrow("depth", 0, std::span<const float>(plane_)).wait();
  EXPECT_TRUE(out.end_iteration(0));
  out.close();
}

TEST_F(CppBinding, RefusesWrongTypesAndSizes) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  const tailrace::Error type = error_of([&] { out.write("height", 0, std::vector<double>(24)); });
  EXPECT_EQ(type.status(), TAILRACE_WRONG_TYPE);
  EXPECT_EQ(type.variable(), "height");
  EXPECT_FALSE(type.earlier());
  EXPECT_NE(std::string(type.what()).find("float32"), std::string::npos);
  for (const size_t count : {0, 23, 25}) {
    const tailrace::Error shape = error_of([&] { out.write("height", 0, std::vector<float>(count)); });
    EXPECT_EQ(shape.status(), TAILRACE_WRONG_SHAPE) << shape.what();
  }
  std::vector<float> shorter(23);
  EXPECT_EQ(error_of([&] { out.read("height", 0, shorter); }).status(), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(error_of([&] { (void)out.borrow("height", 0, shorter); }).status(), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(error_of([&] { out.alloc<int>("height", 0); }).status(), TAILRACE_WRONG_TYPE);
  EXPECT_EQ(error_of([&] { out.write("hight", 0, plane_); }).status(), TAILRACE_UNKNOWN_VARIABLE);
  const tailrace::Error order = error_of([&] { out.commit("height", 3); });
  EXPECT_EQ(order.status(), TAILRACE_WRONG_ORDER);
  EXPECT_EQ(order.iteration(), 3);
  EXPECT_EQ(order.operation(), "commit");
  EXPECT_EQ(out.stats().blocks_accepted, 0U);
  out.close();
}

TEST_F(CppBinding, SaysWhyItCannotOpen) {
  const tailrace::Error missing = error_of([] { tailrace::open("missing.yaml"); });
  EXPECT_EQ(missing.status(), TAILRACE_IO_ERROR);
  EXPECT_EQ(missing.system_errno(), ENOENT);
  const tailrace::Error wrong =
      error_of([] { tailrace::check("wrong.yaml", {.text = "tailrace: 2", .path = {}, .parameters = {}}); });
  EXPECT_EQ(wrong.status(), TAILRACE_INVALID_CONFIG);
  EXPECT_NO_THROW(tailrace::check("cpp.yaml", options()));
}

TEST_F(CppBinding, OwnsItsClient) {
  {
    tailrace::Client first = tailrace::open("cpp.yaml", 0, options());
    first.write("height", 0, plane_);
    first.end_iteration(0);
    tailrace::Client second = std::move(first);
    EXPECT_EQ(error_of([&] { tailrace::open("cpp.yaml", 0, options()); }).status(), TAILRACE_CLIENT_IN_USE);
    EXPECT_THROW(first.flush(), tailrace::Error);
    first = std::move(second);
    first.flush();
  }
  EXPECT_TRUE(fs::exists(file(0)));
  tailrace::open("cpp.yaml", 0, options()).close();  // the destructor has given the client back
}

TEST_F(CppBinding, RefusesUseAfterClose) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  const tailrace::Ticket ticket = out.borrow("height", 0, plane_);
  out.end_iteration(0);
  out.close();
  EXPECT_EQ(error_of([&] { out.write("height", 0, plane_); }).status(), TAILRACE_CLOSED);
  EXPECT_EQ(error_of([&] { out.close(); }).status(), TAILRACE_CLOSED);
  EXPECT_EQ(error_of([&] { ticket.wait(); }).status(), TAILRACE_CLOSED);
}

TEST_F(CppBinding, ClosingTellsWhatNobodyHasAskedFor) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  out.write("height", 2, plane_);
  const tailrace::Error error = error_of([&] { out.close(); });
  EXPECT_TRUE(error.earlier());
  EXPECT_EQ(error.iteration(), 2);
}

// The call that tells the failure of an earlier block has been carried out: what it returns is in the error.
TEST_F(CppBinding, WhatACallReturnsIsNotLost) {
  tailrace::Options with_reals = options();
  with_reals.parameters.push_back({"half", 0.5});
  for (const int verb : {0, 1, 2}) {
    tailrace::Client out = tailrace::open("cpp.yaml", verb, with_reals);
    fs::create_directory(directory_ / ("cpp_c" + std::to_string(verb) + "_000000.h5.part"));
    out.write("height", 0, plane_);
    try {
      out.end_iteration(0);
    } catch (const tailrace::Error&) {  // of the block; that of the file is still to come
    }
    while (out.stats().failures < 2) std::this_thread::yield();
    const tailrace::Error error = error_of([&] {
      if (verb == 0) (void)out.alloc<float>("depth", 1);
      if (verb == 1) (void)out.iflush();
      if (verb == 2) out.set_parameters({{"ny", 2}, {"half", 0.25}});
    });
    EXPECT_TRUE(error.earlier()) << verb << error.what();
    EXPECT_EQ(error.memory() != nullptr, verb == 0);
    EXPECT_EQ(error.ticket().client != nullptr, verb == 1);
    while (out.stats().failures_unseen > 0) error_of([&] { out.flush(); });
    if (verb == 0) {
      EXPECT_EQ(error.memory(), out.alloc<float>("depth", 1).data());
      EXPECT_TRUE(out.commit("depth", 1));
    }
    if (verb == 1) tailrace::Ticket(error.ticket()).wait();
    if (verb == 2) {
      EXPECT_TRUE(out.write("depth", 1, std::vector<float>(12)));
    }
    out.end_iteration(1);
    out.close();
  }
}

TEST_F(CppBinding, ClosingHasTheOtherCausesToo) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  for (const int iteration : {2, 3, 4}) out.write("height", iteration, plane_);
  const tailrace::Error error = error_of([&] { out.close(); });
  EXPECT_EQ(error.iteration(), 2);
  EXPECT_EQ(error.more(), 2u);
  const std::vector<tailrace::Error> others = error.others();
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[0].iteration(), 3);
  EXPECT_EQ(others[1].iteration(), 4);
  EXPECT_TRUE(others[1].others().empty());
}

TEST_F(CppBinding, TheDestructorPrintsWhatItCannotThrow) {
  testing::internal::CaptureStderr();
  {
    tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
    for (const int iteration : {2, 3}) out.write("height", iteration, plane_);
  }
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("tailrace: while closing: close iteration 2"), std::string::npos) << printed;
  EXPECT_NE(printed.find("tailrace: while closing: close iteration 3"), std::string::npos) << printed;
}

// The child's objects are copies of the parent's: their calls throw, and their end does nothing.
TEST_F(CppBinding, AChildHasNothingOfItsParents) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  out.write("height", 0, plane_);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool as_told = error_of([&] { out.write("height", 1, plane_); }).status() == TAILRACE_FORKED;
    as_told = as_told && error_of([&] { out.close(); }).status() == TAILRACE_FORKED;
    testing::internal::CaptureStderr();
    { const tailrace::Client gone = std::move(out); }
    as_told = as_told && testing::internal::GetCapturedStderr().empty();
    _exit(as_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  out.end_iteration(0);
  out.close();
  EXPECT_TRUE(fs::exists(file(0)));
}

TEST_F(CppBinding, DroppedIterationsAreFalse) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options("drop"));
  out.alloc<double>("a", 0);
  out.alloc<double>("b", 0);
  EXPECT_FALSE(out.write("c", 1, large_));
  EXPECT_TRUE(out.alloc<double>("c", 1).empty());
  const tailrace::Ticket ticket = out.borrow("height", 1, plane_);
  EXPECT_FALSE(ticket);
  EXPECT_TRUE(ticket.test());
  EXPECT_FALSE(out.end_iteration(1));
  EXPECT_TRUE(out.commit("a", 0));
  EXPECT_TRUE(out.commit("b", 0));
  EXPECT_TRUE(out.end_iteration(0));
  EXPECT_EQ(out.stats().iterations_dropped, 1U);
  out.close();
}

TEST_F(CppBinding, GivesStatisticsOfAVariable) {
  tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
  out.write("height", 1, plane_);
  out.alloc<double>("a", 1);
  out.commit("a", 1);
  out.borrow("b", 1, large_).wait();
  out.end_iteration(1);
  out.flush();
  const tailrace::VariableStats height = out.stats("height");
  EXPECT_EQ(height.blocks_accepted, 1U);
  EXPECT_EQ(height.blocks_written, 1U);
  EXPECT_EQ(height.bytes_written, 24 * sizeof(float));
  EXPECT_EQ(height.handover.count, 1U);
  EXPECT_EQ(height.writing.count, 1U);
  EXPECT_GT(height.writing.most, 0.0);
  EXPECT_EQ(out.stats("a").handover.count, 1U);  // alloc and commit are one hand-over
  EXPECT_LE(out.stats("b").waiting.count, 1U);
  EXPECT_EQ(out.stats("c").blocks_accepted, 0U);
  EXPECT_EQ(out.stats("c").queued.p99, 0.0);
  EXPECT_GE(out.stats().transfers, 3U);
  EXPECT_GE(out.stats().requests_peak, 1U);
  const tailrace::Error unknown = error_of([&] { out.stats("hight"); });
  EXPECT_EQ(unknown.status(), TAILRACE_UNKNOWN_VARIABLE);
  EXPECT_NE(std::string(unknown.what()).find("height"), std::string::npos);
  out.close();
  EXPECT_EQ(error_of([&] { out.stats("height"); }).status(), TAILRACE_CLOSED);
}

TEST_F(CppBinding, RecoversADirectory) {
  {
    tailrace::Client out = tailrace::open("cpp.yaml", 0, options());
    out.write("height", 0, plane_);
    out.end_iteration(0);
    out.close();
  }
  const fs::path part = file(0).string() + ".part";
  fs::rename(file(0), part);
  ASSERT_EQ(tailrace::recover(directory_, false).size(), 1U);
  EXPECT_TRUE(fs::exists(part));
  const std::vector<tailrace::Leftover> done = tailrace::recover(directory_);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(done[0].done);
  EXPECT_EQ(done[0].kind, TAILRACE_COMPLETE);
  EXPECT_EQ(done[0].file, part);
  EXPECT_TRUE(fs::exists(file(0)));
  EXPECT_THROW(tailrace::recover(directory_ / "missing"), tailrace::Error);
}

TEST_F(CppBinding, KnowsElementTypes) {
  static_assert(tailrace::type_of<signed char>() == TAILRACE_INT8 && tailrace::type_of<long>() == TAILRACE_INT64);
  static_assert(tailrace::type_of<long long>() == TAILRACE_INT64 && tailrace::type_of<unsigned>() == TAILRACE_UINT32);
  static_assert(tailrace::type_of<long double>() == TAILRACE_LONG_DOUBLE);
  static_assert(tailrace::type_of<bool>() == TAILRACE_BOOL &&
                tailrace::type_of<tailrace::Half>() == TAILRACE_FLOAT16);
  static_assert(tailrace::type_of<std::complex<float>>() == TAILRACE_COMPLEX64);
  static_assert(tailrace::type_of<std::complex<double>>() == TAILRACE_COMPLEX128);
  static_assert(!tailrace::Element<char> && !tailrace::Element<void*> && !tailrace::Block<std::vector<bool>>);
  EXPECT_EQ(tailrace::version(), TAILRACE_VERSION_STRING);
}

}  // namespace
