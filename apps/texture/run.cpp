// Flow: read the image, cut it into tiles; for each channel transform the tiles, then for each filter compute this
// rank's block and hand it to the output. The clock starts when all ranks have the image, and stops when all have
// their results on the disk.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include "run.hpp"

#include <mpi.h>

#include <filesystem>

#include "convolution.hpp"
#include "image_save.hpp"
#include "progress.hpp"

namespace texture {
namespace {

struct Ranks {
  int rank, count;
};

Ranks ranks() {
  Ranks found{};
  MPI_Comm_rank(MPI_COMM_WORLD, &found.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &found.count);
  return found;
}

// Adds the time of an action to `sum`.
template <class Action>
auto timed(double& sum, Action action) {
  struct Stop {
    double& sum;
    double start = MPI_Wtime();
    ~Stop() { sum += MPI_Wtime() - start; }
  } stop{sum};
  return action();
}

double reduced(double value, MPI_Op operation) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
  return result;
}

// Returns the tiles: strips as wide as the image, or, to share it out in both directions, squares.
Tiles tiles_of(const Options& options, const ImageShape& shape, long halo) {
  const Cut rows{shape.rows, options.strip};
  return {rows, {shape.columns, options.blocks ? options.strip : shape.columns}, halo};
}

// Returns the rank's block: of a grid of ranks, or of a column of them.
Block block_of(const Tiles& tiles, const Ranks& ranks, bool in_grid) {
  int grid[2] = {0, in_grid ? 0 : 1};
  MPI_Dims_create(ranks.count, 2, grid);
  return {share_of(tiles.rows, ranks.rank / grid[1], grid[0]),
          share_of(tiles.columns, ranks.rank % grid[1], grid[1])};
}

// One rank's part of the work.
class Analysis {
 public:
  Analysis(const Options& options, Image& image, const std::vector<GaborFilter>& bank)
      : options_(options),
        shape_(image.shape()),
        bank_(bank),
        ranks_(ranks()),
        tiles_(tiles_of(options, shape_, radius_of(bank))),
        block_(block_of(tiles_, ranks_, options.blocks)),
        convolution_(tiles_, bank) {
    for (long c = 0; c < shape_.channels; ++c) channels_.push_back(read_with_halo(image, c, block_, tiles_.halo));
  }

  void write_planes() {
    const long filters = static_cast<long>(bank_.size());
    Progress progress(options_.progress, ranks_.rank, shape_.channels * filters);
    const std::unique_ptr<Output> output = timed(open_seconds, [&] {
      return make_output({options_.output, options_.sync_each, options_.file, shape_, filters, block_});
    });
    for (long channel = 0; channel < shape_.channels; ++channel) {
      timed(compute_seconds, [&] { load(channel); });
      for (long filter = 0; filter < filters; ++filter) {
        float* const plane = timed(write_seconds, [&] { return output->buffer(); });
        compute(filter, plane, *output);
        timed(write_seconds, [&] { output->write(); });
        progress.show(channel * filters + filter + 1);
      }
    }
    timed(finish_seconds, [&] { output->finish(); });
    progress.finish();
  }

  void save(const std::string& file) const { save_image(file, shape_, block_, channels_, tiles_.halo); }

  int count_of_ranks() const { return ranks_.count; }

  double compute_seconds = 0, open_seconds = 0, write_seconds = 0, finish_seconds = 0;

 private:
  // Calls `action(slot, row, column)` for each tile of the block: parts of the cuts.
  template <class Action>
  void for_each_tile(Action action) const {
    std::size_t slot = 0;
    for (long row = block_.rows.first_part; row < block_.rows.end_part; ++row) {
      for (long column = block_.columns.first_part; column < block_.columns.end_part; ++column) {
        action(slot++, row, column);
      }
    }
  }

  // Returns the tile's part of `values`, which are those of the block with `halo` more on each side.
  template <class Value>
  Convolution::Area<Value> area_of(Value* values, long row, long column, long halo) const {
    const long pitch = block_.columns.size() + 2 * halo;
    const long first = (tiles_.rows.first(row) - block_.rows.first) * pitch;
    return {values + first + tiles_.columns.first(column) - block_.columns.first, tiles_.rows.size_of(row) + 2 * halo,
            tiles_.columns.size_of(column) + 2 * halo, pitch};
  }

  void load(long channel) {
    const float* const pixels = channels_[static_cast<std::size_t>(channel)].data();
    for_each_tile([&](std::size_t slot, long row, long column) {
      convolution_.load(slot, area_of(pixels, row, column, tiles_.halo));
    });
  }

  void compute(long filter, float* plane, Output& output) {
    for_each_tile([&](std::size_t slot, long row, long column) {
      timed(compute_seconds, [&] { convolution_.magnitude(slot, filter, area_of(plane, row, column, 0)); });
      if (options_.test_each) timed(write_seconds, [&] { output.test(); });
    });
  }

  const Options& options_;
  const ImageShape shape_;
  const std::vector<GaborFilter>& bank_;
  const Ranks ranks_;
  const Tiles tiles_;
  const Block block_;
  Convolution convolution_;
  std::vector<std::vector<float>> channels_;  // with halo
};

// Removes a file of an earlier run, which may be longer than this one's.
void remove_old(const std::string& file) {
  if (ranks().rank == 0) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

Report run(const Options& options) {
  const double begin = MPI_Wtime();
  const std::unique_ptr<Image> image =
      options.image.empty() ? make_image(options.synthetic, SyntheticImage(options.seed)) : open_image(options.image);
  Report report{};
  report.shape = image->shape();
  report.bank = gabor_bank(options.bank);
  Analysis analysis(options, *image, report.bank);
  report.ranks = analysis.count_of_ranks();
  if (options.output != OutputKind::none) {
    remove_old(options.file);
    const ImageShape& shape = report.shape;
    report.bytes = 4 * shape.channels * static_cast<long>(report.bank.size()) * shape.rows * shape.columns;
  }
  if (!options.save_image.empty()) {
    remove_old(options.save_image);
    analysis.save(options.save_image);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  analysis.write_planes();
  MPI_Barrier(MPI_COMM_WORLD);
  report.total = reduced(MPI_Wtime() - start, MPI_MAX);
  report.input = reduced(start - begin, MPI_MAX);
  report.compute = reduced(analysis.compute_seconds, MPI_SUM) / report.ranks;
  report.open = reduced(analysis.open_seconds, MPI_SUM) / report.ranks;
  report.finish = reduced(analysis.finish_seconds, MPI_SUM) / report.ranks;
  report.output = reduced(analysis.write_seconds, MPI_SUM) / report.ranks + report.open + report.finish;
  return report;
}

}  // namespace texture
