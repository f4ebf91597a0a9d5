// The configuration of tailrace (YAML) that writes what a store of Damaris would write. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "damaris/output/block_shape.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// A block of a variable: tailrace's variable for it, and the parameters that its layout names.
struct StoredBlock {
  size_t variable = 0;  // index into Model::variables
  int64_t block = 0;    // 0 … domains - 1
  std::string name;     // of tailrace's variable and layout
  // One for each axis. A file for each server has no global shapes, and offsets only if it has an XDMF file.
  std::vector<std::string> shape;
  std::vector<std::string> global;
  std::vector<std::string> offset;
};

// All blocks of the variables that go to a store, in the order of the variables.
std::vector<StoredBlock> blocks_of(const Model& model, size_t store);

// All blocks of the variables that scripts get.
std::vector<StoredBlock> script_blocks_of(const Model& model);

// Returns the stores that files are written for, and that variables name.
std::vector<size_t> stores_in_use(const Model& model);

// Says where a store is written from, or, without a store, where scripts get their data from.
struct Outlet {
  size_t store = 0;
  bool scripts = false;                    // for scripts: nothing is stored
  std::string directory = {};              // of scripts' files
  std::vector<std::string> programs = {};  // the scripts' files, see script_program()
  bool logs_output = false;                // of scripts, on stderr
  bool dedicated = true;                   // by a server; false: by each client itself
  // Numbers, or names of parameters that the program defines.
  std::string server = "node";         // the number of the server among all servers
  std::string servers = "nodes";       // how many there are
  std::string clients = "local_size";  // of this server
  // If several nodes write the file for all: the node, and how many there are.
  int node = 0;
  int nodes = 1;
  std::vector<int> cpus;        // on which the server may run; empty: tailrace chooses
  uint64_t budget = 0;          // bytes for each client; 0: the default
  double patience = 0;          // seconds; 0: the default
  bool empty_at_first = false;  // no block has elements before the program has set its parameters
  bool goes_on = false;         // adds to files of this name
  // Addresses of forwarders that write the files, and the path of their key file.
  std::vector<std::string> forwarders = {};
  std::string key = {};

  bool is_joint() const { return nodes > 1; }
};

// Returns the blocks that go there.
std::vector<StoredBlock> blocks_of(const Model& model, const Outlet& outlet);

// Returns the text of the configuration. Throws ExpressionError if the shapes at the start have no value, and are
// not to be empty.
std::string configuration_of(const Model& model, const Outlet& outlet);

// Returns the directory in which a store writes, and the beginning of the names there.
std::array<std::string, 2> place_of(const Store& store);

// Returns the largest block of the store, in bytes, with these values of parameters; 0 if that is not known.
uint64_t largest_block(const Model& model, size_t store, const Expression::Lookup& lookup);

// Returns the text as a string of YAML.
std::string yaml_text(const std::string& text);

// Looks parameters up as they are at the start.
Expression::Lookup at_start(const Model& model);

}  // namespace tailrace::damaris
