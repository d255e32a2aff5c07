#include "formats/sigmastar/op_cost.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/sigmastar/layer_pairing.hpp"

namespace npuscope::sigmastar {
namespace {

// A layer of the hardware: its runs on all cores and in all inferences.
struct Layer {
  std::vector<std::uint32_t> runs;
  std::optional<std::uint64_t> index;
};

// Which runs are of the same layer: those of one index; without indices those of one name, where
// names tell the layers of a core apart; else the n-th of each core.
class LayerKeys {
 public:
  explicit LayerKeys(std::span<const LayerRun> runs) : runs_(runs) {
    has_indices_ = std::all_of(runs.begin(), runs.end(),
                               [](const LayerRun& run) { return run.index.has_value(); });
    std::set<std::pair<std::uint32_t, std::string_view>> names;
    for (const LayerRun& run : runs) {
      has_names_ = has_names_ && !run.name.empty() && names.emplace(run.core, run.name).second;
    }
  }
  // In the order of `order`.
  std::vector<Layer> group(const std::vector<std::uint32_t>& order) {
    using Key = std::tuple<std::uint64_t, std::string_view>;
    std::map<Key, std::size_t> known;
    std::map<std::uint32_t, std::uint64_t> ordinals;  // by core
    std::vector<Layer> layers;
    for (const std::uint32_t at : order) {
      const LayerRun& run = runs_[at];
      Key key;
      if (has_indices_) {
        key = {*run.index, {}};
      } else if (has_names_) {
        key = {0, run.name};
      } else {
        key = {ordinals[run.core]++, {}};
      }
      const auto [found, is_new] = known.try_emplace(key, layers.size());
      if (is_new) layers.push_back({{}, run.index});
      layers[found->second].runs.push_back(at);
    }
    return layers;
  }

 private:
  std::span<const LayerRun> runs_;
  bool has_indices_ = true;
  bool has_names_ = true;
};

class Charging {
 public:
  Charging(const Model& model, std::span<const LayerRun> runs, const std::string& name,
           const ChargeOptions& options)
      : model_(model), runs_(runs), name_(name), options_(options), keys_(runs) {}

  Result<OperatorCosts> run();

 private:
  double time_of(const LayerRun& run) const {
    return costs_.in_cycles ? run.cycles : double(run.duration);
  }
  std::vector<std::uint32_t> order_of_start() const;
  std::int64_t begin_of(const Layer& layer) const;
  Status check_cores() const;
  Status assign();
  void mark_seen();
  void add_share_of_wall();
  void charge(const Layer& layer, std::size_t op);
  void add_shares();
  void add_types();
  void add_remarks();

  const Model& model_;
  std::span<const LayerRun> runs_;
  const std::string& name_;
  const ChargeOptions& options_;
  LayerKeys keys_;
  std::vector<Layer> layers_;
  OperatorCosts costs_;
};

Result<OperatorCosts> Charging::run() {
  costs_.in_cycles =
      std::all_of(runs_.begin(), runs_.end(), [](const LayerRun& run) { return run.cycles >= 0; });
  costs_.operators.resize(model_.operators.size());
  costs_.operator_of.resize(runs_.size());
  std::set<std::uint32_t> cores;
  for (const LayerRun& run : runs_) {
    costs_.sum += time_of(run);
    cores.insert(run.core);
  }
  costs_.cores = std::uint32_t(cores.size());
  if (costs_.sum <= 0) {
    return input_error("{}: its {} took no time; the log is empty or broken, take it again", name_,
                       counted(runs_.size(), "layer"));
  }
  layers_ = keys_.group(order_of_start());
  costs_.layers = layers_.size();
  costs_.is_incomplete = options_.is_incomplete;
  TRY(check_cores());
  for (const ModelOperator& each : model_.operators) costs_.takers += each.takes_layer();
  TRY(assign());
  mark_seen();
  add_share_of_wall();
  add_shares();
  add_types();
  add_remarks();
  return std::move(costs_);
}

// On core 0, or the lowest core that the layer runs on.
std::int64_t Charging::begin_of(const Layer& layer) const {
  const LayerRun* first = &runs_[layer.runs.front()];
  for (const std::uint32_t at : layer.runs) {
    const LayerRun& run = runs_[at];
    if (std::tie(run.core, run.start) < std::tie(first->core, first->start)) first = &run;
  }
  return first->start;
}

std::vector<std::uint32_t> Charging::order_of_start() const {
  std::vector<std::uint32_t> order(runs_.size());
  std::iota(order.begin(), order.end(), 0u);
  sort_rows(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return runs_[a].start < runs_[b].start; });
  return order;
}

// Layers that two cores share run at one time, unless the cores' logs are of two runs.
Status Charging::check_cores() const {
  std::vector<CoreLayer> layers;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    for (const std::uint32_t at : layers_[layer].runs) {
      const LayerRun& run = runs_[at];
      layers.push_back({layer, run.core, run.start, saturating_add(run.start, run.duration)});
    }
  }
  const CoreAgreement agreement = compare_cores(std::move(layers));
  if (!agreement.are_of_two_runs()) return {};
  return input_error(
      "{}: {} of the {} layers that its cores share run on them at different times; name logs of "
      "one run of one model",
      name_, agreement.apart, agreement.shared);
}

Status Charging::assign() {
  sort_rows(layers_.begin(), layers_.end(),
            [&](const Layer& a, const Layer& b) { return begin_of(a) < begin_of(b); });
  std::vector<PairedLayer> layers;
  for (const Layer& layer : layers_) {
    layers.push_back({layer.index, runs_[layer.runs.front()].name});
  }
  TRY_AS(paired,
         pair_layers(model_, layers, {options_.is_incomplete, options_.allow_partial}, name_));
  costs_.by_own_indices = paired->by_own_indices;
  for (std::size_t i = 0; i < layers_.size(); ++i) charge(layers_[i], paired->operator_of[i]);
  return {};
}

// A member of a fused group was seen when its first was.
void Charging::mark_seen() {
  bool group_seen = true;
  for (std::size_t op = 0; op < model_.operators.size(); ++op) {
    const ModelOperator& of = model_.operators[op];
    OperatorCost& cost = costs_.operators[op];
    if (of.takes_layer()) {
      cost.seen = group_seen = cost.layers > 0;
      costs_.seen_takers += cost.seen;
    } else {
      cost.seen = of.is_alias() || group_seen || cost.layers > 0;
    }
  }
}

// Of the inferences from the first to the last, the time with a layer on any core.
void Charging::add_share_of_wall() {
  if (options_.inferences.empty()) return;
  Interval wall = options_.inferences.front();
  for (const Interval& each : options_.inferences) {
    wall = {std::min(wall.begin, each.begin), std::max(wall.end, each.end)};
  }
  std::vector<Interval> layers;
  for (const LayerRun& run : runs_) {
    layers.push_back({std::max(run.start, wall.begin),
                      std::min(saturating_add(run.start, run.duration), wall.end)});
  }
  if (length_of(wall) <= 0) return;
  costs_.share_of_wall = double(covered_length(layers)) / double(length_of(wall));
}

void Charging::charge(const Layer& layer, std::size_t op) {
  OperatorCost& cost = costs_.operators[op];
  cost.layers += 1;
  for (const std::uint32_t run : layer.runs) {
    cost.time += time_of(runs_[run]);
    costs_.operator_of[run] = std::uint32_t(op);
  }
}

void Charging::add_shares() {
  for (OperatorCost& cost : costs_.operators) cost.share = cost.time / costs_.sum;
}

void Charging::add_types() {
  std::map<std::string_view, std::size_t> known;
  for (std::size_t op = 0; op < model_.operators.size(); ++op) {
    const std::string& type = model_.operators[op].type;
    const auto [found, is_new] = known.try_emplace(type, costs_.types.size());
    if (is_new) costs_.types.push_back({type, 0, 0, 0, 0});
    TypeCost& cost = costs_.types[found->second];
    cost.time += costs_.operators[op].time;
    cost.operators += 1;
    cost.seen += costs_.operators[op].seen;
  }
  for (TypeCost& type : costs_.types) type.share = type.time / costs_.sum;
  sort_rows(costs_.types.begin(), costs_.types.end(),
            [](const TypeCost& a, const TypeCost& b) { return a.time > b.time; });
}

void Charging::add_remarks() {
  const auto say = [&](std::string text) { costs_.remarks.push_back(std::move(text)); };
  if (costs_.by_own_indices) {
    say(
        fmt::format("the timeline has {} layers and {} operators of the model take one: its own "
                    "indices tell which operator each layer is",
                    costs_.layers, costs_.takers));
  }
  if (costs_.cores > 1) {
    say(fmt::format("{} cores: a layer's time is the sum over the cores (work, not wall)",
                    costs_.cores));
  }
  const std::uint64_t repeated =
      std::uint64_t(std::count_if(layers_.begin(), layers_.end(), [&](const Layer& layer) {
        std::set<std::uint32_t> cores;
        for (const std::uint32_t run : layer.runs) cores.insert(runs_[run].core);
        return cores.size() < layer.runs.size();
      }));
  if (repeated > 0) {
    say(counted(std::uint64_t(repeated), "layer") +
        " ran more than once on a core: a layer's time is the sum of its runs");
  }
  if (!costs_.in_cycles) {
    say("not every layer has total_cycle: shares are of durations (dur)");
  }
}

}  // namespace

std::string coverage_text(const OperatorCosts& costs) {
  const std::string wall =
      costs.share_of_wall ? fmt::format("{:.1f} % of the wall", 100 * *costs.share_of_wall)
                          : "an unknown part of the wall (the log of the core control is missing)";
  return fmt::format("covers {} of the {} operators that take a layer and {}",
                     thousands(costs.seen_takers), thousands(costs.takers), wall);
}

Result<OperatorCosts> charge_operators(const Model& model, std::span<const LayerRun> runs,
                                       const std::string& timeline_name,
                                       const ChargeOptions& options) {
  return Charging(model, runs, timeline_name, options).run();
}

}  // namespace npuscope::sigmastar
