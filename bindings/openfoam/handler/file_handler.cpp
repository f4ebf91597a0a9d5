#include "openfoam/handler/file_handler.hpp"

#include <IFstream.H>
#include <Pstream.H>
#include <addToRunTimeSelectionTable.H>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "openfoam/handler/door.hpp"
#include "openfoam/handler/object_stream.hpp"

namespace Foam {
namespace fileOperations {

defineTypeNameAndDebug(tailraceFileOperation, 0);
addToRunTimeSelectionTable(fileOperation, tailraceFileOperation, word);
// The library calls no MPI from its threads.
using tailrace::openfoam::Unthreaded;
addNamedToRunTimeSelectionTable(fileOperationInitialise, Unthreaded, word, tailrace);

namespace {

namespace door = tailrace::openfoam;

bool exiting = false;  // by exit(), which has called the handler's atexit function

// Returns the folders of all processes of a decomposed case, of which `directory` is one; none if it is not. Folders
// of an earlier decomposition are not among them in a parallel run.
fileNameList processorFolders(const fileName& directory) {
  fileNameList folders;
  if (fileOperation::detectProcessorPath(directory) < 0) return folders;
  for (label process = 0; !Pstream::parRun() || process < Pstream::nProcs(); ++process) {
    const fileName folder = directory.path() / ("processor" + std::to_string(process));
    if (Foam::isDir(folder)) {
      folders.append(folder);
    } else if (!Pstream::parRun()) {
      break;
    }
  }
  return folders;
}

// Returns true if a part of the time is missing. A tool that is not parallel does not know how many processes there
// were: another folder may lack the time as it is old, but not if it has the part of a killed process.
bool lacksPart(const fileNameList& folders, const word& time) {
  return std::any_of(folders.begin(), folders.end(), [&](const fileName& folder) {
    return !Foam::isDir(folder / time) && (Pstream::parRun() || Foam::isDir(folder / (time + ".partial")));
  });
}

}  // namespace

// exit() calls the function before it destroys OpenFOAM's static handler. A program that ends by exit() has failed:
// the time directory that it was writing does not get its name.
tailraceFileOperation::tailraceFileOperation(bool verbose) : uncollatedFileOperation(false), writer_(door::writer()) {
  static const int registered = std::atexit([] {
    exiting = true;
    door::finish(false);
  });
  (void)registered;
  if (!verbose) return;
  DetailInfo << "I/O    : " << typeName << " (written "
             << (door::looks_are_told() ? "beside the computing"
                                        : "at once: start the program by `tailrace run --openfoam`")
             << ")" << Foam::endl;
}

tailraceFileOperation::~tailraceFileOperation() {
  if (exiting) return;
  writer_.settle("/", true);
  // The static pointer would destroy this object again at exit.
  if (fileHandlerPtr_.get() == this) fileHandlerPtr_.release();
  FatalIOError.throwExceptions(false);
  checkFailure();
  if (door::wants_summary()) printTable();
  if (!door::trace_path().empty()) writeTrace(door::trace_path());
}

void tailraceFileOperation::checkFailure() const {
  if (const auto failure = writer_.take_failure()) {
    FatalIOError("tailrace", __FILE__, __LINE__, failure->path, 0)
        << "could not write the file: " << failure->reason.c_str() << exit(FatalIOError);
  }
}

// ---- directories and times --------------------------------------------------------------------------------------

bool tailraceFileOperation::mkDir(const fileName& directory, mode_t mode) const {
  // The writer makes the directories of staged files.
  if (writing_ && writer_.is_staged(names_.of(directory))) return true;
  return uncollatedFileOperation::mkDir(directory, mode);
}

// Each process of a decomposed case gives its part of a time directory the name. If they were killed meanwhile, some
// parts of the latest times are missing, and no process can start from there.
instantList tailraceFileOperation::findTimes(const fileName& directory, const word& constantName) const {
  instantList times = uncollatedFileOperation::findTimes(directory, constantName);
  if (hasWritten_) return times;
  const fileNameList folders = processorFolders(names_.of(directory));
  while (times.size() > 0 && times.last().name() != constantName && lacksPart(folders, times.last().name())) {
    times.setSize(times.size() - 1);
  }
  return times;
}

// ---- writing ---------------------------------------------------------------------------------------------------

tailrace::openfoam::NewStream tailraceFileOperation::newStream(const fileName& path,
                                                               StreamOption::streamFormat format,
                                                               StreamOption::versionNumber version,
                                                               StreamOption::compressionType compression) const {
  checkFailure();
  const tailrace::openfoam::OutputFile what{names_.of(path), writing_ ? writing_->name() : path.name(),
                                            compression == StreamOption::COMPRESSED, outputs_};
  return tailrace::openfoam::NewStream(
      new tailrace::openfoam::ObjectStream(writer_, what, format, version, compression));
}

template <typename Write>
bool tailraceFileOperation::measured(const regIOobject& object, Write write) const {
  hasWritten_ = true;
  checkFailure();
  const double begun = tailrace::openfoam::now();
  const std::string directory = names_.of(object.time().timePath());
  if (directory != output_) {
    ++outputs_;
    names_.forget();
  }
  output_ = directory;
  if (names_.of(object.objectPath()).compare(0, directory.size() + 1, directory + '/') == 0) writer_.stage(directory);
  struct Writing {
    Writing(const regIOobject*& current, const regIOobject& now) : current_(current) { current_ = &now; }
    ~Writing() { current_ = nullptr; }  // OpenFOAM's errors may be exceptions
    const regIOobject*& current_;
  };
  const bool written = [&] {
    const Writing writing(writing_, object);
    return write();
  }();
  figures_.add(object.name(), outputs_, begun, tailrace::openfoam::now());
  return written;
}

void tailraceFileOperation::setTime(const Time& time) const {
  writer_.publish_others(names_.of(time.timePath()));
  uncollatedFileOperation::setTime(time);
}

void tailraceFileOperation::flush() const {
  writer_.settle("/", true);
  checkFailure();
  uncollatedFileOperation::flush();
}

// All processes of a decomposed case call it: each destroys its handler at its normal end.
void tailraceFileOperation::printTable() const {
  tailrace::openfoam::OutputCosts costs = figures_.costs(writer_);
  const bool together = Pstream::parRun() && std::uncaught_exceptions() == 0;
  if (together) {
    List<string> each(Pstream::nProcs());
    each[Pstream::myProcNo()] = costs.text();
    Pstream::gatherList(each);
    for (label process = 1; Pstream::master() && process < each.size(); ++process) {
      costs.add(tailrace::openfoam::OutputCosts::read(each[process]));
    }
  }
  if (!Pstream::master() || costs.objects.empty()) return;
  Info << nl << "tailrace: output beside the computing";
  if (together) Info << ", of all processes; the times are those of the slowest";
  Info << nl << costs.table().c_str() << Foam::endl;
}

void tailraceFileOperation::writeTrace(const std::string& path) const {
  const label process = Pstream::parRun() ? Pstream::myProcNo() : 0;
  const std::string name = process == 0 ? path : path + "." + std::to_string(process);
  std::ofstream file(name);
  file << figures_.trace(writer_.times(), static_cast<uint64_t>(process));
  if (!file.flush()) WarningInFunction << "could not write the trace " << name.c_str() << Foam::endl;
}

// ---- what versions declare in another way ------------------------------------------------------------------------

#if OPENFOAM < 2312

autoPtr<Ostream> tailraceFileOperation::NewOFstream(const fileName& path, IOstream::streamFormat format,
                                                    IOstream::versionNumber version,
                                                    IOstream::compressionType compression, const bool) const {
  return newStream(path, format, version, compression);
}

bool tailraceFileOperation::writeObject(const regIOobject& object, IOstream::streamFormat format,
                                        IOstream::versionNumber version, IOstream::compressionType compression,
                                        const bool valid) const {
  if (!valid) return true;
  return measured(object,
                  [&] { return uncollatedFileOperation::writeObject(object, format, version, compression, valid); });
}

#else

autoPtr<OSstream> tailraceFileOperation::NewOFstream(const fileName& path, IOstreamOption option, const bool) const {
  return newStream(path, option.format(), option.version(), option.compression());
}

// A file has its name when it is complete, atomic or not.
autoPtr<OSstream> tailraceFileOperation::NewOFstream(IOstreamOption::atomicType, const fileName& path,
                                                     IOstreamOption option, const bool) const {
  return newStream(path, option.format(), option.version(), option.compression());
}

bool tailraceFileOperation::writeObject(const regIOobject& object, IOstreamOption option, const bool valid) const {
  if (!valid) return true;
  return measured(object, [&] { return uncollatedFileOperation::writeObject(object, option, valid); });
}

#endif

}  // namespace fileOperations
}  // namespace Foam
