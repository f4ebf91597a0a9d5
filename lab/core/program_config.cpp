#include "lab/core/program_config.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "lab/pattern/posix_file.hpp"

namespace bench::core {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

bool can_bypass_cache(const std::string& directory) {
  const std::string name = directory + "/.probe_" + std::to_string(getpid());  // other processes probe at the same
                                                                               // time
  const int plain = ::open(name.c_str(), O_CREAT | O_WRONLY, 0666);
  require(plain >= 0, "write into the directory '" + directory + "'");
  const int direct = ::open(name.c_str(), O_WRONLY | O_DIRECT);
  const bool can = direct >= 0;
  if (can) ::close(direct);
  ::close(plain);
  ::unlink(name.c_str());
  return can;
}

std::string storage(const std::string& directory, const std::string& more) {
  const std::string durability = can_bypass_cache(directory) ? "written" : "durable";
  return "storage: {existing: replace, path: " + quoted(directory) + ", durability: " + durability + more + "}\n";
}

}  // namespace bench::core
