#include "formats/qnn/assemble/assembly.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "ingest/units.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/owned_time.hpp"

namespace npuscope::qnn {

ClockId Assembly::microseconds() {
  if (!microsecond_clock)
    microsecond_clock = profile.add_clock("microseconds", ClockKind::wall, Hertz{1e6});
  return *microsecond_clock;
}

ClockId Assembly::timer() {
  if (!timer_clock)
    timer_clock = profile.add_clock("QTimer", ClockKind::timer, Hertz{timer_megahertz * 1e6});
  return *timer_clock;
}

UnitId Assembly::core_unit(std::uint32_t core) {
  if (device == UnitId::none) {
    device = add_unit(profile, {.engine = Engine::device, .name = intern("HTP")});
  }
  if (cores.size() <= core) cores.resize(core + 1, UnitId::none);
  if (cores[core] == UnitId::none) {
    cores[core] = add_unit(profile, {.core = core,
                                     .engine = Engine::core,
                                     .name = intern(fmt::format("core {}", core)),
                                     .parent = device});
  }
  return cores[core];
}

UnitId Assembly::lane_unit(std::uint32_t core, std::int64_t tid, std::string_view type,
                           Engine engine) {
  const UnitId parent = core_unit(core);
  const auto [place, is_new] = lanes.try_emplace({core, tid}, UnitId::none);
  if (!is_new) return place->second;
  const std::string name = fmt::format("{} {}", type.empty() ? "lane" : printable(type), tid);
  return place->second = add_unit(profile, {.core = core,
                                            .engine = engine,
                                            .lane = std::uint32_t(tid),
                                            .name = intern(name),
                                            .parent = parent});
}

std::optional<OpId> Assembly::find_op(std::uint32_t core, std::uint64_t id) const {
  if (core >= ops.size()) return std::nullopt;
  const auto place = ops[core].find(id);
  return place == ops[core].end() ? std::nullopt : std::optional(place->second);
}

std::optional<OpId> Assembly::find_op(std::uint64_t id) const {
  for (std::uint32_t core = 0; core < ops.size(); ++core) {
    if (const auto op = find_op(core, id)) return op;
  }
  return std::nullopt;
}

Tensor& Assembly::tensor(std::uint64_t id) {
  const auto [place, is_new] = tensors.try_emplace(id, profile.tensors.size());
  if (is_new) profile.tensors.emplace_back().id = id;
  return profile.tensors[place->second];
}

void Assembly::add_use(std::uint64_t tensor_id, OpId consumer) {
  tensor(tensor_id);
  profile.tensor_uses.push_back({tensors.at(tensor_id), consumer});
}

Bytes Assembly::bytes_of(ShapeId shape, StringId type) const {
  constexpr std::int64_t max = std::int64_t{1} << 50;
  const std::int64_t bits = bits_of_type(profile.text(type));
  if (bits == 0 || shape == ShapeId::none) return {0};
  std::int64_t elements = 1;
  for (const std::int64_t extent : profile.shapes[shape]) {
    if (elements > max / extent) return {0};
    elements *= extent;
  }
  return {(elements * bits + 7) / 8};
}

void add_inputs(Assembly& assembly, OpId consumer, std::uint32_t core,
                std::vector<std::uint64_t> inputs) {
  // An op may read several pieces of one tensor: its id is then there several times.
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  for (const std::uint64_t id : inputs) {
    assembly.add_use(id, consumer);
    auto producer = assembly.find_op(core, id);
    if (!producer) producer = assembly.find_op(id);
    if (producer) assembly.profile.edges.push_back({*producer, consumer, EdgeKind::data});
  }
}

Column<std::int64_t> dominant_path_of_spans(const Profile& profile) {
  Column<std::int64_t> cycles;
  cycles.assign(profile.spans.size(), 0);
  for (const CoreOwners& of_core : dominant_path_of(profile)) {
    for (const OwnedTime& time : of_core.times) {
      if (time.owner != OwnedTime::idle) cycles[time.owner] += time.end - time.start;
    }
  }
  return cycles;
}

void add_dominant_path(Assembly& assembly) {
  Profile& profile = assembly.profile;
  MeasureColumn column = profile.column_of(number::dominant_path, Origin::derived, assembly.cycles);
  column.values = dominant_path_of_spans(profile);
  profile.spans.measures.push_back(std::move(column));
}

std::string graph_of(const ArtifactSet& set) {
  if (const auto* run = set.find<RunTrace>(); run != nullptr && !run->graph.empty()) {
    return run->graph;
  }
  if (const auto* qhas = set.find<Qhas>(); qhas != nullptr && !qhas->model_id.empty()) {
    return qhas->model_id;
  }
  if (const auto* estimate = set.find<Estimate>();
      estimate != nullptr && !estimate->graph.empty()) {
    return estimate->graph;
  }
  if (const auto* schematic = set.find<Schematic>()) return schematic->name;
  const auto* viewer = set.find<ViewerOutput>();
  return viewer != nullptr ? viewer->graph : std::string();
}

namespace {

Provenance::Temperature temperature_of(const Provenance& provenance) {
  if (provenance.inferences == 0) return Provenance::Temperature::unknown;
  return provenance.inferences == 1 ? Provenance::Temperature::cold
                                    : Provenance::Temperature::cold_then_warm;
}

// What a compiler says of a graph without running it.
void describe_estimate(Provenance& provenance, const ArtifactSet& set) {
  const auto* estimate = set.find<Estimate>();
  const auto* graph = set.find<HtpGraph>();
  const bool has_run = set.find<OpTrace>() != nullptr || set.find<RunTrace>() != nullptr ||
                       set.find<ViewerOutput>() != nullptr || set.find<Qhas>() != nullptr ||
                       (graph != nullptr && graph->origin == Origin::measured);
  if (has_run) return;
  provenance.times = Origin::estimated;
  const bool is_estimate = estimate != nullptr || set.find<EstimateRows>() != nullptr;
  if (is_estimate) provenance.instrumentation = "host estimate";
  if (is_estimate) provenance.format = std::string(name_of(Kind::estimate));
  if (!is_estimate && set.find<Schematic>() != nullptr) {
    provenance.format = std::string(name_of(Kind::schematic));
  }
  if (estimate == nullptr) return;
  if (!estimate->soc.empty()) provenance.device = "HTP of " + estimate->soc;
  if (!estimate->version.empty()) provenance.version = "estimator " + printable(estimate->version);
}

void add_provenance(Assembly& assembly, const ArtifactSet& set) {
  Provenance& provenance = assembly.profile.provenance;
  const auto add_version = [&](std::string_view what, const std::string& version) {
    if (version.empty()) return;
    if (!provenance.version.empty()) provenance.version += ", ";
    provenance.version += fmt::format("{} {}", what, printable(version));
  };
  for (const Artifact& artifact : set.artifacts) {
    const bool leads = artifact.get<Estimate>() != nullptr;  // what a page is about
    provenance.files.insert(leads ? provenance.files.begin() : provenance.files.end(),
                            artifact.file());
  }
  const auto* trace = set.find<OpTrace>();
  const auto* qhas = set.find<Qhas>();
  const auto* run = set.find<RunTrace>();
  const auto* graph = set.find<HtpGraph>();
  const auto* viewer = set.find<ViewerOutput>();
  if (trace != nullptr) add_version("OP_TRACE", trace->version);
  if (run != nullptr) add_version("RUN_TRACE", run->version);
  if (graph != nullptr) add_version("HTP_GRAPH", graph->version);
  if (qhas != nullptr) add_version("QHAS", qhas->version);
  if (viewer != nullptr) add_version("backend", viewer->version);
  provenance.graph = printable(graph_of(set));
  provenance.graph_is_numbered =
      viewer != nullptr && !viewer->has_graph_name && provenance.graph == viewer->graph;
  if (provenance.device.empty()) provenance.device = "HTP";
  provenance.platform = Provenance::Platform::hexagon;
  provenance.format = set.artifacts.size() == 1 ? std::string(name_of(set.artifacts.front().kind))
                                                : std::string("QNN HTP optrace set");
  if (trace != nullptr || qhas != nullptr || run != nullptr) provenance.instrumentation = "optrace";
  const bool is_estimate = qhas != nullptr && qhas->is_estimate();
  if (is_estimate && trace == nullptr) provenance.instrumentation = "host estimate";
  if (trace != nullptr || (qhas != nullptr && !is_estimate)) provenance.inferences = 1;
  if (run != nullptr) provenance.inferences = run->inferences;
  if (viewer != nullptr) provenance.inferences = std::max(provenance.inferences, viewer->executes);
  provenance.temperature = temperature_of(provenance);
  describe_estimate(provenance, set);
}

// Numbers of each inference are what a profile is read for: they come before those of the whole
// run.
void add_inferences_first(std::vector<Measure>& measures) {
  std::stable_partition(measures.begin(), measures.end(), [](const Measure& measure) {
    return measure.subject == Measure::Subject::profile && measure.instance != every_instance;
  });
}

// The tables have grown row by row; what they grew beyond is given back.
void release_room(Profile& profile) {
  profile.ops.shrink_to_fit();
  profile.measures.shrink_to_fit();
  profile.edges.shrink_to_fit();
  profile.flows.shrink_to_fit();
  profile.tensors.shrink_to_fit();
  profile.tensor_uses.shrink_to_fit();
  profile.counters.of.shrink_to_fit();
  profile.counters.time.shrink_to_fit();
  profile.counters.value.shrink_to_fit();
}

}  // namespace

Profile assemble(ArtifactSet&& set) {
  Assembly assembly;
  for (const Artifact& artifact : set.artifacts) {
    // What is noted of the set is mostly of its trace.
    if (artifact.kind == Kind::op_trace || assembly.losses.file().empty()) {
      assembly.losses = CountedNotes(artifact.file());
    }
  }
  auto* trace = set.find<OpTrace>();
  auto* estimate = set.find<Estimate>();
  if (estimate != nullptr) assembly.profile.strings = std::move(estimate->events.strings);
  // The trace's strings become the profile's: they come before all others.
  if (trace != nullptr) assembly.profile.strings = std::move(trace->events.strings);
  assembly.cycles = assembly.profile.add_clock("PCYCLE", ClockKind::unit_cycles, Hertz{0});
  assembly.profile.base_clock = assembly.cycles;
  if (trace != nullptr) add_op_trace(assembly, *trace);
  if (estimate != nullptr) add_estimate(assembly, *estimate);
  if (const auto* rows = set.find<EstimateRows>()) add_estimate_rows(assembly, *rows);
  if (const auto* qhas = set.find<Qhas>()) add_qhas(assembly, *qhas);
  if (const auto* graph = set.find<HtpGraph>()) add_graph(assembly, *graph);
  if (const auto* schematic = set.find<Schematic>()) {
    add_graph(assembly, schematic->graph);
    add_schematic(assembly, *schematic);
  }
  if (const auto* framework = set.find<FrameworkTrace>()) {
    add_framework_trace(assembly, *framework, graph_of(set));
  }
  if (const auto* run = set.find<RunTrace>()) add_run_trace(assembly, *run);
  if (const auto* viewer = set.find<ViewerOutput>()) add_viewer(assembly, *viewer);
  add_inferences_first(assembly.profile.measures);
  add_provenance(assembly, set);
  for (const Artifact& artifact : set.artifacts) {
    artifact.losses.append_to(assembly.profile.notes);
  }
  assembly.losses.append_to(assembly.profile.notes);
  assembly.profile.checks = check_set(set, assembly.profile);
  release_room(assembly.profile);
  return std::move(assembly.profile);
}

}  // namespace npuscope::qnn
