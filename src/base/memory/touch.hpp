// touch: takes pages from the system before they are used.
//
// First touch is what makes memory slow (design §6): about 0.5 GB/s against 10 GB/s after it. Beside a full budget it
// may also fail: here as an error, in a write to the memory as a signal.
#pragma once

#include <cstddef>

namespace tailrace::impl {

inline constexpr size_t kHugePage = size_t{2} << 20;

// Takes every page of a mapping from the system now, for writing; the bytes stay what they are. Returns errno, or 0.
// `begin` is aligned to pages.
int touch(std::byte* begin, size_t size);

// Does the same page by page, as the program itself would: whoever maps and unmaps other memory of the process does
// not wait for it, as behind touch(). Where there is no page to be had it ends in a signal.
void touch_one_by_one(std::byte* begin, size_t size);

// Returns true if touch() can fail. Before Linux 5.14 it ends in a signal where a file has no page to give.
bool touch_reports_errors();

// Puts the whole huge pages of a mapping together, of a file in shared memory, too, where nobody gives such pages
// otherwise; what has not been touched is touched by this. Needs no privilege, but Linux 6.1. Both ends are aligned
// to huge pages. Returns errno, or 0; after a failure some of it may be together.
int gather_huge_pages(std::byte* begin, size_t size);

}  // namespace tailrace::impl
