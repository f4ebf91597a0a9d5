// The random program: HDF5 calls as programs make them, each also made in a plain model, with which it compares
// everything that it reads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "transfer.hpp"

namespace tailrace::test {

class Program {
 public:
  // It creates its files in `directory`, which must be empty.
  Program(uint64_t seed, std::string directory);
  ~Program();

  void run(int steps);
  // Returns the models of the files at the end of the process.
  std::vector<Model> models() const;

 private:
  struct File {
    std::string path;
    hid_t id = H5I_INVALID_HID;
  };
  struct Data {
    Model model;
    size_t file;
    Id id;  // none: it is not open now
  };
  // A write in an event set: HDF5 may read the memory until the write was waited for.
  using Held = std::unique_ptr<Transfer>;

  void step();
  void create();
  void create_alike();
  void write();
  void write_multi();
  void write_asynchronously();
  void wait();
  void read();
  void read_as_second();
  void read_rows();
  void read_through_view();
  void extend();
  void flush();
  void close_dataset();
  void reopen();
  void remove();
  void remove_group();
  void move();
  void copy();
  void ask();
  void mistake();
  void fork_child();
  void fill_disk();
  void use_closed();
  void use_swmr();

  void make(File& file);
  void open(File& file);
  void open_by_links(const File& file);
  Data& some();
  hid_t id(Data& data);
  void write_one(Data& data);
  void disturb(Data& data, hid_t second);
  void read_by(hid_t dataset, const Model& model);
  std::vector<Data*> some_of_one_file();

  Dice dice_;
  const std::string directory_;
  const bool traces_ = std::getenv("TAILRACE_TRACE") != nullptr;
  std::vector<File> files_;
  std::vector<std::unique_ptr<Data>> data_;
  hid_t events_ = H5I_INVALID_HID;  // an event set
  std::vector<Held> held_;
  int count_ = 0;  // number of names used
};

// Creates a dataset as in `model`, with random properties, which it adds to the model: chunks, fill value, shape. It
// has the model's name, or none if that is empty. The caller closes it.
Id create_dataset(hid_t file, Model& model, Dice& dice);

// Creates one with the properties of `other`, of which `model` is a copy, under another name.
Id create_like(hid_t file, hid_t other, Model& model);
// Checks that it has the properties of its creation, and takes no space before it is written.
void compare_properties(hid_t dataset, const Model& model);

// Compares the whole dataset, in the file at `path`, through a virtual dataset in `other`, if its elements are
// numbers.
void look_through_view(hid_t other, const Model& model, const std::string& path);

// In closed.cpp. Creates a file, or empties it. May fail once, because of what happened to other files.
hid_t create_file(const std::string& path, hid_t access = H5P_DEFAULT);
// Creates a file, closes it, and uses it at once: opens it, appends to it, renames it, removes it, or reads it
// through another one.
void use_what_was_just_closed(const std::string& path, hid_t other, Dice& dice);

// In placed.cpp. Compares a contiguous dataset with the bytes where HDF5 says that it lies, if the connector writes
// it: HDF5 itself may buffer some.
void compare_in_file(hid_t dataset, const Model& model);
// Writes a dataset of about that many strings of 8 bytes, which HDF5 does at once, and looks at it when all else is
// written. Then removes it.
void write_text(hid_t file, size_t count);
// Writes into a file that readers may have open.
void write_for_readers(const std::string& path, Dice& dice);

// In trouble.cpp. Forks a child that writes and reads its own files, while the parent has others open.
void write_in_child(const std::string& path, uint64_t seed);
// Writes into a file that cannot grow to the size of its data; any of these calls may fail, and nothing else.
void write_beyond_limit(const std::string& path, Dice& dice);

}  // namespace tailrace::test
