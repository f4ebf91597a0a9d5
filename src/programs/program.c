// A program whose main function is TAILRACE_MAIN of libtailrace.
#include "programs/programs.h"

int main(int argc, char** argv) { return TAILRACE_MAIN(argc, argv); }
