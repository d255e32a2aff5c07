// The overview out of what an annotation has written before: a table, or a trace.
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "formats/torq/fields.hpp"
#include "npuscope/base/text.hpp"
#include "npuscope/formats/torq/overview.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::torq {
namespace {

using Metric = OverviewMetric;

constexpr LineLimits limits{.longest_line = std::size_t{1} << 20,
                            .most_bytes = std::uint64_t{64} << 30};

// "25.5" microseconds as 25500; none for anything else.
std::optional<std::int64_t> nanoseconds_in(std::string_view text) {
  text = trimmed(text);
  const std::string_view whole = text.substr(0, text.find('.'));
  const auto microseconds = whole_number(whole);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  if (!microseconds || *microseconds > most || *microseconds < -most) return std::nullopt;
  std::int64_t fraction = 0;
  std::int64_t scale = 100;
  if (whole.size() < text.size()) {
    for (const char c : text.substr(whole.size() + 1)) {
      if (c < '0' || c > '9') return std::nullopt;
      fraction += (c - '0') * scale;
      scale /= 10;
    }
  }
  return *microseconds * 1000 + (text.starts_with('-') ? -fraction : fraction);
}

// Fields between ";" as RFC 4180 has them between ",".
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ';' && !quoted) {
      if (fields.size() >= 64) break;
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

constexpr const char* use_columns[npu_unit_count] = {
    "slice_used_0_in_program", "slice_used_1_in_program", "dma_in_used_in_program",
    "dma_out_used_in_program", "cdma_used_in_program",    "css_used_in_program"};

class TableReader {
 public:
  explicit TableReader(ByteSource& source) : source_(source), notes_(source.name()) {}

  Result<Overview> run() {
    LineReader lines(source_, notes_, limits);
    std::string_view line;
    bool has_header = false;
    while (lines.next(line)) {
      line = trimmed(line);
      if (line.empty()) continue;
      const auto fields = fields_of(line);
      if (has_header) {
        take(fields, lines.offset());
      } else if (const auto status = take_header(fields); !status) {
        return tl::unexpected(status.error());
      }
      has_header = true;
    }
    if (!has_header) return input_error("{}: is empty; annotate the run again", source_.name());
    Overview overview = make_overview(run_);
    overview.model = model_name(source_.name());
    notes_.append_to(overview.notes);
    return overview;
  }

 private:
  Status take_header(const std::vector<std::string>& names) {
    const auto place = [&](std::string_view name) -> std::optional<std::size_t> {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) return std::nullopt;
      return std::size_t(found - names.begin());
    };
    for (const auto& [name, into] : {std::pair{"operation", &operation_},
                                     {"job_id", &job_},
                                     {"timestamp_start", &begin_},
                                     {"timestamp_end", &end_}}) {
      const auto at = place(name);
      if (!at) {
        return input_error("{}: the header has no column {}; it is no annotated table",
                           source_.name(), name);
      }
      *into = *at;
    }
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) use_[unit] = place(use_columns[unit]);
    return {};
  }

  void take(const std::vector<std::string>& fields, std::uint64_t offset) {
    if (fields.size() <= std::max({operation_, job_, begin_, end_})) {
      return notes_.add(Severity::warning, offset, "rows with too few columns; left out");
    }
    const std::string& operation = fields[operation_];
    const auto begin = nanoseconds_in(fields[begin_]), end = nanoseconds_in(fields[end_]);
    const std::string key = fields[job_];
    if (operation.starts_with("torq_hl.start_program")) {
      started_[key] = begin;
      return;
    }
    if (!begin || !end) return;
    if (*end < *begin) {
      return notes_.add(Severity::warning, offset, "rows that end before they begin; left out");
    }
    if (operation.starts_with("__HAL")) return run_.hal.push_back({*begin, *end});
    if (operation == "torq_hl.host_copy" || operation == "torq_hl.dynamic_host_copy") {
      return run_.host_copy.push_back({*begin, *end});
    }
    const bool is_wait = operation == "torq_hl.wait_program";
    if (!is_wait && !operation.starts_with("torq_hw.")) return;
    const std::optional<std::int64_t> started = started_[key];
    const Interval at{started && *started <= *end ? *started : *begin, *end};
    const bool known = std::any_of(use_.begin(), use_.end(), [&](const auto& column) {
      return column && *column < fields.size() && !fields[*column].empty();
    });
    if (!known) return run_.host.push_back(at);
    run_.programs.push_back(at);
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      if (use_[unit] && *use_[unit] < fields.size() && fields[*use_[unit]] == "True") {
        run_.used[unit].push_back(at);
      }
    }
  }

  ByteSource& source_;
  CountedNotes notes_;
  RunIntervals run_;
  std::size_t operation_ = 0, job_ = 0, begin_ = 0, end_ = 0;
  std::array<std::optional<std::size_t>, npu_unit_count> use_{};
  std::map<std::string, std::optional<std::int64_t>> started_;  // by job
};

struct TraceLabel {
  std::string_view label;
  Metric metric;
};
constexpr TraceLabel trace_labels[] = {
    {"DMA+CDMA union", Metric::dma_union},
    {"SLICE+CSS union", Metric::compute},
    {"DMA total", Metric::dma},
    {"CDMA total", Metric::cdma},
    {"SLICE 0 + 1 union", Metric::slice},
    {"SLICE 0", Metric::slice_0},
    {"SLICE 0 total", Metric::slice_0},
    {"SLICE 1", Metric::slice_1},
    {"SLICE 1 total", Metric::slice_1},
    {"CSS", Metric::css},
    {"CSS total", Metric::css},
    {"DMA/CDMA ONLY (no compute)", Metric::dma_only},
    {"COMPUTE ONLY (no DMA/CDMA)", Metric::compute_only},
    {"DMA/CDMA<->COMPUTE overlap", Metric::overlap},
    {"HAL total", Metric::hal},
    {"HOST total", Metric::host},
    {"HOST COPY total", Metric::host_copy},
    {"IDLE", Metric::idle},
    {"OVERALL", Metric::overall},
};

std::optional<Metric> metric_of(std::string_view slice_name) {
  const std::string_view label = slice_name.substr(0, slice_name.rfind(": "));
  for (const TraceLabel& each : trace_labels) {
    if (each.label == label) return each.metric;
  }
  return std::nullopt;
}

}  // namespace

bool looks_like_annotated_csv(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find(';') != line.npos && line.find("operation;") != line.npos &&
         line.find("timestamp_start") != line.npos;
}

Result<Overview> read_annotated_overview(ByteSource& source) { return TableReader(source).run(); }

Result<Overview> read_trace_overview(const Profile& trace) {
  Overview overview;
  const std::string file = trace.provenance.files.empty() ? "" : trace.provenance.files.front();
  overview.model = model_name(file);
  std::map<Metric, std::vector<Interval>> used;
  const Spans& spans = trace.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]), unit = index_of(spans.unit[row]);
    if (op >= trace.ops.size() || unit >= trace.units.size()) continue;
    const std::string_view track = trace.text(trace.units[unit].name);
    const Interval at{spans.start[row], saturating_add(spans.start[row], spans.duration[row])};
    if (track == "DMA In Used") used[Metric::dma_in].push_back(at);
    if (track == "DMA Out Used") used[Metric::dma_out].push_back(at);
    if (track.find("OVERALL") == track.npos && track.find("OVERVIEW") == track.npos) continue;
    const auto metric = metric_of(trace.text(trace.ops[op].name));
    if (metric) overview.nanoseconds[std::size_t(*metric)] = length_of(at);
  }
  if (!overview.of(Metric::overall)) {
    return input_error("{}: has no overview tracks; name the runtime log and its debug information",
                       file);
  }
  for (const auto& [metric, intervals] : used) {
    overview.nanoseconds[std::size_t(metric)] = length_of(union_of(intervals));
  }
  auto& hal = overview.nanoseconds[std::size_t(Metric::hal)];
  if (hal == 0) hal.reset();
  return overview;
}

}  // namespace npuscope::torq
