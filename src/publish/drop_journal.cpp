#include "publish/drop_journal.hpp"

#include <fmt/format.h>

namespace tailrace::impl {

Result<std::shared_ptr<DropJournal::Line>> DropJournal::add(int64_t iteration, const std::string& why,
                                                            Request& request) {
  if (Status opened = open(); !opened.ok()) return opened;
  auto line = std::make_shared<Line>();
  line->text = fmt::format("iteration {}: dropped, {}\n", iteration, why);
  request.operation = Operation::write;
  request.file = file_;
  request.pieces = {{{end_, line->text.size()}, reinterpret_cast<std::byte*>(line->text.data())}};
  end_ += line->text.size();
  line->end = end_;
  return line;
}

Status DropJournal::open() {
  if (file_ != 0) return {};
  const Result<FileId> file = engine_.open(path_, begun_ ? OpenMode::own : OpenMode::fresh, 0, {});
  if (file.ok()) file_ = file.value();
  return file.status();
}

}  // namespace tailrace::impl
