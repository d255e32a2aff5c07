#include "formats/sigmastar/log.hpp"

#include <algorithm>
#include <optional>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::sigmastar {

namespace {

bool same(const BitField& a, const BitField& b) { return a.bit == b.bit && a.bits == b.bits; }

// Where one field says both engine and mark, the value that means both.
std::optional<std::uint64_t> common_value(const std::vector<std::uint64_t>& a,
                                          const std::vector<std::uint64_t>& b) {
  const auto found = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
  return found == a.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

LogWriter::LogWriter(LogLayout layout, std::uint64_t buffer_bytes)
    : layout_(std::move(layout)), buffer_bytes_(buffer_bytes), bytes_(layout_.header_bytes, '\0') {}

void LogWriter::write(const LogRecord& of) {
  const std::uint64_t number = number_++;
  const auto& values = layout_.engine_values[std::size_t(of.engine)];
  const auto& marks = of.mark == LogMark::begin ? layout_.begin_marks : layout_.end_marks;
  const bool is_one_field = same(layout_.engine, layout_.mark);
  const auto both = is_one_field ? common_value(values, marks) : std::nullopt;
  const bool has_code = is_one_field ? both.has_value() : !values.empty() && !marks.empty();
  if (bytes_.size() + layout_.record_bytes > buffer_bytes_ || !has_code) {
    ++lost_;
    return;
  }
  const std::size_t at = bytes_.size();
  bytes_.resize(at + layout_.record_bytes + sizeof(std::uint64_t), '\0');  // a field writes 8 bytes
  auto* record = reinterpret_cast<std::byte*>(bytes_.data() + at);
  PlacedField(layout_.time).write(record, of.cycles / std::uint64_t(layout_.cycles_per_tick));
  PlacedField(layout_.layer).write(record, of.layer);
  PlacedField(layout_.engine).write(record, both ? *both : values.front());
  PlacedField(layout_.mark).write(record, both ? *both : marks.front());
  if (layout_.tile) PlacedField(*layout_.tile).write(record, of.tile);
  if (layout_.bytes) PlacedField(*layout_.bytes).write(record, of.bytes);
  if (layout_.sequence) PlacedField(*layout_.sequence).write(record, number);
  bytes_.resize(at + layout_.record_bytes);
}

namespace {

constexpr std::size_t word_bytes = 8;  // that a field reads
constexpr std::size_t max_open = 64;   // begins of one engine without an end so far
constexpr std::int64_t not_ended = std::numeric_limits<std::int64_t>::min();
constexpr std::uint8_t no_engine = 0xff;

enum class Mark : std::uint8_t { begin, end, unknown };

// What each value of a small field means.
template <class Meaning>
std::vector<Meaning> table_of(const BitField& field, Meaning nothing) {
  return std::vector<Meaning>(std::size_t{1} << field.bits, nothing);
}

// When an engine worked, with how long it had by then.
class EngineTimes {
 public:
  void add(Interval interval) {  // by begin
    if (length_of(interval) == 0) return;
    if (!busy_.empty() && interval.begin <= busy_.back().end) {
      busy_.back().end = std::max(busy_.back().end, interval.end);
      return;
    }
    before_.push_back(busy_.empty() ? 0 : saturating_add(before_.back(), length_of(busy_.back())));
    busy_.push_back(interval);
  }
  bool empty() const { return busy_.empty(); }

  // Of windows in the order of their begins.
  std::int64_t within(Interval window) {
    while (first_ < busy_.size() && busy_[first_].end <= window.begin) ++first_;
    if (first_ == busy_.size()) return 0;
    return until(window.end) - until(window.begin);
  }

 private:
  // By galloping from the first interval that reaches into the window: most windows hold few.
  std::int64_t until(std::int64_t time) const {
    std::size_t step = 1, low = first_;  // what begins before `low` begins before `time`
    while (low + step < busy_.size() && busy_[low + step].begin < time) {
      low += step;
      step *= 2;
    }
    const auto from = busy_.begin() + std::ptrdiff_t(low);
    const auto to = busy_.begin() + std::ptrdiff_t(std::min(low + step, busy_.size()));
    const auto next =
        std::partition_point(from, to, [&](const Interval& each) { return each.begin < time; });
    const auto at = std::size_t(next - busy_.begin());
    if (at == first_) return before_[first_];
    const Interval part{busy_[at - 1].begin, std::min(busy_[at - 1].end, time)};
    return saturating_add(before_[at - 1], length_of(part));
  }

  std::size_t first_ = 0;       // that ends after the windows so far begin
  std::vector<Interval> busy_;  // apart from each other
  std::vector<std::int64_t> before_;
};

class LogDecoder {
 public:
  LogDecoder(ByteSpan bytes, const LogLayout& layout)
      : bytes_(bytes),
        layout_(layout),
        time_(layout.time),
        layer_(layout.layer),
        engine_(layout.engine),
        mark_(layout.mark),
        sequence_(layout.sequence.value_or(BitField{0, 1})),
        tile_(layout.tile.value_or(BitField{0, 1})),
        bytes_of_(layout.bytes.value_or(BitField{0, 1})),
        engines_(table_of<std::uint8_t>(layout.engine, no_engine)),
        marks_(table_of<Mark>(layout.mark, Mark::unknown)) {
    for (std::size_t i = 0; i < log_engine_count; ++i) {
      for (const std::uint64_t value : layout.engine_values[i]) engines_[value] = std::uint8_t(i);
    }
    for (const std::uint64_t value : layout.begin_marks) marks_[value] = Mark::begin;
    for (const std::uint64_t value : layout.end_marks) marks_[value] = Mark::end;
  }

  CoreLog decode() {
    const std::size_t size = layout_.record_bytes;
    const std::size_t from = std::min<std::size_t>(bytes_.size(), layout_.header_bytes);
    const std::size_t records = (bytes_.size() - from) / size;
    log_.records = records;
    log_.partial_bytes = std::uint32_t((bytes_.size() - from) % size);
    // A field at a record's end reads beyond it: the last records are read from a padded copy.
    const std::size_t behind = (word_bytes + size - 1) / size;
    const std::size_t in_place = records > behind ? records - behind : 0;
    const std::byte* first = bytes_.data() + from;
    log_.intervals.reserve(records / 2 + 1);
    for (std::size_t i = 0; i < in_place; ++i) take(first + i * size);
    std::vector<std::byte> last(size + word_bytes);
    for (std::size_t i = in_place; i < records; ++i) {
      std::memcpy(last.data(), first + i * size, size);
      take(last.data());
    }
    finish();
    return std::move(log_);
  }

 private:
  void take(const std::byte* record) {
    const std::uint8_t engine = engines_[engine_.read(record)];
    const Mark mark = marks_[mark_.read(record)];
    if (engine == no_engine || mark == Mark::unknown) {
      ++log_.invalid;
      return;
    }
    const std::int64_t now = follow(time_.read(record));
    if (layout_.sequence) count_lost(sequence_.read(record));
    const auto layer = std::uint32_t(layer_.read(record));
    if (mark == Mark::begin) {
      LogInterval interval{now, not_ended, layer, LogEngine(engine)};
      if (layout_.tile) interval.tile = std::uint16_t(tile_.read(record));
      if (layout_.bytes) interval.bytes = std::uint32_t(bytes_of_.read(record));
      begin(interval);
    } else {
      end(engine, layer, now);
    }
  }

  // Cycles since the first record: the clock's difference, as the shorter way around.
  std::int64_t follow(std::uint64_t ticks) {
    if (!started_) {
      started_ = true;
      log_.first_ticks = last_ticks_ = ticks;
    }
    const std::uint64_t ahead = (ticks - last_ticks_) & time_.mask;
    const std::uint64_t half = time_.mask / 2;
    const bool back = ahead > half;
    const auto step =
        back ? -std::int64_t((last_ticks_ - ticks) & time_.mask) : std::int64_t(ahead);
    log_.backwards += back;
    last_ticks_ = ticks;
    ticks_ = saturating_add(ticks_, step);
    constexpr std::int64_t max = std::int64_t{1} << 56;
    ticks_ = std::clamp(ticks_, -max, max);
    return std::clamp(ticks_, -max / layout_.cycles_per_tick, max / layout_.cycles_per_tick) *
           layout_.cycles_per_tick;
  }

  void count_lost(std::uint64_t number) {
    if (counted_) {
      const std::uint64_t skipped = (number - next_number_) & sequence_.mask;
      if (skipped <= sequence_.mask / 2) log_.lost += skipped;
    }
    counted_ = true;
    next_number_ = (number + 1) & sequence_.mask;
  }

  void begin(const LogInterval& interval) {
    auto& open = open_[std::size_t(interval.engine)];
    if (open.size() == max_open) open.erase(open.begin());  // stays without an end
    open.push_back(log_.intervals.size());
    log_.intervals.push_back(interval);
  }

  void end(std::uint8_t engine, std::uint32_t layer, std::int64_t now) {
    auto& open = open_[engine];
    for (std::size_t i = open.size(); i-- > 0;) {
      LogInterval& interval = log_.intervals[open[i]];
      if (interval.layer != layer) continue;
      interval.end = now;
      open.erase(open.begin() + std::ptrdiff_t(i));
      return;
    }
    ++log_.unopened;
  }

  void finish() {
    auto& intervals = log_.intervals;
    const std::size_t before = intervals.size();
    std::erase_if(intervals, [](const LogInterval& each) { return each.end == not_ended; });
    log_.unclosed = before - intervals.size();
    const auto by_begin = [](const LogInterval& a, const LogInterval& b) {
      return a.begin < b.begin;
    };
    for (LogInterval& each : intervals) each.end = std::max(each.begin, each.end);
    if (!std::is_sorted(intervals.begin(), intervals.end(), by_begin)) {
      sort_rows(intervals.begin(), intervals.end(), by_begin);
    }
    add_layers();
  }

  void add_layers() {
    std::array<EngineTimes, log_engine_count> engines;
    for (const LogInterval& each : log_.intervals) {
      if (each.engine == LogEngine::layer) {
        log_.layers.push_back({each.layer, each.begin, each.end, {}});
      } else if (each.engine != LogEngine::run) {
        engines[std::size_t(each.engine)].add({each.begin, each.end});
      }
    }
    for (std::size_t engine = 0; engine < log_engine_count; ++engine) {
      if (engines[engine].empty()) continue;
      for (LogLayer& layer : log_.layers) {
        layer.busy[engine] = engines[engine].within({layer.begin, layer.end});
      }
    }
  }

  ByteSpan bytes_;
  const LogLayout& layout_;
  PlacedField time_, layer_, engine_, mark_, sequence_, tile_, bytes_of_;
  std::vector<std::uint8_t> engines_;
  std::vector<Mark> marks_;
  CoreLog log_;
  bool started_ = false, counted_ = false;
  std::uint64_t last_ticks_ = 0, next_number_ = 0;
  std::int64_t ticks_ = 0;
  std::array<std::vector<std::size_t>, log_engine_count> open_;  // in log_.intervals
};

}  // namespace

Result<CoreLog> decode_log(ByteSpan bytes, const LogLayout& layout, const std::string& name) {
  if (bytes.empty()) {
    return input_error("{}: an empty file; the run that logged it failed, run it again", name);
  }
  if (bytes.size() < layout.header_bytes + layout.record_bytes) {
    return input_error(
        "{}: has {} bytes, not even one record of {}; the run that logged it failed, run it again",
        name, bytes.size(), layout.record_bytes);
  }
  CoreLog log = LogDecoder(bytes, layout).decode();
  if (log.invalid * 2 > log.records) {
    return input_error(
        "{}: {} of {} records are none of the layout '{}'; name the chip that wrote the log (-v), "
        "or its layout (--layout)",
        name, log.invalid, log.records, layout.name);
  }
  log.name = name;
  return log;
}

std::vector<std::string> problems_of(const CoreLog& log, std::uint64_t file_bytes,
                                     std::uint64_t buffer_bytes) {
  std::vector<std::string> problems;
  const auto say = [&](std::string text) { problems.push_back(std::move(text)); };
  const bool is_full = file_bytes + 32 > buffer_bytes;
  if (log.unclosed > 0) {
    say(fmt::format("incomplete: {} no end, left out; {}",
                    counted(log.unclosed, "interval that began has", "intervals that began have"),
                    is_full ? "the buffer was too small, log again with a larger --ipu_log_size"
                            : "was the buffer too small, or the file cut?"));
  } else if (is_full) {
    say(
        fmt::format("as long as its buffer ({} bytes): perhaps incomplete; log again with a larger "
                    "--ipu_log_size",
                    buffer_bytes));
  }
  if (log.partial_bytes > 0) {
    say(fmt::format("ends {} bytes into a record: the file is cut, copy it again",
                    log.partial_bytes));
  }
  if (log.unopened > 0) {
    say(counted(log.unopened, "end") + " without a begin, left out");
  }
  if (log.lost > 0)
    say(counted(log.lost, "record is", "records are") + " missing by their numbers");
  if (log.invalid > 0) say(counted(log.invalid, "record") + " that the layout does not know");
  if (log.backwards > 0) {
    say(counted(log.backwards, "record lies before the one that precedes it",
                "records lie before the one that precedes them"));
  }
  return problems;
}

}  // namespace npuscope::sigmastar
