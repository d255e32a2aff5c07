#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "formats/qnn/read/viewer.hpp"
#include "ingest/delimited.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::qnn {
namespace {

class CsvReader {
 public:
  CsvReader(ViewerSessions& sessions, CountedNotes& losses)
      : collector_(sessions, losses), losses_(losses) {}

  void read(LineReader& lines) {
    DelimitedReader records(lines, losses_, ',');
    while (records.next()) {
      fields_.swap(records.fields());
      offset_ = records.offset();
      take_record();
    }
    count_short_rows();
  }
  bool has_header() const { return has_header_; }

 private:
  enum Column { message, time, unit, level, identifier, columns };
  static constexpr std::size_t no_column = ~std::size_t{0};

  void take_record() {
    if (take_header()) return;
    if (!has_header_) return take_preamble();
    take_row();
  }

  // Before the first row, and again where another session was appended to the file.
  bool take_header() {
    constexpr std::array<std::string_view, columns> names{"Message", "Time", "Unit of Measurement",
                                                          "Event Level", "Event Identifier"};
    const auto place_of = [&](std::string_view name) {
      const auto at =
          std::ranges::find_if(fields_, [&](const auto& field) { return trimmed(field) == name; });
      return at == fields_.end() ? no_column : std::size_t(at - fields_.begin());
    };
    std::array<std::size_t, columns> place{};
    for (std::size_t column = 0; column < names.size(); ++column) {
      place[column] = place_of(names[column]);
      if (place[column] == no_column) return false;
    }
    collector_.begin_session();
    sources_ = place_of("ONNX Source Ops");
    timing_source_ = place_of("Timing Source");
    if (!preamble_version_.empty()) collector_.output().version = preamble_version_;
    place_ = place;
    width_ = fields_.size();
    has_header_ = true;
    short_rows_ = 0;  // they were the preamble
    note_other_columns();
    return true;
  }

  // Of the first header; those of further sessions are alike.
  void note_other_columns() {
    if (!std::exchange(is_first_header_, false)) return;
    std::string first;
    std::uint64_t count = 0;
    for (std::size_t column = 0; column < fields_.size(); ++column) {
      const std::string_view name = trimmed(fields_[column]);
      const bool known = std::find(place_.begin(), place_.end(), column) != place_.end() ||
                         column == sources_ || column == timing_source_;
      if (known || name.empty() || name == "Msg Timestamp") continue;
      if (count++ == 0) first = printable(name.substr(0, 40));
    }
    if (count == 0) return;
    losses_.add(Severity::info, offset_,
                fmt::format("columns that are unknown ('{}'); their texts are not used", first),
                count);
  }

  // Lines before the header row are the same as in the text form; some have the version.
  void take_preamble() {
    constexpr std::string_view backend = "Backend: ";
    if (fields_[0].starts_with(backend)) preamble_version_ = fields_[0].substr(backend.size());
    if (fields_.size() == 2 && fields_[0] == "Backend version") {
      preamble_version_ = trimmed(fields_[1]);
    }
  }

  void take_row() {
    if (fields_.size() == 1 && fields_[0].empty()) return;
    const std::size_t needed = *std::max_element(place_.begin(), place_.end());
    if (fields_.size() <= needed) {
      take_preamble();
      if (short_rows_++ == 0) first_short_row_ = offset_;
      return;
    }
    count_short_rows();
    if (fields_.size() > width_) join_surplus();
    const std::uint32_t depth = level_of(fields_[place_[level]]);
    const std::string& text = fields_[place_[message]];
    ViewerRow row{fields_[place_[identifier]],
                  fields_[place_[time]],
                  fields_[place_[unit]],
                  depth,
                  text == "NODE",
                  field(sources_)};
    const auto graph = parse_graph(row.label);
    const bool is_unnamed = row.label == "null" || row.label == "NULL" || row.label.empty();
    const bool is_whole = depth == 0 && (graph || is_unnamed);
    if (is_whole) row.label = label_of_whole(text);
    collector_.begin_session_before(row.label, depth);
    // Events of no execute are told apart by their root's message: FINALIZE, INIT.
    if (depth == 0 && text != "BACKEND" && text != "EXECUTE" && text != "NODE" &&
        text != "UNKNOWN") {
      collector_.claim_section(text);
      if (graph) collector_.begin_graph(*graph);
    }
    if (is_whole && text == "EXECUTE") {
      collector_.begin_execute(graph.value_or(std::string_view{}));
      return collector_.add(row);
    }
    collector_.add_delimited(row);
  }

  // Of a row that names nothing but a graph: what the program took, or what the backend did.
  std::string_view label_of_whole(std::string_view text) const {
    const std::string_view source = field(timing_source_);
    if (source == "NETRUN") return "NetRun";
    return text == "EXECUTE" ? "QNN (execute) time" : text;
  }

  std::string_view field(std::size_t column) const {
    return column < fields_.size() ? std::string_view(fields_[column]) : std::string_view{};
  }

  void count_short_rows() {
    if (short_rows_ == 0) return;
    losses_.add(Severity::warning, first_short_row_, "rows with too few columns; left out",
                short_rows_);
    short_rows_ = 0;
  }

  // More fields than the header has: a text that holds commas was written without quotes. It is the
  // one that leaves a level where the level should be, names of ops before all others.
  void join_surplus() {
    const std::size_t surplus = fields_.size() - width_;
    for (const Column column : {identifier, time, message}) {
      const std::size_t at = place_[column];
      const std::string& text = fields_[place_[level] + (place_[level] > at ? surplus : 0)];
      if (text != "ROOT" && !text.starts_with("SUB-")) continue;
      const std::size_t joined =
          column == identifier ? parts_of_identifier(at, surplus, text == "ROOT") : surplus;
      for (std::size_t i = 1; i <= joined; ++i) fields_[at] += "," + fields_[at + i];
      const auto first = fields_.begin() + std::ptrdiff_t(at) + 1,
                 last = first + std::ptrdiff_t(surplus);
      if (std::any_of(first + std::ptrdiff_t(joined), last,
                      [](const std::string& left) { return !left.empty(); })) {
        losses_.add(Severity::warning, offset_,
                    "texts in a column that the header lacks; left out");
      }
      fields_.erase(first, last);
      return;
    }
  }

  // How many of the fields that follow belong to the identifier: as many as make a node's label,
  // else all of them. The label of a whole call is the viewer's own and has no comma.
  std::size_t parts_of_identifier(std::size_t at, std::size_t surplus, bool is_whole) const {
    std::string label = fields_[at];
    std::optional<std::size_t> node, filled;
    for (std::size_t i = 0; i <= surplus; ++i) {
      const std::string& part = fields_[at + i];
      if (i > 0) label += "," + part;
      if (!part.empty()) filled = i;
      if (part.find("OpId_") != part.npos && parse_node(label)) node = i;
    }
    if (node) return *node;
    return is_whole ? 0 : filled.value_or(0);
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

  ViewerCollector collector_;
  CountedNotes& losses_;
  std::vector<std::string> fields_;
  std::array<std::size_t, columns> place_{};
  std::size_t width_ = 0;  // fields of the header
  std::size_t sources_ = no_column, timing_source_ = no_column;
  std::string preamble_version_;
  std::uint64_t short_rows_ = 0, first_short_row_ = 0;  // since the last whole row
  std::uint64_t offset_ = 0;                            // of the record
  bool has_header_ = false, is_first_header_ = true;
};

}  // namespace

Result<ViewerSessions> read_viewer_csv(ByteSource& source, CountedNotes& losses) {
  ViewerSessions sessions;
  LineReader lines(source, losses);
  CsvReader reader(sessions, losses);
  reader.read(lines);
  if (sessions.size() > 1 && sessions.back().events.empty()) sessions.pop_back();
  if (sessions.front().events.empty()) {
    if (lines.error()) return tl::unexpected(*lines.error());
    return input_error("{}: {}; print the log again", source.name(),
                       reader.has_header() ? "has no row below its header"
                                           : "has no row 'Msg Timestamp,Message,Time,…'");
  }
  return split_graphs(std::move(sessions), losses);
}

}  // namespace npuscope::qnn
