// Hdf5Format: the format port by openPMD/HDF5, one file a client and iteration.
//
// Remembers where blocks lie: of unfinished iterations all, of finished ones the latest kRemembered; older ones are
// looked up in their files.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

class IterationImage;

class Hdf5Format final : public Format {
 public:
  static constexpr size_t kRemembered = 256;  // finished iterations

  struct Options {
    int client = 0;
    std::string machine;
    std::function<std::string()> date;  // now, as openPMD writes it
  };

  // `config` outlives the format.
  Hdf5Format(const Config& config, Options options);
  ~Hdf5Format() override;

  const FileNames& names(int64_t iteration) const override;
  Result<Extent> place(const Block& block) override;
  Status note_event(int64_t iteration, const std::string& event) override;
  Result<FileEnding> finish(int64_t iteration) override;
  void discard(int64_t iteration) override;
  Result<Located> locate(const Block& block) override;
  void forget(const Block& block, const Status& why) override;

 private:
  // What is known of one iteration's file.
  struct Record {
    FileNames names;
    std::unique_ptr<IterationImage> image;  // null once it is finished
    std::vector<Extent> extents;            // of a finished one, by variable; length 0: no block
    std::map<uint32_t, Status> lost;        // blocks whose bytes were lost, and why
  };

  void rehearse();
  std::string path_on(size_t device, int64_t iteration) const;
  uint32_t device_for(int64_t iteration);
  Result<Record*> begin(int64_t iteration);
  Result<Located> look_up(const Block& block) const;

  const Config& config_;
  const Options options_;
  std::map<int64_t, Record> records_;
  std::deque<int64_t> finished_;  // keys of finished records, oldest first
  uint32_t next_device_ = 0;      // files go to the devices in turn
};

}  // namespace tailrace::impl
