#include "damaris/output/script_program.hpp"

#include <filesystem>
#include <system_error>

#include "damaris/output/configuration.hpp"

namespace tailrace::damaris {
namespace {

// The rest of the file. The script runs as __main__, keeps its globals, and finds DamarisData there. What it imports
// as `damaris` is the module of Damaris' first scripts.
constexpr const char* kProgram = R"(
import sys
import types


class Chunk:
    """A block: where it is in the whole array, both ends included, and its values."""

    def __init__(self, block):
        self.iteration = block.iteration
        self.source = block.source
        self.lower_bounds = list(block.offset)
        self.upper_bounds = [begin + size - 1 for begin, size in zip(block.offset, block.data.shape)]
        self.data = block.data


class Variable:
    def __init__(self, name):
        self.name = name
        self.chunks = []


_variables = {}


def _note(blocks):
    _variables.clear()
    for name, (variable, domain, kind) in NAMES.items():
        entry = _variables.setdefault(variable, Variable(variable))
        entry.chunks += [Chunk(block) for block in blocks.get(name, ())]


def _clear():
    for variable in _variables.values():
        variable.chunks = []


_module = types.ModuleType("damaris", "The data of an iteration, for scripts.")
_module.get_variables = lambda: list(_variables.values())
_module.clear = _clear
_code = None
_globals = {"__name__": "__main__", "__file__": SCRIPT}


def _data(iteration, blocks):
    found = {"iteration": iteration}
    for name, (variable, domain, kind) in NAMES.items():
        entry = found.setdefault(variable, {"numpy_data": {}, "sort_list": [], "type_string": kind})
        entry["sort_data"] = entry["sort_list"]
        for block in blocks.get(name, ()):
            key = f"P{block.source}_B{domain}"
            entry["numpy_data"][key] = block.data
            entry["sort_list"].append([f"S{SERVER}_I{iteration}_{ENVIRONMENT['simulation_magic_number']}", key,
                                       list(block.offset)])
    return found


def run(event, iteration, blocks):
    global _code
    if iteration % FREQUENCY != 0:
        return None
    if _code is None:
        with open(SCRIPT, encoding="utf-8") as file:
            _code = compile(file.read(), SCRIPT, "exec")
    _globals["DamarisData"] = {"damaris_env": dict(ENVIRONMENT), "dask_env": dict(DASK),
                               "iteration_data": _data(iteration, blocks)}
    _note(blocks)
    sys.modules["damaris"] = _module  # scripts share the process
    try:
        exec(_code, _globals)
    finally:
        _variables.clear()
        del _globals["DamarisData"]
    return None
)";

std::string python_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result + "\"";
}

const char* type_text(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::text: return "_char";
    case ElementType::int16: return "_short";
    case ElementType::int32: return "_int";
    case ElementType::int64: return "_long";
    case ElementType::float32: return "_float";
    case ElementType::float64: return "_double";
  }
  return "";
}

}  // namespace

std::string script_program(const Model& model, const Script& script, const ScriptFacts& facts) {
  std::error_code error;
  const std::string file = std::filesystem::absolute(script.file, error).string();
  const auto number = [](int value) { return std::to_string(value); };
  std::string text = "SCRIPT = " + python_text(error ? script.file : file) +
                     "\nFREQUENCY = " + std::to_string(script.frequency) + "\nSERVER = " + number(facts.server) +
                     "\nENVIRONMENT = {\"is_dedicated_node\": 0, \"is_dedicated_core\": 1, \"servers_per_node\": " +
                     number(facts.servers_of_node) + ", \"clients_per_node\": " + number(facts.clients_of_node) +
                     ", \"ranks_per_node\": " + number(facts.servers_of_node + facts.clients_of_node) +
                     ", \"cores_per_node\": " + number(facts.servers_of_node + facts.clients_of_node) +
                     ", \"number_of_nodes\": " + number(facts.nodes) +
                     ", \"simulation_name\": " + python_text(model.name) +
                     ", \"simulation_magic_number\": " + python_text(facts.run) +
                     "}\nDASK = {\"dask_scheduler_file\": \"\", \"dask_workers_name\": \"\", \"dask_nworkers\": 0, "
                     "\"dask_threads_per_worker\": 0}\nNAMES = {\n";
  for (const StoredBlock& block : script_blocks_of(model)) {
    const Variable& variable = model.variables[block.variable];
    if (variable.script != script.name) continue;
    text += "    " + python_text(block.name) + ": (" + python_text(variable.name) + ", " +
            std::to_string(block.block) + ", " + python_text(type_text(model.layouts[variable.layout].type)) + "),\n";
  }
  return text + "}\n" + kProgram;
}

}  // namespace tailrace::damaris
