/* A library that is not a plugin, as it does not say so. */
int sums(const void* call);
__attribute__((visibility("default"))) int sums(const void* call) { return call == 0; }
