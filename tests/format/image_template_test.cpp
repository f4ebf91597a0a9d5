// ImageTemplate: what it makes from the last image is what HDF5 would have written, byte for byte, and it does so
// only for files that are alike.
#include "format/image/image_template.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "testing/sample_config.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

const ElementType kTypes[] = {ElementType::int8,    ElementType::int16,      ElementType::int32,
                              ElementType::int64,   ElementType::uint8,      ElementType::uint16,
                              ElementType::uint32,  ElementType::uint64,     ElementType::float32,
                              ElementType::float64, ElementType::long_double};

// A stretch of bytes in a file.
struct Stretch {
  uint64_t offset;
  std::vector<std::byte> bytes;
  bool operator==(const Stretch&) const = default;
};

std::vector<Stretch> runs_of(const std::vector<MetadataPiece>& pieces) {
  std::vector<Stretch> runs;
  for (const MetadataPiece& piece : pieces) {
    if (runs.empty() || runs.back().offset + runs.back().bytes.size() != piece.offset) {
      runs.push_back({piece.offset, {}});
    }
    const std::span<const std::byte> bytes = piece.bytes.all();
    runs.back().bytes.insert(runs.back().bytes.end(), bytes.begin(), bytes.end());
  }
  return runs;
}

// A series of iterations, each completed by the template, and by HDF5 for comparison.
class Series {
 public:
  explicit Series(Config config) : config_(std::move(config)), template_(config_) {}

  using Fill = std::function<void(IterationPlan&)>;

  // Returns true if HDF5 was not asked.
  bool complete(int64_t iteration, const Fill& fill) {
    auto plan = std::make_shared<IterationPlan>(config_, "file");
    fill(*plan);
    Provenance provenance = provenance_;
    provenance.date = date_ + std::to_string(iteration % 10);
    const uint64_t described = template_.described();
    const Result<FileEnding> found = template_.complete(provenance, iteration, plan, "file");
    const Result<IterationImage> expected = make_image(config_, provenance, iteration, *plan, "file");
    EXPECT_TRUE(found.ok() && expected.ok());
    if (!found.ok() || !expected.ok()) return false;
    const FileEnding by_hdf5 = expected.value().ending(plan->reached());
    EXPECT_TRUE(runs_of(found.value().body) == runs_of(by_hdf5.body)) << "iteration " << iteration;
    EXPECT_TRUE(runs_of({found.value().head}) == runs_of({by_hdf5.head})) << "iteration " << iteration;
    return template_.described() == described;
  }

  // Completes an iteration with every variable, in the order of `order` if given.
  bool complete(int64_t iteration, std::vector<uint32_t> order = {}) {
    if (order.empty()) order = all();
    return complete(iteration, [&](IterationPlan& plan) { place(plan, iteration, order); });
  }

  void place(IterationPlan& plan, int64_t iteration, const std::vector<uint32_t>& order, int client = 0) const {
    for (const uint32_t variable : order) place(plan, block_of(config_, variable, iteration, client));
  }

  // Half of the chunks of filtered blocks are stored unfiltered.
  void place(IterationPlan& plan, const Block& block, uint64_t smaller_by = 1) const {
    const Variable& variable = config_.variables[block.variable];
    if (!is_in_chunks(variable, *block.layout)) {
      EXPECT_TRUE(plan.place(block).ok());
      return;
    }
    const FilterPlan filter = plan_of(variable, *block.layout);
    for (uint64_t i = 0; i < filter.chunking.count(); ++i) {
      const FilteredChunk chunk{filter.stored_chunk_bytes() - smaller_by * (i % 2), i % 2 == 0 ? 3u : 0u};
      EXPECT_TRUE(plan.place_chunks(block, i, {&chunk, 1}, {0.5, 0.25, 1}).ok());
    }
  }

  std::vector<uint32_t> all() const {
    std::vector<uint32_t> all(config_.variables.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const Config& config() const { return config_; }
  Provenance& provenance() { return provenance_; }
  void set_date(std::string date) { date_ = std::move(date); }

 private:
  const Config config_;
  ImageTemplate template_;
  Provenance provenance_{"sim_c0_%06T", "machine", "", "11111111-2222-3333-4444-555555555555", 0, {}};
  std::string date_ = "2026-01-02 03:04:0";
};

Config with_every_type(const std::vector<uint64_t>& shape) {
  std::vector<SampleVariable> variables;
  for (const ElementType type : kTypes) variables.push_back({name_of(type), type, shape});
  return sample_config({"out"}, variables);
}

Config many(size_t count) {
  std::vector<SampleVariable> variables;
  for (size_t i = 0; i < count; ++i) variables.push_back({"v" + std::to_string(i), ElementType::float32, {2, 5}});
  return sample_config({"out"}, variables);
}

TEST(ImageTemplate, EveryTypeAndRankIsAsHdf5WritesIt) {
  const std::vector<uint64_t> shapes[] = {{7}, {3, 5}, {2, 3, 4}, {2, 1, 3, 700}};
  for (const std::vector<uint64_t>& shape : shapes) {
    SCOPED_TRACE(shape.size());
    Series series(with_every_type(shape));
    EXPECT_FALSE(series.complete(11)) << "there is none before it";
    EXPECT_TRUE(series.complete(12));
    EXPECT_TRUE(series.complete(99));
  }
}

TEST(ImageTemplate, UnitsTextsAndGridsAreAsHdf5WritesThem) {
  Config config = many(40);
  config.time.dt = 0.1;
  config.time.unit.factor = 3600.0;
  for (size_t i = 0; i < config.variables.size(); ++i) {
    config.variables[i].unit = {"km/h", 1.0 / 3.6, {1, 0, -1, 0, 0, 0, 0}};
    if (i % 3 == 0) config.variables[i].description = std::string(i * 40, 'd');
    config.layouts[i].origin = {0.5, -3.0};
    config.layouts[i].offset = {i, 2 * i};
    config.layouts[i].global_shape = {100, 100};
    config.layouts[i].axes = {"latitude", "longitude"};
  }
  Series series(std::move(config));
  EXPECT_FALSE(series.complete(0));
  EXPECT_TRUE(series.complete(7));
}

TEST(ImageTemplate, AnotherNumberOfDigitsIsDescribedAnew) {
  Series series(many(3));
  EXPECT_FALSE(series.complete(8));
  EXPECT_TRUE(series.complete(9));
  EXPECT_FALSE(series.complete(10));
  EXPECT_TRUE(series.complete(11));
  EXPECT_FALSE(series.complete(1'000'000'000'000));
  EXPECT_TRUE(series.complete(9'999'999'999'999));
  EXPECT_FALSE(series.complete(7));
}

// So many variables that their metadata lie on both sides of the raw data, in many pieces.
TEST(ImageTemplate, RawDataThatLieElsewhereAreFound) {
  Series series(many(300));
  std::vector<uint32_t> order = series.all();
  EXPECT_FALSE(series.complete(100, order));
  std::swap(order[3], order[250]);
  EXPECT_TRUE(series.complete(101, order));
  EXPECT_TRUE(series.complete(102, order));
  std::reverse(order.begin(), order.end());
  EXPECT_TRUE(series.complete(103, order));
}

// Large ones begin at pages, so that their order decides where the last one ends.
TEST(ImageTemplate, RawDataOfAnySizesMayLieElsewhere) {
  std::vector<SampleVariable> variables;
  for (uint64_t i = 0; i < 80; ++i)
    variables.push_back({"v" + std::to_string(i), ElementType::uint8, {4096 + 16 * i}});
  Series series(sample_config({"out"}, variables));
  std::vector<uint32_t> order = series.all();
  EXPECT_FALSE(series.complete(100, order));
  std::swap(order[0], order[79]);
  EXPECT_TRUE(series.complete(101, order));
  order.resize(3);
  EXPECT_FALSE(series.complete(102, order));
  std::swap(order[0], order[2]);
  EXPECT_FALSE(series.complete(103, order)) << "nothing lies behind the raw data: the file ends elsewhere";
}

TEST(ImageTemplate, WhatHasBeenMadeStaysAsItIs) {
  const Config config = many(60);
  ImageTemplate images(config);
  Provenance provenance{"sim_c0_%06T", "machine", "2026-01-02", "", 0, {}};
  std::vector<FileEnding> endings;
  std::vector<std::vector<Stretch>> as_made;
  for (int64_t iteration = 10; iteration < 14; ++iteration) {
    auto plan = std::make_shared<IterationPlan>(config, "file");
    for (uint32_t i = 0; i < 60; ++i) {
      ASSERT_TRUE(plan->place(block_of(config, iteration % 2 == 0 ? i : 59 - i, iteration)).ok());
    }
    endings.push_back(images.complete(provenance, iteration, plan, "file").value());
    as_made.push_back(runs_of(endings.back().body));
  }
  for (size_t i = 0; i < endings.size(); ++i) EXPECT_TRUE(runs_of(endings[i].body) == as_made[i]) << i;
  EXPECT_EQ(images.described(), 1u);
}

// HDF5 describes each of these once, and then the template works again for its successors.
TEST(ImageTemplate, WhatDiffersIsDescribedAnew) {
  Config config = many(5);
  config.variables[4].compress = {Compressor::zstd, 3, true, 4096};
  config.layouts[4].shape = config.layouts[4].global_shape = {40, 50};
  Series series(std::move(config));
  const std::vector<uint32_t> all = series.all();
  const auto with = [&](const Series::Fill& more) {
    return [&series, &all, more](IterationPlan& plan) {
      series.place(plan, 10, all);
      more(plan);
    };
  };
  const Series::Fill nothing = [](IterationPlan&) {};
  const Series::Fill differences[] = {
      [](IterationPlan& plan) { plan.note_event("storm"); },
      [](IterationPlan& plan) { plan.note_event("stork"); },
      [](IterationPlan& plan) { plan.note_missing({3}, 0); },
      [](IterationPlan& plan) { plan.note_missing({4}, 0); },
      [](IterationPlan& plan) { plan.note_missing({}, 2); },
      [](IterationPlan& plan) { EXPECT_TRUE(plan.note_finding("f", "a", 0.0).ok()); },
      [](IterationPlan& plan) { EXPECT_TRUE(plan.note_finding("f", "a", -0.0).ok()); },
      [](IterationPlan& plan) { EXPECT_TRUE(plan.note_finding("f", "b", -0.0).ok()); },
      [](IterationPlan& plan) { EXPECT_TRUE(plan.note_finding("f", "a", std::string("text")).ok()); },
      [](IterationPlan& plan) {
        EXPECT_TRUE(plan.note_finding("f", "a", std::vector<double>{1, 2}).ok());
      },
      [](IterationPlan& plan) {
        EXPECT_TRUE(plan.note_finding("f", "a", std::vector<double>{1, 3}).ok());
      },
      nothing,
  };
  for (const Series::Fill& difference : differences) {
    EXPECT_FALSE(series.complete(10, with(difference)));
    EXPECT_TRUE(series.complete(11, with(difference)));
  }
  const auto fewer = [&](IterationPlan& plan) { series.place(plan, 10, {0, 1, 2, 4}); };
  EXPECT_FALSE(series.complete(12, fewer)) << "a variable less";
  EXPECT_TRUE(series.complete(13, fewer));
  EXPECT_FALSE(series.complete(14));
  const auto smaller_chunk = [&](IterationPlan& plan) {
    series.place(plan, 10, {0, 1, 2, 3});
    series.place(plan, block_of(series.config(), 4, 10), 2);
  };
  EXPECT_FALSE(series.complete(15, smaller_chunk));
  EXPECT_TRUE(series.complete(16, smaller_chunk));
  series.set_date("2026-01-02 03:04:05.");
  EXPECT_FALSE(series.complete(17, smaller_chunk)) << "a longer date";
  series.provenance().run = "";
  EXPECT_FALSE(series.complete(18, smaller_chunk));
}

TEST(ImageTemplate, AnotherLayoutIsDescribedAnew) {
  Series series(many(3));
  const Layout usual = series.config().layouts[1];
  std::vector<Layout> others(7, usual);
  others[0].shape = others[0].global_shape = {3, 5};
  others[1].shape = others[1].global_shape = {5, 2};
  others[2].global_shape = {20, 50};
  others[3].offset = {1, 0};
  others[3].global_shape = {20, 50};
  others[4].shape = others[4].global_shape = {0, 5};
  others[5].spacing = {1.0, 0.5};
  others[6].origin = {-0.0, 0.0};
  EXPECT_FALSE(series.complete(10));
  for (const Layout& other : others) {
    const auto fill = [&](IterationPlan& plan) {
      series.place(plan, 10, {0, 2});
      series.place(plan, {1, 10, 0, std::make_shared<const Layout>(other)});
    };
    EXPECT_FALSE(series.complete(11, fill));
    EXPECT_TRUE(series.complete(12, fill));
  }
}

// HDF5 then stores them in a place that the template does not search.
TEST(ImageTemplate, ManyAttributesOfAnIterationAreDescribedEachTime) {
  Series series(many(3));
  const auto fill = [&](IterationPlan& plan) {
    series.place(plan, 10, series.all());
    for (int i = 0; i < 80; ++i) EXPECT_TRUE(plan.note_finding("f", "finding " + std::to_string(i), 1.5).ok());
  };
  EXPECT_FALSE(series.complete(10, fill));
  EXPECT_FALSE(series.complete(11, fill));
}

// Three clients, whose blocks come in another order each time.
TEST(ImageTemplate, TheOrderOfClientsDoesNotMatter) {
  for (const FilePer file_per : {FilePer::node, FilePer::job}) {
    Config config = many(3);
    config.storage.file_per = file_per;
    config.layouts[0].global_shape = {6, 5};
    config.layouts[1].global_shape = {2, 15};
    Series series(std::move(config));
    series.provenance().client = {};
    series.provenance().node = 3;
    std::vector<int> clients = {0, 1, 2};
    int64_t iteration = 10;
    do {
      const auto fill = [&](IterationPlan& plan) {
        for (const int client : clients) {
          for (uint32_t variable = 0; variable < 3; ++variable) {
            Layout layout = series.config().layouts[variable];
            const auto number = static_cast<uint64_t>(client);
            if (variable == 0) layout.offset = {2 * number, 0};
            if (variable == 1) layout.offset = {0, 5 * number};
            series.place(plan, {variable, iteration, client, std::make_shared<const Layout>(layout)});
          }
        }
      };
      EXPECT_EQ(series.complete(iteration++, fill), clients != std::vector<int>({0, 1, 2}));
    } while (std::next_permutation(clients.begin(), clients.end()));
  }
}

// Any series of files that are alike or not.
TEST(ImageTemplate, RandomSeriesAreAsHdf5WritesThem) {
  uint64_t from_template = 0;
  for_seeds(60, [&](uint64_t seed) {
    Dice dice(seed);
    std::vector<SampleVariable> variables;
    for (uint64_t i = dice.between(0, dice.chance(20) ? 120 : 12); i > 0; --i) {
      std::vector<uint64_t> shape;
      for (uint64_t axes = dice.between(1, 4); axes > 0; --axes) shape.push_back(dice.between(1, 9));
      variables.push_back({"v" + std::to_string(i), kTypes[dice.below(std::size(kTypes))], shape});
    }
    Config config = sample_config({"out"}, variables);
    constexpr FilePer files[] = {FilePer::process, FilePer::node, FilePer::job};
    config.storage.file_per = files[dice.below(3)];
    for (Variable& variable : config.variables) {
      if (dice.chance(10)) variable.compress = {Compressor::deflate, 1, dice.chance(50), 4096};
      if (dice.chance(20)) variable.description = std::string(dice.below(300), 'd');
    }
    Series series(std::move(config));
    std::vector<uint32_t> order = series.all();
    size_t events = 0;
    int64_t iteration = static_cast<int64_t>(dice.below(120));
    for (int count = 0; count < 6; ++count, iteration += static_cast<int64_t>(dice.between(1, 3))) {
      if (dice.chance(20) && !order.empty())
        order.erase(order.begin() + static_cast<ptrdiff_t>(dice.below(order.size())));
      for (size_t i = order.size(); dice.chance(50) && i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
      if (dice.chance(20)) events = dice.below(4);
      from_template += series.complete(iteration, [&](IterationPlan& plan) {
        series.place(plan, iteration, order, static_cast<int>(dice.below(2)));
        for (size_t i = 0; i < events; ++i) plan.note_event("event");
      });
    }
  });
  if (std::getenv("TAILRACE_SEED") == nullptr) {
    EXPECT_GT(from_template, 20u);
  }
}

}  // namespace
}  // namespace tailrace::impl
