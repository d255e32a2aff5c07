#include <algorithm>
#include <array>
#include <optional>

#include "formats/qnn/viewer.hpp"

namespace npuscope::qnn {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

class CsvReader {
 public:
  CsvReader(ViewerOutput& output, Losses& losses)
      : output_(output), collector_(output), losses_(losses) {}

  void read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t size = text.size();
      take_record(text);
      if (has_header_) {
        take_row();
      } else {
        take_preamble();
      }
      offset_ += size - text.size();
    }
  }
  bool has_header() const { return has_header_; }

 private:
  enum Column { message, time, unit, level, identifier, columns };

  // One record into fields_; a quoted field may hold commas, quotes twice, and line ends.
  void take_record(std::string_view& text) {
    fields_.assign(1, {});
    bool quoted = false;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted) {
        if (c != '"') {
          fields_.back() += c;
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
          fields_.back() += text[++i];
        } else {
          quoted = false;
        }
      } else if (c == '"' && fields_.back().empty()) {
        quoted = true;
      } else if (c == ',') {
        fields_.emplace_back();
      } else if (c == '\n') {
        ++i;
        break;
      } else if (c != '\r') {
        fields_.back() += c;
      }
    }
    text.remove_prefix(std::min(i, text.size()));
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
  std::uint64_t offset_ = 0;
  bool has_header_ = false;
};

}  // namespace

Result<ViewerOutput> read_viewer_csv(ByteSource& source, Losses& losses) {
  const auto text = read_all(source, most_bytes);
  if (!text) return tl::unexpected(text.error());
  ViewerOutput output;
  std::string_view content = *text;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  CsvReader reader(output, losses);
  reader.read(content);
  if (output.events.empty()) {
    return input_error("{}: {}; print the log again", source.name(),
                       reader.has_header() ? "has no row below its header"
                                           : "has no row 'Msg Timestamp,Message,Time,…'");
  }
  return output;
}

}  // namespace npuscope::qnn
