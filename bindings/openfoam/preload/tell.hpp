// How the functions in front of the C library tell looks.
#pragma once

namespace tailrace::openfoam {

// A file or directory, by its name.
void tell(const char* path) noexcept;
// A directory, and what it contains.
void tell_below(const char* path) noexcept;
// A name at which something may be made, so that its directory must be there.
void tell_new(const char* path) noexcept;
// Another program is started, or names are found by a pattern.
void tell_all() noexcept;

// Like these, with a name that is relative to an open directory.
void tell_at(int directory, const char* path) noexcept;
void tell_below_at(int directory, const char* path) noexcept;
void tell_new_at(int directory, const char* path) noexcept;

// The calling thread tells nothing until further notice.
void tell_nothing(bool nothing) noexcept;

// Returns the function of the C library, or of OpenFOAM.
void* next_of(const char* function) noexcept;

}  // namespace tailrace::openfoam
