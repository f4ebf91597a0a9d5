#include "action/plugin_wire.hpp"

#include <tailrace/tailrace.h>

#include <cstring>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

static_assert(kWireRank == TAILRACE_MAX_RANK);

// The type of a finding's value.
enum class ValueKind : uint32_t { number = 0, text = 1, array = 2 };

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof value);
  }

  void put(const std::string& text) {
    put(static_cast<uint64_t>(text.size()));
    put_bytes(text.data(), text.size());
  }

  template <class T>
  void put_all(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<uint64_t>(values.size()));
    put_bytes(values.data(), values.size() * sizeof(T));
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put_bytes(const void* data, size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }

  std::vector<std::byte> bytes_;
};

// Once a field is missing, the reader is no longer ok, and returns only empty values.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  // Returns true if all fields were there, and nothing more.
  bool complete() const { return ok_ && rest_.empty(); }
  bool ok() const { return ok_; }

  template <class T>
  T get() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }

  std::string text() {
    std::string value(count(1), '\0');
    copy(value.data(), value.size());
    return value;
  }

  template <class T>
  std::vector<T> all() {
    std::vector<T> values(count(sizeof(T)));
    copy(values.data(), values.size() * sizeof(T));
    return values;
  }

  // Returns the number of items that follow, each of `size` bytes or more: never more than the rest can contain.
  size_t count(size_t size) {
    const auto number = get<uint64_t>();
    if (number > rest_.size() / size) ok_ = false;
    return ok_ ? static_cast<size_t>(number) : 0;
  }

 private:
  void copy(void* to, size_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_ || size == 0) return;
    std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

void put_finding(Writer& writer, const Finding& finding) {
  writer.put(finding.key);
  writer.put(static_cast<ValueKind>(finding.value.index()));
  if (const auto* number = std::get_if<double>(&finding.value)) writer.put(*number);
  if (const auto* text = std::get_if<std::string>(&finding.value)) writer.put(*text);
  if (const auto* array = std::get_if<std::vector<double>>(&finding.value)) writer.put_all(*array);
}

std::optional<Finding> get_finding(Reader& reader) {
  Finding finding;
  finding.key = reader.text();
  switch (reader.get<ValueKind>()) {
    case ValueKind::number: finding.value = reader.get<double>(); return finding;
    case ValueKind::text: finding.value = reader.text(); return finding;
    case ValueKind::array: finding.value = reader.all<double>(); return finding;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::byte> encode(const PluginFunction& function) {
  Writer writer;
  writer.put(function.run);
  writer.put(function.file);
  writer.put(function.function);
  writer.put(function.python_environment);
  writer.put(function.program_python);
  return writer.take();
}

std::optional<PluginFunction> decode_function(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  PluginFunction function;
  function.run = reader.get<Action::Run>();
  function.file = reader.text();
  function.function = reader.text();
  function.python_environment = reader.text();
  function.program_python = reader.text();
  if (!reader.complete()) return std::nullopt;
  return function;
}

std::vector<std::byte> encode(const PluginCall& call) {
  Writer writer;
  writer.put(call.event);
  writer.put(call.iteration);
  writer.put_all(call.clients);
  writer.put(static_cast<uint64_t>(call.variables.size()));
  for (const PluginCall::Named& variable : call.variables) {
    writer.put(variable.name);
    writer.put(variable.unit);
  }
  writer.put_all(call.blocks);
  return writer.take();
}

std::optional<PluginCall> decode_call(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  PluginCall call;
  call.event = reader.text();
  call.iteration = reader.get<int64_t>();
  call.clients = reader.all<int32_t>();
  const size_t variables = reader.count(2 * sizeof(uint64_t));
  for (size_t i = 0; i < variables && reader.ok(); ++i) {
    std::string name = reader.text();
    std::string unit = reader.text();
    call.variables.push_back({std::move(name), std::move(unit)});
  }
  call.blocks = reader.all<BlockRecord>();
  if (!reader.complete()) return std::nullopt;
  for (const BlockRecord& block : call.blocks) {
    if (block.variable >= call.variables.size() || block.rank > kWireRank) return std::nullopt;
  }
  return call;
}

std::vector<std::byte> encode(const PluginAnswer& answer) {
  Writer writer;
  writer.put(answer.error);
  writer.put(static_cast<uint64_t>(answer.messages.size()));
  for (const std::string& message : answer.messages) writer.put(message);
  writer.put(static_cast<uint64_t>(answer.findings.size()));
  for (const Finding& finding : answer.findings) put_finding(writer, finding);
  return writer.take();
}

std::optional<PluginAnswer> decode_answer(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  PluginAnswer answer;
  answer.error = reader.text();
  const size_t messages = reader.count(sizeof(uint64_t));
  for (size_t i = 0; i < messages && reader.ok(); ++i) answer.messages.push_back(reader.text());
  const size_t findings = reader.count(2 * sizeof(uint64_t));
  for (size_t i = 0; i < findings && reader.ok(); ++i) {
    std::optional<Finding> finding = get_finding(reader);
    if (!finding) return std::nullopt;
    answer.findings.push_back(std::move(*finding));
  }
  if (!reader.complete()) return std::nullopt;
  return answer;
}

}  // namespace tailrace::impl
