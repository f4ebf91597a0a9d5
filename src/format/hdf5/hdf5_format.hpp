// Hdf5Format: the format port by openPMD/HDF5, with one file per iteration, or several iterations, and client, node
// or job (storage.file_per, storage.iterations_per_file).
//
// It remembers where the blocks of all iterations lie whose publication has not ended, and those of the latest
// others, up to limits on iterations and on their datasets, chunks and blocks. Older ones are looked up in their
// files.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/series_file.hpp"
#include "format/hdf5/xdmf_files.hpp"
#include "format/image/image_template.hpp"
#include "format/plan/iteration_plan.hpp"
#include "format/plan/stored_as.hpp"
#include "model/config/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

class Hdf5Format final : public Format {
 public:
  static constexpr size_t kRemembered = 256;        // most iterations that have left …
  static constexpr size_t kPartsRemembered = 4096;  // … and most of their datasets, chunks and blocks: about 1 MiB

  struct Options {
    int client = 0;  // for a file per process
    std::string machine;
    std::function<std::string()> date;  // the present time in openPMD's format
    std::string run = {};               // see Provenance
  };

  // Returns ok if this process can use HDF5. Call it before the first format is made. See
  // LibraryLock::check_usable().
  static Status check_usable();
  // Uses HDF5 for the first time, which takes some milliseconds, so that the first iteration does not. Any thread.
  static void rehearse(const Config& config, int client);

  // Both outlive the format. `files` belongs to the storage that writes the format's files.
  Hdf5Format(const Config& config, FileSystem& files, Options options);
  ~Hdf5Format() override;

  std::optional<FileNames> published(int64_t iteration) const override;
  bool begun(int64_t iteration) const override;
  const std::vector<FileNames>& files(int64_t iteration) const override;
  Result<Placement> place(const Block& block) override;
  Result<Placement> place_chunks(const Block& block, uint64_t first, std::span<const FilteredChunk> chunks,
                                 const Loss& loss) override;
  Status note_event(int64_t iteration, const std::string& event) override;
  Status note_attribute(const AttributeNote& note) override;
  Status note_finding(int64_t iteration, const std::string& by, const std::string& name,
                      const FindingValue& value) override;
  void note_missing(int64_t iteration, const std::vector<int>& clients, uint32_t unnamed) override;
  Result<PublicationPlan> finish(int64_t iteration) override;
  bool begin_empty(int64_t iteration) override;
  Result<std::optional<JointPublication>> complete(int64_t iteration) override;
  bool is_complete(int64_t iteration) override;
  void ended(int64_t iteration, bool published) override;
  void discard(int64_t iteration) override;
  Result<Located> locate(const Block& block) override;
  Result<LocatedChunks> locate_chunks(const Block& block) override;
  void forget(const Block& block, const Status& why) override;

 private:
  enum class Stage : uint8_t {
    begun,     // it takes blocks
    finished,  // its plan was made, and has not ended
    left       // its plan has ended
  };
  // The state of one iteration's file.
  struct Record {
    std::vector<FileNames> files;         // the HDF5 file, and perhaps an XDMF file
    Status refused;                       // why the iteration cannot be in the file
    std::string date;                     // when the iteration began
    std::shared_ptr<IterationPlan> plan;  // constant once the iteration is finished
    Stage stage = Stage::begun;
    size_t parts = 0;                                 // once it has left: its datasets, chunks and blocks
    std::map<std::pair<uint32_t, int>, Status> lost;  // blocks whose bytes were lost, and the reasons
  };

  void remember(int64_t iteration, Record& record);
  StoredAs stored(const Block& block) const;
  std::string path_on(size_t device, int64_t iteration) const;
  uint32_t device_for(int64_t iteration);
  Record& begin(int64_t iteration);
  FileNames names_of(int64_t iteration);
  Result<SeriesFile*> series_file(const std::string& path);
  Record begin_in_series(FileNames names, int64_t iteration);
  Result<PublicationPlan> finish_in_series(int64_t iteration, const Record& record, const Provenance& provenance);
  // Returns the dataset that contains the block; none if its iteration is not remembered.
  Result<std::optional<StoredDataset>> remembered(const Block& block) const;
  Status not_written(const Block& block) const;
  Result<Located> look_up(const Block& block) const;
  Result<LocatedChunks> look_up_chunks(const Block& block) const;

  const Config& config_;
  FileSystem& files_;
  const Options options_;
  std::map<int64_t, Record> records_;
  std::deque<int64_t> left_;  // keys of the records that have left, each once, oldest first
  size_t parts_ = 0;          // sum over these records
  uint32_t next_device_ = 0;  // devices get files in turn
  // Files of several iterations that are being written, by their paths.
  std::map<std::string, SeriesFile> series_files_;
  ImageTemplate template_;
  XdmfFiles xdmf_;
};

}  // namespace tailrace::impl
