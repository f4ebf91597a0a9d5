// Descriptions of Damaris. Property: a text is refused with lines that name the file; or, for each store that is
// used, tailrace accepts the configuration that is made of it.
#include <string>

#include "config/config_yaml.hpp"
#include "damaris/output/configuration.hpp"
#include "damaris/xml/reader.hpp"
#include "target.hpp"

namespace {

namespace damaris = tailrace::damaris;

void require_accepted(const damaris::Model& model, size_t store, bool dedicated) {
  damaris::Outlet outlet;
  outlet.store = store;
  outlet.dedicated = dedicated;
  outlet.server = "0";
  outlet.servers = "1";
  outlet.clients = "3";
  outlet.budget = uint64_t{1} << 20;
  outlet.empty_at_first = true;
  tailrace::impl::ConfigInput input;
  input.text = damaris::configuration_of(model, outlet);
  const auto config = tailrace::impl::read_config(input);
  TAILRACE_REQUIRE(config.ok());
  TAILRACE_REQUIRE(config.value().variables.size() == damaris::blocks_of(model, store).size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  damaris::Report report("fuzz.xml");
  try {
    const damaris::Model model = damaris::read_model(text, report);
    if (model.architecture.domains > 100) return 0;  // the same, only slower
    for (const size_t store : damaris::stores_in_use(model)) {
      require_accepted(model, store, true);
      require_accepted(model, store, false);
      (void)damaris::largest_block(model, store, damaris::at_start(model));
    }
  } catch (const damaris::Error& error) {
    const std::string message = error.what();
    TAILRACE_REQUIRE(message.starts_with("fuzz.xml:"));
  }
  return 0;
}
