#include "publish/drop_journal.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl {

std::shared_ptr<DropJournal::Line> DropJournal::add(int64_t iteration, const std::string& why,
                                                    std::vector<Request>& requests) {
  if (file_ != 0 && !engine_.is_open(file_) && engine_.has_failed(file_)) {
    Request& close = requests.emplace_back();
    close.operation = Operation::close;
    close.file = std::exchange(file_, 0);
    end_ = begun_;
  }
  if (file_ == 0) file_ = engine_.open(path_, begun_ > 0 ? OpenMode::own : OpenMode::fresh, 0, {});
  auto line = std::make_shared<Line>();
  line->text = fmt::format("iteration {}: dropped, {}\n", iteration, why);
  Request& request = requests.emplace_back();
  request.operation = Operation::write;
  request.file = file_;
  request.pieces = {{{end_, line->text.size()}, reinterpret_cast<std::byte*>(line->text.data())}};
  end_ += line->text.size();
  line->end = end_;
  return line;
}

}  // namespace tailrace::impl
