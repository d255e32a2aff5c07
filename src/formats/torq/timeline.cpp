#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/timeline.hpp"
#include "npuscope/base/files.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::torq {
namespace {

// The words of timelines, read and written.

inline constexpr std::string_view timeline_header =
    "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n";

// What the versions call each event; an id is a prefix and numbers.
struct EventNames {
  TimelineEvent event;
  std::string_view id_prefix;
  std::string_view type;   // beside ids
  std::string_view label;  // with a header
};

inline constexpr std::array event_names{
    EventNames{TimelineEvent::dma_in, "DI", "DMA_IN", "DMA In"},
    EventNames{TimelineEvent::dma_out, "DO", "DMA_OUT", "DMA Out"},
    EventNames{TimelineEvent::cdma_lram_to_dtcm, "CDMA_L2D", "CDMA_LRAM_TO_DTCM",
               "CDMA LRAM to DTCM"},
    EventNames{TimelineEvent::cdma_lram_to_itcm, "CDMA_L2I", "CDMA_LRAM_TO_ITCM",
               "CDMA LRAM to ITCM"},
    EventNames{TimelineEvent::cdma_dtcm_to_lram, "CDMA_D2L", "CDMA_DTCM_TO_LRAM",
               "CDMA DTCM to LRAM"},
    EventNames{TimelineEvent::css, "CSS", "CSS", "CSS"},
    EventNames{TimelineEvent::slice, "S", "", "Slice"},
};

constexpr std::int32_t max_slices = 1024;

// "S12_1": event slice, number 12, of slice 1.
struct RowId {
  const EventNames* names = nullptr;
  std::int64_t number = 0;
  std::optional<std::int64_t> slice{};
};

std::optional<RowId> row_id(std::string_view text) {
  for (const EventNames& names : event_names) {
    if (!text.starts_with(names.id_prefix)) continue;
    std::string_view rest = text.substr(names.id_prefix.size());
    RowId id{.names = &names};
    const auto number = whole_number(take_first(rest, '_'));
    if (!number || *number < 0) continue;
    id.number = *number;
    if (!rest.empty()) id.slice = whole_number(rest);
    return id;
  }
  return std::nullopt;
}

TimelineVersion version_of(std::string_view line) {
  std::string_view rest = without_byte_order_mark(trimmed(line));
  const bool has_bytes = trimmed(rest.substr(rest.rfind(',') + 1)) == "bytes";
  const std::string_view first = take_first(rest);
  if (first == "taskId") return TimelineVersion::task_id;
  if (first == "actionIndex" && has_bytes) return TimelineVersion::action_index;
  if (row_id(first) && whole_number(take_first(rest)) && whole_number(take_first(rest)) &&
      rest.find(',') != rest.npos) {
    return TimelineVersion::ids;
  }
  return TimelineVersion::none;
}

class TimelineReader {
 public:
  explicit TimelineReader(ByteSource& source) : notes_(source.name()), source_(source) {}

  Result<CompileTimeline> run() {
    LineReader lines(source_, notes_, table_limits);
    std::string_view line;
    while (lines.next(line)) {
      line = trimmed(without_byte_order_mark(line));
      if (line.empty()) continue;
      if (timeline_.version == TimelineVersion::none) {
        timeline_.version = version_of(line);
        if (timeline_.version != TimelineVersion::ids) continue;
      }
      take(line, lines.offset());
    }
    if (timeline_.rows.empty()) {
      if (lines.error()) return tl::unexpected(*lines.error());
      if (timeline_.version == TimelineVersion::none || !notes_.notes().empty()) {
        return input_error(
            "{}: has no row of a Torq timeline; copy the file again, or compile the model again "
            "with "
            "--torq-enable-profiling",
            source_.name());
      }
      return input_error(
          "{}: a Torq timeline without rows: the dispatch that the compiler wrote last has no work "
          "of "
          "the NPU (a model of host programs alone, or the last of several dispatches); open the "
          "debug information of all dispatches (--torq-debug-info) instead",
          source_.name());
    }
    notes_.append_to(timeline_.notes);
    return std::move(timeline_);
  }

 private:
  void take(std::string_view line, std::uint64_t offset) {
    TimelineRow row;
    const bool is_row = timeline_.version == TimelineVersion::ids ? take_with_id(line, row)
                                                                  : take_under_header(line, row);
    if (!is_row) {
      return notes_.add(Severity::warning, offset, "no row of a Torq timeline; left out");
    }
    if (row.end_cycles < row.start_cycles || row.start_cycles < 0) {
      return notes_.add(Severity::warning, offset,
                        "rows that end before they start, or start before 0; left out");
    }
    if (row.bytes && *row.bytes < 0) {
      notes_.add(Severity::warning, offset, "fewer than 0 bytes; taken as not known");
      row.bytes.reset();
    }
    timeline_.has_bytes |= row.bytes.has_value();
    timeline_.rows.push_back(row);
  }

  bool take_times(std::string_view first, std::string_view second, std::int64_t& a,
                  std::int64_t& b) {
    const auto one = whole_number(first), two = whole_number(second);
    if (one) a = *one;
    if (two) b = *two;
    return one && two;
  }

  // DI0,0,45,loc(unknown),DMA_IN[,364]
  bool take_with_id(std::string_view rest, TimelineRow& row) {
    const auto id = row_id(take_first(rest));
    const std::string_view start = take_first(rest), end = take_first(rest);
    if (!id || !take_times(start, end, row.start_cycles, row.end_cycles)) return false;
    row.id = id->number;
    row.event = id->names->event;
    if (id->slice && *id->slice >= 0 && *id->slice < max_slices) {
      row.slice = std::int32_t(*id->slice);
    }
    std::string_view last = take_last(rest);
    if (row.event != TimelineEvent::slice && last != id->names->type) {
      row.bytes = whole_number(last);
      last = take_last(rest);
    }
    if (row.event == TimelineEvent::slice && last != "unknown") {
      row.operation = timeline_.strings.intern(last);
    }
    row.location = timeline_.strings.intern(unquoted(rest));
    return !rest.empty();
  }

  // 6,56,122,DMA In,loc(unknown),264
  bool take_under_header(std::string_view rest, TimelineRow& row) {
    const auto id = whole_number(take_first(rest));
    const std::string_view elapsed = take_first(rest), start = take_first(rest);
    std::int64_t length = 0;
    if (!id || !take_times(elapsed, start, length, row.start_cycles)) return false;
    row.id = *id;
    if (length < 0) {
      row.end_cycles = std::numeric_limits<std::int64_t>::min();
    } else if (__builtin_add_overflow(row.start_cycles, length, &row.end_cycles)) {
      row.end_cycles = std::numeric_limits<std::int64_t>::max();
    }
    if (!take_event(trimmed(take_first(rest)), row)) return false;
    const std::string_view bytes = trimmed(take_last(rest));
    if (!bytes.empty()) row.bytes = whole_number(bytes);
    row.location = timeline_.strings.intern(unquoted(rest));
    return !rest.empty() && (bytes.empty() || row.bytes);
  }

  static bool take_event(std::string_view label, TimelineRow& row) {
    for (const EventNames& names : event_names) {
      if (!label.starts_with(names.label)) continue;
      row.event = names.event;
      if (names.event != TimelineEvent::slice) return label == names.label;
      const auto slice = whole_number(label.substr(names.label.size()));
      if (!slice || *slice < 0 || *slice >= max_slices) return false;
      row.slice = std::int32_t(*slice);
      return true;
    }
    return false;
  }

  CountedNotes notes_;
  ByteSource& source_;
  CompileTimeline timeline_;
};

}  // namespace

TimelineVersion recognise_timeline(std::string_view head) {
  while (!head.empty()) {
    const std::string_view line = trimmed(take_first(head, '\n'));
    if (!line.empty()) return version_of(line);
  }
  return TimelineVersion::none;
}

Result<CompileTimeline> read_timeline(ByteSource& source) { return TimelineReader(source).run(); }

namespace {

const EventNames& names_of(TimelineEvent event) {
  return *std::find_if(event_names.begin(), event_names.end(),
                       [&](const EventNames& each) { return each.event == event; });
}

std::string row_text(const CompileTimeline& timeline, const TimelineRow& row) {
  std::string text = fmt::format("{},{},{},{}", row.id, row.end_cycles - row.start_cycles,
                                 row.start_cycles, names_of(row.event).label);
  auto out = std::back_inserter(text);
  if (row.event == TimelineEvent::slice) fmt::format_to(out, " {}", row.slice);
  fmt::format_to(out, ",{},", timeline.strings[row.location]);
  if (row.bytes) fmt::format_to(out, "{}", *row.bytes);
  return text + '\n';
}

// "DI0,0,45,loc(unknown),DMA_IN,364": transfers are counted together, slices and CSS each.
void write_ids(const CompileTimeline& timeline, AtomicFile& file) {
  std::size_t transfers = 0, slices = 0, css = 0;
  for (const TimelineRow& row : timeline.rows) {
    const EventNames& names = names_of(row.event);
    const bool is_slice = row.event == TimelineEvent::slice,
               is_css = row.event == TimelineEvent::css;
    std::size_t& number = is_slice ? slices : is_css ? css : transfers;
    std::string text = fmt::format("{}{}", names.id_prefix, number++);
    auto out = std::back_inserter(text);
    if (is_slice && row.slice != unknown_slice) fmt::format_to(out, "_{}", row.slice);
    const std::string_view operation = timeline.strings[row.operation];
    const std::string_view type = !is_slice           ? names.type
                                  : operation.empty() ? "unknown"
                                                      : operation;
    fmt::format_to(out, ",{},{},{},{}", row.start_cycles, row.end_cycles,
                   timeline.strings[row.location], type);
    if (row.bytes && !is_slice && !is_css) fmt::format_to(out, ",{}", *row.bytes);
    file.write(text + '\n');
  }
}

}  // namespace

Status write_timeline(const CompileTimeline& timeline, const std::filesystem::path& path,
                      TimelineVersion form) {
  if (form != TimelineVersion::task_id && form != TimelineVersion::ids) {
    return usage_error("timelines are written with task ids, or in the form of 2025");
  }
  TRY_AS(file, AtomicFile::create(path));
  if (form == TimelineVersion::ids) {
    write_ids(timeline, *file);
    return file->commit();
  }
  file->write(timeline_header);
  for (const TimelineRow& row : timeline.rows) file->write(row_text(timeline, row));
  return file->commit();
}

}  // namespace npuscope::torq
