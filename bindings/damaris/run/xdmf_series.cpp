#include "damaris/run/xdmf_series.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {
namespace {

constexpr std::string_view kEnd = ".xmf";

// Takes the text off the beginning of the name; returns false if it is not there.
bool take(std::string_view& name, std::string_view text) {
  if (!name.starts_with(text)) return false;
  name.remove_prefix(text.size());
  return true;
}

std::optional<int64_t> take_number(std::string_view& name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || name.front() == '-') return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  return number;
}

// The XDMF files of a store, by their iterations and servers.
using Files = std::map<std::pair<int64_t, int64_t>, std::filesystem::path>;

Files find_files(const std::string& directory, const std::string& begin) {
  Files files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string whole = entry.path().filename().string();
    std::string_view name = whole;
    if (!name.ends_with(kEnd)) continue;
    name.remove_suffix(kEnd.size());
    if (!take(name, begin + "_It")) continue;
    const std::optional<int64_t> iteration = take_number(name);
    const std::optional<int64_t> server = take(name, "_Pr") ? take_number(name) : std::optional<int64_t>(0);
    if (iteration && server && name.empty()) files[{*iteration, *server}] = entry.path();
  }
  return files;
}

// Returns what the iteration's collection has, with its time, or without it; nothing if the file is not ours.
std::string contents_of(const std::filesystem::path& file, bool with_time) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text, '\0');  // does not throw if it cannot be read, as the stream's buffer does
  const size_t time = text.find("      <Time ");
  const size_t end = text.rfind("    </Grid>");
  if (time == std::string::npos || end == std::string::npos || end < time) return {};
  const size_t begin = with_time ? time : text.find('\n', time) + 1;
  return text.substr(begin, end - begin);
}

bool write_text(const Files& files, const std::string& path) {
  std::ofstream out(path, std::ios::trunc);
  out << "<?xml version=\"1.0\" ?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n    <Grid Name=\"iterations\" "
         "GridType=\"Collection\" CollectionType=\"Temporal\">\n";
  for (auto file = files.begin(); file != files.end();) {
    const int64_t iteration = file->first.first;
    out << "    <Grid Name=\"iteration " << iteration << "\" GridType=\"Collection\" CollectionType=\"Spatial\">\n";
    for (bool first = true; file != files.end() && file->first.first == iteration; ++file, first = false) {
      out << contents_of(file->second, first);
    }
    out << "    </Grid>\n";
  }
  out << "    </Grid>\n  </Domain>\n</Xdmf>\n";
  out.close();
  return out.good();
}

// The directory of a store's files, and the beginning of their names.
struct Place {
  std::string directory;
  std::string begin;

  std::string file() const { return directory + "/" + begin + std::string(kEnd); }
};

std::vector<Place> places_of(const Model& model) {
  std::vector<Place> places;
  for (const size_t store : stores_in_use(model)) {
    const auto [directory, prefix] = place_of(model.stores[store]);
    if (model.stores[store].xdmf != XdmfMode::none) places.push_back({directory, prefix + model.name});
  }
  return places;
}

}  // namespace

void remove_xdmf_series(const Model& model) {
  std::error_code ignored;
  for (const Place& place : places_of(model)) std::filesystem::remove(place.file(), ignored);
}

void write_xdmf_series(const Model& model, const Ranks& ranks, double seconds) {
  const std::vector<Place> places = places_of(model);
  if (places.empty()) return;
  const bool all = ranks.meet(seconds);
  if (ranks.number() != 0) return;
  for (const Place& place : places) {
    if (!all) say("'" + place.file() + "' may lack iterations: a rank that writes has not ended");
    const Files files = find_files(place.directory, place.begin);
    if (files.empty()) continue;
    const std::string part = place.file() + ".part";
    std::error_code error;
    const bool written = write_text(files, part);
    if (written) std::filesystem::rename(part, place.file(), error);
    if (!written || error) say("'" + place.file() + "' cannot be written");
  }
}

}  // namespace tailrace::damaris
