#include "openfoam/handler/file_handler.hpp"

#include <IFstream.H>
#include <Pstream.H>
#include <Time.H>
#include <addToRunTimeSelectionTable.H>
#include <unthreadedInitialise.H>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "openfoam/handler/door.hpp"
#include "openfoam/handler/object_stream.hpp"

namespace Foam {
namespace fileOperations {

defineTypeNameAndDebug(tailraceFileOperation, 0);
addToRunTimeSelectionTable(fileOperation, tailraceFileOperation, word);
// The library calls no MPI from its threads.
addNamedToRunTimeSelectionTable(fileOperationInitialise, unthreadedInitialise, word, tailrace);

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
  if (door::wants_summary() && Pstream::master()) printTable();
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

bool tailraceFileOperation::rmDir(const fileName& directory, const bool silent) const {
  settleBelow(directory);
  return uncollatedFileOperation::rmDir(directory, silent);
}

fileName tailraceFileOperation::filePath(const bool checkGlobal, const IOobject& object, const word& wanted,
                                         const bool search) const {
  settle(object.objectPath());
  return uncollatedFileOperation::filePath(checkGlobal, object, wanted, search);
}

fileName tailraceFileOperation::filePath(const fileName& path) const {
  settle(path);
  return fileOperation::filePath(path);
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

autoPtr<Ostream> tailraceFileOperation::NewOFstream(const fileName& path, IOstream::streamFormat format,
                                                    IOstream::versionNumber version,
                                                    IOstream::compressionType compression, const bool) const {
  checkFailure();
  const tailrace::openfoam::OutputFile what{absolute(path), writing_ ? writing_->name() : path.name(),
                                            compression == IOstream::COMPRESSED};
  return autoPtr<Ostream>(new tailrace::openfoam::ObjectStream(writer_, what, format, version, compression));
}

bool tailraceFileOperation::writeObject(const regIOobject& object, IOstream::streamFormat format,
                                        IOstream::versionNumber version, IOstream::compressionType compression,
                                        const bool valid) const {
  if (!valid) return true;
  hasWritten_ = true;
  checkFailure();
  const double begun = tailrace::openfoam::now();
  const std::string directory = absolute(object.time().timePath());
  if (absolute(object.objectPath()).compare(0, directory.size() + 1, directory + '/') == 0) writer_.stage(directory);
  writing_ = &object;
  const bool written = uncollatedFileOperation::writeObject(object, format, version, compression, valid);
  writing_ = nullptr;
  times_.add(object.name(), begun, tailrace::openfoam::now());
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

// OT, the output time, is what the program's thread and the writer's spent on the output; AT, the additional time, is
// the part of the program's thread. The overlap is (OT - AT) / OT, as in the paper on AP-IO (equation 1).
void tailraceFileOperation::printTable() const {
  const auto costs = writer_.costs();
  if (costs.empty()) return;
  tailrace::openfoam::ObjectTime all;
  tailrace::openfoam::ObjectCosts written;
  char line[160];
  const auto row = [&](const char* name, const tailrace::openfoam::ObjectTime& time,
                       const tailrace::openfoam::ObjectCosts& cost, const char* shield) {
    const double output = time.handing_over + cost.seconds;
    std::snprintf(line, sizeof line, "  %-24s %6llu %10.2f %12.4f %12.4f %12s %9.1f %%", name,
                  static_cast<unsigned long long>(cost.files), static_cast<double>(cost.bytes) / (1 << 20),
                  time.handing_over, cost.seconds, shield, output > 0 ? 100 * cost.seconds / output : 0);
    Info << line << nl;
  };
  std::snprintf(line, sizeof line, "  %-24s %6s %10s %12s %12s %12s %11s", "object", "files", "MiB", "program (s)",
                "writer (s)", "shield (s)", "overlap");
  Info << nl << "tailrace: output beside the computing" << (Pstream::parRun() ? ", of the master process" : "") << nl
       << line << nl;
  for (const auto& [name, cost] : costs) {
    const auto found = times_.all().find(name);
    const auto time = found != times_.all().end() ? found->second : tailrace::openfoam::ObjectTime();
    char shield[24] = "-";
    if (time.shields > 0) std::snprintf(shield, sizeof shield, "%.4f", time.shortest_shield);
    row(name.c_str(), time, cost, shield);
    all.handing_over += time.handing_over;
    written.files += cost.files;
    written.bytes += cost.bytes;
    written.seconds += cost.seconds;
  }
  row("all", all, written, "");
  Info << "  The program waited " << writer_.seconds_waiting() << " s." << nl << Foam::endl;
}

}  // namespace fileOperations
}  // namespace Foam
