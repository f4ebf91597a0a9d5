// The command line, by CLI11. See the header.
#include "lab/small/options.hpp"

#include <algorithm>

#include "lab/pattern/command_line.hpp"

namespace bench::small {
namespace {

const Words<WayKind> kWays = {
    {"limit", WayKind::limit}, {"posix", WayKind::posix}, {"thread", WayKind::thread}, {"core", WayKind::core}};

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{"Small requests of many clients to one file. Prints one JSON document.", "small_bench"};
  Options options;
  std::string kind = "rows";
  access_request request{nullptr, 64, uint64_t{64} << 20, 4096, 4, 0};
  bool by_block = false;
  app.add_option("--dir", options.dir, "an empty directory to write into")->required();
  add_words(app, "--way", options.way, kWays, "how it writes");
  app.add_option("--pattern", kind, "rows, overlap, behind, checkpoint, plot, corners or tiles");
  app.add_option("--clients", request.clients, "processes");
  app.add_option("--bytes", request.bytes, "size of the file; not for Flash-I/O");
  app.add_option("--piece", request.piece, "bytes of a piece; not of Flash-I/O");
  app.add_option("--times", request.times, "overlap: how often each byte is handed over");
  app.add_flag("--by-block", by_block, "Flash-I/O: a piece is a block");
  app.add_option("--list", options.list, "pieces of a call; 0: as many as there are");
  app.add_option("--merge", options.merge, "contents of the configuration's `merge`, such as 'enabled: false'");
  if (!parse(app, argc, argv)) return options;
  request.kind = kind.c_str();
  request.by_block = by_block ? 1 : 0;
  if (const char* const wrong = access_pattern_make(&options.pattern, &request)) {
    throw UsageError("--pattern " + kind + ": " + wrong);
  }
  const uint64_t most = options.pattern.pieces / options.pattern.calls;
  options.list = options.list == 0 ? most : std::min(options.list, most);
  options.asked = true;
  return options;
}

const char* name_of(WayKind way) { return word_for(kWays, way); }

}  // namespace bench::small
