#include "formats/sigmastar/layer_rows.hpp"

#include <algorithm>
#include <map>

namespace npuscope::sigmastar {
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
