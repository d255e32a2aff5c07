#include "formats/ggml/records.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/ggml/log_line.hpp"

namespace npuscope::ggml {

namespace {

constexpr std::uint64_t max_cycles = std::uint64_t{1} << 48;  // beyond, a forgery

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

// "596,366,…" or "596, 366, …"; how many were there.
std::size_t take_counts(std::string_view list, EventCounts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    list.remove_prefix(std::min(list.find_first_not_of(", "), list.size()));
    Fields number(list);
    if (!number.digits(counts[i])) return i;
    list = number.rest();
  }
  return counts.size();
}

}  // namespace

std::optional<OpRecord> op_record(std::string_view line) {
  OpRecord record;
  record.is_first_form = !line.starts_with(op_word);
  if (!record.is_first_form) line.remove_prefix(op_word.size());
  const std::size_t bar = line.rfind('|');
  const bool has_bars = bar != line.npos;
  const std::size_t end = has_bars ? bar : line.rfind(" : ");
  if (end == line.npos) return std::nullopt;
  const auto numbers = op_numbers(line.substr(end + (has_bars ? 1 : 3)));
  if (!numbers || (has_bars && !numbers->start) || numbers->cycles > max_cycles) {
    return std::nullopt;
  }
  record.operation = line.substr(0, end);
  record.numbers = *numbers;
  record.generation = record.is_first_form ? Generation::g0
                      : numbers->call_usec ? Generation::g1
                      : has_bars           ? Generation::g4
                      : numbers->start     ? Generation::g3
                                           : Generation::g2;
  return record;
}

// "----|n-ops 31|evt-cnt 386,…|----|----|usec 513 cycles 1083787 start 651234586898 mhz 2112.6"
std::optional<BatchHead> batch_head(std::string_view line) {
  line.remove_prefix(std::min(batch_word.size(), line.size()));
  const std::size_t bar = line.rfind('|');
  if (bar == line.npos) return std::nullopt;
  const auto numbers = op_numbers(line.substr(bar + 1));
  if (!numbers || !numbers->start || !numbers->has_mhz) return std::nullopt;
  constexpr std::uint64_t max_counter = std::uint64_t{1} << 61;
  if (*numbers->start > max_counter || numbers->cycles > max_cycles) return std::nullopt;
  BatchHead head{{}, {}, std::int64_t(*numbers->start), numbers->usec, numbers->cycles};
  if (const std::size_t at = line.find("n-ops "); at < bar) {
    Fields count(line.substr(at + 6));
    if (std::uint64_t runs = 0; count.digits(runs)) head.runs = runs;
  }
  if (const std::size_t at = line.find("evt-cnt "); at < bar) {
    EventCounts counts{};
    if (take_counts(line.substr(at + 8), counts) < counts.size()) return std::nullopt;
    head.events = counts;
  }
  return head;
}

// "n-ops 37 batch-dur-usec 626 htp-ops-usec 507 evt [596,366,…]"
std::optional<BatchEnd> batch_end(std::string_view line) {
  BatchEnd end;
  std::uint64_t ops = 0;
  Fields fields(line);
  if (!fields.word(batch_end_word) || !fields.number("n-ops ", end.runs) ||
      !fields.number(" batch-dur-usec ", end.host_usec) || !fields.number(" htp-ops-usec ", ops)) {
    return std::nullopt;
  }
  if (fields.word(" evt [")) take_counts(fields.rest(), end.events.emplace());
  return end;
}

// "HVX_COMP: thread 3 info 64 start 2694545500", before July 2026 "MUL_MAT: thread 3 event HVX_COMP
// info 64 start 2694545500".
std::optional<EventRecord> event_record(std::string_view line) {
  const bool is_of_op = line.starts_with(event_of_op_word);
  line.remove_prefix(std::min((is_of_op ? event_of_op_word : event_word).size(), line.size()));
  const std::size_t end = is_of_op ? line.find(": thread ") : line.find(':');
  if (end == line.npos) return std::nullopt;
  EventRecord record{line.substr(0, end)};
  Fields fields(line.substr(end));
  std::uint64_t thread = 0, info = 0, at = 0;
  if (!fields.number(": thread ", thread) || thread >= trace_threads) return std::nullopt;
  if (is_of_op) {
    if (!fields.word(" event ")) return std::nullopt;
    const std::string_view rest = fields.rest();
    record.name = rest.substr(0, rest.find(' '));
    fields = Fields(rest.substr(record.name.size()));
  }
  if (!fields.number(" info ", info) || info > 0xffff) return std::nullopt;
  record.is_start = fields.word(" start ");
  if (!record.is_start && !fields.word(" stop ")) return std::nullopt;
  if (!fields.digits(at) || at > 0xffff'ffff || !trimmed(fields.rest()).empty()) {
    return std::nullopt;
  }
  record.thread = std::uint8_t(thread);
  record.info = std::uint16_t(info & 0x7fff);
  record.counter = std::uint32_t(at);
  return record;
}

namespace {

void take_mode(std::string_view rest, Log& log) {
  log.mode = take_number<int>(rest);
  log.pmu_events.clear();
  for (std::size_t at = rest.find("0x"); at != rest.npos; at = rest.find("0x")) {
    rest.remove_prefix(at + 2);
    const auto event = take_number<std::uint32_t>(rest, 16);
    if (event && log.pmu_events.size() < pmu_counters) log.pmu_events.push_back(*event);
  }
}

// "threads 6, hvx 6, hmx 1, vtcm 8 MB"
void take_hardware(std::string_view text, Session& session) {
  Fields fields(text);
  std::uint64_t threads = 0, hvx = 0, hmx = 0, vtcm = 0;
  if (!fields.number("threads ", threads) || !fields.number(", hvx ", hvx) ||
      !fields.number(", hmx ", hmx)) {
    return;
  }
  if (threads > 64 || hvx > 64 || hmx > 64) return;
  session.threads = std::uint32_t(threads);
  session.hvx = std::uint32_t(hvx);
  session.hmx = std::uint32_t(hmx);
  if (fields.number(", vtcm ", vtcm) && vtcm < 1 << 20) session.vtcm_bytes = vtcm << 20;
}

}  // namespace

void take_setting(std::string_view message, Log& log) {
  constexpr std::string_view arch = "Hexagon Arch version ", mode = "Profiling mode ";
  constexpr std::string_view hardware = " hwinfo: ", support = "supports-op ";
  if (message.starts_with(arch)) {
    const std::string_view version = message.substr(arch.size());
    log.arch = version.substr(0, std::min<std::size_t>(version.find_first_of(" ,"), 16));
  } else if (message.starts_with(mode)) {
    take_mode(message.substr(mode.size()), log);
  } else if (const std::size_t at = message.find(hardware); at != message.npos) {
    Session& session = log.sessions[log.session_named(message.substr(0, at))];
    take_hardware(message.substr(at + hardware.size()), session);
  } else if (const std::size_t op = message.find(support); op != message.npos) {
    const std::string_view verdict = trimmed(message);
    if (!verdict.ends_with("|no") && !verdict.ends_with(": no")) return;
    log.coverage.refuse(message.substr(op + support.size()));
  }
}

}  // namespace npuscope::ggml
