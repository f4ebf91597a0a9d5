// The random program: calls of HDF5 as programs make them, each also made in a plain model, and whatever is read
// compared with that.
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
  // Its files are made in `directory`, which is empty.
  Program(uint64_t seed, std::string directory);
  ~Program();

  void run(int steps);
  // Returns the models of the files when the process has ended.
  std::vector<Model> models() const;

 private:
  struct File {
    std::string path;
    hid_t id = H5I_INVALID_HID;
  };
  struct Data {
    Model model;
    size_t file;
    Id id;  // none: the program has not opened it at present
  };
  // A write in an event set: HDF5 may look at the memory until it is waited for.
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
  void move();
  void copy();
  void ask();
  void mistake();
  void fork_child();
  void fill_disk();
  void use_closed();

  void make(File& file);
  void open(File& file);
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
  int count_ = 0;  // of names
};

// A dataset that is as in `model`, with properties by chance, which also says more of it: chunks, fill value, shape.
// It has the name of the model, or none if that is empty; the program's to close.
Id create_dataset(hid_t file, Model& model, Dice& dice);

// One that is made by the properties that `other` has, which `model` is a copy of; of another name.
Id create_like(hid_t file, hid_t other, Model& model);
// It has the properties that it was made with, and takes no space before it is written.
void compare_properties(hid_t dataset, const Model& model);

// Compares all of the dataset, in the file at `path`, through a virtual dataset in `other`, if it is of numbers.
void look_through_view(hid_t other, const Model& model, const std::string& path);

// In closed.cpp. Makes a file, or empties it. It may fail once, for what has become of others.
hid_t create_file(const std::string& path);
// Makes a file, closes it, and uses it at once: opens it, appends to it, renames it, removes it, reads it by way of
// another one.
void use_what_was_just_closed(const std::string& path, hid_t other, Dice& dice);

// In trouble.cpp. A forked child that writes and reads files of its own, while the parent has others open.
void write_in_child(const std::string& path, uint64_t seed);
// Writes into a file that cannot become as long as its data; any of it may fail, and nothing else.
void write_beyond_limit(const std::string& path, Dice& dice);

}  // namespace tailrace::test
