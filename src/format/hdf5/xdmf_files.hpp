// XdmfFiles: the XDMF files beside the files of iterations, by which ParaView opens them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/plan/iteration_plan.hpp"
#include "format/xdmf/xdmf_grids.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

class XdmfFiles {
 public:
  // `config` outlives this.
  XdmfFiles(const Declarations& declared, const FormatSettings& format)
      : format_(format), grids_(declared, format.meshes) {}

  // Returns the names of the XDMF file beside the file.
  static FileNames beside(FileNames names);
  // Returns the datasets of a plan.
  static std::vector<XdmfDataset> datasets_of(const IterationPlan& plan);

  // Notes that the iteration has begun. Returns true if it has an XDMF file; also if it begins again.
  bool begins(int64_t iteration);
  // Notes what is in the file at `path`, which has no XDMF file: later ones may refer to its coordinates.
  void note(const std::string& path, const IterationPlan& plan);
  // Adds the steps that write and publish the XDMF file, number 1 of the plan, beside the file at `path`.
  void add(PublicationPlan& plan, int64_t iteration, double time, const std::string& path,
           const std::vector<XdmfDataset>& datasets);

 private:
  const FormatSettings& format_;
  XdmfGrids grids_;
  std::optional<int64_t> first_;  // the first iteration that began
};

}  // namespace tailrace::impl
