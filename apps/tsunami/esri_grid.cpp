// Reads ESRI ASCII grids. See the header.
//
// Format: "ESRI ASCII raster format", ArcGIS documentation; "xll"/"yll" without corner or center name the point
// itself, as in GeoClaw's topography files (clawpack.org, "Topography data", topotype 3).
#include "esri_grid.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "error.hpp"
#include "numbers_list.hpp"

namespace tsunami {
namespace {

constexpr std::size_t max_points = std::size_t{1} << 28;  // of an input grid: 2 GiB of heights
constexpr const char* known_names =
    "ncols, nrows, xll, yll, xllcorner, yllcorner, xllcenter, yllcenter, xlower, ylower, cellsize, nodata_value";

// Splits text into words and remembers the line of the last one.
class Words {
 public:
  Words(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}

  // Returns the next word; empty at the end of the text.
  std::string_view next() {
    skip_space();
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n\v\f"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  std::string_view peek() {
    const auto rest = rest_;
    const auto line = line_;
    const std::string_view word = next();
    rest_ = rest;
    line_ = line;
    return word;
  }

  [[noreturn]] void fail(std::string_view found, const std::string& expected) const {
    std::string shown(found.substr(0, 40));
    throw Error(name_ + ":" + std::to_string(line_) + ": found " +
                (found.empty() ? "the end of the file" : "'" + shown + "'") + ", expected " + expected);
  }

  // Reports that the header has ended without a required entry.
  [[noreturn]] void fail_missing(const std::string& entry) {
    const std::string_view found = next();
    if (found.empty()) fail(found, "the header entry " + entry);
    throw Error(name_ + ":" + std::to_string(line_) + ": found the first height, expected the header entry " + entry +
                " before it");
  }

  int line() const { return line_; }
  std::size_t left() const { return rest_.size(); }  // unread bytes

 private:
  void skip_space() {
    std::size_t k = 0;
    for (; k < rest_.size() && std::strchr(" \t\r\n\v\f", rest_[k]) != nullptr && rest_[k] != '\0'; ++k) {
      if (rest_[k] == '\n') ++line_;
    }
    rest_.remove_prefix(k);
  }

  std::string_view rest_;
  std::string name_;
  int line_ = 1;
};

std::optional<double> number(std::string_view word) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string lower(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_name(const std::string& word) {
  static const char* const names[] = {"ncols",     "nrows",     "xll",    "yll",    "xllcorner", "yllcorner",
                                      "xllcenter", "yllcenter", "xlower", "ylower", "cellsize",  "nodata_value"};
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return word == name; });
}

struct Entry {
  double value;
  int line;
};
using Header = std::map<std::string, Entry>;

// Reads one entry, in either order. Two numbers in place of an entry begin the heights.
bool read_entry(Words& words, Header& header) {
  const std::string_view first = words.peek();
  const bool number_first = number(first).has_value();
  if (number_first) {
    Words ahead = words;
    ahead.next();
    if (ahead.peek().empty() || number(ahead.peek())) return false;
  }
  words.next();
  const std::string_view second = words.next();
  const std::string_view name = number_first ? second : first;
  const std::string_view value = number_first ? first : second;
  if (!is_name(lower(name))) words.fail(name, std::string("one of ") + known_names);
  const auto parsed = number(value);
  if (!parsed) words.fail(value, "a number for " + lower(name));
  if (!header.emplace(lower(name), Entry{*parsed, words.line()}).second) {
    words.fail(name, "each header entry once");
  }
  return true;
}

std::size_t read_count(const Header& header, const char* key, const std::string& name, Words& words) {
  const auto entry = header.find(key);
  if (entry == header.end()) words.fail_missing(std::string("'") + key + "'");
  const double value = entry->second.value;
  if (value < 2 || value > 1e6 || value != std::floor(value)) {
    throw Error(name + ":" + std::to_string(entry->second.line) + ": found " + key + " = " + shortest(value) +
                ", expected a whole number from 2 to 1000000");
  }
  return static_cast<std::size_t>(value);
}

// Returns the position of the first point on one axis: "xll…" names the point, or the corner half a cell before it.
double read_origin(const Header& header, char axis, double cell, Words& words) {
  for (const char* kind : {"ll", "llcenter", "lower"}) {
    if (const auto entry = header.find(axis + std::string(kind)); entry != header.end()) return entry->second.value;
  }
  const auto corner = header.find(axis + std::string("llcorner"));
  if (corner == header.end()) {
    words.fail_missing(std::string("'") + axis + "llcorner' or '" + axis + "llcenter'");
  }
  return corner->second.value + cell / 2;
}

// Far from 0, two neighbours may round to the same number; beyond the range of numbers there are none.
void require_points_apart(double first, double last_but_one, double last, const std::string& name) {
  if (std::isfinite(first) && std::isfinite(last) && last > last_but_one) return;
  throw Error(name + ": found a grid whose points have no finite coordinates of their own, expected a " +
              "larger cellsize or a smaller origin");
}

void read_heights(Words& words, const Header& header, Raster& raster) {
  const auto nodata = header.find("nodata_value");
  const std::string of = " of " + std::to_string(raster.ny) + " rows x " + std::to_string(raster.nx) + " columns";
  // A height and the space before it take two bytes; this reserves memory only for heights that the text can contain.
  raster.z.reserve(std::min(raster.nx * raster.ny, words.left() / 2 + 1));
  for (std::size_t row = 0; row < raster.ny; ++row) {
    for (std::size_t column = 0; column < raster.nx; ++column) {
      const std::string_view word = words.next();
      const auto height = number(word);
      const auto where = [&] { return "row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1); };
      if (!height) words.fail(word, "a number: the height of " + where() + of);
      if (nodata != header.end() && *height == nodata->second.value) {
        words.fail(word, "a height for " + where() + ": this is nodata_value, and the sea floor must be known");
      }
      raster.z.push_back(*height);
    }
  }
  if (const std::string_view more = words.next(); !more.empty())
    words.fail(more, "the end of the file after all" + of);
  // The file begins in the north, a raster in the south.
  const auto row_at = [&](std::size_t row) {
    return raster.z.begin() + static_cast<std::ptrdiff_t>(row * raster.nx);
  };
  for (std::size_t row = 0; row < raster.ny / 2; ++row) {
    std::swap_ranges(row_at(row), row_at(row + 1), row_at(raster.ny - 1 - row));
  }
}

std::string read_all(const std::string& file) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(file.c_str(), "rb"), gzclose);
  if (!in) throw Error("cannot open the bathymetry '" + file + "': " + std::strerror(errno));
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  int got = 0;
  while ((got = gzread(in.get(), piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  int code = Z_OK;
  const char* why = gzerror(in.get(), &code);
  if (code == Z_ERRNO) why = std::strerror(errno);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    throw Error("cannot read the bathymetry '" + file + "': " + why);
  }
  return text;
}

}  // namespace

Raster parse_esri_grid(std::string_view text, const std::string& name) {
  Words words(text, name);
  Header header;
  while (read_entry(words, header)) {
  }
  Raster raster;
  raster.nx = read_count(header, "ncols", name, words);
  raster.ny = read_count(header, "nrows", name, words);
  if (raster.nx * raster.ny > max_points) {
    throw Error(name + ": found " + std::to_string(raster.nx) + " x " + std::to_string(raster.ny) +
                " points, expected at most " + std::to_string(max_points));
  }
  const auto cell = header.find("cellsize");
  if (cell == header.end()) words.fail_missing("'cellsize'");
  if (cell->second.value <= 0) {
    throw Error(name + ":" + std::to_string(cell->second.line) +
                ": found cellsize = " + shortest(cell->second.value) + ", expected a positive number");
  }
  raster.dx = raster.dy = cell->second.value;
  raster.x0 = read_origin(header, 'x', raster.dx, words);
  raster.y0 = read_origin(header, 'y', raster.dy, words);
  require_points_apart(raster.x0, raster.x(raster.nx - 2), raster.x(raster.nx - 1), name);
  require_points_apart(raster.y0, raster.y(raster.ny - 2), raster.y(raster.ny - 1), name);
  read_heights(words, header, raster);
  return raster;
}

Raster read_esri_grid(const std::string& file) { return parse_esri_grid(read_all(file), file); }

}  // namespace tsunami
