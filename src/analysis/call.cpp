#include "npuscope/analysis/call.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/call_names.hpp"
#include "npuscope/analysis/numbers.hpp"
#include "npuscope/analysis/phases.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {
namespace {

class CallReader {
 public:
  explicit CallReader(const Profile& profile)
      : profile_(profile),
        numbers_(analyse_numbers_of_role(profile)),
        phases_(analyse_phases(profile)) {}

  std::optional<Call> read() const {
    if (is_queued()) return std::nullopt;
    for (const std::vector<CallLayerName>& layers : known_calls()) {
      if (auto call = call_of(layers)) return call;
    }
    return std::nullopt;
  }

 private:
  const NumberRow* number(NumberRole role, Statistic statistic) const {
    const auto found = std::find_if(numbers_.begin(), numbers_.end(), [&](const NumberRow& row) {
      return row.subject == Measure::Subject::profile && row.meaning.role == role &&
             row.meaning.statistic == statistic;
    });
    return found == numbers_.end() ? nullptr : &*found;
  }

  const NumberRow* number_of(const CallLayerName& layer) const {
    const bool is_number = layer.form == CallLayerName::Form::number;
    return is_number ? number(layer.role, layer.statistic) : nullptr;
  }

  std::optional<double> seconds_of(const NumberRow& row) const {
    const std::size_t clock = index_of(row.clock);
    if (clock >= profile_.clocks.size() || !(profile_.clocks[clock].rate.value > 0)) return {};
    return row.values.median_of_rest / profile_.clocks[clock].rate.value;
  }

  bool is_queued() const {
    const NumberRow* depth = number(NumberRole::queue_depth, Statistic::none);
    return depth != nullptr && depth->values.median > 1;
  }

  bool is_cold(std::uint64_t count) const {
    using Temperature = Provenance::Temperature;
    const Temperature temperature = profile_.provenance.temperature;
    return count <= 1 &&
           (temperature == Temperature::cold || temperature == Temperature::cold_then_warm);
  }

  std::optional<Call> call_of(const std::vector<CallLayerName>& layers) const {
    using Form = CallLayerName::Form;
    const NumberRow* outer = number_of(layers.front());
    if (outer == nullptr) return std::nullopt;
    Call call;
    call.count = outer->values.count > 1 ? outer->values.count - 1 : 1;
    call.warm = !is_cold(outer->values.count);
    call.origin = outer->origin;
    call.starts_on_device = layers.front().place == CallLayerName::Place::device;
    call.is_mean = layers.front().statistic == Statistic::mean;
    for (const CallLayerName& layer : layers) {
      if (layer.form != Form::number) continue;
      const NumberRow* row = number_of(layer);
      if (row == nullptr || row->values.count != outer->values.count) continue;
      if (layer.place == CallLayerName::Place::device && !call.starts_on_device)
        call.device = call.layers.size();
      std::string name(profile_.text(row->what));
      if (!add(call, std::move(name), seconds_of(*row))) return std::nullopt;
    }
    if (call.layers.empty()) return std::nullopt;
    for (const CallLayerName& layer : layers) {
      if (layer.form == Form::phase) add_phase(call, layer.phase, outer->values.count);
    }
    for (std::size_t i = 0; i < call.layers.size(); ++i) {
      const double inner = i + 1 < call.layers.size() ? call.layers[i + 1].seconds : 0;
      call.layers[i].own = call.layers[i].seconds - inner;
    }
    return call;
  }

  // A layer inside that takes longer than the one around it: the numbers are not of one call.
  bool add(Call& call, std::string name, std::optional<double> seconds) const {
    if (!seconds || !(*seconds > 0)) return false;
    if (!call.layers.empty() && *seconds > call.layers.back().seconds) return false;
    call.layers.push_back({std::move(name), *seconds, 0});
    return true;
  }

  void add_phase(Call& call, std::string_view name, std::uint64_t calls) const {
    for (const PhaseRow& row : phases_) {
      if (profile_.text(row.name) != name || row.microseconds.count != calls) continue;
      const double seconds = row.microseconds.median_of_rest * 1e-6;
      if (!add(call, std::string(name), seconds) || !call.warm) return;
      if (!(row.hertz.median_of_rest > 0)) return;
      call.graph_hertz = row.hertz.median_of_rest;
      call.graph_ticks = seconds * row.hertz.median_of_rest;
      return;
    }
  }

  const Profile& profile_;
  const std::vector<NumberRow> numbers_;
  const std::vector<PhaseRow> phases_;
};

}  // namespace

std::optional<Call> analyse_call(const Profile& profile) { return CallReader(profile).read(); }

std::vector<std::optional<double>> warm_node_cycles(const Profile& profile) {
  std::map<StringId, std::map<std::uint32_t, double>> of_node;  // by inference
  for (const Measure& measure : profile.measures) {
    const bool is_warm = measure.instance != every_instance && measure.instance > 0;
    if (measure.subject != Measure::Subject::op || !is_warm) continue;
    if (measure.subject_id >= profile.ops.size() ||
        measure.meaning.role != NumberRole::node_cycles) {
      continue;
    }
    const Op& op = profile.ops[measure.subject_id];
    of_node[op.label()][measure.instance] += measure.value;
  }
  std::vector<std::optional<double>> cycles(profile.ops.size());
  if (of_node.empty()) return cycles;
  std::map<StringId, double> median;
  for (const auto& [node, by_inference] : of_node) {
    std::vector<double> values;
    for (const auto& [inference, value] : by_inference) values.push_back(value);
    median[node] = spread_of(values).median;
  }
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const Op& op = profile.ops[i];
    const auto found = median.find(op.label());
    if (found != median.end()) cycles[i] = found->second;
  }
  return cycles;
}

const std::vector<std::vector<CallLayerName>>& known_calls() {
  using enum CallLayerName::Place;
  using enum CallLayerName::Form;
  using Role = NumberRole;
  constexpr auto one = Statistic::none;
  static const std::vector<std::vector<CallLayerName>> calls{
      // QNN: the viewer's text
      {{Role::qnn_execute, one, "", host, number},
       {Role::rpc_execute, one, "", between, number},
       {Role::qnn_accelerator_execute, one, "", between, number},
       {Role::accelerator_execute, one, "", device, number},
       {Role::accelerator_execute_alone, one, "", device, beside},
       {Role::none, one, "Graph Execute", device, phase}},
      // the same over all executes of a file
      {{Role::qnn_execute, Statistic::mean, "", host, number},
       {Role::rpc_execute, Statistic::mean, "", between, number},
       {Role::qnn_accelerator_execute, Statistic::mean, "", between, number},
       {Role::accelerator_execute, Statistic::mean, "", device, number}},
      // a summary of QHAS without the viewer's text
      {{Role::dsp_execute, one, "", device, number},
       {Role::graph_execute, one, "", device, number}},
      // Synaptics Torq: the runtime's log
      {{Role::none, one, "HAL_QUEUE_EXECUTE", host, phase}},
      // Cloud AI 100: statistics of a latency file
      {{Role::total_round_trip, Statistic::p50, "", host, number},
       {Role::device_execution, Statistic::p50, "", device, number}},
      {{Role::total_round_trip, Statistic::mean, "", host, number},
       {Role::device_execution, Statistic::mean, "", device, number}}};
  return calls;
}

}  // namespace npuscope::analysis
