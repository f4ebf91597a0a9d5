// ImageTemplate: completes the files of iterations, each from the one before where they are alike.
//
// HDF5 lays out nearly the same bytes for each iteration. If only the number of the iteration, its time and step, the
// date and the places of contiguous raw data differ from the last one's, the template changes these in the bytes of
// the last image and does not call HDF5: a variable then costs a comparison. If anything else differs, or a field is
// not found where it is expected, HDF5 describes the iteration afresh (iteration_image.hpp). Both ways give the same
// bytes. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/image/alike.hpp"
#include "format/image/iteration_image.hpp"
#include "format/metadata/object_header.hpp"
#include "format/plan/iteration_plan.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

class ImageTemplate {
 public:
  // `config` outlives this object.
  explicit ImageTemplate(const Config& config) : config_(config) {}

  // Makes the bytes that complete the file described by `plan`, which no longer changes. `path` is for messages.
  // Fails like make_image().
  Result<FileEnding> complete(const Provenance& provenance, int64_t iteration,
                              std::shared_ptr<const IterationPlan> plan, const std::string& path);

  // Returns how many files HDF5 has described; the others were made from earlier ones.
  uint64_t described() const { return described_; }

 private:
  // The last image, its description, and the fields in it that may differ.
  struct Last {
    Provenance provenance;
    std::string number;  // of the iteration
    std::shared_ptr<const IterationPlan> plan;
    IterationImage image;
    HeaderField date;  // of the root group
    HeaderField number_at;
    HeaderField time;
    HeaderField step;
  };

  std::optional<std::vector<Move>> moves_to(const Provenance& provenance, const std::string& number,
                                            const IterationPlan& plan) const;
  bool change(const Provenance& provenance, int64_t iteration, const IterationPlan& plan,
              const std::vector<Move>& moves);
  void keep(Last last);

  const Config& config_;
  std::optional<Last> last_;
  uint64_t described_ = 0;
};

}  // namespace tailrace::impl
