#include "formats/sigmastar/layer_keys.hpp"

#include <cmath>
#include <string>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::uint64_t max_index = 1'000'000'000;
constexpr std::uint32_t max_named_cores = 64;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return lower;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(space) + 1 - first);
}

// Without quotes, space and a percent sign.
std::string_view bare(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  if (text.ends_with('%')) text = trimmed(text.substr(0, text.size() - 1));
  return text;
}

std::optional<IndexInName> index_at(std::string_view name, std::size_t at, std::size_t length) {
  const auto index = parse_number<std::uint64_t>(name.substr(at, length));
  if (!index || *index > max_index) return std::nullopt;
  return IndexInName{*index, at, length};
}

bool ends_with_index_word(std::string_view text) {
  const std::string lower = lower_case(text.substr(text.size() > 16 ? text.size() - 16 : 0));
  for (const char* word : {"layer", "op", "operator", "idx", "index"}) {
    const std::string_view ending(word);
    if (!std::string_view(lower).ends_with(ending)) continue;
    const std::size_t before = lower.size() - ending.size();
    if (before == 0 || !is_letter(lower[before - 1])) return true;
  }
  return false;
}

}  // namespace

LayerKey layer_key_named(std::string_view name) {
  if (name == "total_cycle" || name == "total_cycles") return LayerKey::total_cycle;
  if (name == "conv_cycle_percent") return LayerKey::conv;
  if (name == "vector_cycle_percent") return LayerKey::vector;
  if (name == "dma_load_cycle_percent") return LayerKey::dma_load;
  if (name == "dma_store_cycle_percent") return LayerKey::dma_store;
  for (const char* known : {"index", "idx", "layer_index", "layer_idx", "layer_id", "layer",
                            "op_index", "op_idx", "op_id"}) {
    if (name == known) return LayerKey::index;
  }
  return LayerKey::none;
}

std::optional<double> number_in(std::string_view text) {
  const auto value = parse_number<double>(bare(text));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> whole_number_in(std::string_view text) {
  const auto value = parse_number<std::uint64_t>(bare(text));
  if (!value || *value > max_index) return std::nullopt;
  return value;
}

std::optional<IndexInName> index_in(std::string_view name) {
  std::size_t leading = 0;
  while (leading < name.size() && is_digit(name[leading])) ++leading;
  const bool stands_alone =
      leading == name.size() || (!is_letter(name[leading]) && name[leading] != '.');
  if (leading > 0 && stands_alone) return index_at(name, 0, leading);
  std::size_t at = name.size();
  while (at > 0 && is_digit(name[at - 1])) --at;
  if (at == name.size() || at == 0) return std::nullopt;
  const char before = name[at - 1];
  const bool separated = !is_letter(before) && before != '.';
  if (!separated && !ends_with_index_word(name.substr(0, at))) return std::nullopt;
  return index_at(name, at, name.size() - at);
}

std::optional<std::uint32_t> core_in(std::string_view name) {
  const std::string lower = lower_case(name.substr(0, 200));
  for (auto at = lower.find("core"); at != lower.npos; at = lower.find("core", at + 1)) {
    std::size_t digits = at + 4;
    while (digits < lower.size() && !is_digit(lower[digits]) && !is_letter(lower[digits])) ++digits;
    std::size_t end = digits;
    while (end < lower.size() && is_digit(lower[end])) ++end;
    const auto core =
        parse_number<std::uint32_t>(std::string_view(lower).substr(digits, end - digits));
    if (core && *core < max_named_cores) return core;
  }
  return std::nullopt;
}

}  // namespace npuscope::sigmastar
