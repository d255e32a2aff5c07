#include <algorithm>
#include <array>
#include <optional>

#include "formats/qnn/read/viewer.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::qnn {
namespace {

// Of one record: a quote that is never closed must not gather the whole file.
constexpr std::size_t most_record_bytes = std::size_t{64} << 10;

class CsvReader {
 public:
  CsvReader(ViewerOutput& output, Losses& losses)
      : output_(output), collector_(output, losses), losses_(losses) {}

  void read(LineReader& lines) {
    for (std::string_view line; lines.next(line);) {
      if (offset_ == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (!quoted_) {
        fields_.assign(1, {});
        record_bytes_ = 0;
        offset_ = lines.offset();
      }
      take_line(line);
      if (!quoted_) take_record();
    }
    if (quoted_) take_record();
  }
  bool has_header() const { return has_header_; }

 private:
  enum Column { message, time, unit, level, identifier, columns };

  // A line, or a piece of a record whose quoted field holds line ends, into fields_; a quoted field
  // may also hold commas, and quotes twice.
  void take_line(std::string_view line) {
    record_bytes_ += line.size() + 1;
    if (record_bytes_ > most_record_bytes) {
      losses_.add(Severity::warning, offset_, "rows of more than 64 KiB; cut");
      quoted_ = false;
      return;
    }
    if (quoted_) fields_.back() += '\n';
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quoted_) {
        if (c != '"') {
          fields_.back() += c;
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          fields_.back() += line[++i];
        } else {
          quoted_ = false;
        }
      } else if (c == '"' && fields_.back().empty()) {
        quoted_ = true;
      } else if (c == ',') {
        fields_.emplace_back();
      } else if (c != '\r') {
        fields_.back() += c;
      }
    }
  }

  void take_record() {
    if (has_header_) {
      take_row();
    } else {
      take_preamble();
    }
  }

  // Lines before the header row are the same as in the text form; some have the version.
  void take_preamble() {
    constexpr std::array<std::string_view, columns> names{"Message", "Time", "Unit of Measurement",
                                                          "Event Level", "Event Identifier"};
    for (std::size_t column = 0; column < names.size(); ++column) {
      const auto at = std::find(fields_.begin(), fields_.end(), names[column]);
      if (at == fields_.end()) {
        constexpr std::string_view backend = "Backend: ";
        if (fields_[0].starts_with(backend)) output_.version = fields_[0].substr(backend.size());
        return;
      }
      place_[column] = std::size_t(at - fields_.begin());
    }
    has_header_ = true;
  }

  void take_row() {
    if (fields_.size() == 1 && fields_[0].empty()) return;
    const std::size_t needed = *std::max_element(place_.begin(), place_.end());
    if (fields_.size() <= needed) {
      losses_.add(Severity::warning, offset_, "rows with too few columns; left out");
      return;
    }
    const std::uint32_t depth = level_of(fields_[place_[level]]);
    // Events of no execute are told apart by their root's message: FINALIZE, INIT.
    if (depth == 0) {
      const std::string& text = fields_[place_[message]];
      if (text != "BACKEND" && text != "EXECUTE" && text != "NODE" && text != "UNKNOWN") {
        collector_.claim_section(text);
      }
    }
    collector_.add_delimited(fields_[place_[identifier]], fields_[place_[time]],
                             fields_[place_[unit]], depth);
  }

  // ROOT, SUB-EVENT, SUB-SUB-EVENT …
  static std::uint32_t level_of(std::string_view text) {
    std::uint32_t depth = 0;
    while (text.starts_with("SUB-") && depth < 8) {
      text.remove_prefix(4);
      ++depth;
    }
    return depth;
  }

  ViewerOutput& output_;
  ViewerCollector collector_;
  Losses& losses_;
  std::vector<std::string> fields_;
  std::array<std::size_t, columns> place_{};
  std::uint64_t offset_ = 0;  // of the record
  std::size_t record_bytes_ = 0;
  bool quoted_ = false;
  bool has_header_ = false;
};

}  // namespace

Result<ViewerOutput> read_viewer_csv(ByteSource& source, Losses& losses) {
  ViewerOutput output;
  LineReader lines(source, losses);
  CsvReader reader(output, losses);
  reader.read(lines);
  if (output.events.empty()) {
    if (lines.error()) return tl::unexpected(*lines.error());
    return input_error("{}: {}; print the log again", source.name(),
                       reader.has_header() ? "has no row below its header"
                                           : "has no row 'Msg Timestamp,Message,Time,…'");
  }
  return output;
}

}  // namespace npuscope::qnn
