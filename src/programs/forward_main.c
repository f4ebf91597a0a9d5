// tailrace-forward, whose main function is in libtailrace.
#include "programs/programs.h"

int main(int argc, char** argv) { return tailrace_forward_main(argc, argv); }
