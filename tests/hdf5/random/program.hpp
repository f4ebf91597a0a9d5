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
  // What the files must have when the process has ended.
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
  // Of one write in an event set: HDF5 may look at the memory until it is waited for.
  using Held = std::unique_ptr<Transfer>;

  void step();
  void create();
  void write();
  void write_multi();
  void write_asynchronously();
  void wait();
  void read();
  void read_as_second();
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

  void make(File& file);
  void open(File& file);
  Data& some();
  hid_t id(Data& data);
  void write_one(Data& data);
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

// In trouble.cpp. A forked child that writes and reads files of its own, while the parent has others open.
void write_in_child(const std::string& path, uint64_t seed);
// Writes into a file that cannot become as long as its data; any of it may fail, and nothing else.
void write_beyond_limit(const std::string& path, Dice& dice);

}  // namespace tailrace::test
