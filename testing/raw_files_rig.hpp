// Opens and closes raw files of a session on memory storage, for tests of their behaviour. Each call must succeed.
#pragma once

#include "testing/blocks.hpp"

namespace tailrace::impl {

inline Config memory_config(uint64_t pages = 64, Durability durability = Durability::written) {
  Config config = small_config(pages);
  config.storage.backend = Backend::memory;
  config.storage.durability = durability;
  return config;
}

inline uint32_t open_raw(SessionRig& rig, const std::string& path, int mode = TAILRACE_FILE_WRITE) {
  const Result<uint32_t> file = rig.client().files().open(path, mode);
  EXPECT_EQ(said(file.status()), "ok");
  return file.ok() ? file.value() : 0;
}

inline uint64_t iclose_raw(SessionRig& rig, uint32_t file) {
  const Result<uint64_t> ticket = rig.client().files().iclose(file);
  EXPECT_EQ(said(ticket.status()), "ok");
  return ticket.ok() ? ticket.value() : kNoTicket;
}

}  // namespace tailrace::impl
