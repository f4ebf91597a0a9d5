// Options: the contents of the command line, checked. Only options.cpp uses CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gabor.hpp"
#include "image.hpp"
#include "output.hpp"

namespace texture {

struct Options {
  std::string image;  // a file; empty: synthetic
  ImageShape synthetic = {4, 1024, 1024};
  std::uint64_t seed = 1;
  std::string save_image;  // a .npy file; empty: none
  BankOptions bank;
  long strip = 256;     // rows of a tile
  bool blocks = false;  // ranks share both rows and columns
  OutputKind output = OutputKind::blocking;
  bool sync_each = false;
  bool test_each = false;  // MPI_Test after each tile
  std::string file = "texture.f32";
  bool progress = false;
};

// Either the options, or the exit code with which the program should end now, after --help or an error.
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};

// Parses the command line. Only with `prints` it prints help and errors: one rank does so for all.
ParsedOptions parse_options(int argc, char** argv, bool prints);

const char* name_of(OutputKind kind);

}  // namespace texture
