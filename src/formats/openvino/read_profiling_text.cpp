#include <cmath>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/openvino/profiling_text.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::openvino {
namespace {

constexpr std::array<std::pair<std::string_view, TaskKind>, 3> task_words{
    {{"Task(DPU):", TaskKind::dpu}, {"Task(SW):", TaskKind::sw}, {"Task(DMA):", TaskKind::dma}}};

// "0.20" after the last `word` of a line, in ns; the line without it and what follows.
std::optional<std::int64_t> take_us(std::string_view& line, std::string_view word) {
  const std::size_t at = line.rfind(word);
  if (at == line.npos) return std::nullopt;
  std::string_view rest = trimmed(line.substr(at + word.size()));
  line = line.substr(0, at);
  const auto value = take_number<double>(rest);
  constexpr double most_us = 1e12;
  if (!value || !(*value >= 0 && *value < most_us)) return std::nullopt;
  return std::llround(*value * 1e3);
}

class TextReader {
 public:
  explicit TextReader(ByteSource& source) : source_(source), losses_(source.name()) {}

  Result<std::vector<Run>> run() {
    LineReader lines(source_, losses_);
    std::string_view line;
    while (lines.next(line)) {
      offset_ = lines.offset();
      take(trimmed(without_byte_order_mark(line)));
    }
    finish_run();
    if (runs_.empty()) {
      if (lines.error()) return tl::unexpected(*lines.error());
      return input_error("{}: profiling text of an Intel NPU without tasks; print it again",
                         source_.name());
    }
    for (Run& run : runs_) {
      run.file = source_.name();
      losses_.append_to(run.notes);
    }
    return std::move(runs_);
  }

 private:
  // What else a program prints is no part of it.
  void take(std::string_view line) {
    for (const auto& [word, kind] : task_words) {
      if (const std::size_t at = line.find(word); at != line.npos) {
        return take_task(line.substr(at + word.size()), kind);
      }
    }
    if (const std::size_t at = line.find("Layer:"); at != line.npos) {
      return take_layer(line.substr(at + 6));
    }
    if (const std::size_t at = line.find("Total time:"); at != line.npos) {
      std::string_view rest = line.substr(at);
      current_.real_ns = take_us(rest, "Real:");
      current_.total_ns = take_us(rest, "Total time:");
      finish_run();
    }
  }

  void take_task(std::string_view line, TaskKind kind) {
    Task task;
    task.kind = kind;
    const auto start = take_us(line, "Start(us):");
    if (const std::size_t at = line.rfind("Cycles:"); at != line.npos) {
      std::string_view cycles = line.substr(at + 7);
      line = line.substr(0, at);
      task.cycles = take_number<std::int64_t>(cycles).value_or(-1);
      if (cycles.starts_with('(')) {
        cycles.remove_prefix(1);
        task.stalls = take_number<std::int64_t>(cycles).value_or(-1);
      }
    }
    const auto duration = take_us(line, "Time(us):");
    const std::string_view name = trimmed(line);
    if (!start || !duration || name.empty()) {
      return losses_.add(Severity::warning, offset_,
                         "tasks without a name, a start or a time, as where a line is cut; left "
                         "out");
    }
    task.name = valid_utf8(name);
    task.start_ns = *start;
    task.duration_ns = *duration;
    current_.tasks.push_back(std::move(task));
  }

  void take_layer(std::string_view line) {
    Layer layer;
    (void)take_us(line, "Start:");
    const auto dma = take_us(line, "DMA:"), sw = take_us(line, "SW:"), dpu = take_us(line, "DPU:");
    if (!dma || !sw || !dpu) return;
    layer.ns = {*dpu, *sw, *dma};
    if (const std::size_t at = line.rfind("Type:"); at != line.npos) line = line.substr(0, at);
    layer.name = valid_utf8(trimmed(line));
    current_.layers.push_back(std::move(layer));
  }

  void finish_run() {
    constexpr std::size_t max_runs = 64;
    if (!current_.tasks.empty()) {
      if (runs_.size() < max_runs) {
        runs_.push_back(std::move(current_));
      } else {
        losses_.add(Severity::warning, offset_, "inferences after the first 64; left out");
      }
    }
    current_ = {};
  }

  ByteSource& source_;
  CountedNotes losses_;
  std::vector<Run> runs_;
  Run current_;
  std::uint64_t offset_ = 0;
};

}  // namespace

bool looks_like_profiling_text(std::string_view head) {
  const bool has_task =
      has_text(head, "Task(DPU):") || has_text(head, "Task(SW):") || has_text(head, "Task(DMA):");
  return has_task && has_text(head, "Time(us):") && has_text(head, "Start(us):");
}

Result<std::vector<Run>> read_profiling_text(ByteSource& source) {
  return TextReader(source).run();
}

}  // namespace npuscope::openvino
