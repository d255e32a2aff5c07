#include "formats/onnxruntime/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "formats/onnxruntime/node_tensors.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::onnxruntime {
namespace {

constexpr std::string_view kernel_end = "_kernel_time", cpu = "CPUExecutionProvider";

constexpr NamedNumber activation_bytes{"input bytes", NumberQuantity::bytes};
constexpr NamedNumber parameter_bytes{"parameter bytes", NumberQuantity::bytes};
constexpr NamedNumber dropped_events{"events dropped", NumberQuantity::count,
                                     NumberRole::lost_events};

enum class What : std::uint8_t { other, run, setting_up, frame, node, fence, truncated };

What what_is(std::string_view category, std::string_view name) {
  if (category == "Session") {
    if (name == "model_run") return What::run;
    if (name == "session_initialization" || name.starts_with("model_loading")) {
      return What::setting_up;
    }
    if (name == "profile_truncated") return What::truncated;
    return name.ends_with("Executor::Execute") ? What::frame : What::other;
  }
  if (category != "Node") return What::other;
  if (name.ends_with(kernel_end)) return What::node;
  return name.ends_with("_fence_before") || name.ends_with("_fence_after") ? What::fence
                                                                           : What::other;
}

What what_is(const Profile& profile, const Op& op) {
  return what_is(profile.text(op.kind), profile.text(op.name));
}

// The node of the model: what the optimizer adds to the name of the last one that it fused.
std::string_view without_inventions(std::string_view name) {
  constexpr std::array<std::string_view, 4> added{"_nchwc", "/MatMulAddFusion",
                                                  "/MatMulScaleFusion/", "_new_reshape"};
  for (const std::string_view each : added) {
    if (name.ends_with(each) && name.size() > each.size()) {
      name.remove_suffix(each.size());
      break;
    }
  }
  return name;
}

// "x_token_12", by which the optimizer tells a second x from the first.
std::string_view without_token(std::string_view name) {
  const std::size_t token = name.rfind("_token_");
  const bool is_number = token != name.npos && token > 0 && token + 7 < name.size() &&
                         name.find_first_not_of("0123456789", token + 7) == name.npos;
  return is_number ? name.substr(0, token) : name;
}

class Session {
 public:
  explicit Session(Profile& profile) : profile_(profile), spans_(profile.spans) {}

  void make() {
    for (const Op& op : profile_.ops) what_.push_back(what_is(profile_, op));
    profile_.provenance.format = format_name;
    find_parts_of_nodes();
    find_runs();
    name_nodes();
    give_tensors();
    give_kinds();
    describe();
  }

 private:
  struct Run {
    Interval time;
    std::uint32_t unit = 0;
    std::uint32_t number = 0;
  };

  What what(std::size_t row) const {
    const std::size_t op = index_of(spans_.op[row]);
    return op < what_.size() ? what_[op] : What::other;
  }

  // Operators of the model in a node that an execution provider took as a whole, as providers of
  // their own libraries append them.
  void find_parts_of_nodes() {
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      if (what(row) == What::other && !text_of(row, "op_name").empty()) {
        what_[index_of(spans_.op[row])] = What::node;
      }
    }
  }

  // By their begin; several threads may run the session at the same time.
  void find_runs() {
    for (std::uint32_t row = 0; row < spans_.size(); ++row) {
      if (what(row) != What::run) continue;
      runs_.push_back({interval_of(spans_, row), index_of(spans_.unit[row]), row});
    }
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const Run& a, const Run& b) { return a.time.begin < b.time.begin; });
    std::uint32_t number = 0;
    for (Run& run : runs_) run.number = number++;
    for (const Run& run : runs_) by_unit_[run.unit].push_back(run);
  }

  static const Run* run_in(const std::vector<Run>& runs, std::int64_t time) {
    auto after =
        std::upper_bound(runs.begin(), runs.end(), time,
                         [](std::int64_t at, const Run& run) { return at < run.time.begin; });
    return after != runs.begin() && time <= after[-1].time.end ? &after[-1] : nullptr;
  }

  // That of its thread; a thread of a pool has none of its own, and works for the run of that time.
  std::uint32_t instance_of(std::size_t row) const {
    const auto of_unit = by_unit_.find(index_of(spans_.unit[row]));
    const Run* run = run_in(of_unit != by_unit_.end() ? of_unit->second : runs_, spans_.start[row]);
    return run != nullptr ? run->number : every_instance;
  }

  void name_nodes() {
    std::vector<bool> is_known(profile_.ops.size(), false);
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      if (what(row) != What::node) continue;
      const std::size_t index = index_of(spans_.op[row]);
      if (is_known[index]) continue;
      is_known[index] = true;
      name_node(row, profile_.ops[index]);
    }
    share_names();
  }

  void name_node(std::size_t row, Op& op) {
    const std::string name(profile_.text(op.name));
    std::string_view plain = name;
    const bool is_node_of_session = plain.ends_with(kernel_end);
    if (is_node_of_session) plain.remove_suffix(kernel_end.size());
    const std::string node(text_of(row, "node_name"));
    const std::string type(text_of(row, "op_name")), provider(text_of(row, "provider"));
    op.name = profile_.strings.intern(plain);
    op.node = profile_.strings.intern(node.empty() ? without_inventions(plain) : node);
    op.kind = op.node_kind = profile_.strings.intern(type);
    op.provider = profile_.strings.intern(provider);
    const bool on_host = provider.empty() ? is_node_of_session : provider == cpu;
    op.engine = on_host ? Engine::host : Engine::compute;
    parts_of_model_ += op.engine == Engine::compute && plain.starts_with(provider + '_');
    if (!provider.empty() && std::ranges::find(providers_, provider) == providers_.end()) {
      providers_.push_back(provider);
    }
  }

  // The model's name of a node that is the only one of that name.
  void share_names() {
    std::map<std::string_view, std::size_t> nodes;
    for (const Op& op : profile_.ops) nodes[without_token(profile_.text(op.node))] += 1;
    for (Op& op : profile_.ops) {
      const std::string_view node = without_token(profile_.text(op.node));
      if (nodes[node] == 1) op.node = profile_.strings.intern(node);
    }
  }

  // Of a node whose shapes change from run to run no shape is its own.
  void give_tensors() {
    struct Shapes {
      std::string_view inputs, outputs;
      bool has_all_weights = true;
    };
    std::vector<std::optional<Shapes>> of_op(profile_.ops.size());
    auto activations = profile_.column_of(activation_bytes, Origin::measured);
    auto parameters = profile_.column_of(parameter_bytes, Origin::measured);
    activations.values.resize(spans_.size(), MeasureColumn::missing);
    parameters.values.resize(spans_.size(), MeasureColumn::missing);
    std::vector<bool> changes(profile_.ops.size(), false);
    std::uint64_t without_weights = 0;
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      if (what(row) != What::node) continue;
      const std::size_t index = index_of(spans_.op[row]);
      Op& op = profile_.ops[index];
      const std::string_view inputs = text_of(row, "input_type_shape");
      const std::string_view outputs = text_of(row, "output_type_shape");
      const std::string_view type = profile_.text(op.kind);
      if (!of_op[index]) {
        const NodeTensors tensors{tensors_in(inputs), tensors_in(outputs)};
        of_op[index] = {inputs, outputs, has_all_weights(type, tensors)};
        set_tensors(tensors, type, op, profile_);
        op.output = Bytes{std::max<std::int64_t>(0, number_in(row, "output_size"))};
        without_weights += !of_op[index]->has_all_weights;
      }
      changes[index] =
          changes[index] || of_op[index]->inputs != inputs || of_op[index]->outputs != outputs;
      activations.values[row] = number_in(row, "activation_size");
      if (of_op[index]->has_all_weights) parameters.values[row] = number_in(row, "parameter_size");
    }
    for (std::size_t index = 0; index < changes.size(); ++index) {
      if (!changes[index]) continue;
      Op& op = profile_.ops[index];
      op.shape = op.operands = StringId::empty;
      op.extents = ShapeId::none;
      op.operand_list = OperandsId::none;
      op.output = Bytes{0};
    }
    const auto add = [&](MeasureColumn&& column) {
      const bool any = std::ranges::any_of(
          column.values, [](std::int64_t value) { return value != MeasureColumn::missing; });
      if (any) spans_.measures.push_back(std::move(column));
    };
    add(std::move(activations));
    add(std::move(parameters));
    const auto changing = std::uint64_t(std::ranges::count(changes, true));
    if (changing > 0) {
      note(Severity::info, changing, "nodes whose shapes change from run to run; they have none");
    }
    if (without_weights > 0) {
      note(Severity::info, without_weights,
           "nodes whose weights were packed when the session began: they are in no shape and no "
           "count of bytes, so that their MACs are unknown");
    }
  }

  std::int64_t number_in(std::size_t row, std::string_view name) const {
    const auto number = parse_number<std::int64_t>(text_of(row, name));
    return number && *number >= 0 ? *number : MeasureColumn::missing;
  }

  std::string_view text_of(std::size_t row, std::string_view name) const {
    const Arguments& arguments = spans_.arguments;
    const auto id = profile_.strings.find(name);
    if (!id || row >= arguments.size()) return {};
    const auto found = arguments.find(row, *id);
    const bool is_text =
        found && (found->key.type == ArgumentType::text || found->key.type == ArgumentType::json);
    return is_text ? profile_.text(found->text()) : std::string_view();
  }

  void give_kinds() {
    spans_.instance.assign(spans_.size(), every_instance);
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      const What is = what(row);
      if (is == What::setting_up) spans_.kind[row] = SpanKind::activation;
      if (is == What::frame) spans_.kind[row] = SpanKind::annotation;
      if (is == What::run) spans_.kind[row] = SpanKind::inference;
      if (is == What::truncated) {
        spans_.kind[row] = SpanKind::instant;
        const std::int64_t dropped = number_in(row, "dropped_event_count");
        if (dropped != MeasureColumn::missing) {
          profile_.add_measure(Measure::Subject::profile, 0, dropped_events, Origin::measured, {},
                               double(dropped));
        }
      }
      if (is == What::setting_up || is == What::truncated || is == What::other) continue;
      const std::uint32_t instance = spans_.instance[row] = instance_of(row);
      if (is != What::node && is != What::fence) continue;
      const bool is_lost = instance == every_instance && !runs_.empty();
      lost_ += is_lost;
      const bool on_host =
          is == What::fence || profile_.ops[index_of(spans_.op[row])].engine == Engine::host;
      const bool waited = is == What::fence && spans_.duration[row] > 0;
      spans_.kind[row] = is_lost             ? SpanKind::profiler
                         : waited            ? SpanKind::runtime_call
                         : is == What::fence ? SpanKind::annotation
                         : on_host           ? SpanKind::host
                                             : SpanKind::kernel;
    }
    if (runs_.empty()) spans_.instance.clear();
  }

  void describe() {
    using Temperature = Provenance::Temperature;
    const bool has_begin = std::find(what_.begin(), what_.end(), What::setting_up) != what_.end();
    profile_.provenance.inferences = std::uint32_t(runs_.size());
    if (has_begin && !runs_.empty()) {
      profile_.provenance.temperature =
          runs_.size() == 1 ? Temperature::cold : Temperature::cold_then_warm;
    }
    profile_.provenance.instrumentation = "ONNX Runtime's profiler";
    profile_.provenance.device = fmt::format("{}", fmt::join(providers_, ", "));
    note(Severity::info, 1,
         "a profiled run takes longer than one that is not: its latency is an upper bound");
    if (runs_.empty()) {
      note(Severity::warning, 1, "no run of the session was recorded, only that it was set up");
    }
    if (parts_of_model_ > 0) {
      note(Severity::info, parts_of_model_,
           "nodes that are a part of the model, which an execution provider took as a whole: its "
           "own profile tells what is inside, npuscope graph --expect MODEL which nodes are not");
    }
    if (std::find(what_.begin(), what_.end(), What::truncated) != what_.end()) {
      note(Severity::warning, 1,
           "the recorder was full (profile_truncated): later runs are missing; record fewer");
    }
    note_short_runs();
    if (lost_ > 0) {
      note(Severity::warning, lost_,
           "nodes of a run whose end was not recorded; they are counted nowhere");
    }
  }

  // A run that fails is recorded like one that ends: it lacks the node with which the others end.
  void note_short_runs() {
    struct Last {
      std::int64_t end = std::numeric_limits<std::int64_t>::min();
      OpId op = OpId::none;
    };
    std::vector<Last> lasts(runs_.size());
    for (std::size_t row = 0; row < spans_.size() && !runs_.empty(); ++row) {
      if (what(row) != What::node || spans_.instance[row] >= lasts.size()) continue;
      Last& last = lasts[spans_.instance[row]];
      const std::int64_t end = interval_of(spans_, row).end;
      if (end >= last.end) last = {end, spans_.op[row]};
    }
    std::map<OpId, std::size_t> ended_by;
    for (const Last& last : lasts) ended_by[last.op] += last.op != OpId::none;
    const auto most =
        std::ranges::max_element(ended_by, {}, [](const auto& each) { return each.second; });
    if (most == ended_by.end() || most->second * 2 <= runs_.size()) return;
    std::vector<bool> ends(runs_.size(), false);
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      const bool is_end = spans_.op[row] == most->first && spans_.instance[row] < ends.size();
      if (is_end) ends[spans_.instance[row]] = true;
    }
    const auto short_runs = std::uint64_t(std::ranges::count(ends, false));
    if (short_runs == 0) return;
    note(
        Severity::warning, short_runs,
        fmt::format("runs without '{}', with which the others end, as a run that fails is; medians "
                    "count them",
                    profile_.text(profile_.ops[index_of(most->first)].name)));
  }

  void note(Severity severity, std::uint64_t count, std::string message) {
    const auto& files = profile_.provenance.files;
    profile_.notes.push_back(
        {severity, files.empty() ? "" : files.front(), 0, std::move(message), count});
  }

  Profile& profile_;
  Spans& spans_;
  std::vector<What> what_;  // by op
  std::vector<Run> runs_;
  std::map<std::uint32_t, std::vector<Run>> by_unit_;
  std::vector<std::string> providers_;
  std::uint64_t lost_ = 0, parts_of_model_ = 0;
};

}  // namespace

bool is_session(const Profile& profile) {
  bool has_frame = false, has_begin = false, has_node = false;
  for (const Op& op : profile.ops) {
    const What is = what_is(profile, op);
    has_begin |= is == What::setting_up;
    has_frame |= is == What::run || is == What::frame;
    has_node |= is == What::node;
  }
  return has_begin || (has_frame && has_node);
}

void make_session(Profile& profile) { Session(profile).make(); }

}  // namespace npuscope::onnxruntime
