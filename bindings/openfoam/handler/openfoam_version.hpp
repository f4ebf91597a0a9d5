// The differences between versions of OpenFOAM that concern the file handler. OPENFOAM is the version, as OpenFOAM's
// own builds define it.
//
// Two interfaces are known: that of 1912, Debian's, with which the handler is built and tested; and that of 2312,
// with whose headers it compiles. Versions in between have parts of both.
#pragma once

#if OPENFOAM < 2312
#include <Time.H>
#include <unthreadedInitialise.H>
#else
#include <TimeOpenFOAM.H>
#include <fileOperationInitialise.H>
#endif

#include <OSstream.H>
#include <autoPtr.H>

namespace tailrace::openfoam {

// Classes that have one name in each.
#if OPENFOAM < 2312
using Unthreaded = Foam::fileOperations::unthreadedInitialise;
using NewStream = Foam::autoPtr<Foam::Ostream>;
using StreamOption = Foam::IOstream;
#else
using Unthreaded = Foam::fileOperations::fileOperationInitialise_unthreaded;
using NewStream = Foam::autoPtr<Foam::OSstream>;
using StreamOption = Foam::IOstreamOption;
#endif

}  // namespace tailrace::openfoam
