#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/ggml/clocks.hpp"
#include "formats/ggml/log.hpp"
#include "formats/ggml/log_line.hpp"
#include "formats/ggml/trace_events.hpp"
#include "profile/counted_notes.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::ggml {
namespace {

constexpr LineLimits log_limits{std::size_t{64} << 10, std::uint64_t{64} << 30};
constexpr std::size_t max_sessions = 256, max_operations = 1 << 20;

// The numbers at the end of an op's line.
struct OpNumbers {
  std::uint64_t usec = 0, cycles = 0;
  std::optional<std::uint64_t> start, call_usec;
  bool has_mhz = false;
  std::array<std::uint32_t, pmu_counters> pmu{};
  bool has_pmu = false;
};

// "3354.7", "0.0", "-nan".
bool skip_number(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" )"), text.size());
  text.remove_prefix(end);
  return end > 0;
}

std::optional<OpNumbers> call_numbers(std::string_view text) {
  OpNumbers numbers;
  Fields fields(text);
  std::uint64_t packets = 0, call = 0;
  if (!fields.number("op-usec ", numbers.usec) || !fields.number(" op-cycles ", numbers.cycles) ||
      !fields.number(" op-pkts ", packets) || !fields.word(" (")) {
    return std::nullopt;
  }
  std::string_view rest = fields.rest();
  if (!skip_number(rest)) return std::nullopt;
  Fields last(rest);
  if (!last.number(") call-usec ", call)) return std::nullopt;
  numbers.call_usec = call;
  return numbers;
}

std::optional<OpNumbers> op_numbers(std::string_view text) {
  if (text.starts_with("op-usec ")) return call_numbers(text);
  OpNumbers numbers;
  Fields fields(text);
  if (!fields.number("usec ", numbers.usec) || !fields.number(" cycles ", numbers.cycles)) {
    return std::nullopt;
  }
  if (std::uint64_t start = 0; fields.number(" start ", start)) numbers.start = start;
  std::string_view rest = fields.rest();
  if (rest.starts_with(" mhz ")) {
    rest.remove_prefix(5);
    numbers.has_mhz = skip_number(rest);
  }
  if (!rest.starts_with(" pmu [")) return numbers;
  rest.remove_prefix(6);
  for (std::size_t i = 0; i < pmu_counters; ++i) {
    Fields count(rest);
    std::uint64_t value = 0;
    if (!count.digits(value)) return std::nullopt;
    rest = count.rest();
    numbers.pmu[i] = std::uint32_t(value);
    const char next = i + 1 < pmu_counters ? ',' : ']';
    if (!rest.starts_with(next)) return std::nullopt;
    rest.remove_prefix(1);
  }
  numbers.has_pmu = true;
  return numbers;
}

// What a session has printed of the batch that is open.
struct OpenBatch {
  std::vector<OpRun> runs;
  std::vector<Event> events;
  TraceEvents trace;
  Batch batch;
  std::optional<std::uint64_t> stated_runs;
  std::array<std::uint64_t, trace_threads> counts{};
  bool has_counts = false;
  std::int64_t at = -1;                    // of the counter, at the last op; -1: none yet
  int layer = -1;                          // the highest, where no line says where batches end
  std::unordered_set<std::uint32_t> seen;  // operations of the same
  // In front of its last line, and the time of --log-jsonl.
  std::array<char, 32> last_prefix{};
  std::size_t last_prefix_size = 0;
  std::optional<std::int64_t> last_time;
  bool any() const { return !runs.empty() || batch.start.has_value(); }
  void keep_prefix(std::string_view prefix, std::optional<std::int64_t> time) {
    last_time = time;
    if (prefix.size() > last_prefix.size())
      prefix.remove_prefix(prefix.size() - last_prefix.size());
    last_prefix_size = prefix.copy(last_prefix.data(), prefix.size());
  }
  std::optional<std::int64_t> last_printed() const {
    return last_time ? last_time : LogLine::time_us({last_prefix.data(), last_prefix_size});
  }
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
  bool take_event(std::string_view text, bool is_of_op);
  bool take_op(std::string_view text, std::optional<std::int64_t> time);
  bool take_batch_head(std::string_view text, std::optional<std::int64_t> time);
  bool take_batch_end(std::string_view text);
  void take_setting(std::string_view message);
  bool add_run(std::uint32_t operation, const OpNumbers& numbers, std::optional<std::int64_t> time);
  void close(OpenBatch& open);
  void count_losses(OpenBatch& open, Batch& batch);
  void find_clocks();
  void add_notes();

  OpenBatch& session_named(std::string_view name);
  std::uint32_t operation_of(std::string_view text, bool is_first_form);
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
  std::uint64_t private_forms_ = 0, unmatched_ = 0;
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
  for (OpenBatch& open : open_) close(open);
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
  add_notes();
  losses_.append_to(log_.notes);
  return std::move(log_);
}

void LogReader::take_line(std::string_view text, std::optional<std::int64_t> time) {
  line_.take(text);
  if (!line_.is_of_backend) {
    log_.results.take(line_.text);
    return;
  }
  if (line_.cut > 0) lose(cut_lines, line_.cut);
  take_message(time);
}

void LogReader::take_message(std::optional<std::int64_t> time) {
  const std::string_view rest = line_.rest;
  const auto when = [&] { return time ? time : line_.time_us(); };
  bool is_taken = false;
  if (rest.starts_with("trace-evt ")) {
    session_named(line_.session);
    is_taken = take_event(rest.substr(10), false);
  } else if (rest.starts_with("trace-op ")) {
    session_named(line_.session);
    is_taken = take_event(rest.substr(9), true);
  } else if (rest.starts_with("profile-op OPBATCH|")) {
    session_named(line_.session);
    is_taken = take_batch_head(rest.substr(19), when());
  } else if (rest.starts_with("profile-op ")) {
    session_named(line_.session);
    is_taken = take_op(rest.substr(11), when());
  } else if (rest.starts_with("profile-batch ")) {
    session_named(line_.session);
    is_taken = take_batch_end(rest.substr(14));
  } else if (rest.find(" : op-usec ") != rest.npos) {
    session_named(line_.session);
    is_taken = take_op(rest, when());
  } else {
    if (rest.find("us (quant ") != rest.npos && rest.find(" : total ") != rest.npos) {
      private_forms_ += 1;
    }
    take_setting(line_.text.substr(line_.text.rfind(backend_mark) + backend_mark.size()));
    return;
  }
  if (!is_taken) return lose(cut_lines);
  if (open_[session_].any()) open_[session_].keep_prefix(line_.prefix(), time);
}

OpenBatch& LogReader::session_named(std::string_view name) {
  if (session_ < log_.sessions.size() && log_.sessions[session_].name == name) {
    return open_[session_];
  }
  const auto found = std::ranges::find(log_.sessions, name, &Session::name);
  session_ = std::uint32_t(found - log_.sessions.begin());
  if (found == log_.sessions.end()) {
    if (log_.sessions.size() == max_sessions) {
      session_ = max_sessions - 1;
    } else {
      log_.sessions.push_back({std::string(name)});
      open_.emplace_back();
    }
  }
  return open_[session_];
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

// "HVX_COMP: thread 3 info 64 start 2694545500", before June 2026 "MUL_MAT: thread 3 event HVX_COMP
// info 64 start 2694545500".
bool LogReader::take_event(std::string_view text, bool is_of_op) {
  OpenBatch& open = open_[session_];
  std::size_t end = text.find(':');
  if (is_of_op) end = text.find(": thread ");
  if (end == text.npos) return false;
  std::string_view name = text.substr(0, end);
  Fields fields(text.substr(end));
  std::uint64_t thread = 0, info = 0, at = 0;
  if (!fields.number(": thread ", thread) || thread >= trace_threads) return false;
  if (is_of_op) {
    if (!fields.word(" event ")) return false;
    const std::string_view rest = fields.rest();
    name = rest.substr(0, rest.find(' '));
    fields = Fields(rest.substr(name.size()));
  }
  if (!fields.number(" info ", info) || info > 0xffff) return false;
  const bool is_start = fields.word(" start ");
  if (!is_start && !fields.word(" stop ")) return false;
  if (!fields.digits(at) || at > 0xffff'ffff || !trimmed(fields.rest()).empty()) return false;
  const auto event = event_named(name);
  if (!event || open.at < 0) return false;
  open.trace.add(std::uint8_t(thread), *event, std::uint16_t(info & 0x7fff), is_start,
                 std::uint32_t(at), open.events);
  return true;
}

std::uint32_t LogReader::operation_of(std::string_view text, bool is_first_form) {
  key_ = text;
  const auto found = operation_of_.find(key_);
  if (found != operation_of_.end()) return found->second;
  if (log_.operations.size() == max_operations) return no_operation;
  auto operation = is_first_form ? parse_first_operation(text) : parse_operation(text);
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

bool LogReader::take_op(std::string_view text, std::optional<std::int64_t> time) {
  const std::size_t bar = text.rfind('|');
  const bool has_bars = bar != text.npos;
  const std::size_t end = has_bars ? bar : text.rfind(" : ");
  if (end == text.npos) return false;
  const auto numbers = op_numbers(text.substr(end + (has_bars ? 1 : 3)));
  if (!numbers || (has_bars && !numbers->start)) return false;
  if (numbers->cycles > std::uint64_t{1} << 48) return false;
  const bool is_first_form = !line_.rest.starts_with("profile-op ");
  has_mhz_ = has_mhz_ || numbers->has_mhz;
  const Generation generation = is_first_form        ? Generation::g0
                                : numbers->call_usec ? Generation::g1
                                : has_bars           ? Generation::g4
                                : numbers->start     ? Generation::g3
                                                     : Generation::g2;
  // A line that was cut reads like one of an earlier version.
  if (generation < log_.generation && log_.generation <= Generation::g3) return false;
  if (has_mhz_ && !numbers->has_mhz) return false;
  const std::uint32_t operation = operation_of(text.substr(0, end), is_first_form);
  if (operation == no_operation) return false;
  log_.generation = std::max(log_.generation, generation);
  return add_run(operation, *numbers, time);
}

bool LogReader::add_run(std::uint32_t operation, const OpNumbers& numbers,
                        std::optional<std::int64_t> time) {
  OpenBatch& open = open_[session_];
  // Where the line that says so is missing, a batch ends with the last op that it counts, or where
  // layers begin again.
  const int layer = log_.operations[operation].layer.value_or(-1);
  const bool is_full =
      open.batch.start && open.stated_runs && open.runs.size() >= *open.stated_runs;
  const bool goes_back = !open.batch.start && layer >= 0 && layer < open.layer;
  const bool repeats = numbers.call_usec && layer < 0 && open.seen.contains(operation);
  if (is_full || goes_back || repeats) close(open);
  open.layer = std::max(open.layer, layer);
  if (numbers.call_usec) {
    open.seen.insert(operation);
    log_.has_call_times = true;
    log_.calls_below_ops += *numbers.call_usec < numbers.usec;
  }
  if (!open.any()) open.batch.printed_us = time;
  constexpr std::uint64_t max_usec = std::numeric_limits<std::uint32_t>::max();
  OpRun run{operation, std::uint32_t(std::min(numbers.usec, max_usec)), numbers.cycles};
  run.call_usec = std::uint32_t(std::min(numbers.call_usec.value_or(0), max_usec));
  if (numbers.start) {
    const auto low = std::uint32_t(*numbers.start);
    constexpr std::int64_t above = std::int64_t{1} << 32;  // so that nothing is below 0
    run.start = open.at < 0 ? above + low : unwrapped(open.at, low);
    open.at = run.start;
    if (log_.generation < Generation::g5) open.trace.go_on_from(run.start);
  } else if (open.at < 0) {
    open.at = 0;
  }
  if (numbers.has_pmu) {
    run.pmu = std::uint32_t(log_.pmu.size());
    log_.pmu.push_back(numbers.pmu);
  }
  open.runs.push_back(run);
  return true;
}

// "----|n-ops 31|evt-cnt 386,…|----|----|usec 513 cycles 1083787 start 651234586898 mhz 2112.6"
bool LogReader::take_batch_head(std::string_view text, std::optional<std::int64_t> time) {
  const std::size_t bar = text.rfind('|');
  if (bar == text.npos) return false;
  const auto numbers = op_numbers(text.substr(bar + 1));
  if (!numbers || !numbers->start || !numbers->has_mhz) return false;
  if (*numbers->start > std::uint64_t{1} << 61 || numbers->cycles > std::uint64_t{1} << 48) {
    return false;
  }
  OpenBatch& open = open_[session_];
  close(open);
  log_.generation = std::max(log_.generation, Generation::g5);
  has_mhz_ = true;
  if (const std::size_t at = text.find("n-ops "); at < bar) {
    Fields count(text.substr(at + 6));
    if (std::uint64_t runs = 0; count.digits(runs)) open.stated_runs = runs;
  }
  if (const std::size_t at = text.find("evt-cnt "); at < bar) {
    std::string_view list = text.substr(at + 8);
    open.has_counts = true;
    for (std::uint64_t& count : open.counts) {
      Fields number(list);
      if (!number.digits(count)) return false;
      list = number.rest();
      if (list.starts_with(',')) list.remove_prefix(1);
    }
  }
  open.batch.start = std::int64_t(*numbers->start);
  open.batch.cycles = numbers->cycles;
  open.batch.usec = std::uint32_t(std::min<std::uint64_t>(numbers->usec, 0xffff'ffff));
  open.batch.printed_us = time;
  open.at = *open.batch.start;
  open.trace.begin(open.at);
  return true;
}

// "n-ops 37 batch-dur-usec 626 htp-ops-usec 507 evt [596,366,…]"
bool LogReader::take_batch_end(std::string_view text) {
  OpenBatch& open = open_[session_];
  std::uint64_t runs = 0, duration = 0, ops = 0;
  Fields fields(text);
  if (!fields.number("n-ops ", runs) || !fields.number(" batch-dur-usec ", duration) ||
      !fields.number(" htp-ops-usec ", ops)) {
    return false;
  }
  open.stated_runs = runs;
  open.batch.host_usec = std::uint32_t(std::min<std::uint64_t>(duration, 0xffff'ffff));
  std::string_view list = fields.rest();
  if (list.starts_with(" evt [")) {
    list.remove_prefix(6);
    open.has_counts = true;
    for (std::uint64_t& count : open.counts) {
      list.remove_prefix(std::min(list.find_first_not_of(", "), list.size()));
      Fields number(list);
      if (!number.digits(count)) break;
      list = number.rest();
    }
  }
  close(open);
  return true;
}

void LogReader::count_losses(OpenBatch& open, Batch& batch) {
  if (open.stated_runs && *open.stated_runs > open.runs.size()) {
    losses_.add(Severity::warning, offset_, "ops that a batch counts and the log does not have",
                *open.stated_runs - open.runs.size());
  }
  bool is_full = open.trace.open() > 0;
  unmatched_ += open.trace.open();
  if (open.has_counts) {
    for (std::size_t i = 0; i < trace_threads; ++i) {
      const std::uint64_t seen = open.trace.seen(i);
      batch.lost[i] = open.counts[i] > seen ? open.counts[i] - seen : 0;
      // GGML_HEXAGON_OPTRACE by default: so many a batch and thread.
      for (const std::uint64_t ops : {1024, 1280, 2048}) {
        for (const std::uint64_t each : {128, 256}) is_full |= open.counts[i] == ops * each;
      }
    }
  }
  const bool is_exact =
      std::ranges::any_of(batch.lost, [](std::uint64_t lost) { return lost > 0; });
  batch.may_have_lost = is_full && !is_exact;
}

void LogReader::close(OpenBatch& open) {
  if (open.any()) {
    Batch batch = open.batch;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (&open_[i] == &open) batch.session = std::uint32_t(i);
    }
    count_losses(open, batch);
    if (const auto last = open.last_printed(); last && batch.printed_us) {
      batch.printing_us = std::max<std::int64_t>(0, *last - *batch.printed_us);
    }
    batch.first_run = std::uint32_t(log_.runs.size());
    batch.runs = std::uint32_t(open.runs.size());
    batch.first_event = log_.events.size();
    batch.events = std::uint32_t(open.events.size());
    log_.runs.insert(log_.runs.end(), open.runs.begin(), open.runs.end());
    log_.events.insert(log_.events.end(), open.events.begin(), open.events.end());
    log_.batches.push_back(batch);
  }
  open.runs.clear();
  open.events.clear();
  open.seen.clear();
  open.layer = -1;
  open.batch = {};
  open.stated_runs.reset();
  open.counts.fill(0);
  open.has_counts = false;
  open.trace.begin(std::max<std::int64_t>(open.at, 0));
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

// "Hexagon Arch version v79", "HTP0 hwinfo: threads 6, hvx 6, hmx 1, vtcm 8 MB".
void LogReader::take_setting(std::string_view message) {
  constexpr std::string_view arch = "Hexagon Arch version ", mode = "Profiling mode ";
  if (message.starts_with(arch)) {
    const std::string_view version = message.substr(arch.size());
    log_.arch = version.substr(0, std::min<std::size_t>(version.find_first_of(" ,"), 16));
  } else if (message.starts_with(mode)) {
    std::string_view rest = message.substr(mode.size());
    log_.mode = take_number<int>(rest);
    log_.pmu_events.clear();
    for (std::size_t at = rest.find("0x"); at != rest.npos; at = rest.find("0x")) {
      rest.remove_prefix(at + 2);
      const auto event = take_number<std::uint32_t>(rest, 16);
      if (event && log_.pmu_events.size() < pmu_counters) log_.pmu_events.push_back(*event);
    }
  } else if (const std::size_t at = message.find(" hwinfo: threads "); at != message.npos) {
    session_named(message.substr(0, at));
    Session& session = log_.sessions[session_];
    Fields fields(message.substr(at + 9));
    std::uint64_t threads = 0, hvx = 0, hmx = 0, vtcm = 0;
    if (!fields.number("threads ", threads) && !fields.number(" threads ", threads)) return;
    if (!fields.number(", hvx ", hvx) || !fields.number(", hmx ", hmx)) return;
    if (threads > 64 || hvx > 64 || hmx > 64) return;
    session.threads = std::uint32_t(threads);
    session.hvx = std::uint32_t(hvx);
    session.hmx = std::uint32_t(hmx);
    if (fields.number(", vtcm ", vtcm) && vtcm < 1 << 20) session.vtcm_bytes = vtcm << 20;
  } else if (const std::size_t op = message.find("supports-op "); op != message.npos) {
    const std::string_view verdict = trimmed(message);
    if (!verdict.ends_with("|no") && !verdict.ends_with(": no")) return;
    const std::string_view name = message.substr(op + 12);
    log_.results.refuse(name.substr(0, name.find_first_of("|: ")));
  }
}

void LogReader::add_notes() {
  if (private_forms_ > 0) {
    losses_.add(Severity::warning, 0,
                "lines of a private form ('total … us (quant …)') that no known version of "
                "llama.cpp prints; left out",
                private_forms_);
  }
  if (unmatched_ > 0) {
    losses_.add(Severity::warning, 0,
                "trace events that began and did not end, or ended and did not begin; left out",
                unmatched_);
  }
}

}  // namespace

std::uint64_t Log::lost_events() const {
  std::uint64_t lost = 0;
  for (const Batch& batch : batches) {
    for (const std::uint64_t of_thread : batch.lost) lost += of_thread;
  }
  return lost;
}

bool looks_like_log(std::string_view head) {
  return head.find(backend_mark) != head.npos || looks_like_results(head);
}

Result<Log> read_log(ByteSource& source, const ProgressReport& progress) {
  return LogReader(source, progress).read();
}

}  // namespace npuscope::ggml
