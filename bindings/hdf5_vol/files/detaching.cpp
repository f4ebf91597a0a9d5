#include "hdf5_vol/files/detaching.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "hdf5_vol/process/process.hpp"

namespace tailrace::hdf5 {
namespace {

// Renames a file past the library that watches the program's calls (names/names.h): that would wait for others.
bool rename_unwatched(const std::string& from, const std::string& to, unsigned flags) {
  return ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
}

}  // namespace

void Detaching::spoil(const std::string& why) {
  if (spoilt_.empty()) spoilt_ = why;
}

// At the end of the process the client may already be closed, and everything is written that could be.
bool Detaching::must_hide() {
  if (carrier().has_ended()) {
    writes_.forget();
    if (carrier().has_failed(path_)) spoil("some of its data could not be written");
  }
  return (writes_.is_open() && writes_.any()) || !spoilt_.empty();
}

bool Detaching::hide() {
  hidden_ = rename_unwatched(path_, hidden_name_of(path_), RENAME_NOREPLACE);
  return hidden_;
}

void Detaching::show() {
  if (!hidden_) return;
  hidden_ = false;
  if (rename_unwatched(hidden_name_of(path_), path_, 0)) return;
  spoil("it could not be renamed from '" + hidden_name_of(path_) + "': " + std::strerror(errno));
}

void Detaching::leave(uint64_t superblock) {
  std::string why;
  const std::optional<Seal> seal = take_seal(hidden_name_of(path_), superblock, why);
  if (!seal) spoil(why);
  show();
  if (spoilt_.empty()) hand_over(*seal);
  if (spoilt_.empty()) return;
  writes_.give_up();
  Process::instance().detached().broken(path_, spoilt_);
}

void Detaching::hand_over(const Seal& seal) {
  tailrace_ticket ticket{};
  const Refusal refused = writes_.leave(seal, ticket);
  if (refused.status != TAILRACE_OK) return spoil(refused.message);
  Process::instance().detached().left(path_, ticket);
}

}  // namespace tailrace::hdf5
