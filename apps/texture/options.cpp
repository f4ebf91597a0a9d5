// Parses the command line with CLI11. See the header.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

namespace texture {
namespace {

void add_image(CLI::App& app, Options& o) {
  const char* group = "Image";
  app.add_option("--image", o.image, "a file: .npy (rows, columns or channels, rows, columns), binary PGM or PPM")
      ->option_text("FILE (otherwise it is computed)")
      ->group(group);
  app.add_option_function<long>(
         "--size", [&o](long size) { o.synthetic.rows = o.synthetic.columns = size; },
         "rows and columns of the computed image")
      ->check(CLI::Range(1L, 1L << 20))
      ->option_text("PIXELS = 1024")
      ->group(group);
  app.add_option("--channels", o.synthetic.channels, "its spectral channels")
      ->check(CLI::Range(1, 1024))
      ->option_text("N = 4")
      ->group(group);
  app.add_option("--seed", o.seed, "selects the image")->option_text("N = 1")->group(group);
  app.add_option("--save-image", o.save_image, "write the image, as .npy of float32")
      ->option_text("FILE")
      ->group(group);
}

void add_filters(CLI::App& app, Options& o) {
  const char* group = "Filters";
  app.add_option("--scales", o.bank.scales, "wavelengths, octaves apart")
      ->check(CLI::Range(1, 8))
      ->option_text("N = 3")
      ->group(group);
  app.add_option("--orientations", o.bank.orientations, "angles for each, over half a turn")
      ->check(CLI::Range(1, 64))
      ->option_text("N = 4")
      ->group(group);
  app.add_option("--wavelength", o.bank.wavelength, "the shortest wavelength")
      ->check(CLI::Range(2.0, 64.0))
      ->option_text("PIXELS = 4")
      ->group(group);
  app.add_option("--strip", o.strip, "rows that are transformed at once; a rank has at least one strip, or no work")
      ->check(CLI::Range(1L, 1L << 16))
      ->option_text("ROWS = 256")
      ->group(group);
  app.add_flag("--blocks", o.blocks,
               "cut columns like rows, and share both out over a grid of ranks: a plane has holes for each rank")
      ->group(group);
}

void add_output(CLI::App& app, Options& o) {
  const char* group = "Output";
  const std::map<std::string, OutputKind> kinds = {
      {"none", OutputKind::none}, {"blocking", OutputKind::blocking}, {"nonblocking", OutputKind::nonblocking}};
  app.add_option("--output", o.output, "none, blocking (MPI_File_write_all) or nonblocking (MPI_File_iwrite_at_all)")
      ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case).description(""))
      ->option_text("KIND = blocking")
      ->group(group);
  app.add_option("--out", o.file, "the results, float32; FILE.json describes them")
      ->option_text("FILE = texture.f32")
      ->group(group);
  app.add_flag("--sync-each", o.sync_each, "with blocking: sync the file after each plane, too, not only at the end")
      ->group(group);
  app.add_flag("--test-each", o.test_each,
               "with nonblocking: call MPI_Test after each strip or square, so that MPI can go on")
      ->group(group);
  app.add_flag("--progress", o.progress, "show progress on stderr even if it is no terminal")->group(group);
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv, bool prints) {
  CLI::App app{
      "Analyses the texture of a multispectral image: convolves each channel with Gabor filters, and writes\n"
      "each result by MPI-IO while the next is computed.",
      "texture"};
  app.footer(
      "At its end it prints one line of JSON. Example:\n"
      "  tailrace run --mpiio -- mpiexec -n 4 texture_mpich --size 2048 --out scratch/texture.f32");
  Options options;
  add_image(app, options);
  add_filters(app, options);
  add_output(app, options);
  try {
    app.parse(argc, argv);
    if (options.sync_each && options.output != OutputKind::blocking) {
      throw CLI::ValidationError("--sync-each", "found beside another output than blocking");
    }
    if (options.test_each && options.output != OutputKind::nonblocking) {
      throw CLI::ValidationError("--test-each", "found beside another output than nonblocking");
    }
  } catch (const CLI::ParseError& error) {
    const int code = prints ? app.exit(error) : error.get_exit_code();
    return {std::nullopt, code == 0 ? 0 : 2};
  }
  return {options, 0};
}

const char* name_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::none: return "none";
    case OutputKind::blocking: return "blocking";
    case OutputKind::nonblocking: return "nonblocking";
  }
  return "?";
}

}  // namespace texture
