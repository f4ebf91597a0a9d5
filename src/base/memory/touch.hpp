// touch: takes pages from the system before they are used.
//
// The first touch makes memory slow: about 0.5 GB/s against 10 GB/s afterwards. Beyond a full budget it
// fails: touch() then returns an error, where a plain write to the memory would raise a signal.
#pragma once

#include <cstddef>

namespace tailrace::impl {

inline constexpr size_t kHugePage = size_t{2} << 20;

// Takes every page of a part of a mapping from the system, for writing, and all of the pages at its ends; the bytes
// keep their values. Returns errno, or 0.
int touch(std::byte* begin, size_t size);

// Does the same page by page, as the program itself would. Threads that map and unmap other memory of the process do
// not wait for it, as they do for touch(). Raises a signal if the system has no page.
void touch_one_by_one(std::byte* begin, size_t size);

// Returns true if touch() can report errors. Before Linux 5.14, touch() raises a signal if a file has no page to
// give.
bool touch_reports_errors();

// Collapses pages of a mapping into huge pages, also of a file in shared memory, which gets no huge pages otherwise.
// Touches all pages. Needs no privilege, but Linux 6.1. Both ends are aligned to huge pages. Returns errno, or 0;
// after a failure, some pages may be collapsed.
int gather_huge_pages(std::byte* begin, size_t size);

}  // namespace tailrace::impl
