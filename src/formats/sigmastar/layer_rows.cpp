#include "formats/sigmastar/layer_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::uint64_t max_index = 1'000'000'000;
constexpr std::uint32_t max_named_cores = 64;

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
  const std::string lower = in_small_letters(text.substr(text.size() > 16 ? text.size() - 16 : 0));
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
  const std::string lower = in_small_letters(name.substr(0, 200));
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

namespace {

constexpr double max_cycles = 1e15;  // whole numbers as doubles, with room for sums
constexpr double max_percent = 1e4;  // several engines of a kind may be counted together

// A number, or a text that is one.
std::optional<double> number_of(const Profile& profile, const Argument& argument) {
  if (argument.key.type == ArgumentType::text) return number_in(profile.text(argument.text()));
  return argument.as_number();
}

bool in_range(LayerKey role, double value) {
  return value >= 0 && value <= (role == LayerKey::total_cycle ? max_cycles : max_percent);
}

std::vector<std::vector<LayerKey>> roles_of(const Profile& profile) {
  std::vector<std::vector<LayerKey>> roles;
  for (const ArgumentShape& shape : profile.spans.arguments.shapes) {
    auto& of_shape = roles.emplace_back();
    for (const ArgumentKey& key : shape) {
      of_shape.push_back(layer_key_named(profile.text(key.name)));
    }
    if (std::none_of(of_shape.begin(), of_shape.end(), tells_layer)) of_shape.clear();
  }
  return roles;
}

}  // namespace

std::optional<std::uint32_t> core_of(const Profile& profile, UnitId unit) {
  constexpr int deepest = 4;  // lane, thread, process
  const UnitId leaf = unit;
  for (int depth = 0; depth < deepest && unit != UnitId::none; ++depth) {
    if (const auto core = core_in(profile.text(profile.units[index_of(unit)].name))) return core;
    unit = profile.units[index_of(unit)].parent;
  }
  return core_in(profile.text(profile.units[index_of(leaf)].process_id));
}

LayerRows::LayerRows(const Profile& profile) {
  const Arguments& arguments = profile.spans.arguments;
  if (arguments.empty()) return;
  const auto roles = roles_of(profile);
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const auto& of_row = roles[arguments.shape(row)];
    if (!of_row.empty()) read(profile, row, of_row);
  }
  number_cores(profile);
}

void LayerRows::read(const Profile& profile, std::size_t row, const std::vector<LayerKey>& roles) {
  LayerRow layer;
  layer.row = row;
  for (std::size_t place = 0; place < roles.size(); ++place) {
    const LayerKey role = roles[place];
    if (role == LayerKey::none) continue;
    const auto value = number_of(profile, profile.spans.arguments.at(row, place));
    if (role == LayerKey::index) {
      if (value && *value >= 0 && *value < 1e9) layer.index = std::uint64_t(*value);
      continue;
    }
    if (!value || !in_range(role, *value)) {
      ++unreadable_;
      continue;
    }
    if (role == LayerKey::total_cycle) layer.cycles = *value;
    for (std::size_t i = 0; i < percent_keys.size(); ++i) {
      if (role == percent_keys[i]) layer.percent[i] = *value;
    }
  }
  const OpId op = profile.spans.op[row];
  if (!layer.index && op != OpId::none) {
    const auto in_name = index_in(profile.text(profile.ops[index_of(op)].name));
    if (in_name) layer.index = in_name->index;
  }
  layers_.push_back(layer);
}

// What names call core 1 is core 1; other tracks are cores in the order of their first layers.
void LayerRows::number_cores(const Profile& profile) {
  std::map<std::uint32_t, std::uint32_t> of_unit;
  std::uint32_t unnamed = 0;
  for (LayerRow& layer : layers_) {
    const std::uint32_t id = index_of(profile.spans.unit[layer.row]);
    const auto [found, is_new] = of_unit.try_emplace(id, 0);
    if (is_new) {
      const auto core = core_of(profile, UnitId(id));
      found->second = core ? *core : unnamed++;
    }
    layer.core = found->second;
  }
}

}  // namespace npuscope::sigmastar
