#include "formats/other_files.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "base/has_text.hpp"
#include "base/text.hpp"
#include "formats/qaic/opstats/opstats_files.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qnn/assemble/sets.hpp"

namespace npuscope {
namespace {

// All of the words stand in the first bytes.
struct TextKind {
  std::vector<std::string_view> words;
  std::string_view message;
};

const std::vector<TextKind>& json_kinds() {
  static const std::vector<TextKind> kinds{
      {{"\"qsl_idx\"", "\"seq_id\""},
       "the answers of an MLPerf LoadGen run, for its accuracy: no times; name "
       "mlperf_log_summary.txt"},
      {{"\"GroupLayer\"", "\"group_cost\""},
       "the layer groups of tpu-mlir: an older estimate of its compiler, by group; name "
       "compiler_profile_0.txt, which has every command"},
      {{"\"initializers\"", "\"used_by_operators\""},
       "QNN's list of the tensors of a graph: no times; the schematic next to it has them too"},
      {{"\"benchmarks\"", "\"real_time\"", "\"time_unit\""},
       "a report of Google Benchmark, as iree-benchmark-module --benchmark_out writes it: means of "
       "whole calls, no ops; name the profile of the same run (--device_profiling_output, then "
       "iree-profile export --format=ireeperf-jsonl)"},
      {{"\"npuscope report data\""},
       "the data of a report's page (npuscope report --report-data); drop it on the page of any "
       "report, and name here the profile that it was made of"},
  };
  return kinds;
}

const std::vector<TextKind>& text_kinds() {
  static const std::vector<TextKind> kinds{
      {{":::MLLOG ", "\"loadgen_version\""},
       "the detailed log of an MLPerf LoadGen run: settings and results by key; name "
       "mlperf_log_summary.txt, which has its latencies"},
      {{"event_block_name", "delegate_backend_name"},
       "a table of ExecuTorch's Inspector: means in which an op inside a delegate counts twice, as "
       "itself and in DELEGATE_CALL; name the ETDump (.etdp) that it was made of"},
      {{"[bmprofile]"},
       "the log with which tpu-mlir decodes a device's profile: no times; name "
       "compiler_profile_0.txt, which has the compiler's estimates"},
      {{"LayerID, Avg IFMAP SRAM BW"},
       "SCALE-Sim's bandwidth by layer: means in words a cycle, no times; name COMPUTE_REPORT.csv"},
      {{"LayerID, SRAM IFMAP Start Cycle"},
       "SCALE-Sim's accesses by layer: words, and cycles that begin before the layer by "
       "prefetching, "
       "no times; name COMPUTE_REPORT.csv"},
  };
  return kinds;
}

struct MarkedKind {  // by the four bytes of a FlatBuffer's identifier
  std::string_view mark, message;
};
constexpr MarkedKind marked_kinds[] = {
    {"ET12",
     "an ExecuTorch program (.pte): a model without times; run it with an ETDump (.etdp) and name "
     "that"},
    {"IREE", "a compiled IREE module: a model without times; name what its run recorded"},
};

struct NamedKind {
  std::string_view ending;
  std::string_view message;
};
constexpr NamedKind named_kinds[] = {
    {".torq",
     "a compiled Torq model: no times; name the timeline of its compilation "
     "(--torq-enable-profiling) or the log of a run (--torq_profile_host)"},
    {".vmfb", "a compiled IREE module: a model without times; name what its run recorded"},
    {".hlo_proto.pb",
     "the HLO of a program, a cache of xprof: no times; the .xplane.pb next to it has it too"},
    {".op_stats_v2.pb", "sums of a run, a cache of xprof; name the .xplane.pb next to it"},
    {".op_stats.pb", "sums of a run, a cache of xprof; name the .xplane.pb next to it"},
    {".ireeprof",
     "a profile of IREE in its own form; iree-profile export --format=ireeperf-jsonl "
     "--output=FILE.jsonl writes it as lines, which open"},
};

// A protobuf of field 1, the version of the format, and then one that an ONNX model has next: who
// made it, the graph or the operator sets.
bool looks_like_onnx(std::string_view head) {
  constexpr std::string_view next = "\x12\x1a\x22\x28\x32\x3a\x42";
  constexpr char max_version = 0x20;
  return head.size() > 3 && head[0] == '\x08' && head[1] > 0 && head[1] < max_version &&
         next.find(head[2]) != next.npos;
}

// Of bytes that tell: those of a protobuf or a FlatBuffer have control characters among the first.
bool is_text_so_far(std::string_view head) {
  constexpr std::size_t telling = 32;
  return std::ranges::none_of(head.substr(0, telling), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\x1b') || code == 0x7f;
  });
}

std::optional<std::string> found_in(const std::vector<TextKind>& kinds, std::string_view head) {
  for (const TextKind& kind : kinds) {
    const bool has_all = std::all_of(kind.words.begin(), kind.words.end(),
                                     [&](const auto& word) { return has_text(head, word); });
    if (has_all) return std::string(kind.message);
  }
  return std::nullopt;
}

}  // namespace

std::string tflite_advice() {
  return "a TensorFlow Lite model: no times; profile it (benchmark_model --enable_op_profiling) "
         "and name what that wrote";
}

std::optional<std::string> what_else_it_is(const Candidate& candidate) {
  const std::string_view head = candidate.head;
  constexpr std::size_t mark_length = 4;
  for (const std::size_t mark_at : {4, 8}) {  // 8: where the buffer's size comes first
    if (head.size() < mark_at + mark_length) break;
    const std::string_view mark = head.substr(mark_at, mark_length);
    for (const MarkedKind& kind : marked_kinds) {
      if (mark == kind.mark) return std::string(kind.message);
    }
  }
  std::string name = candidate.path.filename().string();
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const bool is_text = first != head.npos && is_text_so_far(head);
  const bool is_json = is_text && (head[first] == '{' || head[first] == '[');
  if (!is_text || head.starts_with("PK\x03\x04")) {
    for (const NamedKind& kind : named_kinds) {
      if (name.ends_with(kind.ending)) return std::string(kind.message);
    }
  }
  if (looks_like_onnx(head) && (name.ends_with(".onnx") || has_text(head, "onnx"))) {
    return "an ONNX model: no times; npuscope compile makes a program of it for the reference NPU, "
           "and npuscope graph PROFILE --expect MODEL compares it with what a profile ran";
  }
  if (is_json && head[first] == '[' && trimmed(head.substr(first + 1)) == "]") {
    return "an empty list: what wrote it recorded nothing; make it again";
  }
  if (is_json && !has_text(head, "\"traceEvents\"")) {
    if (auto found = found_in(json_kinds(), head)) return found;
  }
  // A log may begin with what looks like a list.
  return is_text ? found_in(text_kinds(), head) : std::nullopt;
}

namespace {

// Files that are no profile: what they are instead, where that helps.

using namespace std::string_view_literals;

struct OtherKind {
  std::string_view begins;
  std::string_view message;
};
constexpr OtherKind other_kinds[] = {
    {"PK\x03\x04"sv, "a zip archive; unpack it and name what was in it"},
    {"===------"sv, "times of an MLIR compiler's passes; npuscope torq passes prints them"},
    {"SQLite format 3\0"sv, "a SQLite database; open it with sqlite3"},
    {"\x7f"
     "ELF"sv,
     "a program or library; name the file that the profiler wrote"},
    {"\xfd"
     "7zXZ\0"sv,
     "compressed by xz; unpack it with unxz"},
    {"BZh"sv, "compressed by bzip2; unpack it with bunzip2"},
    {"7z\xbc\xaf"sv, "a 7z archive; unpack it and name what was in it"},
    {"\x1f\x8b"sv, "compressed twice; unpack it once with gunzip or unzstd"},
    {"\x28\xb5\x2f\xfd"sv, "compressed twice; unpack it once with gunzip or unzstd"},
    {"\xff\xfe"sv, "text in UTF-16, as PowerShell's > writes; save it as UTF-8"},
    {"\xfe\xff"sv, "text in UTF-16; save it as UTF-8"},
};

constexpr std::string_view qnn_context_mark = "\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\1"sv;

std::string qnn_context_message(const std::filesystem::path& path) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  return fmt::format(
      "a QNN context binary{}: a compiled graph with its weights, closed and without times; "
      "prepare "
      "the model with profiling_level=optrace, and open the folder with the schematic that this "
      "writes",
      none ? "" : fmt::format(" of {} bytes", thousands(size)));
}

}  // namespace

// The first line of a text whose next line has as many delimiters, and not none.
std::string_view table_header(std::string_view head) {
  const std::size_t end = head.find('\n');
  if (end == head.npos || !is_text_so_far(head)) return {};
  const std::string_view first = head.substr(0, end);
  std::string_view second = head.substr(end + 1);
  second = second.substr(0, second.find('\n'));
  for (const char delimiter : {',', ';', '\t', '|'}) {
    const auto count = std::ranges::count(first, delimiter);
    if (count > 0 && std::ranges::count(second, delimiter) == count) return first;
  }
  return {};
}

bool is_documentation(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("README") || name.starts_with("LICENSE") || name.ends_with(".md");
}

Refusal explain_unknown(const Candidate& candidate) {
  const std::string name = candidate.path.filename().string();
  if (const auto advice = qnn::vendor_binary_advice(candidate.path, candidate.head)) {
    return {advice->substr(candidate.path.string().size() + 2), true};
  }
  if (name.find("log_core") != name.npos && name.ends_with(".bin")) {
    return {
        "by its name a SigmaStar IPU log, which has no mark of its own; npuscope ipu timeline "
        "makes a "
        "timeline of it",
        true};
  }
  if (qaic::parse_stats_buffer_name(name)) {
    const auto is_buffer = qaic::check_stats_buffer(as_byte_span(candidate.head), "");
    if (!is_buffer) return {is_buffer.error().message.substr(2), true};
  }
  if (candidate.head.empty()) {
    return {"empty; the run or the copy that made it failed, make it again", false};
  }
  if (candidate.head.starts_with(qnn_context_mark)) {
    return {qnn_context_message(candidate.path), false};
  }
  for (const OtherKind& other : other_kinds) {
    if (candidate.head.starts_with(other.begins)) return {std::string(other.message), false};
  }
  constexpr std::size_t tar_magic_at = 257;
  if (candidate.head.size() > tar_magic_at &&
      std::string_view(candidate.head).substr(tar_magic_at).starts_with("ustar")) {
    return {"a tar archive; unpack it and name what was in it", false};
  }
  if (const std::string_view header = table_header(candidate.head); !header.empty()) {
    return {fmt::format("a table that npuscope does not know (its header begins with '{}'); "
                        "npuscope tables draft makes a description of it, which --tables takes",
                        printable(header.substr(0, 32))),
            false};
  }
  return {fmt::format("not of a format that npuscope knows (it begins with '{}'); docs/formats "
                      "lists them",
                      printable(candidate.head.substr(0, 16))),
          false};
}

}  // namespace npuscope
