#include "formats/torq/annotate/read_annotated.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "formats/torq/fields.hpp"
#include "formats/torq/overview.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::torq {
namespace {

// "25.5" microseconds as 25500; none for anything else.
std::optional<std::int64_t> nanoseconds_in(std::string_view text) {
  text = trimmed(text);
  const std::string_view whole = text.substr(0, text.find('.'));
  const auto microseconds = whole_number(whole);
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  if (!microseconds || *microseconds > max || *microseconds < -max) return std::nullopt;
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

constexpr const char* use_columns[npu_unit_count] = {
    "slice_used_0_in_program", "slice_used_1_in_program", "dma_in_used_in_program",
    "dma_out_used_in_program", "cdma_used_in_program",    "css_used_in_program"};

// Columns by what they hold; the older tables call two of them by other names.
struct Column {
  std::string_view name, older_name;
  bool needed = false;
};
enum Place { action, job, operation, kernels, operators, begin, end, location, place_count };
constexpr Column columns[place_count] = {
    {"action_id", "nss_program_index"},
    {"job_id", "", true},
    {"operation", "", true},
    {"invocation_names", "invocation_name"},
    {"original_operators", "original_operator"},
    {"timestamp_start", "", true},
    {"timestamp_end", "", true},
    {"location", ""},
};

class TableReader {
 public:
  TableReader(ByteSource& source, const std::function<void(const AnnotatedRow&)>& take)
      : source_(source), take_(take), notes_(source.name()) {}

  Status run(std::vector<Note>& notes) {
    LineReader lines(source_, notes_, table_limits);
    std::string_view line;
    bool has_header = false;
    while (lines.next(line)) {
      line = trimmed(line);
      if (line.empty()) continue;
      fields_ = fields_of(line, ';');
      if (has_header) {
        take(lines.offset());
      } else if (const auto status = take_header(); !status) {
        return status;
      }
      has_header = true;
    }
    if (!has_header) return input_error("{}: is empty; annotate the run again", source_.name());
    notes_.append_to(notes);
    return {};
  }

 private:
  std::optional<std::size_t> place_of(std::string_view name) const {
    const auto found = std::find(fields_.begin(), fields_.end(), name);
    if (name.empty() || found == fields_.end()) return std::nullopt;
    return std::size_t(found - fields_.begin());
  }

  Status take_header() {
    for (std::size_t i = 0; i < place_count; ++i) {
      place_[i] = place_of(columns[i].name);
      if (!place_[i]) place_[i] = place_of(columns[i].older_name);
      if (place_[i] || !columns[i].needed) continue;
      return input_error("{}: the header has no column {}; it is not an annotated table",
                         source_.name(), columns[i].name);
    }
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      use_[unit] = place_of(use_columns[unit]);
    }
    return {};
  }

  std::string_view field(const std::optional<std::size_t>& place) const {
    return place && *place < fields_.size() ? std::string_view(fields_[*place])
                                            : std::string_view();
  }

  void take(std::uint64_t offset) {
    if (fields_.size() <=
        std::max({*place_[operation], *place_[job], *place_[begin], *place_[end]})) {
      return notes_.add(Severity::warning, offset, "rows with too few columns; left out");
    }
    AnnotatedRow row{.action = field(place_[action]), .job = field(place_[job])};
    row.operation = field(place_[operation]);
    row.kernels = field(place_[kernels]);
    row.operators = field(place_[operators]);
    row.location = field(place_[location]);
    row.begin_ns = nanoseconds_in(field(place_[begin]));
    row.end_ns = nanoseconds_in(field(place_[end]));
    if (row.begin_ns && row.end_ns && *row.end_ns < *row.begin_ns) {
      return notes_.add(Severity::warning, offset, "rows that end before they begin; left out");
    }
    UnitUse uses{};
    bool known = false;
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      uses[unit] = field(use_[unit]) == "True";
      known |= !field(use_[unit]).empty();
    }
    if (known) row.uses = uses;
    take_(row);
  }

  ByteSource& source_;
  const std::function<void(const AnnotatedRow&)>& take_;
  CountedNotes notes_;
  std::vector<std::string> fields_;
  std::array<std::optional<std::size_t>, place_count> place_{};
  std::array<std::optional<std::size_t>, npu_unit_count> use_{};
};

}  // namespace

bool looks_like_annotated_csv(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.find(';') != line.npos && line.find("operation;") != line.npos &&
         line.find("timestamp_start") != line.npos;
}

Status read_annotated(ByteSource& source, std::vector<Note>& notes,
                      const std::function<void(const AnnotatedRow&)>& take) {
  return TableReader(source, take).run(notes);
}

}  // namespace npuscope::torq
