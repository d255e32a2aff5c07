// Files that are no profile: what they are instead, where that helps.
#include "base/text.hpp"
#include "formats/open_table.hpp"
#include "formats/qaic/opstats/opstats_files.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qnn/assemble/sets.hpp"
#include "formats/torq/debug/debug_info.hpp"

namespace npuscope {
namespace {

using namespace std::string_view_literals;

struct OtherKind {
  std::string_view begins;
  std::string_view message;
};
constexpr OtherKind other_kinds[] = {
    {"PK\x03\x04"sv, "a zip archive; unpack it and name what was in it"},
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

}  // namespace

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
  if (torq::looks_like_mlir_bytecode(candidate.head)) {
    return {torq::mlir_bytecode_advice(candidate.path.string()), true};
  }
  if (candidate.head.empty()) {
    return {"empty; the run or the copy that made it failed, make it again", false};
  }
  for (const OtherKind& other : other_kinds) {
    if (candidate.head.starts_with(other.begins)) return {std::string(other.message), false};
  }
  constexpr std::size_t tar_magic_at = 257;
  if (candidate.head.size() > tar_magic_at &&
      std::string_view(candidate.head).substr(tar_magic_at).starts_with("ustar")) {
    return {"a tar archive; unpack it and name what was in it", false};
  }
  return {fmt::format("not of a format that npuscope knows (it begins with '{}'); docs/formats "
                      "lists them",
                      printable(candidate.head.substr(0, 16))),
          false};
}

}  // namespace npuscope
