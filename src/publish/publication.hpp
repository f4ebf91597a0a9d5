// Publication: the engine's requests for a few steps of a format's PublicationPlan.
//
// Pure. The order of the steps is what promise 3 rests on: each takes effect after the one before it, and for
// `durable` there is a sync between each two.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "format/format.hpp"
#include "model/config/settings.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

// How a file ends: with its name, or complete under its temporary name, for recovery.
enum class FileEnd { published, kept };

// A run is what the engine gets at once: writes into one file, whose order the engine keeps, a write that shows the
// iteration, a publish, or a close. It has at most this number of requests.
inline constexpr uint32_t kRequestsOfRun = 4;

// Returns how many of the first steps form a run; 0 if there are none.
size_t length_of_run(std::span<const PublicationStep> steps);

// Returns the requests of a run on the open file `file`, in order. They refer to the bytes of the steps, which must
// outlive them. The caller sets sink and token.
std::vector<Request> requests_of(std::span<const PublicationStep> run, FileId file, Durability durability,
                                 FileEnd end);

}  // namespace tailrace::impl
