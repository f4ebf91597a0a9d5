// Looks at files that it has just written, in every way past the file handler: by each function of OpenFOAM's POSIX
// layer, by its streams and its searches, by the C and the C++ library, and by other programs. Prints what each has
// found. What it prints, and leaves, must not depend on the handler.
//
//   looks ROOT CASE            the case has a controlDict, and a file constant/given
//   looks ROOT CASE random SEED    writes and looks in a random order
//   looks ROOT CASE crash      writes, and crashes: OpenFOAM then prints the stack by a command
#include <CStringList.H>
#include <IFstream.H>
#include <IOdictionary.H>
#include <OFstream.H>
#include <OSspecific.H>
#include <Time.H>
#include <argList.H>
#include <fcntl.h>
#include <sigSegv.H>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <vector>

namespace {

using Foam::fileName;

// Joins what a look has found.
template <typename... Parts>
std::string found(Parts... parts) {
  std::ostringstream text;
  ((text << parts << ' '), ...);
  return text.str();
}

// A look at the time directory, which has the files U and uniform/value. `given`: a file that was there before.
struct Look {
  const char* name;
  std::function<std::string(const Foam::Time& time, const fileName& directory, const fileName& given)> take;
};

#define LOOK(name, expression)                                                           \
  {                                                                                      \
    name,                                                                                \
        []([[maybe_unused]] const Foam::Time& time, const fileName& d,                   \
           [[maybe_unused]] const fileName& given) -> std::string { return expression; } \
  }

std::string names_of(const Foam::fileNameList& names) {
  std::vector<std::string> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  std::string all;
  for (const std::string& name : sorted) all += name + " ";
  return all;
}

template <typename Iterator>
std::string names_below(const fileName& directory) {
  std::vector<std::string> sorted;
  for (const auto& entry : Iterator(static_cast<const std::string&>(directory)))
    sorted.push_back(entry.path().filename());
  std::sort(sorted.begin(), sorted.end());
  std::string all;
  for (const std::string& name : sorted) all += name + " ";
  return all;
}

std::string text_of(std::istream& stream) {
  std::ostringstream text;
  text << stream.rdbuf();
  return found(text.str().size());
}

std::string from_pipe(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  char line[256] = {};
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
  }
  return found(pclose(pipe), line);
}

std::string in_directory(const fileName& directory, const std::function<std::string()>& look) {
  const fileName before = Foam::cwd(false);
  if (!Foam::chDir(directory)) return "no directory";
  const std::string result = look();
  Foam::chDir(before);
  return result;
}

int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::string by_fork(const fileName& file) {
  const pid_t child = fork();
  if (child == 0) _exit(access(file.c_str(), R_OK) == 0 ? 0 : 1);
  return found(end_of(child));
}

std::string by_spawn(const fileName& file) {
  pid_t child = 0;
  std::string words[] = {"test", "-s", file};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int failed = posix_spawnp(&child, "test", nullptr, nullptr, arguments, environ);
  return found(failed, failed == 0 ? end_of(child) : -1);
}

std::string by_descriptor(const fileName& directory) {
  const int parent = open(directory.path().c_str(), O_RDONLY | O_DIRECTORY);
  struct stat facts;
  const int failed = fstatat(parent, (directory.name() + "/U").c_str(), &facts, 0);
  close(parent);
  return found(failed);
}

// The case under another name.
std::string by_link(const fileName& directory) {
  const fileName link = directory.path() + "_linked";
  Foam::rm(link);
  Foam::ln(directory.path(), link);
  struct stat facts;
  const int failed = stat((link / directory.name() / "U").c_str(), &facts);
  Foam::rm(link);
  return found(failed);
}

std::string by_zlib(const fileName& file) {
  const gzFile opened = gzopen(file.c_str(), "rb");
  char bytes[16];
  const int count = opened != nullptr ? gzread(opened, bytes, sizeof bytes) : -1;
  if (opened != nullptr) gzclose(opened);
  return found(count);
}

Foam::stringList words(const char* program, const char* option, const fileName& file) {
  Foam::stringList list(3);
  list[0] = program;
  list[1] = option;
  list[2] = file;
  return list;
}

const std::vector<Look> kLooks = {
    // OSspecific.H, by their symbols
    LOOK("Foam::chDir(Foam::fileName const&)", in_directory(d, [&] { return found(Foam::isFile("U")); })),
    LOOK("Foam::mkDir(Foam::fileName const&, unsigned int)", found(Foam::mkDir(d), Foam::mkDir(d / "a/b"))),
    LOOK("Foam::chMod(Foam::fileName const&, unsigned int)", found(Foam::chMod(d / "U", 0600), Foam::mode(d / "U"))),
    LOOK("Foam::mode(Foam::fileName const&, bool)", found(Foam::mode(d / "U"), Foam::mode(d))),
    LOOK("Foam::type(Foam::fileName const&, bool)", found(int(Foam::type(d)), int(Foam::type(d / "uniform/value")))),
    LOOK("Foam::exists(Foam::fileName const&, bool, bool)", found(Foam::exists(d / "U"), Foam::exists(d / "W"))),
    LOOK("Foam::isDir(Foam::fileName const&, bool)", found(Foam::isDir(d), Foam::isDir(d / "uniform"))),
    LOOK("Foam::isFile(Foam::fileName const&, bool, bool)", found(Foam::isFile(d / "uniform/value"))),
    LOOK("Foam::fileSize(Foam::fileName const&, bool)", found(Foam::fileSize(d / "U"))),
    LOOK("Foam::lastModified(Foam::fileName const&, bool)", found(Foam::lastModified(d / "U") > 0)),
    LOOK("Foam::highResLastModified(Foam::fileName const&, bool)", found(Foam::highResLastModified(d / "U") > 0)),
    LOOK("Foam::readDir(Foam::fileName const&, Foam::fileName::Type, bool, bool)", names_of(Foam::readDir(d))),
    LOOK("Foam::cp(Foam::fileName const&, Foam::fileName const&, bool)",
         found(Foam::cp(given, d / "copied"), Foam::cp(d / "uniform", d.path() / "of_uniform"))),
    LOOK("Foam::ln(Foam::fileName const&, Foam::fileName const&)", found(Foam::ln(d / "U", d / "linked"))),
    LOOK("Foam::mv(Foam::fileName const&, Foam::fileName const&, bool)", found(Foam::mv(d / "U", d / "moved"))),
    LOOK("Foam::mvBak(Foam::fileName const&, std::string const&)", found(Foam::mvBak(d / "U"))),
    LOOK("Foam::rm(Foam::fileName const&)", found(Foam::rm(d / "U"), Foam::rm(d / "U"))),
    LOOK("Foam::rmDir(Foam::fileName const&, bool)", found(Foam::rmDir(d), Foam::isDir(d))),
    LOOK("Foam::system(std::string const&, bool)",
         found(Foam::system(std::string("ls -R " + d + " > " + d + ".seen")))),
    LOOK("Foam::system(Foam::UList<Foam::string> const&, bool)", found(Foam::system(words("test", "-s", d / "U")))),
    LOOK("Foam::system(Foam::CStringList const&, bool)",
         found(Foam::system(Foam::CStringList(words("test", "-s", d / "U"))))),
    // what else OpenFOAM has
    LOOK("IFstream", text_of(Foam::IFstream(d / "U").stdStream())),
    LOOK("OFstream", found(Foam::OFstream(d / "new").good())),
    LOOK("Time::findInstance", found(time.findInstance("uniform", "value", Foam::IOobject::NO_READ))),
    LOOK("Time::findInstance of a directory",
         found(time.findInstance("uniform", Foam::word::null, Foam::IOobject::NO_READ))),
    LOOK("Time::times", found(time.times().size())),
    LOOK("Time::findTimes", found(Foam::Time::findTimes(d.path()).size())),
    LOOK("fileHandler()",
         found(Foam::fileHandler().isFile(d / "U"), Foam::fileHandler().filePath(d / "U") == d / "U")),
    // the libraries
    LOOK("std::ifstream", text_of(*std::make_unique<std::ifstream>(d / "U"))),
    LOOK("std::ofstream", found(std::ofstream(d / "newer").is_open())),
    LOOK("std::filesystem",
         found(std::filesystem::exists(std::string(d / "U"))) + names_below<std::filesystem::directory_iterator>(d)),
    LOOK("std::filesystem, the tree", names_below<std::filesystem::recursive_directory_iterator>(d)),
    LOOK("gzopen", by_zlib(d / "U")),
    LOOK("fstatat", by_descriptor(d)),
    LOOK("realpath", found(realpath((d / "U").c_str(), nullptr) != nullptr)),
    LOOK("a relative name", in_directory(d.path(), [&] { return found(access((d.name() + "/U").c_str(), R_OK)); })),
    LOOK("a name with ..", found(access((d / "uniform/../U").c_str(), R_OK))),
    LOOK("the case under another name", by_link(d)),
    LOOK("rename() of the directory", found(rename(d.c_str(), (d + ".kept").c_str()))),
    // other programs
    LOOK("system()", found(::system(("test -s " + d + "/U").c_str()))),
    LOOK("popen()", from_pipe("ls " + d)),
    LOOK("fork()", by_fork(d / "U")),
    LOOK("posix_spawnp()", by_spawn(d / "U")),
};

void write(const Foam::Time& time, const fileName& local, const Foam::word& name) {
  Foam::IOdictionary object(Foam::IOobject(name, time.timeName(), local, time, Foam::IOobject::NO_READ));
  object.add("text", Foam::string("some text"));
  for (int number = 0; number < 100; ++number) object.add(Foam::word("n" + std::to_string(number)), 0.1 * number);
  object.regIOobject::write();
}

std::string taken(const Look& look, const Foam::Time& time, const fileName& directory) {
  try {
    return look.take(time, directory, time.path() / "constant/given");
  } catch (const std::exception& failure) {
    return "fails";
  }
}

void look_in_order(Foam::Time& time) {
  int index = 0;
  for (const Look& look : kLooks) {
    ++index;
    time.setTime(Foam::scalar(index), index);
    write(time, "", "U");
    write(time, "uniform", "value");
    std::cout << look.name << '\t' << taken(look, time, time.timePath()) << std::endl;
  }
}

// Looks come at all times, and change files that are written again later.
void look_at_random(Foam::Time& time, unsigned seed) {
  constexpr int kSteps = 300;
  std::mt19937 dice(seed);
  const auto below = [&](unsigned limit) { return static_cast<int>(dice() % limit); };
  const char* const locals[] = {"", "uniform", "lagrangian/cloud"};
  const char* const names[] = {"U", "value", "p"};
  int latest = 0;
  time.setTime(Foam::scalar(0), 0);
  for (int step = 0; step < kSteps; ++step) {
    const int what = below(8);
    if (what == 0) time.setTime(Foam::scalar(++latest), latest);
    if (what == 1 && latest > 0) time.setTime(Foam::scalar(below(latest)), latest);
    if (what >= 2 && what <= 5) write(time, locals[below(3)], names[below(3)]);
    if (what < 6) continue;
    const Look& look = kLooks[static_cast<size_t>(below(static_cast<unsigned>(kLooks.size())))];
    const fileName directory = below(3) == 0 ? time.path() / Foam::name(below(latest + 1)) : time.timePath();
    std::cout << step << ' ' << look.name << '\t' << taken(look, time, directory) << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  Foam::Time time(Foam::Time::controlDictName, words[1], words[2]);
  const std::string how = count > 3 ? words[3] : "";
  if (how == "crash") {
    Foam::sigSegv::set(true);
    time.setTime(Foam::scalar(1), 1);
    write(time, "", "U");
    raise(SIGSEGV);
  } else if (how == "random") {
    look_at_random(time, static_cast<unsigned>(std::stoul(words[4])));
  } else {
    look_in_order(time);
  }
  Foam::autoPtr<Foam::fileOperation> none;
  Foam::fileHandler(none);  // as argList does when it ends
  return 0;
}
