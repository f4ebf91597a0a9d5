// Looks: calls of the C library by which the program finds, changes or removes files by their names, or starts other
// programs. All that OpenFOAM, its streams and anything else do with files comes down to these. The preloaded library
// is asked for them before the C library, tells each look, and then has the C library carry it out.
#pragma once

extern "C" {

// Is called before the look, on the thread that makes it; never on a thread of tailrace. The path may be relative to
// the working directory. `below`: the look may find what lies below the path. Null: it may find any file.
using TailraceFoamLook = void (*)(const char* path, bool below) noexcept;

// The preloaded library has it, so a caller that finds it by dlsym() knows that. Looks go to `look` from
// now on, in this process but in no forked one.
void tailrace_foam_tell_looks(TailraceFoamLook look);
using TailraceFoamTellLooks = void (*)(TailraceFoamLook look);
}
