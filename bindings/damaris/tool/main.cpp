// tailrace-damaris: checks descriptions of Damaris, and converts them to configurations of tailrace.
#include <tailrace/tailrace.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/xml/reader.hpp"
#include "process_client/counted.hpp"

namespace {

namespace damaris = tailrace::damaris;
using tailrace::process::counted;

// Reads a description; its warnings go to stderr.
damaris::Model read(const std::string& file) {
  damaris::Report report(file);
  const std::string text = damaris::read_text(file);
  damaris::Model model = damaris::read_model(text, report);
  for (const std::string& warning : report.warnings()) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return model;
}

void check(const std::string& file) {
  const damaris::Model model = read(file);
  std::printf("%s: ok: %s in %s, %s, %s, %s\n", file.c_str(), counted(model.variables.size(), "variable").c_str(),
              counted(model.layouts.size(), "layout").c_str(), counted(model.parameters.size(), "parameter").c_str(),
              counted(static_cast<uint64_t>(model.architecture.domains), "domain").c_str(),
              counted(static_cast<uint64_t>(model.architecture.dedicated_cores), "dedicated core").c_str());
}

// Returns the store of this name; without one, the only one that files are written for.
size_t choose_store(const damaris::Model& model, const std::string& file, const std::string& name) {
  std::string names;
  for (const size_t store : damaris::stores_in_use(model)) {
    if (model.stores[store].name == name) return store;
    names += (names.empty() ? "" : ", ") + model.stores[store].name;
  }
  const std::vector<size_t> used = damaris::stores_in_use(model);
  if (name.empty() && used.size() == 1) return used.front();
  if (used.empty()) throw damaris::Error(file + ": found no variable with a store, expected one that is written");
  throw damaris::Error(file + ": found " + (name.empty() ? "several stores" : "no store '" + name + "'") +
                       ", expected --store with one of " + names);
}

void convert(const std::string& file, const std::string& store) {
  const damaris::Model model = read(file);
  damaris::Outlet outlet;
  outlet.store = choose_store(model, file, store);
  outlet.budget = model.architecture.buffer < (1 << 20) ? 1 << 20 : model.architecture.buffer;
  const bool collective = model.stores[outlet.store].mode == damaris::FileMode::collective;
  if (collective) outlet.clients = "size";
  const std::string text = damaris::configuration_of(model, outlet);
  std::printf("# Made of %s by 'tailrace damaris convert'. Parameters are as they are at the start.\n%s",
              file.c_str(), text.c_str());
}

// A wrong usage in one line, as tailrace's other commands report it.
std::string wrong_usage(const CLI::App* program, const CLI::Error& error) {
  const std::vector<std::string> unknown = program->remaining(true);
  const std::string what = unknown.empty() ? error.what() : "found no command or option '" + unknown.front() + "'";
  return program->get_name() + ": " + what + "; see " + program->get_name() + " --help\n";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks and converts descriptions of Damaris, in XML.", "tailrace damaris");
  app.require_subcommand(1);
  app.failure_message(wrong_usage);
  app.set_version_flag("--version", "tailrace-damaris " TAILRACE_VERSION_STRING, "print the version, and end");
  std::string file;
  std::string store;
  CLI::App* const checking = app.add_subcommand("check", "check a description; report settings without effect");
  checking->add_option("FILE", file, "the description")->required();
  CLI::App* const converting =
      app.add_subcommand("convert", "print a tailrace configuration that writes the same files");
  converting->add_option("FILE", file, "the description")->required();
  converting->add_option("--store", store, "which store, if there are several");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // 0: --help, --version
  }
  try {
    checking->parsed() ? check(file) : convert(file, store);
    return 0;
  } catch (const damaris::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), error.what());
  }
  return 1;
}
