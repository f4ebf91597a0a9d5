// A program that writes or reads HDF5 and knows nothing of tailrace, except for the access list that selects the
// connector. `tailrace bench hdf5` runs it with and without the connector. One process is one run, and prints one
// JSON document.
//
//   calibrate finds how many passes of the kernel take the wanted time
//   fields    computes and writes a large dataset, in turn
//   direct    writes as many bytes as one of them past the page cache, and syncs: the limit
//   slabs     writes one dataset in 4 KiB hyperslabs, row after row or column after column
//   metadata  writes small datasets and attributes, for which nothing can be gained
//   read      reads one dataset, of which nothing is in memory, a slab at a time, and computes, in turn
//   copy      repeats one H5Dwrite of contiguous memory, and one memcpy of the same
// Other things that programs do, where nothing can be gained, but much could be lost (rows.cpp):
//   back      reads rows of a dataset that was just written
//   add       … and writes them again
//   append    extends a dataset, and writes a row of 64 KiB, a deflated chunk
//   flush     writes a row, and flushes
//   parts     creates small datasets, and writes each row after row
//   files     creates files with a dataset of 80 kB each
// Loops that compute and write, and remove or replace what is old (loops.cpp):
//   keep      removes the file of three iterations before
//   replace   renames each file over the last one
//   overwrite writes the same file again
//   delete    deletes the dataset of three iterations before
#include <hdf5.h>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/hdf5/loops.hpp"
#include "lab/hdf5/program.hpp"
#include "lab/hdf5/rows.hpp"
#include "lab/pattern/clock.hpp"

namespace bench::hdf5 {
namespace {

// Work for one processor that touches little memory. Not inlined: a pass takes the same time wherever it is called.
class Kernel {
 public:
  [[gnu::noinline]] void run(int64_t passes) {
    for (int64_t pass = 0; pass < passes; ++pass) {
      for (double& value : values_) value = value * 0.999 + 0.001;
    }
  }

 private:
  std::vector<double> values_ = std::vector<double>(4096, 0.5);
};

nlohmann::json calibrate(const Options& options) {
  constexpr int64_t kTrial = 50000;
  Kernel kernel;
  double fastest = 0;
  for (int i = 0; i < 7; ++i) {
    const double start = now();
    kernel.run(kTrial);
    const double took = now() - start;
    fastest = i == 0 ? took : std::min(fastest, took);
  }
  return {{"passes", static_cast<int64_t>(options.compute / fastest * kTrial)}};
}

// Returns partly compressible values.
std::vector<double> some_values(uint64_t bytes) {
  std::vector<double> values(bytes / sizeof(double));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 4096) + static_cast<double>(i % 7);
  return values;
}

hid_t creation_list(const Options& options) {
  const hid_t creation = good(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  if (!options.filter && !options.chunks) return creation;
  const hsize_t chunk = std::min(uint64_t{4} << 20, options.bytes) / sizeof(double);
  H5Pset_chunk(creation, 1, &chunk);
  if (!options.filter) {
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    return creation;
  }
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 1);
  return creation;
}

void sync(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  const bool synced = file >= 0 && fsync(file) == 0 && close(file) == 0;
  if (!synced) throw std::runtime_error("sync failed");
}

nlohmann::json fields(const Options& options) {
  const std::vector<double> values = some_values(options.bytes);
  Kernel kernel;
  const hid_t access = access_list(options);
  const hid_t creation = creation_list(options);
  const hsize_t length = values.size();
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  double computing = 0;
  double writing = 0;
  double first = 0;
  double slowest = 0;
  const double start = now();
  const hid_t file = good(H5Fcreate(options.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  for (int i = 0; i < options.iterations; ++i) {
    const double begun = now();
    kernel.run(options.passes);
    computing += now() - begun;
    const double computed = now();
    const std::string name = "field" + std::to_string(i);
    const hid_t data = good(
        H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT), "H5Dcreate2");
    good(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "H5Dwrite");
    H5Dclose(data);
    writing += now() - computed;
    const double took = now() - computed;
    if (i == 0) first = took;
    slowest = std::max(slowest, took);
  }
  const double closing = now();
  good(H5Fclose(file), "H5Fclose");
  const double closed = now();
  if (options.sync) sync(options.file);
  const double end = now();
  return {{"total", end - start}, {"computing", computing},  {"writing", writing},         {"first", first},
          {"slowest", slowest},   {"syncing", end - closed}, {"closing", closed - closing}};
}

// Writes past the page cache, in pieces of 8 MiB, into space that is reserved.
nlohmann::json direct(const Options& options) {
  constexpr size_t kPiece = size_t{8} << 20;
  const uint64_t bytes = std::max<uint64_t>(options.bytes / kPiece, 1) * kPiece;
  const std::unique_ptr<void, void (*)(void*)> piece(std::aligned_alloc(4096, kPiece), std::free);
  if (piece == nullptr) throw std::bad_alloc();
  std::memset(piece.get(), 1, kPiece);
  const int file = open(options.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0644);
  if (file < 0 || posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("open failed");
  const double start = now();
  for (uint64_t at = 0; at < bytes; at += kPiece) {
    if (pwrite(file, piece.get(), kPiece, static_cast<off_t>(at)) != static_cast<ssize_t>(kPiece)) {
      throw std::runtime_error("pwrite failed");
    }
  }
  fdatasync(file);
  const double took = now() - start;
  close(file);
  return {{"writing", took * static_cast<double>(options.bytes) / static_cast<double>(bytes)}};
}

nlohmann::json slabs(const Options& options) {
  constexpr hsize_t kPiece = 512;  // doubles
  constexpr hsize_t kPieces = 16;  // of a row
  const hsize_t rows = options.count / kPieces;
  const hsize_t dims[2] = {rows, kPieces * kPiece};
  std::vector<double> values(kPiece, 1.0);
  const hid_t access = access_list(options);
  const hsize_t piece[2] = {1, kPiece};
  const hid_t memory = H5Screate_simple(2, piece, nullptr);
  const hid_t space = H5Screate_simple(2, dims, nullptr);
  const double start = now();
  const hid_t file = good(H5Fcreate(options.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  const hid_t data =
      good(H5Dcreate2(file, "matrix", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Dcreate2");
  for (hsize_t i = 0; i < rows * kPieces; ++i) {
    const hsize_t row = options.columns ? i % rows : i / kPieces;
    const hsize_t column = options.columns ? i / rows : i % kPieces;
    const hsize_t at[2] = {row, column * kPiece};
    values[0] = static_cast<double>(i);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, piece, nullptr);
    good(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), "H5Dwrite");
  }
  const double written = now();
  H5Dclose(data);
  good(H5Fclose(file), "H5Fclose");
  const double end = now();
  return {{"total", end - start}, {"writing", written - start}, {"closing", end - written}};
}

nlohmann::json metadata(const Options& options) {
  const hid_t access = access_list(options);
  const hsize_t length = 4;
  const double values[4] = {1, 2, 3, 4};
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  const double start = now();
  const hid_t file = good(H5Fcreate(options.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  hid_t group = H5I_INVALID_HID;
  for (uint64_t i = 0; i < options.count; ++i) {
    if (i % 1000 == 0) {
      if (group >= 0) H5Gclose(group);
      group = H5Gcreate2(file, ("group" + std::to_string(i / 1000)).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }
    const hid_t data = good(H5Dcreate2(group, ("data" + std::to_string(i)).c_str(), H5T_NATIVE_DOUBLE, space,
                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                            "H5Dcreate2");
    good(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "H5Dwrite");
    const hid_t attribute = H5Acreate2(data, "unit", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    good(H5Awrite(attribute, H5T_NATIVE_DOUBLE, values), "H5Awrite");
    H5Aclose(attribute);
    H5Dclose(data);
  }
  if (group >= 0) H5Gclose(group);
  const double written = now();
  good(H5Fclose(file), "H5Fclose");
  const double end = now();
  return {{"total", end - start}, {"writing", written - start}, {"closing", end - written}};
}

// Makes the system drop the file from its page cache.
void make_cold(const std::string& name) {
  const int file = open(name.c_str(), O_RDWR);
  const bool cold =
      file >= 0 && fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 && close(file) == 0;
  if (!cold) throw std::runtime_error("cannot have the system forget " + name);
}

// Writes one dataset with a slab for each iteration, without the connector.
void write_slabs(const Options& options) {
  const std::vector<double> values = some_values(options.bytes);
  const hsize_t dims[2] = {static_cast<hsize_t>(options.iterations), values.size()};
  const hsize_t slab[2] = {1, values.size()};
  const hid_t space = H5Screate_simple(2, dims, nullptr);
  const hid_t memory = H5Screate_simple(2, slab, nullptr);
  const hid_t file = good(H5Fcreate(options.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "H5Fcreate");
  const hid_t data =
      good(H5Dcreate2(file, "slabs", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Dcreate2");
  for (hsize_t i = 0; i < dims[0]; ++i) {
    const hsize_t at[2] = {i, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, slab, nullptr);
    good(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), "H5Dwrite");
  }
  H5Dclose(data);
  good(H5Fclose(file), "H5Fclose");
}

nlohmann::json read(const Options& options) {
  write_slabs(options);
  make_cold(options.file);
  std::vector<double> values(options.bytes / sizeof(double), 1.0);
  Kernel kernel;
  const hid_t access = access_list(options);
  const hsize_t slab[2] = {1, values.size()};
  const hid_t memory = H5Screate_simple(2, slab, nullptr);
  double computing = 0;
  double sum = 0;
  const double start = now();
  const hid_t file = good(H5Fopen(options.file.c_str(), H5F_ACC_RDONLY, access), "H5Fopen");
  const hid_t data = good(H5Dopen2(file, "slabs", H5P_DEFAULT), "H5Dopen2");
  const hid_t space = good(H5Dget_space(data), "H5Dget_space");
  for (int i = 0; i < options.iterations; ++i) {
    const hsize_t at[2] = {static_cast<hsize_t>(i), 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, slab, nullptr);
    good(H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()), "H5Dread");
    sum += values[values.size() / 2];
    const double begun = now();
    kernel.run(options.passes);
    computing += now() - begun;
  }
  H5Dclose(data);
  good(H5Fclose(file), "H5Fclose");
  const double total = now() - start;
  return {{"total", total}, {"computing", computing}, {"reading", total - computing}, {"sum", sum}};
}

nlohmann::json copy(const Options& options) {
  const std::vector<double> values = some_values(options.bytes);
  std::vector<double> other(values.size(), 1.0);
  const hid_t access = access_list(options);
  const hsize_t length = values.size();
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  const hid_t file = good(H5Fcreate(options.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
  const hid_t data =
      good(H5Dcreate2(file, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Dcreate2");
  std::vector<double> writes;
  std::vector<double> copies;
  for (int i = 0; i < options.iterations; ++i) {
    H5Fflush(file, H5F_SCOPE_LOCAL);
    const double start = now();
    good(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "H5Dwrite");
    const double written = now();
    H5Fflush(file, H5F_SCOPE_LOCAL);
    const double waited = now();
    std::memcpy(other.data(), values.data(), options.bytes);
    writes.push_back(written - start);
    copies.push_back(now() - waited);
  }
  H5Dclose(data);
  good(H5Fclose(file), "H5Fclose");
  return {{"writes", writes}, {"copies", copies}, {"sum", other[other.size() / 2]}};
}

int run(int argc, char** argv) {
  CLI::App app{"A program that writes or reads HDF5, with tailrace's connector or without. Prints one JSON document.",
               "hdf5_bench"};
  Options options;
  const std::map<std::string, nlohmann::json (*)(const Options&)> patterns = {{"calibrate", calibrate},
                                                                              {"fields", fields},
                                                                              {"direct", direct},
                                                                              {"slabs", slabs},
                                                                              {"metadata", metadata},
                                                                              {"read", read},
                                                                              {"copy", copy},
                                                                              {"back", read_back},
                                                                              {"add", add_to_rows},
                                                                              {"append", append_rows},
                                                                              {"flush", flush_each_row},
                                                                              {"parts", write_parts},
                                                                              {"files", write_files},
                                                                              {"keep", keep_three},
                                                                              {"replace", replace_file},
                                                                              {"delete", delete_datasets},
                                                                              {"overwrite", overwrite_file}};
  app.add_option("--file", options.file, "the file to write; with read, also to read")->required();
  app.add_option("--plugins", options.plugins, "the directory of the connector; none: plain HDF5");
  app.add_option("--connector", options.connector, "the connector's settings, such as 'place=core'");
  app.add_option("--pattern", options.pattern,
                 "calibrate, fields, direct, slabs, metadata, read, copy, back, add, append, "
                 "flush, parts, files, keep, replace, overwrite or delete")
      ->check(CLI::IsMember(patterns));
  app.add_option("--iterations", options.iterations, "iterations of fields, read, copy and the loops")
      ->check(CLI::PositiveNumber);
  app.add_option("--compute", options.compute, "calibrate, loops: seconds an iteration");
  app.add_option("--passes", options.passes, "fields, read: of the kernel, an iteration");
  app.add_option("--bytes", options.bytes, "size of a field, a slab, a dataset of parts, or the output of a loop")
      ->check(CLI::PositiveNumber);
  app.add_option("--row", options.row, "size of a row of parts")->check(CLI::PositiveNumber);
  app.add_option("--count", options.count, "number of hyperslabs, small datasets, rows or files")
      ->check(CLI::PositiveNumber);
  app.add_flag("--columns", options.columns, "slabs: column after column");
  app.add_flag("--random", options.random, "back, add: rows in no order");
  app.add_flag("--filter", options.filter, "fields: chunks of 4 MiB, shuffle, deflate 1");
  app.add_flag("--chunks", options.chunks, "fields: chunks of 4 MiB without filters, allocated early");
  app.add_flag("--sync", options.sync, "fields: an fsync after the close");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  nlohmann::json found = patterns.at(options.pattern)(options);
  found["hdf5_run"] = 1;
  found["pattern"] = options.pattern;
  hbool_t thread_safe = false;
  H5is_library_threadsafe(&thread_safe);
  found["thread_safe"] = static_cast<bool>(thread_safe);
  found["vol_async"] = H5VLis_connector_registered_by_name("async") > 0;
  std::puts(found.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace bench::hdf5

int main(int argc, char** argv) {
  try {
    return bench::hdf5::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hdf5_bench: %s\n", error.what());
    return 1;
  }
}
