// Names the status codes for people: "wrong shape", "I/O error".
#pragma once

namespace tailrace::impl {

// Returns the text of a tailrace_status; "unknown status" of another number. The text lives as long as the program.
const char* status_text(int status);

}  // namespace tailrace::impl
