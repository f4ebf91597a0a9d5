// The extension tailrace._cube: profiles as NumPy arrays. tailrace/cube.py makes a Python module of it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <span>

#include "cube/archive/error.hpp"
#include "cube/remap/metric_values.hpp"

namespace nb = nanobind;
namespace cube = tailrace::cube;

namespace {

// A profile that is open. The interpreter's lock is released while values are computed; one thread at a time does so.
class Open {
 public:
  explicit Open(const std::string& path)
      : input_(path), set_(input_, input_.profile.metrics, path, [](const std::string&) {}), values_(set_) {}

  const cube::Profile& profile() const { return input_.profile; }
  const std::string& warning() const { return input_.archive.warning(); }

  nb::object values(const std::string& name, bool inclusive) {
    const cube::Metric* const metric = input_.profile.find_metric(name);
    if (metric == nullptr) throw nb::key_error(name.c_str());
    const auto number = static_cast<size_t>(metric - input_.profile.metrics.data());
    input_.expect_numbers(number);
    const size_t paths = input_.profile.tree.size();
    const size_t locations = input_.profile.locations.size();
    auto memory = std::make_unique<double[]>(std::max<size_t>(1, paths * locations));
    {
      const nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      const cube::Flavour flavour = inclusive ? cube::Flavour::inclusive : cube::Flavour::exclusive;
      for (uint32_t path = 0; path < paths; ++path) {
        values_.row(number, flavour, path, std::span(memory.get() + path * locations, locations));
      }
    }
    double* const data = memory.release();
    const nb::capsule owner(data, [](void* pointer) noexcept { delete[] static_cast<double*>(pointer); });
    return nb::cast(nb::ndarray<nb::numpy, double>(data, {paths, locations}, owner));
  }

 private:
  const cube::Input input_;
  const cube::MetricSet set_;
  std::mutex mutex_;  // guards values_
  cube::MetricValues values_;
};

// Names may have bytes that are no UTF-8: these become question marks.
nb::object text(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

const char* kind_name(const cube::Metric& metric) {
  switch (metric.kind) {
    case cube::Metric::Kind::exclusive: return "EXCLUSIVE";
    case cube::Metric::Kind::inclusive: return "INCLUSIVE";
    case cube::Metric::Kind::prederived_exclusive: return "PREDERIVED_EXCLUSIVE";
    case cube::Metric::Kind::prederived_inclusive: return "PREDERIVED_INCLUSIVE";
    default: return "POSTDERIVED";
  }
}

nb::object number_or_none(int64_t number) { return number < 0 ? nb::none() : nb::cast(number); }

nb::list metrics(const Open& open) {
  nb::list list;
  for (const cube::Metric& one : open.profile().metrics) {
    nb::dict entry;
    entry["name"] = text(one.unique_name);
    entry["display_name"] = text(one.display_name);
    entry["kind"] = kind_name(one);
    entry["dtype"] = text(one.data_type);
    entry["unit"] = text(one.unit);
    entry["description"] = text(one.description);
    entry["parent"] = number_or_none(one.parent);
    entry["expression"] = text(one.expression.text);
    list.append(entry);
  }
  return list;
}

nb::list call_paths(const Open& open) {
  const cube::Profile& profile = open.profile();
  nb::list list;
  for (const cube::CallPath& one : profile.tree.paths()) {
    const cube::Region& region = profile.regions[one.region];
    nb::dict entry;
    entry["id"] = one.id;
    entry["parent"] = number_or_none(one.parent);
    entry["region"] = text(region.name);
    entry["paradigm"] = text(region.paradigm);
    entry["role"] = text(region.role);
    entry["module"] = text(region.module);
    nb::dict parameters;
    for (const auto& [key, value] : one.parameters) parameters[text(key)] = text(value);
    entry["parameters"] = parameters;
    list.append(entry);
  }
  return list;
}

nb::list locations(const Open& open) {
  const cube::Profile& profile = open.profile();
  nb::list list;
  for (const cube::Location& one : profile.locations) {
    const cube::LocationGroup& group = profile.groups[one.group];
    nb::dict entry;
    entry["id"] = one.id;
    entry["name"] = text(one.name);
    entry["rank"] = one.rank;
    entry["type"] = text(one.type);
    entry["process"] = group.rank;
    entry["process_name"] = text(group.name);
    entry["node"] = text(profile.nodes[group.node].name);
    list.append(entry);
  }
  return list;
}

nb::dict attributes(const Open& open) {
  nb::dict all;
  for (const auto& [key, value] : open.profile().attributes) all[text(key)] = text(value);
  return all;
}

}  // namespace

NB_MODULE(_cube, module) {
  static PyObject* const error = nb::exception<cube::Error>(module, "Error", PyExc_ValueError).ptr();
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const cube::Error& failure) {
      PyErr_SetObject(error, text(failure.what()).ptr());
    }
  });
  nb::class_<Open>(module, "Open")
      .def(nb::init<const std::string&>(), nb::arg("path"))
      .def("values", &Open::values, nb::arg("name"), nb::arg("inclusive"))
      .def("metrics", &metrics)
      .def("call_paths", &call_paths)
      .def("locations", &locations)
      .def("attributes", &attributes)
      .def("warning", [](const Open& open) { return text(open.warning()); });
}
