#include "npuscope/analysis/number_names.hpp"

#include <string>

namespace npuscope::analysis {

// "DDR read bytes", "dram_read", "VTCM write (bytes)": vendors agree on the words, not on the form.
// A word more ("ddr read bytes, constants") makes it a part of what is counted already.
std::optional<TrafficName> traffic_named(std::string_view name) {
  constexpr std::size_t longest = 60;
  if (name.size() > longest) return std::nullopt;
  bool ddr = false, vtcm = false, read = false, write = false;
  std::string word;
  const auto take_word = [&] {
    ddr = ddr || word == "ddr" || word == "dram";
    vtcm = vtcm || word == "vtcm" || word == "tcm";
    read = read || word == "read" || word == "reads";
    write = write || word == "write" || word == "writes" || word == "written";
    const bool known = word.empty() || word == "bytes" || word == "byte" || word == "total" ||
                       word == "mem" || word == "ddr" || word == "dram" || word == "vtcm" ||
                       word == "tcm" || word.starts_with("read") || word.starts_with("writ");
    word.clear();
    return known;
  };
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z')) {
      word += upper ? char(c - 'A' + 'a') : c;
    } else if (c == ' ' || c == '_' || c == '(' || c == ')') {
      if (!take_word()) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!take_word() || ddr == vtcm || read == write) return std::nullopt;
  return TrafficName{ddr ? Memory::ddr : Memory::vtcm, read ? Direction::read : Direction::write};
}

NumberQuantity quantity_named(MeasureKind kind, std::string_view name) {
  if (kind != MeasureKind::count) return NumberQuantity::time;
  if (name.ends_with("(Hz)")) return NumberQuantity::hertz;
  const bool is_bytes =
      traffic_named(name) || name.find("byte") != name.npos || name.find("Bytes") != name.npos;
  return is_bytes ? NumberQuantity::bytes : NumberQuantity::count;
}

bool adds_up(MeasureKind kind, std::string_view name) {
  const bool kind_does = kind == MeasureKind::work || kind == MeasureKind::dominant_path ||
                         kind == MeasureKind::count || kind == MeasureKind::active;
  if (!kind_does) return false;
  std::string lower(name.substr(0, 200));
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  for (const char* word : {" per ", "_per_", "percent", "%", "deviation", "stddev", "average",
                           "mean", "median", "rate", "frequency", "utilization", "depth"}) {
    if (lower.find(word) != lower.npos) return false;
  }
  return true;
}

}  // namespace npuscope::analysis
