// Publication: the requests of the engine for a few steps of a format's PublicationPlan.
//
// Pure. The order of the steps is the promise (3): each takes effect after the one before it, and for `durable` a
// sync lies between each two.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "format/format.hpp"
#include "model/config.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

// How a file leaves: with its name, or whole under the temporary one, which is left to recovery.
enum class FileEnd { published, kept };

// A run is what the engine is given at once: writes into one file, whose order the engine keeps, or a publish, as
// requests of no more than this number.
inline constexpr uint32_t kRequestsOfRun = 4;

// Returns how many of the steps, the first ones, are a run; 0 if there are none.
size_t length_of_run(std::span<const PublicationStep> steps);

// Returns the requests of a run on the open file `file`, in order. They refer to the bytes of the steps, which
// outlive them. Sink and token are the caller's to fill in.
std::vector<Request> requests_of(std::span<const PublicationStep> run, FileId file, Durability durability,
                                 FileEnd end);

}  // namespace tailrace::impl
