#include "cube/remap/remap.hpp"

#include <sched.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "cube/archive/error.hpp"
#include "cube/archive/tar_layout.hpp"
#include "cube/remap/metric_values.hpp"
#include "cube/remap/output_plan.hpp"
#include "cube/remap/team.hpp"

namespace tailrace::cube {
namespace {

constexpr std::string_view kPlain = "CUBEX.DATA";
constexpr std::string_view kCompressed = "ZCUBEX.DATA";
constexpr size_t kBlock = 4 << 20;  // bytes of a block, at least

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string zeros(uint64_t count) { return std::string(count, '\0'); }

// Some rows of a metric, which one thread computes.
struct Task {
  size_t metric;  // among those that are stored
  size_t first;   // row
  size_t count;
};

std::vector<Task> tasks_of(const OutputPlan& plan, size_t block_bytes) {
  std::vector<Task> tasks;
  for (size_t metric = 0; metric < plan.stored.size(); ++metric) {
    const StoredMetric& one = plan.stored[metric];
    const size_t rows = std::max<uint64_t>(1, block_bytes / std::max<uint64_t>(1, one.row_bytes));
    for (size_t first = 0; first < one.paths.size(); first += rows) {
      tasks.push_back({metric, first, std::min(rows, one.paths.size() - first)});
    }
    if (one.paths.empty()) tasks.push_back({metric, 0, 0});
  }
  return tasks;
}

// Computes rows, or copies them, one thread at a time.
class RowMaker {
 public:
  RowMaker(const MetricSet& set, ByteOrder order) : set_(set), swaps_(order != kNativeOrder), values_(set) {}

  // Fills `to` with the rows of a task.
  void make(const StoredMetric& metric, const Task& task, std::byte* to) {
    for (size_t row = task.first; row < task.first + task.count; ++row, to += metric.row_bytes) {
      const std::span<std::byte> bytes(to, metric.row_bytes);
      if (metric.copied) {
        const int input = set_.entries()[metric.entry].input;
        set_.input().rows[static_cast<size_t>(input)]->read(metric.index.ids[row], bytes);
      } else {
        compute(metric, metric.paths[row], bytes);
      }
      if (swaps_) swap_bytes(metric.type, to, metric.row_bytes / metric.type.bytes(), to);
    }
  }

 private:
  void compute(const StoredMetric& metric, uint32_t path, std::span<std::byte> to) {
    row_.resize(to.size() / metric.type.bytes());
    values_.row(metric.entry, metric.flavour, path, std::span(row_));
    from_doubles(*metric.type.number, row_.data(), row_.size(), to.data());
  }

  const MetricSet& set_;
  const bool swaps_;
  MetricValues values_;
  std::vector<double> row_;
};

// Writes an archive whose members have their final sizes from the start.
class PlainArchive {
 public:
  PlainArchive(const OutputPlan& plan, Sink& sink) : plan_(plan) {
    for (const StoredMetric& one : plan.stored) {
      const std::string name = std::to_string(one.id);
      const TarLayout::Place data = layout_.add(name + ".data", kPlain.size() + one.row_bytes * one.paths.size());
      sink.write_copy(data.header_bytes + std::string(kPlain), data.header);
      data_.push_back(data.offset + kPlain.size());
      const std::string index = encode_index(one.index);
      const TarLayout::Place place = layout_.add(name + ".index", index.size());
      sink.write_copy(zeros(data.padding) + place.header_bytes + index + zeros(place.padding),
                      place.header - data.padding);
    }
  }

  uint64_t offset(const Task& task) const {
    return data_[task.metric] + task.first * plan_.stored[task.metric].row_bytes;
  }
  TarLayout& layout() { return layout_; }

 private:
  const OutputPlan& plan_;
  TarLayout layout_;
  std::vector<uint64_t> data_;  // where the rows of each metric begin
};

// Writes an archive of compressed rows: each has its place when those before it are compressed.
class CompressedArchive {
 public:
  CompressedArchive(const OutputPlan& plan, ByteOrder order, Sink& sink, std::string path)
      : plan_(plan), order_(order), sink_(sink), path_(std::move(path)) {}

  // Compresses the rows of task number `turn`, waits for the turn, and hands them over.
  void write(const Task& task, size_t turn, const std::byte* rows) {
    const StoredMetric& metric = plan_.stored[task.metric];
    std::string bytes;
    std::vector<uint64_t> sizes;
    for (size_t row = 0; row < task.count; ++row) {
      uLongf size = compressBound(metric.row_bytes);
      const size_t before = bytes.size();
      bytes.resize(before + size);
      if (compress2(reinterpret_cast<Bytef*>(bytes.data() + before), &size,
                    reinterpret_cast<const Bytef*>(rows + row * metric.row_bytes), metric.row_bytes,
                    kLevel) != Z_OK) {
        throw Error(path_ + ": zlib could not compress a row of metric " + std::to_string(metric.id));
      }
      bytes.resize(before + size);
      sizes.push_back(size);
    }
    std::unique_lock lock(mutex_);
    turn_changed_.wait(lock, [&] { return turn_ == turn || given_up_; });
    if (given_up_) return;
    if (task.first == 0) begin(metric);
    sink_.write_copy(bytes, next_);
    for (const uint64_t size : sizes) {
      table_.insert(table_.end(), {(table_.size() / 3) * metric.row_bytes, next_ - rows_begin_, size});
      next_ += size;
    }
    if (task.first + task.count == metric.paths.size()) end(metric);
    ++turn_;
    turn_changed_.notify_all();
  }

  // After a failure: nothing waits for a turn any more.
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    turn_changed_.notify_all();
  }

  TarLayout& layout() { return layout_; }

 private:
  static constexpr int kLevel = 6;
  static constexpr uint64_t kHeader = 512;

  uint64_t head_bytes(const StoredMetric& metric) const { return kCompressed.size() + 8 + 24 * metric.paths.size(); }

  void begin(const StoredMetric& metric) {
    table_.clear();
    rows_begin_ = next_ = layout_.end() + kHeader + head_bytes(metric);
  }

  void end(const StoredMetric& metric) {
    const std::string name = std::to_string(metric.id);
    const TarLayout::Place data = layout_.add(name + ".data", head_bytes(metric) + (next_ - rows_begin_));
    if (data.offset != data.header + kHeader)
      throw Error(path_ + ": metric " + name + ": expected less than 8 GiB of compressed rows, found more");
    std::string head(kCompressed);
    append(head, metric.paths.size());
    for (const uint64_t number : table_) append(head, number);
    sink_.write_copy(data.header_bytes + head, data.header);
    const std::string index = encode_index(metric.index);
    const TarLayout::Place place = layout_.add(name + ".index", index.size());
    sink_.write_copy(zeros(data.padding) + place.header_bytes + index + zeros(place.padding),
                     place.header - data.padding);
  }

  void append(std::string& text, uint64_t number) const {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    if (order_ != kNativeOrder) std::reverse(std::begin(bytes), std::end(bytes));
    text.append(bytes, sizeof bytes);
  }

  const OutputPlan& plan_;
  const ByteOrder order_;
  Sink& sink_;
  const std::string path_;
  std::mutex mutex_;  // guards all below
  std::condition_variable turn_changed_;
  size_t turn_ = 0;
  bool given_up_ = false;
  TarLayout layout_;
  uint64_t rows_begin_ = 0;      // of the present metric
  uint64_t next_ = 0;            // where its next row belongs
  std::vector<uint64_t> table_;  // of its rows
};

void keep_off(int cpu) {
  cpu_set_t set;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0) return;
  CPU_CLR(cpu, &set);
  if (CPU_COUNT(&set) > 0) sched_setaffinity(0, sizeof set, &set);
}

// The state that the threads share.
class Run {
 public:
  Run(const MetricSet& set, const OutputPlan& plan, const RemapOptions& options, ByteOrder order, Sink& sink,
      const std::string& path, const Progress& progress)
      : set_(set),
        plan_(plan),
        order_(order),
        sink_(sink),
        progress_(progress),
        all_(plan.bytes()),
        tasks_(tasks_of(plan, sink.block_bytes())) {
    if (options.compress) {
      compressed_.emplace(plan, order, sink, path);
    } else {
      plain_.emplace(plan, sink);
    }
  }

  void work(RemapFigures& figures) {
    RowMaker maker(set_, order_);
    std::vector<std::byte> rows;  // to be compressed
    double computing = 0;
    double handing = 0;
    try {
      for (size_t turn = next_++; turn < tasks_.size() && !failed_; turn = next_++) {
        const Task& task = tasks_[turn];
        const StoredMetric& metric = plan_.stored[task.metric];
        const uint64_t bytes = task.count * metric.row_bytes;
        const double begun = now();
        if (compressed_) rows.resize(bytes);
        std::byte* const to = compressed_ || bytes == 0 ? rows.data() : sink_.take(plain_->offset(task));
        const double taken = now();
        maker.make(metric, task, to);
        const double made = now();
        if (compressed_) {
          compressed_->write(task, turn, to);
        } else if (bytes > 0) {
          sink_.write(to, bytes, plain_->offset(task));
        }
        const double handed = now();
        computing += made - taken;
        handing += taken - begun + handed - made;
        note(bytes);
      }
    } catch (...) {
      failed_ = true;
      if (compressed_) compressed_->give_up();
      throw;
    }
    const std::lock_guard lock(mutex_);
    figures.seconds_computing += computing;
    figures.seconds_handing += handing;
  }

  TarLayout& layout() { return compressed_ ? compressed_->layout() : plain_->layout(); }

 private:
  void note(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_ += bytes;
    if (progress_) progress_(done_, all_);
  }

  const MetricSet& set_;
  const OutputPlan& plan_;
  const ByteOrder order_;
  Sink& sink_;
  const Progress& progress_;
  const uint64_t all_;
  const std::vector<Task> tasks_;
  std::optional<PlainArchive> plain_;
  std::optional<CompressedArchive> compressed_;
  std::atomic<size_t> next_{0};      // task
  std::atomic<bool> failed_{false};  // the output is not needed any more
  std::mutex mutex_;                 // guards the figures and `done_`
  uint64_t done_ = 0;
};

// Writes what comes behind the metrics, and returns the size of the archive.
uint64_t write_rest(const MetricSet& set, const OutputPlan& plan, TarLayout& layout, Sink& sink) {
  const std::string anchor = write_anchor(set.input().profile, plan.metrics);
  const TarLayout::Place place = layout.add("anchor.xml", anchor.size());
  sink.write_copy(place.header_bytes + anchor + zeros(place.padding) + zeros(TarLayout::kEndBytes), place.header);
  return layout.end() + TarLayout::kEndBytes;
}

uint64_t most_row_bytes(const OutputPlan& plan) {
  uint64_t most = 0;
  for (const StoredMetric& one : plan.stored) most = std::max(most, one.row_bytes);
  return most;
}

}  // namespace

RemapFigures remap(const MetricSet& set, const std::string& path, const RemapOptions& options,
                   const Progress& progress) {
  const double begun = now();
  const ByteOrder order = options.order.value_or(kNativeOrder);
  const unsigned threads = options.threads > 0 ? options.threads : std::max(1u, usable_cpus() - 1);
  const OutputPlan plan = plan_output(set, order, options.keep_derived, threads);
  const SinkOptions sinking{options.writer, std::max<uint64_t>(kBlock, most_row_bytes(plan)), options.budget,
                            options.writer_cpu, options.durable};
  const std::unique_ptr<Sink> sink = open_sink(path, sinking);
  RemapFigures figures;
  figures.threads = threads;
  figures.metrics = plan.stored.size();
  figures.bytes = plan.bytes();
  for (const StoredMetric& one : plan.stored) figures.rows += one.paths.size();
  Run run(set, plan, options, order, *sink, path, progress);
  run_team(threads, [&](unsigned) {
    keep_off(options.writer_cpu);
    run.work(figures);
  });
  figures.file_bytes = write_rest(set, plan, run.layout(), *sink);
  sink->finish();
  figures.seconds = now() - begun;
  return figures;
}

std::vector<Metric> own_specification(const Input& input) {
  constexpr const char* kName = "remapping.spec";
  const Member* const member = input.archive.find(kName);
  if (member == nullptr) {
    throw Error(input.archive.path() + ": expected a member " + kName + ", found none: name a specification");
  }
  return read_metrics(input.archive.text(*member), input.archive.path() + ": " + kName);
}

}  // namespace tailrace::cube
