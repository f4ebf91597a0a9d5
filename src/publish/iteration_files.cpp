#include "publish/iteration_files.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tailrace::impl {

Result<FileId> IterationFiles::open(int64_t number, uint32_t index) {
  Iteration& iteration = iterations_.begin(number);
  if (!iteration.refusal.ok()) return iteration.refusal;
  if (index < iteration.files.size() && iteration.files[index] != 0) return iteration.files[index];
  // A dropped iteration must not keep others from a file of several.
  if (iteration.dropped && !storage_.has_file_each()) return iterations_.why_ended(number, iteration);
  if (const Status taken = taken_by_another(number, index); !taken.ok()) {
    iterations_.refuse(number, taken);
    return iteration.refusal;
  }
  if (index >= iteration.files.size()) iteration.files.resize(index + 1);
  const FileId file = open_or_continue(format_.files(number)[index], number, iteration);
  iteration.files[index] = file;
  if (!storage_.has_file_each()) iteration.series_file = format_.files(number)[index].final_path;
  return file;
}

// Several iterations may share a file, one after another.
Status IterationFiles::taken_by_another(int64_t number, uint32_t index) const {
  if (storage_.has_file_each()) return {};
  const std::string& path = format_.files(number)[index].final_path;
  for (const auto& [other, iteration] : iterations_.unfinished()) {
    if (other == number || iteration.series_file != path) continue;
    return Status(TAILRACE_WRONG_ORDER,
                  fmt::format("iteration {} cannot begin in '{}' while iteration {} is unfinished there, {}: with "
                              "storage.iterations_per_file, every client ends an iteration before any begins another",
                              number, path, other, clients_.describe(iteration.ended)));
  }
  return {};
}

// If an iteration has several files, nobody knows into which of them an earlier server has written blocks.
FileId IterationFiles::open_or_continue(const FileNames& names, int64_t number, const Iteration& iteration) {
  const bool must_be_there = iteration.has_earlier_blocks && (names.joint || format_.files(number).size() == 1);
  OpenMode mode = OpenMode::fresh;
  if (names.joint || iteration.resumed) mode = OpenMode::own_or_new;
  if (names.is_published() || must_be_there) mode = OpenMode::own;
  return engine_.open(names.temporary, mode, names.device, names.final_path);
}

Status IterationFiles::open_all(int64_t number) {
  if (!format_.begun(number)) return iterations_.begin(number).refusal;
  Status status;
  for (uint32_t index = 0; index < format_.files(number).size() && status.ok(); ++index) {
    status = open(number, index).status();
  }
  return status;
}

std::optional<FileId> IterationFiles::find(int64_t number, uint32_t index) const {
  const Iteration* const iteration = iterations_.find(number);
  if (iteration == nullptr || index >= iteration->files.size()) return std::nullopt;
  const FileId file = iteration->files[index];
  return file != 0 ? std::optional(file) : std::nullopt;
}

std::vector<Request> IterationFiles::for_each_open(int64_t number, Operation operation) const {
  std::vector<Request> requests;
  const Iteration* const iteration = iterations_.find(number);
  TAILRACE_ASSERT(iteration != nullptr);
  for (const FileId file : iteration->files) {
    if (file == 0) continue;
    Request request;
    request.operation = operation;
    request.file = file;
    if (operation == Operation::close) request.phase = phase_of(number);
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace tailrace::impl
