// Publication: the last requests of an iteration's file, which turn a `.part` into a file that readers see.
//
// Pure: from a format's FileEnding and the durability to the list of requests. Their order is the promise (3): the
// superblock is written after everything else has been, the rename comes after the superblock, and for `durable` a
// sync lies between each two.
#pragma once

#include <vector>

#include "format/format.hpp"
#include "model/config.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

inline constexpr uint32_t kMaxPublicationRequests = 5;

// How the file leaves: with its name, or whole under the temporary one, which is left to recovery.
enum class FileEnd { published, kept };

// The requests that publish `file`, or keep it, in order. They refer to the bytes of `ending`, which outlives them.
// Sink, token, client and sequence are the caller's to fill in.
std::vector<Request> publication(FileId file, FileEnding& ending, Durability durability,
                                 FileEnd end = FileEnd::published);

}  // namespace tailrace::impl
