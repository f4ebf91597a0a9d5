#include "damaris/run/unfinished.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {

bool report_unfinished(const Model& model, const Ranks& ranks, double seconds) {
  std::vector<size_t> stores = stores_in_use(model);
  std::erase_if(stores, [&](size_t store) { return model.stores[store].mode != FileMode::collective; });
  if (ranks.nodes() < 2 || stores.empty() || !ranks.meet(seconds) || ranks.number() != 0) return true;
  bool none = true;
  for (const size_t store : stores) {
    const auto [directory, prefix] = place_of(model.stores[store]);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(prefix + model.name + "_It") || !name.ends_with(".h5.part")) continue;
      none = false;
      say("'" + entry.path().string() + "' is not whole: not all nodes have written their blocks of the iteration");
    }
  }
  return none;
}

}  // namespace tailrace::damaris
