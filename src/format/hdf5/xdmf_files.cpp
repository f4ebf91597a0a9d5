#include "format/hdf5/xdmf_files.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "format/file_name.hpp"

namespace tailrace::impl {
namespace {

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

FileNames XdmfFiles::beside(FileNames names) {
  names.final_path = xdmf_name_of(names.final_path);
  names.temporary = names.final_path + ".part";
  names.joint = false;
  return names;
}

std::vector<XdmfDataset> XdmfFiles::datasets_of(const IterationPlan& plan) {
  std::vector<XdmfDataset> datasets;
  for (const auto& [name, dataset] : plan.datasets()) {
    const StoredAs as = plan.stored_as(dataset);
    datasets.push_back({dataset.variable, dataset.client, as.shared, name, as.shape(), dataset.block});
  }
  return datasets;
}

bool XdmfFiles::begins(int64_t iteration) {
  if (!first_) first_ = iteration;
  return format_.xdmf == XdmfIterations::every || (format_.xdmf == XdmfIterations::first && first_ == iteration);
}

void XdmfFiles::note(const std::string& path, const IterationPlan& plan) {
  if (format_.xdmf != XdmfIterations::none) grids_.note(name_in(path), datasets_of(plan));
}

// The XDMF file is written before anything has a name, since that may fail, and gets its name after the file to which
// it refers.
void XdmfFiles::add(PublicationPlan& plan, int64_t iteration, double time, const std::string& path,
                    const std::vector<XdmfDataset>& datasets) {
  const std::string text = xdmf_text(grids_.describe(iteration, time, name_in(path), datasets));
  const auto bytes = std::as_bytes(std::span(text));
  using Kind = PublicationStep::Kind;
  PublicationStep write{Kind::write, 1, false, {{0, std::vector<std::byte>(bytes.begin(), bytes.end())}}};
  plan.steps.insert(plan.steps.begin(), std::move(write));
  plan.steps.push_back({Kind::publish, 1, true, {}});
}

}  // namespace tailrace::impl
