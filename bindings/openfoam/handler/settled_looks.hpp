// The program's looks at files that are on their way wait until the writer has settled them. So the handler, other
// parts of OpenFOAM, libraries, and programs that it starts find what was written before.
#pragma once

#include <map>
#include <string>

#include "openfoam/output/writer.hpp"

namespace tailrace::openfoam {

// Returns true if looks are reported: the preloaded library is there. It is not where a controlDict alone has
// loaded the handler. Then nothing may be on its way while the program computes.
bool looks_are_told();
// Has looks wait for this writer, which must live as long as the process.
void settle_looks(Writer& writer);

// Finds the names by which the writer knows files: absolute, without ".", ".." and, but for the last part, symbolic
// links. OpenFOAM's "no file", "", stays so. Directories are resolved once: a program writes many files into each.
class ResolvedNames {
 public:
  std::string of(const std::string& path);
  void forget() { directories_.clear(); }

 private:
  const std::string& directory(const std::string& path);

  std::map<std::string, std::string> directories_;
};

}  // namespace tailrace::openfoam
