#include <algorithm>

#include "base/text.hpp"
#include "formats/qnn/read/viewer.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::qnn {
namespace {

class TextReader {
 public:
  TextReader(ViewerSessions& sessions, CountedNotes& losses)
      : collector_(sessions, losses), losses_(losses) {}

  void read(LineReader& lines) {
    for (std::string_view line; lines.next(line);) {
      offset_ = lines.offset();
      take_line(line);
    }
  }

 private:
  void take_line(std::string_view raw) {
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.find_first_not_of("-=") == std::string_view::npos) return;
    if (line.starts_with("Execute Stat ")) return collector_.begin_execute();
    if (line.starts_with("Input Log File Location:")) {
      collector_.begin_session();
      in_section_ = false;
      return;
    }
    if (line.ends_with(':') && take_heading(trimmed(line.substr(0, line.size() - 1)))) return;
    if (!in_section_) return take_preamble(line);
    if (!take_value(line, level_of(raw))) {
      if (line == "Printing All Data Received From Back End") return;
      losses_.add(Severity::warning, offset_, "lines that are not 'label : value unit'; left out");
    }
  }

  // "Init Stats", "Execute Stats (Average)", "Graph 0 (decoder)".
  bool take_heading(std::string_view line) {
    if (const auto graph = parse_graph(line)) {
      collector_.begin_graph(*graph);
      outermost_.reset();
      return true;
    }
    if (line == "Total Inference Time") return true;
    const std::size_t stats = line.rfind("Stats");
    if (stats == line.npos) return false;
    const std::string_view name = trimmed(line.substr(0, stats));
    const std::string_view of = trimmed(line.substr(stats + std::string_view("Stats").size()));
    if (!of.empty() && (of.front() != '(' || of.back() != ')')) return false;
    if (name == "Init" && collector_.output().executes > 0) collector_.begin_session();
    in_section_ = true;
    outermost_.reset();
    collector_.begin_section(of.empty() ? name : std::string_view{}, statistic_of(of));
    return true;
  }

  // Of all executes together.
  static Statistic statistic_of(std::string_view of) {
    if (of.empty()) return Statistic::none;
    if (of == "(Average)") return Statistic::mean;
    if (of == "(Min)") return Statistic::min;
    return of == "(Max)" ? Statistic::max : Statistic::other;
  }

  // "qnn-profile-viewer: v2.45.0.260326154327", and paths and dates that are the user's own.
  void take_preamble(std::string_view line) {
    constexpr std::string_view backend = "Backend: ";
    constexpr std::string_view viewer = "qnn-profile-viewer: ";
    if (line.starts_with(backend)) {
      collector_.output().version = line.substr(backend.size());
    } else if (line.starts_with(viewer) && collector_.output().version.empty()) {
      collector_.output().version = line.substr(viewer.size());
    }
  }

  // "MatMul_0:OpId_18 (cycles) : 32707  cycles", "NetRun: 24900 us", "Unknown event type : object":
  // the value follows the last colon.
  bool take_value(std::string_view line, std::uint32_t level) {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view rest = trimmed(line.substr(colon + 1));
    std::string_view label = trimmed(line.substr(0, colon));
    // In the summary "Backend (RPC (execute) time)".
    constexpr std::string_view backend = "Backend (";
    if (label.starts_with(backend) && label.ends_with(')')) {
      label = label.substr(backend.size(), label.size() - backend.size() - 1);
    }
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    if (digits > 0) {
      collector_.add({label, rest.substr(0, digits), trimmed(rest.substr(digits)), level});
    } else {
      collector_.add({label, rest, "", level});
    }
    return true;
  }

  // By its indentation, less that of the first value below a heading.
  std::uint32_t level_of(std::string_view raw) {
    constexpr std::size_t spaces_per_level = 4;
    const std::size_t spaces = std::min(raw.find_first_not_of(' '), raw.size());
    const auto level = std::uint32_t(std::min<std::size_t>(spaces / spaces_per_level, 8));
    if (!outermost_) outermost_ = level;
    return level - std::min(*outermost_, level);
  }

  ViewerCollector collector_;
  CountedNotes& losses_;
  std::uint64_t offset_ = 0;
  bool in_section_ = false;
  std::optional<std::uint32_t> outermost_;  // indentation
};

}  // namespace

Result<ViewerSessions> read_viewer_text(ByteSource& source, CountedNotes& losses) {
  ViewerSessions sessions;
  LineReader lines(source, losses);
  TextReader(sessions, losses).read(lines);
  if (sessions.size() > 1 && sessions.back().events.empty()) sessions.pop_back();
  if (sessions.front().events.empty()) {
    if (lines.error()) return tl::unexpected(*lines.error());
    return input_error("{}: has no 'label : value unit' line; print the log again", source.name());
  }
  return split_graphs(std::move(sessions), losses);
}

}  // namespace npuscope::qnn
