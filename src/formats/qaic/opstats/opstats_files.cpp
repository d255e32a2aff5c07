#include "formats/qaic/opstats/opstats_files.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/numbers.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::string_view counts = "aiccyclecounts";
constexpr std::string_view slice_mark = "_slice";

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// "<before><number>", or nothing is taken.
std::optional<std::uint64_t> take_number_after(std::string_view before, std::string_view& text) {
  std::string_view rest = text;
  const auto number = take(rest, before) ? take_number<std::uint64_t>(rest) : std::nullopt;
  if (number) text = rest;
  return number;
}

// Program, activation, inference and network as far as the part before "-aiccyclecounts" has them.
void take_place(std::string_view stem, StatsBufferName& name) {
  std::string_view rest = stem;
  name.program = take_number_after("aic-profiling-program-", rest);
  name.activation = take_number_after(name.program ? "-activation-" : "activation-", rest);
  name.inference = take_number_after("-inf-", rest);
  if (take(rest, "-")) name.network = std::string(rest);
}

// "aiccyclecounts-activation-0-inf-0"
bool take_output_name(std::string_view stem, StatsBufferName& name) {
  std::string_view rest = stem;
  if (!take(rest, counts)) return false;
  name.activation = take_number_after("-activation-", rest);
  name.inference = take_number_after("-inf-", rest);
  name.output_stem = std::string(stem);
  return name.inference.has_value() && rest.empty();
}

// Two buffers whose outputs would have one name keep their whole names.
void make_stems_unique(std::vector<StatsBufferFile>& files) {
  std::multiset<std::string> stems;
  for (const StatsBufferFile& file : files) stems.insert(file.name.output_stem);
  for (StatsBufferFile& file : files) {
    if (stems.count(file.name.output_stem) > 1) {
      file.name.output_stem = file.path.stem().string();
    }
  }
}

}  // namespace

std::optional<StatsBufferName> parse_stats_buffer_name(std::string_view file_name) {
  if (!file_name.ends_with(".bin")) return std::nullopt;
  const std::string_view stem = file_name.substr(0, file_name.size() - 4);
  StatsBufferName name;
  if (take_output_name(stem, name)) return name;
  name = {};
  const auto mark = stem.rfind(std::string("-").append(counts));
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view before = stem.substr(0, mark);
  const std::string_view after = stem.substr(mark + 1 + counts.size());
  if (!after.empty() && !after.starts_with('_')) return std::nullopt;
  take_place(before, name);
  name.output_stem = std::string(before);
  if (after.size() > 1) name.output_stem += "-" + std::string(after.substr(1));
  if (name.output_stem.empty()) return std::nullopt;
  return name;
}

Result<std::vector<StatsBufferFile>> find_stats_buffers(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return input_error("{}: no such folder; give the one that holds the statistics buffers (-i)",
                       folder.string());
  }
  std::vector<StatsBufferFile> files;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (std::filesystem::is_directory(entry->path(), unknown)) continue;
    auto name = parse_stats_buffer_name(entry->path().filename().string());
    if (name) files.push_back({entry->path(), std::move(*name)});
  }
  if (error) return input_error("{}: cannot be read: {}", folder.string(), error.message());
  if (files.empty()) {
    return input_error(
        "{}: holds no statistics buffer (*-aiccyclecounts.bin); make one with npuscope "
        "run --aic-profiling-type=raw_device_stats --aic-profiling-out-dir={}",
        folder.string(), folder.string());
  }
  std::sort(files.begin(), files.end(), [](const StatsBufferFile& a, const StatsBufferFile& b) {
    const auto key = [](const StatsBufferFile& file) {
      const StatsBufferName& name = file.name;
      return std::tie(name.program, name.activation, name.inference, name.network);
    };
    if (key(a) != key(b)) return key(a) < key(b);
    return a.path.filename() < b.path.filename();
  });
  make_stems_unique(files);
  return files;
}

std::optional<std::uint32_t> slice_number(std::string_view network) {
  const auto mark = network.rfind(slice_mark);
  if (mark == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint32_t>(network.substr(mark + slice_mark.size()));
}

std::string_view without_slice(std::string_view network) {
  return slice_number(network) ? network.substr(0, network.rfind(slice_mark)) : network;
}

}  // namespace npuscope::qaic
