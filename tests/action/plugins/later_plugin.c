/* A plugin of an ABI that is not there yet. */
#include <stdint.h>

uint32_t tailrace_plugin_abi(void);
__attribute__((visibility("default"))) uint32_t tailrace_plugin_abi(void) { return 99; }
