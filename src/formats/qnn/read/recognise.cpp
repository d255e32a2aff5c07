#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/qnn/assemble/sets.hpp"

namespace npuscope::qnn {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The value of the header's artifact_type, whatever the white space; empty when there is none.
std::string_view artifact_type_in(std::string_view head) {
  constexpr std::string_view key = "\"artifact_type\"";
  const std::size_t at = head.find(key);
  if (at == std::string_view::npos) return {};
  head.remove_prefix(at + key.size());
  const std::size_t open = head.find('"');
  if (open == std::string_view::npos || head.find_first_not_of(" \t\r\n:") != open) return {};
  head.remove_prefix(open + 1);
  return head.substr(0, head.find('"'));
}

Kind kind_by_structure(std::string_view head) {
  if (has(head, "\"profilingEvents\"")) return Kind::viewer_json;
  if (has(head, "\"htp_overall_summary\"")) return Kind::qhas;
  if (has(head, "\"model.cpp\"") && has(head, "\"htp_graph\"")) return Kind::htp_graph;
  if (has(head, "\"summary_htp_frequency_ghz\"") || has(head, "\"stat_start_ticks\"")) {
    return Kind::run_trace;
  }
  if (has(head, "\"HTP Op Type\"") || has(head, "\"Dominant Path Cycles\"")) return Kind::op_trace;
  return Kind::none;
}

Kind kind_of_json(std::string_view head) {
  const std::string_view type = artifact_type_in(head);
  if (type == "OP_TRACE") return Kind::op_trace;
  if (type == "RUN_TRACE") return Kind::run_trace;
  if (type == "HTP_GRAPH") return Kind::htp_graph;
  if (type == "QHAS") return Kind::qhas;
  if (type == "QNN_PROFILE") return Kind::viewer_json;
  // An exported trace has an optrace's arguments but a trace's times.
  if (has(head, R"("otherData":{"writer":"npuscope")")) return Kind::none;
  return kind_by_structure(head);
}

bool is_binary(std::string_view head) {
  return std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f';
  });
}

}  // namespace

Kind recognise(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Kind::none;
  if (head[first] == '{' || head[first] == '[') return kind_of_json(head);
  // The viewer writes a blank after each comma of this row, ONNX Runtime does not.
  if (has(head, "Message,Time,Unit of Measurement") ||
      has(head, "Message, Time, Unit of Measurement")) {
    return Kind::viewer_csv;
  }
  if (has(head, "Qnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics") ||
      has(head, "Printing All Data Received From Back End") || has(head, "Execute Stats:") ||
      has(head, "Execute Stats (") || has(head, "\nqnn-profile-viewer:")) {
    return Kind::viewer_text;
  }
  return Kind::none;
}

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 8> names{"unknown",
                                                  "QNN OP_TRACE",
                                                  "QNN RUN_TRACE",
                                                  "QNN HTP_GRAPH",
                                                  "QNN QHAS",
                                                  "qnn-profile-viewer text",
                                                  "qnn-profile-viewer CSV",
                                                  "QNN standardised profile JSON"};
  return names[std::size_t(kind)];
}

std::optional<std::string> vendor_binary_advice(const std::filesystem::path& path,
                                                std::string_view head) {
  const std::string name = path.filename().string();
  const bool log = name.starts_with("qnn-profiling-data") && name.ends_with(".log");
  const bool schematic = name.ends_with("_schematic.bin");
  if ((!log && !schematic) || recognise(head) != Kind::none) return std::nullopt;
  constexpr std::string_view viewer =
      "qnn-profile-viewer --config config.json --reader libQnnHtpOptraceProfilingReader.so";
  if (head.empty()) {
    return fmt::format("{}: is empty; copy it from the device again", path.string());
  }
  if (!is_binary(head)) {
    return fmt::format(
        "{}: is named like a QNN binary but holds text; copy it from the device again as a binary "
        "file (adb pull or tar)",
        path.string());
  }
  if (log) {
    return fmt::format(
        "{}: is a QNN profiling log, a closed binary format; decode it with '{} --input_log {} "
        "--schematic <graph>_schematic.bin --output chrometrace.json' and open what that writes",
        path.string(), viewer, name);
  }
  return fmt::format(
      "{}: is a QNN optrace schematic, a closed binary format that decodes a profiling log of the "
      "same graph; run '{} --input_log qnn-profiling-data_0.log --schematic {} --output "
      "chrometrace.json' and open what that writes",
      path.string(), viewer, name);
}

}  // namespace npuscope::qnn
