#include "transport/ucx/quiet_ucx.hpp"

#include <ucs/debug/log_def.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace tailrace::impl {
namespace {

struct ThreadsMessages {
  int depth = 0;  // QuietUcx objects of the thread
  std::array<char, 256> last{};
};

thread_local ThreadsMessages threads_messages;
std::atomic<bool> keeps_all{false};
std::once_flag begun;

ucs_log_func_rc_t keep(const char* /*file*/, unsigned /*line*/, const char* /*function*/, ucs_log_level_t level,
                       const ucs_log_component_config_t* /*component*/, const char* message, va_list values) {
  ThreadsMessages& own = threads_messages;
  // After a fatal error UCX ends the process, so the reason must be seen.
  if (level == UCS_LOG_LEVEL_FATAL || (own.depth == 0 && !keeps_all.load())) return UCS_LOG_FUNC_RC_CONTINUE;
  if (own.depth == 0) return UCS_LOG_FUNC_RC_STOP;
  va_list copy;
  va_copy(copy, values);
  std::vsnprintf(own.last.data(), own.last.size(), message, copy);
  va_end(copy);
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

void begin_quiet_ucx(bool others_use_ucx) {
  std::call_once(begun, [others_use_ucx] {
    if (std::getenv("UCX_LOG_LEVEL") != nullptr) return;
    keeps_all.store(!others_use_ucx);
    ucs_log_push_handler(&keep);
  });
}

QuietUcx::QuietUcx() {
  if (threads_messages.depth++ == 0) threads_messages.last[0] = '\0';
}

QuietUcx::~QuietUcx() { threads_messages.depth--; }

std::string last_message_of_ucx() { return threads_messages.last.data(); }

}  // namespace tailrace::impl
