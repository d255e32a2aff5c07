#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>

#include "base/has_text.hpp"
#include "formats/ggml/log.hpp"
#include "formats/ggml/log_line.hpp"
#include "formats/ggml/open_batch.hpp"
#include "formats/ggml/records.hpp"
#include "profile/counted_notes.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::ggml {
namespace {

constexpr LineLimits log_limits{std::size_t{64} << 10, std::uint64_t{64} << 30};
constexpr std::size_t max_operations = 1 << 20;

// The core's clock out of what the log states: cycles are exact, microseconds are cut to whole
// ones, so each record holds the clock between two bounds, and many records that have one clock
// hold it between narrow ones.
//
//   ClockBounds clock;
//   clock.add(1083787, 513);   // cycles, usec: 2108 to 2113 cycles a microsecond
//   clock.add(892524, 422);    // and 2110 to 2115
//   clock.middle()             // 2111.4
//   clock.error()              // 0.0006
class ClockBounds {
 public:
  void add(std::uint64_t cycles, std::uint64_t usec) {
    if (cycles == 0) return;
    low_ = std::max(low_, double(cycles) / (double(usec) + 1 + slack));
    if (usec > 0) high_ = std::min(high_, double(cycles) / (double(usec) - slack));
    cycles_ += double(cycles);
    usec_ += double(usec) + 0.5;  // what is cut is half a microsecond in the mean
  }
  void add(const ClockBounds& other) {
    low_ = std::max(low_, other.low_);
    high_ = std::min(high_, other.high_);
    cycles_ += other.cycles_;
    usec_ += other.usec_;
  }
  bool any() const { return cycles_ > 0; }
  // Whether one clock fits all records.
  bool fits() const { return low_ <= high_; }
  double middle() const {
    const bool is_bounded = fits() && high_ < std::numeric_limits<double>::max();
    return is_bounded ? (low_ + high_) / 2 : usec_ > 0 ? cycles_ / usec_ : 0;
  }
  double error() const { return fits() && middle() > 0 ? (high_ - low_) / 2 / middle() : 0.5; }

 private:
  static constexpr double slack = 0.06;  // a tick of the 19.2 MHz timer, in microseconds
  double low_ = 0, high_ = std::numeric_limits<double>::max();
  double cycles_ = 0, usec_ = 0;
};

class LogReader {
 public:
  LogReader(ByteSource& source, const ProgressReport& progress)
      : source_(source), progress_(progress), losses_(source.name()) {
    log_.name = source.name();
  }

  Result<Log> read();

 private:
  void take_line(std::string_view text, std::optional<std::int64_t> time);
  void take_message(std::optional<std::int64_t> time);
  bool take_op(std::optional<std::int64_t> time);
  bool take_batch_head(std::optional<std::int64_t> time);
  bool take_batch_end();
  bool take_event();
  void close(std::uint32_t session) { open_[session].close_into(log_, session, losses_, offset_); }
  void find_clocks();

  OpenBatch& open_batch() {
    session_ = log_.session_named(line_.session, session_);
    if (open_.size() <= session_) open_.resize(session_ + 1);
    return open_[session_];
  }
  std::uint32_t operation_of(const OpRecord& record);
  std::optional<std::uint8_t> event_named(std::string_view name);
  void lose(std::string_view what, std::uint64_t count = 1) {
    losses_.add(Severity::warning, offset_, what, count);
  }

  ByteSource& source_;
  const ProgressReport& progress_;
  CountedNotes losses_;
  Log log_;
  LogLine line_;
  std::string message_;  // of --log-jsonl
  std::uint64_t offset_ = 0;
  std::deque<OpenBatch> open_;                                   // by session
  std::uint32_t session_ = 0;                                    // of the line
  std::unordered_map<std::string, std::uint32_t> operation_of_;  // by the text of its line
  std::string key_;
  std::uint8_t last_event_ = 0;
  std::uint64_t private_forms_ = 0;
  bool has_mhz_ = false;
};

constexpr std::string_view cut_lines = "lines that are cut or mixed with others; left out";
constexpr std::uint32_t no_operation = ~std::uint32_t{0};

Result<Log> LogReader::read() {
  LineReader lines(source_, losses_, log_limits);
  std::string_view line;
  std::uint64_t count = 0;
  constexpr std::uint64_t lines_a_report = 1 << 16;
  while (lines.next(line)) {
    offset_ = lines.offset();
    if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
      return input_error("{}: text in UTF-16, as PowerShell's > writes; save it as UTF-8",
                         source_.name());
    }
    const auto take = [this](std::string_view text, std::optional<std::int64_t> time) {
      take_line(text, time);
    };
    if (!line.starts_with("{\"") || !for_messages(line, message_, take)) take_line(line, {});
    if (progress_ && ++count % lines_a_report == 0) {
      progress_(source_.file_bytes_read(), source_.file_bytes());
    }
  }
  for (std::uint32_t i = 0; i < open_.size(); ++i) close(i);
  const bool is_empty = log_.batches.empty() && !log_.results.any();
  if (is_empty && lines.error()) return tl::unexpected(*lines.error());
  if (is_empty && private_forms_ > 0) {
    return input_error(
        "{}: profile lines of a private form of llama.cpp's Hexagon backend ('total … us (quant …, "
        "compute …)'); record again with a build of ggml-org/llama.cpp",
        source_.name());
  }
  if (is_empty) {
    return input_error(
        "{}: a log of llama.cpp's Hexagon backend without profile lines; set "
        "GGML_HEXAGON_PROFILE=1 "
        "and add -v, because they are debug messages",
        source_.name());
  }
  find_clocks();
  if (private_forms_ > 0) {
    losses_.add(Severity::warning, 0,
                "lines of a private form ('total … us (quant …)') that no known version of "
                "llama.cpp prints; left out",
                private_forms_);
  }
  losses_.append_to(log_.notes);
  return std::move(log_);
}

void LogReader::take_line(std::string_view text, std::optional<std::int64_t> time) {
  line_.take(text);
  if (!line_.is_of_backend) {
    if (!log_.coverage.take(line_.text)) log_.results.take(line_.text);
    return;
  }
  if (line_.cut > 0) lose(cut_lines, line_.cut);
  take_message(time);
}

void LogReader::take_message(std::optional<std::int64_t> time) {
  const std::string_view rest = line_.rest;
  const auto when = [&] { return time ? time : line_.time_us(); };
  bool is_taken = false;
  if (rest.starts_with(event_word) || rest.starts_with(event_of_op_word)) {
    is_taken = take_event();
  } else if (rest.starts_with(batch_word)) {
    is_taken = take_batch_head(when());
  } else if (rest.starts_with(op_word) || rest.find(" : op-usec ") != rest.npos) {
    is_taken = take_op(when());
  } else if (rest.starts_with(batch_end_word)) {
    is_taken = take_batch_end();
  } else {
    if (rest.find("us (quant ") != rest.npos && rest.find(" : total ") != rest.npos) {
      private_forms_ += 1;
    }
    take_setting(line_.message(), log_);
    return;
  }
  if (!is_taken) return lose(cut_lines);
  open_[session_].keep_prefix(line_.prefix(), time);
}

std::optional<std::uint8_t> LogReader::event_named(std::string_view name) {
  auto& names = log_.event_names;
  if (last_event_ < names.size() && names[last_event_] == name) return last_event_;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    constexpr std::size_t max_names = 200, longest = 64;
    if (names.size() == max_names || name.empty() || name.size() > longest) return std::nullopt;
    names.emplace_back(name);
    return last_event_ = std::uint8_t(names.size() - 1);
  }
  return last_event_ = std::uint8_t(found - names.begin());
}

bool LogReader::take_event() {
  OpenBatch& open = open_batch();
  const auto record = event_record(line_.rest);
  if (!record) return false;
  const auto name = event_named(record->name);
  return name && open.add(*record, *name);
}

std::uint32_t LogReader::operation_of(const OpRecord& record) {
  key_ = record.operation;
  const auto found = operation_of_.find(key_);
  if (found != operation_of_.end()) return found->second;
  if (log_.operations.size() == max_operations) return no_operation;
  auto operation = record.is_first_form ? parse_first_operation(record.operation)
                                        : parse_operation(record.operation);
  if (!operation) return no_operation;
  const auto place = std::uint32_t(log_.operations.size());
  const bool is_plain = operation->op.find("MUL_MAT") == operation->op.npos &&
                        operation->op.find("FLASH_ATTN") == operation->op.npos;
  if (is_plain && !operation->kernel.empty() && log_.generation < Generation::g6) {
    log_.generation = Generation::g6;
  }
  log_.operations.push_back(std::move(*operation));
  operation_of_.emplace(key_, place);
  return place;
}

bool LogReader::take_op(std::optional<std::int64_t> time) {
  OpenBatch& open = open_batch();
  const auto record = op_record(line_.rest);
  if (!record) return false;
  const OpNumbers& numbers = record->numbers;
  has_mhz_ = has_mhz_ || numbers.has_mhz;
  // A line that was cut reads like one of an earlier version.
  if (record->generation < log_.generation && log_.generation <= Generation::g3) return false;
  if (has_mhz_ && !numbers.has_mhz) return false;
  const std::uint32_t operation = operation_of(*record);
  if (operation == no_operation) return false;
  log_.generation = std::max(log_.generation, record->generation);
  const int layer = log_.operations[operation].layer.value_or(-1);
  if (open.ends_before(operation, layer, numbers)) close(session_);
  if (numbers.call_usec) {
    log_.has_call_times = true;
    log_.calls_below_ops += *numbers.call_usec < numbers.usec;
  }
  auto pmu_place = ~std::uint32_t{0};
  if (numbers.has_pmu) {
    pmu_place = std::uint32_t(log_.pmu.size());
    log_.pmu.push_back(numbers.pmu);
  }
  open.add(operation, layer, numbers, pmu_place, log_.generation < Generation::g5,
           {time, log_.coverage.last_graph()});
  return true;
}

bool LogReader::take_batch_head(std::optional<std::int64_t> time) {
  OpenBatch& open = open_batch();
  const auto head = batch_head(line_.rest);
  if (!head) return false;
  close(session_);
  log_.generation = std::max(log_.generation, Generation::g5);
  has_mhz_ = true;
  open.begin(*head, {time, log_.coverage.last_graph()});
  return true;
}

bool LogReader::take_batch_end() {
  OpenBatch& open = open_batch();
  const auto end = batch_end(line_.rest);
  if (!end) return false;
  open.end(*end);
  close(session_);
  return true;
}

// Batches that one clock fits share it; what does not fit begins another.
void LogReader::find_clocks() {
  std::vector<ClockBounds> bounds;
  for (Batch& batch : log_.batches) {
    ClockBounds own;
    if (batch.cycles > 0) {
      own.add(batch.cycles, batch.usec);
    } else {
      for (std::uint32_t i = 0; i < batch.runs; ++i) {
        const OpRun& run = log_.runs[batch.first_run + i];
        own.add(run.cycles, run.usec);
      }
    }
    ClockBounds both = bounds.empty() ? ClockBounds{} : bounds.back();
    both.add(own);
    if (!bounds.empty() && (both.fits() || !own.any())) {
      bounds.back() = both;
    } else {
      bounds.push_back(own);
    }
    batch.clock = std::uint32_t(bounds.size() - 1);
  }
  for (const ClockBounds& each : bounds) log_.clocks.push_back({each.middle(), each.error()});
}

}  // namespace

std::uint64_t Log::lost_events() const {
  std::uint64_t lost = 0;
  for (const Batch& batch : batches) {
    for (const std::uint64_t of_thread : batch.lost) lost += of_thread;
  }
  return lost;
}

std::uint32_t Log::session_named(std::string_view session, std::uint32_t expected) {
  constexpr std::size_t max_sessions = 256;
  if (expected < sessions.size() && sessions[expected].name == session) return expected;
  const auto found = std::ranges::find(sessions, session, &Session::name);
  if (found != sessions.end()) return std::uint32_t(found - sessions.begin());
  if (sessions.size() == max_sessions) return max_sessions - 1;
  sessions.push_back({std::string(session)});
  return std::uint32_t(sessions.size() - 1);
}

bool looks_like_log(std::string_view head) {
  return has_text(head, backend_mark) || looks_like_results(head);
}

Result<Log> read_log(ByteSource& source, const ProgressReport& progress) {
  return LogReader(source, progress).read();
}

}  // namespace npuscope::ggml
