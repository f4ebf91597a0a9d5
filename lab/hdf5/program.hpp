// The frame of hdf5_bench's patterns: their options, and the access list that selects the connector.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace bench::hdf5 {

struct Options {
  std::string file;
  std::string plugins;    // the connector's directory; empty: plain HDF5
  std::string connector;  // the connector's settings
  std::string pattern = "fields";
  int iterations = 8;
  double compute = 0.47;  // in seconds; for calibrate: the wanted time
  int64_t passes = 0;     // of the kernel, in each iteration
  uint64_t bytes = uint64_t{128} << 20;
  uint64_t row = 512;       // bytes
  uint64_t count = 100000;  // of hyperslabs, small datasets, rows or files
  bool columns = false;
  bool random = false;
  bool filter = false;
  bool chunks = false;
  bool sync = false;
};

inline hid_t good(hid_t id, const char* what) {
  if (id < 0) throw std::runtime_error(std::string(what) + " failed");
  return id;
}

inline hid_t access_list(const Options& options) {
  const hid_t access = good(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  if (options.plugins.empty()) return access;
  good(H5PLappend(options.plugins.c_str()), "H5PLappend");
  const hid_t connector = good(H5VLregister_connector_by_name("tailrace", H5P_DEFAULT), "H5VLregister_connector");
  void* information = nullptr;
  good(H5VLconnector_str_to_info(options.connector.c_str(), connector, &information), "H5VLconnector_str_to_info");
  good(H5Pset_vol(access, connector, information), "H5Pset_vol");
  H5VLclose(connector);
  return access;
}

}  // namespace bench::hdf5
