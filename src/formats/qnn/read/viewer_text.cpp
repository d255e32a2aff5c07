#include <algorithm>

#include "formats/qnn/read/viewer.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::qnn {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

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
    if (line.ends_with("Stats:") || line.ends_with("Stats :")) {
      const std::string_view name = trimmed(line.substr(0, line.rfind("Stats")));
      if (name == "Init" && collector_.output().executes > 0) collector_.begin_session();
      in_section_ = true;
      return collector_.begin_section(name);
    }
    if (!in_section_) return take_preamble(line);
    if (!take_value(line, indentation(raw))) {
      if (line == "Printing All Data Received From Back End") return;
      losses_.add(Severity::warning, offset_, "lines that are not 'label : value unit'; left out");
    }
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
    const std::string_view label = trimmed(line.substr(0, colon));
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0) {
      collector_.add(label, rest.substr(0, digits), trimmed(rest.substr(digits)), level);
    } else {
      collector_.add(label, rest, "", level);
    }
    return true;
  }

  static std::uint32_t indentation(std::string_view raw) {
    constexpr std::size_t spaces_per_level = 4;
    const std::size_t spaces = std::min(raw.find_first_not_of(' '), raw.size());
    return std::uint32_t(std::min<std::size_t>(spaces / spaces_per_level, 8));
  }

  ViewerCollector collector_;
  CountedNotes& losses_;
  std::uint64_t offset_ = 0;
  bool in_section_ = false;
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
  return sessions;
}

}  // namespace npuscope::qnn
