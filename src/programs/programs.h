// The main functions of tailrace-core and tailrace-forward, which libtailrace contains. The programs call these, and
// so share the library's code. They are for these programs alone.
#pragma once

#include <tailrace/tailrace.h>

#ifdef __cplusplus
extern "C" {
#endif

TAILRACE_API int tailrace_core_main(int argc, char** argv);
TAILRACE_API int tailrace_forward_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif
