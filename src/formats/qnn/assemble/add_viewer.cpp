#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "formats/qnn/assemble/assembly.hpp"
#include "ingest/units.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/number_names.hpp"

namespace npuscope::qnn {
namespace {

class ViewerAssembler {
 public:
  ViewerAssembler(Assembly& assembly, const ViewerOutput& output)
      : assembly_(assembly), profile_(assembly.profile), output_(output) {}

  void assemble() {
    const bool no_timeline = profile_.spans.size() == 0 && profile_.phases.empty();
    if (no_timeline) {
      profile_.base_clock = profile_.add_clock("nanoseconds", ClockKind::wall, Hertz{1e9});
      add_units();
    }
    find_nodes();
    is_emulated_ = is_emulated(output_);
    add_dispatch_overhead();
    add_sums_of_graphs();
    // Executes are what a profile is read for, and of them the whole call.
    for (const Rank rank : {Rank::call, Rank::execute, Rank::once}) {
      for (const ViewerEvent& event : output_.events) {
        if (rank_of(event) != rank) continue;
        event.node ? add_node(event) : add_measure(event);
      }
    }
    if (no_timeline) {
      add_phases();
      add_provenance();
    }
  }

 private:
  std::string_view text(StringId id) const { return output_.strings[id]; }

  void add_units() {
    const auto add = [&](std::string_view name, Engine engine) {
      return add_unit(profile_, {.engine = engine, .name = assembly_.intern(name)});
    };
    host_ = add("host", Engine::host);
    accelerator_ = assembly_.device != UnitId::none ? assembly_.device : add("HTP", Engine::device);
  }

  ClockId clock_of(ViewerUnit unit) {
    if (unit == ViewerUnit::cycles) return assembly_.cycles;
    if (unit == ViewerUnit::ticks) return assembly_.timer();
    return assembly_.microseconds();
  }

  // Cycles are summed over all threads; a critical path's are not.
  static MeasureKind kind_of(ViewerUnit unit, std::string_view label) {
    if (unit == ViewerUnit::cycles) {
      return label.find("critical path") != std::string_view::npos ? MeasureKind::dominant_path
                                                                   : MeasureKind::work;
    }
    if (unit == ViewerUnit::microseconds || unit == ViewerUnit::ticks) return MeasureKind::wall;
    return MeasureKind::count;
  }

  std::string full_label(const ViewerEvent& event) const {
    if (event.is_estimated) return fmt::format("estimate: {}", text(event.label));
    return event.section == StringId::empty
               ? std::string(text(event.label))
               : fmt::format("{}: {}", text(event.section), text(event.label));
  }

  static NamedNumber over_all(NamedNumber number, const ViewerEvent& event, std::string& name) {
    constexpr std::pair<Statistic, const char*> words[] = {
        {Statistic::mean, ", mean"}, {Statistic::min, ", min"}, {Statistic::max, ", max"}};
    for (const auto& [statistic, word] : words) {
      if (event.statistic != statistic) continue;
      name = fmt::format("{}{}", number.name, word);
      return number.over_many(name, statistic);
    }
    return number;
  }

  Origin origin_of(const ViewerEvent& event) const {
    if (event.is_estimated) return Origin::estimated;
    return is_emulated_ && event.execute != ViewerEvent::outside ? Origin::simulated
                                                                 : Origin::measured;
  }

  // "Mode", "HTP ID": rows above others, which are written as times of 0.
  static bool is_heading(const ViewerEvent& event) {
    return event.is_estimated && event.unit == ViewerUnit::microseconds && event.value == 0;
  }

  static std::uint32_t instance_of(const ViewerEvent& event) {
    return event.execute == ViewerEvent::outside ? every_instance : event.execute;
  }

  // The labels are the vendor's: what those of an execute mean is known of some, of the others what
  // their words and units say.
  NamedNumber number_of(const ViewerEvent& event, MeasureKind kind, std::string_view name) const {
    static constexpr std::pair<std::string_view, NumberRole> roles[] = {
        {whole_call, NumberRole::qnn_execute},
        {"RPC (execute) time", NumberRole::rpc_execute},
        {"QNN accelerator (execute) time", NumberRole::qnn_accelerator_execute},
        {"Accelerator (execute) time", NumberRole::accelerator_execute},
        {"Accelerator (execute excluding wait) time", NumberRole::accelerator_execute_alone},
        {"Number of HVX threads used", NumberRole::hvx_threads}};
    NamedNumber number = number_named(kind, name);
    if (event.unit == ViewerUnit::bytes) number.meaning.quantity = NumberQuantity::bytes;
    if (event.unit == ViewerUnit::rate) {
      number.meaning = number::stated_rate.meaning;
    }
    const std::string_view label = text(event.label);
    if (event.is_estimated) {
      number.meaning.role = role_of_estimate(label);
      return number;
    }
    for (const auto& [known, role] : roles) {
      if (event.section == StringId::empty && label == known) number.meaning.role = role;
    }
    if (kind == MeasureKind::work && label.find("(execute") != label.npos) {
      number.meaning.role = NumberRole::execute_cycles;
    }
    return number;
  }

  void add_measure(const ViewerEvent& event) {
    if (!event.value) {
      if (text(event.label) == "Unknown event type") optrace_ = true;  // the trace's own blob
      return;
    }
    if (is_heading(event)) return;
    const bool is_estimated_wall = event.is_estimated && event.unit == ViewerUnit::cycles;
    const MeasureKind kind =
        is_estimated_wall ? MeasureKind::wall : kind_of(event.unit, text(event.label));
    linting_ |= kind == MeasureKind::dominant_path;
    const std::string label = full_label(event);
    std::string name;
    profile_.add_measure(Measure::Subject::profile, 0,
                         over_all(number_of(event, kind, label), event, name), origin_of(event),
                         kind == MeasureKind::count ? ClockId{} : clock_of(event.unit),
                         double(*event.value) + event.decimals, instance_of(event));
  }

  enum class Rank : std::uint8_t { call, execute, once };

  Rank rank_of(const ViewerEvent& event) const {
    if (event.execute == ViewerEvent::outside) return Rank::once;
    return text(event.label) == whole_call ? Rank::call : Rank::execute;
  }

  // What the host's call takes beyond what the run trace shows of it on the accelerator.
  void add_dispatch_overhead() {
    std::map<std::uint32_t, double> on_accelerator;  // microseconds by inference
    for (const Phase& phase : profile_.phases) {
      if (profile_.text(phase.name) != "QNN DSP Execute" || phase.microseconds < 0) continue;
      on_accelerator.try_emplace(phase.instance, phase.microseconds);
    }
    for (const ViewerEvent& event : output_.events) {
      const auto inner = on_accelerator.find(event.execute);
      if (inner == on_accelerator.end() || !event.value || event.node) continue;
      if (text(event.label) != whole_call) continue;
      profile_.add_measure(Measure::Subject::profile, 0, number::dispatch, Origin::derived,
                           assembly_.microseconds(), double(*event.value) - inner->second,
                           event.execute);
    }
  }

  void add_sums_of_graphs() {
    for (std::uint32_t inference = 0; inference < output_.of_all_graphs.size(); ++inference) {
      profile_.add_measure(Measure::Subject::profile, 0, number::all_graphs, Origin::derived,
                           assembly_.microseconds(), double(output_.of_all_graphs[inference]),
                           inference);
    }
  }

  // Of a summary without instances nodes are ops already.
  void find_nodes() {
    for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) {
      if (profile_.ops[op].kind == StringId::empty) {
        known_nodes_.try_emplace(profile_.ops[op].node, OpId{op});
      }
    }
  }

  // Nodes of the QNN graph stand beside the HTP ops of a trace, as ops without spans.
  void add_node(const ViewerEvent& event) {
    // What is of all executes is of what each of them says.
    if (event.statistic != Statistic::none && output_.executes > 0) return;
    const std::uint64_t key = std::uint64_t(*event.node) << 32 | std::uint64_t(event.node_name);
    const auto [place, is_new] =
        node_ops_.try_emplace(key, OpId(std::uint32_t(profile_.ops.size())));
    if (is_new) {
      const StringId name = assembly_.intern(text(event.node_name));
      const auto known = known_nodes_.find(name);
      if (known != known_nodes_.end()) {
        place->second = known->second;
      } else {
        Op added;
        added.name = added.node = name;
        added.position = std::uint32_t(profile_.ops.size());
        profile_.ops.push_back(added);
      }
      if (*event.node != ViewerEvent::no_id) {
        profile_.ops[index_of(place->second)].id = *event.node;
      }
    }
    Op& op = profile_.ops[index_of(place->second)];
    if (op.node_kind == StringId::empty && event.sources != StringId::empty) {
      op.node_kind = assembly_.intern(kinds_in(text(event.sources)));
    }
    const bool is_node_itself = event.label == event.node_name;
    nodes_ = true;
    linting_ |= !is_node_itself;
    if (!event.value) {
      if (text(event.label) == "Resources") take_resources(op, text(event.value_text));
      return;
    }
    const MeasureKind kind = kind_of(event.unit, "");
    const std::string_view name = is_node_itself ? number::node_cycles.name : text(event.label);
    NamedNumber number = number_of(event, kind, name);
    if (is_node_itself) number.meaning.role = number::node_cycles.meaning.role;
    std::string longer;
    if (event.statistic != Statistic::mean) number = over_all(number, event, longer);
    profile_.add_measure(Measure::Subject::op, index_of(place->second), number, origin_of(event),
                         kind == MeasureKind::count ? ClockId{} : clock_of(event.unit),
                         double(*event.value), instance_of(event));
  }

  // "Conv:conv_a;Relu:relu_a" as "Conv, Relu"; of names alone nothing.
  static std::string kinds_in(std::string_view sources) {
    std::string kinds;
    while (!sources.empty()) {
      const std::size_t length = std::min(sources.find_first_of(";,"), sources.size());
      const std::string_view source = sources.substr(0, length);
      const std::size_t colon = source.find(':');
      if (colon != source.npos && colon > 0) {
        if (!kinds.empty()) kinds += ", ";
        kinds += source.substr(0, colon);
      }
      sources.remove_prefix(std::min(length + 1, sources.size()));
    }
    return kinds;
  }

  // "HVX, HMX, DMA": what a node uses; a node is counted under the scarcest.
  void take_resources(Op& op, std::string_view words) {
    op.attributes = assembly_.intern(words);
    const auto has = [&](std::string_view word) { return words.find(word) != words.npos; };
    op.engine = has("HMX")   ? Engine::hmx
                : has("HVX") ? Engine::hvx
                : has("DMA") ? Engine::dma
                             : Engine::other;
  }

  // --- phases of their own

  // When things happened is not printed, only how long they took: sections and executes follow one
  // another, and what is in one begins with it unless its order is known.
  void add_phases() {
    std::int64_t now = add_sections(0, false);
    for (std::uint32_t execute = 0; execute < output_.executes; ++execute) {
      now = add_execute(execute, now);
    }
    add_sections(now, true);
    assembly_.losses.add(Severity::info, 0,
                         "only lengths are printed: phases are placed one after the other");
  }

  static bool is_deinit(std::string_view section) {
    return section.starts_with("De-Init") || section.find("DEINIT") != std::string_view::npos;
  }

  // Something that happened once: neither an estimate nor what all executes together were.
  static bool is_of_run(const ViewerEvent& event) {
    return !event.is_estimated && event.statistic == Statistic::none;
  }

  // The parts of a section that come below the whole follow one another.
  std::int64_t add_sections(std::int64_t begin, bool deinit) {
    std::int64_t end = begin, next_part = begin;
    std::optional<StringId> section;
    bool has_whole = false;
    group_.clear();
    for (const ViewerEvent& event : output_.events) {
      if (event.execute != ViewerEvent::outside || event.node || !is_of_run(event)) continue;
      if (is_deinit(text(event.section)) != deinit) continue;
      if (section != event.section) {
        add_parents();
        section = event.section;
        begin = next_part = end;
        has_whole = false;
      }
      has_whole |= event.level == 0;
      const bool part = event.level > 0 && has_whole;
      const std::int64_t done = add_phase(event, part ? next_part : begin);
      if (part) next_part = done;
      end = std::max(end, done);
    }
    add_parents();
    return end;
  }

  std::int64_t add_execute(std::uint32_t execute, std::int64_t now) {
    const std::size_t first = next_event_;
    std::size_t last = first;
    while (last < output_.events.size()) {
      const ViewerEvent& event = output_.events[last];
      if (event.execute != ViewerEvent::outside && event.execute > execute) break;
      ++last;
    }
    next_event_ = last;
    const auto length_of = [&](std::string_view label) {
      for (std::size_t i = first; i < last; ++i) {
        const ViewerEvent& event = output_.events[i];
        if (event.execute == execute && !event.node && text(event.label) == label) {
          return nanoseconds_of(event).value_or(0);
        }
      }
      return std::int64_t{0};
    };
    const std::int64_t vtcm = length_of("Time for initial VTCM acquire");
    const std::int64_t waiting = length_of("Accelerator (execute) time") -
                                 length_of("Accelerator (execute excluding wait) time");
    std::int64_t end = now;
    for (std::size_t i = first; i < last; ++i) {
      const ViewerEvent& event = output_.events[i];
      if (event.execute != execute || event.node) continue;
      const std::string_view label = text(event.label);
      std::int64_t start = now;
      // As RUN_TRACE shows it: first VTCM is acquired, then power, then the graph executes.
      if (label == "Time for HVX + HMX power on and acquire") start = saturating_add(now, vtcm);
      if (label == "Accelerator (execute excluding wait) time") {
        start = saturating_add(now, std::max<std::int64_t>(waiting, 0));
      }
      end = std::max(end, add_phase(event, start));
    }
    add_parents();
    return end;
  }

  // None for what is no time or absurdly long.
  static std::optional<std::int64_t> nanoseconds_of(const ViewerEvent& event) {
    const auto microseconds = microseconds_of(event);
    if (!microseconds || *microseconds > 9e12) return std::nullopt;
    return std::int64_t(std::llround(*microseconds * 1e3));
  }

  static std::optional<double> microseconds_of(const ViewerEvent& event) {
    if (!event.value) return std::nullopt;
    if (event.unit == ViewerUnit::ticks) return double(*event.value) / timer_megahertz;
    if (event.unit == ViewerUnit::microseconds) return double(*event.value);
    return std::nullopt;
  }

  // Its end; `start` for what is no time.
  std::int64_t add_phase(const ViewerEvent& event, std::int64_t start) {
    const auto nanoseconds = nanoseconds_of(event);
    if (!nanoseconds) return start;
    Phase phase;
    phase.name = assembly_.intern(full_label(event));
    phase.instance = event.execute == ViewerEvent::outside ? 0 : event.execute;
    phase.unit = is_of_host(text(event.label)) ? host_ : accelerator_;
    phase.start = start;
    phase.duration = *nanoseconds;
    phase.microseconds = *microseconds_of(event);
    phase.parent = outermost_phase;
    group_.push_back({std::uint32_t(profile_.phases.size()), event.level,
                      layer_of(text(event.label)), call_of(text(event.label))});
    profile_.phases.push_back(phase);
    return saturating_add(start, phase.duration);
  }

  // --- what is part of what: the times are made up and cannot tell

  // A phase of the section or execute that is being put.
  struct Member {
    std::uint32_t phase = 0;
    std::uint32_t level = 0;
    std::uint32_t layer = 0;  // of the software, from the host's call inwards
    std::string_view call;    // "execute", "load binary"; empty: any
  };

  static constexpr std::uint32_t no_layer = ~std::uint32_t{0};

  // "Backend (QNN accelerator (load binary) time)" and the like. What an accelerator's time is made
  // of is its innermost layer.
  static std::uint32_t layer_of(std::string_view label) {
    const auto has = [&](std::string_view word) { return label.find(word) != label.npos; };
    if (label == "NetRun") return 0;
    if (label.starts_with("Time for ") || has("excluding wait)")) return 5;
    if (has("QNN accelerator (") || has("QNN Accelerator (")) return 3;
    if (has("Accelerator (")) return 4;
    if (has("RPC (")) return 2;
    if (has("QNN (")) return 1;
    return no_layer;
  }

  static std::string_view call_of(std::string_view label) {
    if (label.starts_with("Time for ")) return "execute";
    const std::size_t begin = label.rfind('(');
    if (begin == label.npos) return {};
    const std::string_view inner = label.substr(begin + 1);
    return inner.substr(0, std::min(inner.find(')'), inner.find(" excluding wait")));
  }

  void add_parents() {
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (const Member* whole = whole_of(i)) {
        profile_.phases[group_[i].phase].parent = whole->phase;
      }
    }
    group_.clear();
  }

  // A part follows its whole one level up; of one level the nearest layer further out is the whole.
  const Member* whole_of(std::size_t part) const {
    const Member& inner = group_[part];
    for (std::size_t i = part; i-- > 0;) {
      if (group_[i].level < inner.level) return &group_[i];
    }
    const Member* nearest = nullptr;
    for (const Member& outer : group_) {
      const bool same_call = outer.call.empty() || outer.call == inner.call;
      if (inner.layer == no_layer || outer.layer >= inner.layer || !same_call) continue;
      if (nearest == nullptr || outer.layer > nearest->layer) nearest = &outer;
    }
    return nearest;
  }

  static bool is_of_host(std::string_view label) {
    constexpr std::array<std::string_view, 3> on_accelerator{"ccelerator", "VTCM", "HVX"};
    return std::none_of(on_accelerator.begin(), on_accelerator.end(), [&](std::string_view word) {
      return label.find(word) != std::string_view::npos;
    });
  }

  void add_provenance() {
    Provenance& provenance = profile_.provenance;
    provenance.instrumentation = linting_   ? "linting"
                                 : optrace_ ? "optrace"
                                 : nodes_   ? "detailed"
                                            : "basic";
    if (is_emulated_) {
      provenance.device = "HTP, emulated on the host";
      assembly_.losses.add(Severity::warning, 0,
                           "executes were emulated on the host (0 HVX threads, no RPC rows): times "
                           "and cycles are the emulation's, not the NPU's");
    }
    if (linting_) {
      assembly_.losses.add(Severity::warning, 0,
                           "linting slows execution down many times: structure, not speed");
    }
  }

  Assembly& assembly_;
  Profile& profile_;
  const ViewerOutput& output_;
  bool linting_ = false, optrace_ = false, nodes_ = false, is_emulated_ = false;
  UnitId host_ = UnitId::none, accelerator_ = UnitId::none;
  std::unordered_map<std::uint64_t, OpId> node_ops_;  // by OpId and name
  std::unordered_map<StringId, OpId> known_nodes_;
  std::size_t next_event_ = 0;
  std::vector<Member> group_;
};

}  // namespace

void add_viewer(Assembly& assembly, const ViewerOutput& output) {
  ViewerAssembler(assembly, output).assemble();
}

}  // namespace npuscope::qnn
