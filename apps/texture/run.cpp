// Flow: read the image, cut it into strips; for each channel transform the strips, then for each filter compute this
// rank's rows and hand them to the output. The clock starts when all ranks have the image, and stops when all have
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

// One rank's part of the work.
class Analysis {
 public:
  Analysis(const Options& options, Image& image, const std::vector<GaborFilter>& bank)
      : options_(options),
        shape_(image.shape()),
        bank_(bank),
        ranks_(ranks()),
        strips_{shape_.rows, options.strip, radius_of(bank)},
        block_(block_of(strips_, ranks_.rank, ranks_.count)),
        convolution_(strips_, shape_.columns, bank) {
    for (long c = 0; c < shape_.channels; ++c) channels_.push_back(read_with_halo(image, c, block_, strips_.halo));
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

  void save(const std::string& file) const { save_image(file, shape_, block_, channels_, strips_.halo); }

  int count_of_ranks() const { return ranks_.count; }

  double compute_seconds = 0, open_seconds = 0, write_seconds = 0, finish_seconds = 0;

 private:
  void load(long channel) {
    const std::vector<float>& pixels = channels_[channel];
    for (long strip = block_.first_strip; strip < block_.end_strip; ++strip) {
      const long first = strips_.first_row(strip) - block_.first_row;
      const long rows = strips_.height_of(strip) + 2 * strips_.halo;
      const std::span<const float> part(pixels.data() + first * shape_.columns, rows * shape_.columns);
      convolution_.load(strip - block_.first_strip, part);
    }
  }

  void compute(long filter, float* plane, Output& output) {
    for (long strip = block_.first_strip; strip < block_.end_strip; ++strip) {
      const long first = strips_.first_row(strip) - block_.first_row;
      timed(compute_seconds, [&] {
        convolution_.magnitude(strip - block_.first_strip, filter, strips_.height_of(strip),
                               plane + first * shape_.columns);
      });
      if (options_.test_each) timed(write_seconds, [&] { output.test(); });
    }
  }

  const Options& options_;
  const ImageShape shape_;
  const std::vector<GaborFilter>& bank_;
  const Ranks ranks_;
  const Strips strips_;
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
