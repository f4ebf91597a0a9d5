#include "openfoam/handler/file_handler.hpp"

#include <IFstream.H>
#include <Pstream.H>
#include <addToRunTimeSelectionTable.H>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
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

// Returns the folders of all processes of a decomposed case, of which `directory` is one; none if it is not.
fileNameList processorFolders(const fileName& directory) {
  fileNameList folders;
  if (fileOperation::detectProcessorPath(directory) < 0) return folders;
  for (const fileName& name : Foam::readDir(directory.path(), fileName::DIRECTORY)) {
    if (fileOperation::detectProcessorPath(directory.path() / name) >= 0) folders.append(directory.path() / name);
  }
  return folders;
}

// Returns the path as the writer needs it: absolute, without "." and "..". OpenFOAM's "no file" stays empty.
std::string absolute(const fileName& path) {
  if (path.empty()) return {};
  std::string normal = std::filesystem::absolute(static_cast<const std::string&>(path)).lexically_normal();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
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
  if (verbose) DetailInfo << "I/O    : " << typeName << " (written beside the computing)" << Foam::endl;
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

void tailraceFileOperation::settle(const fileName& path) const { writer_.settle(absolute(path), false); }

void tailraceFileOperation::settleBelow(const fileName& path) const {
  if (!path.empty()) writer_.settle(absolute(path), true);
}

void tailraceFileOperation::checkFailure() const {
  if (const auto failure = writer_.take_failure()) {
    FatalIOError("tailrace", __FILE__, __LINE__, failure->path, 0)
        << "could not write the file: " << failure->reason.c_str() << exit(FatalIOError);
  }
}

// ---- looking at files ------------------------------------------------------------------------------------------

bool tailraceFileOperation::mkDir(const fileName& directory, mode_t mode) const {
  // The writer makes the directories of staged files.
  if (writing_ && writer_.is_staged(absolute(directory))) return true;
  settle(directory);
  return uncollatedFileOperation::mkDir(directory, mode);
}

bool tailraceFileOperation::chMod(const fileName& path, const mode_t mode) const {
  settle(path);
  return uncollatedFileOperation::chMod(path, mode);
}

mode_t tailraceFileOperation::mode(const fileName& path, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::mode(path, followLink);
}

fileName::Type tailraceFileOperation::type(const fileName& path, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::type(path, followLink);
}

bool tailraceFileOperation::exists(const fileName& path, const bool checkGzip, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::exists(path, checkGzip, followLink);
}

bool tailraceFileOperation::isDir(const fileName& path, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::isDir(path, followLink);
}

bool tailraceFileOperation::isFile(const fileName& path, const bool checkGzip, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::isFile(path, checkGzip, followLink);
}

off_t tailraceFileOperation::fileSize(const fileName& path, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::fileSize(path, followLink);
}

time_t tailraceFileOperation::lastModified(const fileName& path, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::lastModified(path, followLink);
}

double tailraceFileOperation::highResLastModified(const fileName& path, const bool followLink) const {
  settle(path);
  return uncollatedFileOperation::highResLastModified(path, followLink);
}

fileNameList tailraceFileOperation::readDir(const fileName& directory, const fileName::Type type, const bool filtergz,
                                            const bool followLink) const {
  settleBelow(directory);
  return uncollatedFileOperation::readDir(directory, type, filtergz, followLink);
}

bool tailraceFileOperation::cp(const fileName& from, const fileName& to, const bool followLink) const {
  settleBelow(from);
  settleBelow(to);
  return uncollatedFileOperation::cp(from, to, followLink);
}

bool tailraceFileOperation::ln(const fileName& from, const fileName& to) const {
  settleBelow(from);
  settleBelow(to);
  return uncollatedFileOperation::ln(from, to);
}

bool tailraceFileOperation::mv(const fileName& from, const fileName& to, const bool followLink) const {
  settleBelow(from);
  settleBelow(to);
  return uncollatedFileOperation::mv(from, to, followLink);
}

bool tailraceFileOperation::mvBak(const fileName& path, const std::string& extension) const {
  settleBelow(path);
  return uncollatedFileOperation::mvBak(path, extension);
}

bool tailraceFileOperation::rm(const fileName& path) const {
  settle(path);
  return uncollatedFileOperation::rm(path);
}

fileName tailraceFileOperation::filePath(const bool checkGlobal, const IOobject& object, const word& wanted,
                                         const bool search) const {
  settle(object.objectPath());
  return uncollatedFileOperation::filePath(checkGlobal, object, wanted, search);
}

fileName tailraceFileOperation::dirPath(const bool checkGlobal, const IOobject& object, const bool search) const {
  settle(object.objectPath());
  return uncollatedFileOperation::dirPath(checkGlobal, object, search);
}

// Each process of a decomposed case gives its part of a time directory the name. If they were killed meanwhile, some
// parts of the latest times are missing, and no process can start from there.
instantList tailraceFileOperation::findTimes(const fileName& directory, const word& constantName) const {
  instantList times = uncollatedFileOperation::findTimes(directory, constantName);
  if (hasWritten_) return times;
  const fileNameList folders = processorFolders(absolute(directory));
  const auto lacks = [&](const fileName& folder, const instant& time) { return !Foam::isDir(folder / time.name()); };
  while (times.size() > 0 && times.last().name() != constantName) {
    if (std::none_of(folders.begin(), folders.end(), [&](const fileName& each) { return lacks(each, times.last()); }))
      break;
    times.setSize(times.size() - 1);
  }
  return times;
}

autoPtr<ISstream> tailraceFileOperation::NewIFstream(const fileName& path) const {
  settle(path);
  return uncollatedFileOperation::NewIFstream(path);
}

label tailraceFileOperation::addWatch(const fileName& path) const {
  settle(path);
  return uncollatedFileOperation::addWatch(path);
}

// The program has written the file itself: its new time of modification is no change.
void tailraceFileOperation::setUnmodified(const label watch) const {
  settle(getFile(watch));
  uncollatedFileOperation::setUnmodified(watch);
}

// ---- writing ---------------------------------------------------------------------------------------------------

tailrace::openfoam::NewStream tailraceFileOperation::newStream(const fileName& path,
                                                               StreamOption::streamFormat format,
                                                               StreamOption::versionNumber version,
                                                               StreamOption::compressionType compression) const {
  checkFailure();
  const tailrace::openfoam::OutputFile what{absolute(path), writing_ ? writing_->name() : path.name(),
                                            compression == StreamOption::COMPRESSED, outputs_};
  return tailrace::openfoam::NewStream(
      new tailrace::openfoam::ObjectStream(writer_, what, format, version, compression));
}

template <typename Write>
bool tailraceFileOperation::measured(const regIOobject& object, Write write) const {
  hasWritten_ = true;
  checkFailure();
  const double begun = tailrace::openfoam::now();
  const std::string directory = absolute(object.time().timePath());
  if (absolute(object.objectPath()).compare(0, directory.size() + 1, directory + '/') == 0) writer_.stage(directory);
  if (directory != output_) ++outputs_;
  output_ = directory;
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
  writer_.publish_others(absolute(time.timePath()));
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

bool tailraceFileOperation::rmDir(const fileName& directory, const bool silent) const {
  settleBelow(directory);
  return uncollatedFileOperation::rmDir(directory, silent);
}

fileName tailraceFileOperation::filePath(const fileName& path) const {
  settle(path);
  return fileOperation::filePath(path);
}

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

bool tailraceFileOperation::rmDir(const fileName& directory, const bool silent, const bool emptyOnly) const {
  settleBelow(directory);
  return uncollatedFileOperation::rmDir(directory, silent, emptyOnly);
}

fileName tailraceFileOperation::filePath(const fileName& path, const bool checkGzip, const bool followLink) const {
  settle(path);
  return fileOperation::filePath(path, checkGzip, followLink);
}

autoPtr<OSstream> tailraceFileOperation::NewOFstream(const fileName& path, IOstreamOption option, const bool) const {
  return newStream(path, option.format(), option.version(), option.compression());
}

// A file has its name when it is whole, atomic or not.
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
