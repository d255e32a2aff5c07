#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "formats/qnn/assemble/assembly.hpp"
#include "formats/qnn/read/artifact_parts.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

class QhasAssembler {
 public:
  QhasAssembler(Assembly& assembly, const Qhas& qhas)
      : assembly_(assembly), profile_(assembly.profile), qhas_(qhas) {}

  void assemble() {
    note_estimate();
    for (const QhasCore& core : qhas_.cores) add_core(core);
    add_rate();
    if (profile_.spans.size() == 0 && !qhas_.instances.empty()) add_instances();
    if (profile_.spans.size() > 0) {
      join_instances();
      if (!instance_of_.empty()) add_columns();
    } else {
      add_sums();
    }
  }

 private:
  std::string_view text(StringId id) const { return qhas_.strings[id]; }
  StringId copy(StringId id) { return assembly_.intern(text(id)); }
  static std::uint32_t core_number(std::int64_t core) {
    return std::uint32_t(std::clamp<std::int64_t>(core, 0, std::int64_t(max_cores) - 1));
  }

  void note_estimate() {
    if (!qhas_.is_estimate()) return;
    origin_ = Origin::estimated;
    profile_.provenance.device = "HTP, estimated on the host";
    assembly_.losses.add(Severity::warning, 0,
                         "time_us is 0: an estimate of the host, not an execution; cycles have no "
                         "time and no rate");
  }

  // --- totals

  void measure(Measure::Subject subject, std::uint32_t id, const NamedNumber& number, ClockId clock,
               std::int64_t value) {
    if (value == missing) return;
    profile_.add_measure(subject, id, number, origin_, clock, double(value));
  }

  void add_traffic(Measure::Subject subject, std::uint32_t id, const Traffic& traffic) {
    for (std::size_t i = 0; i < Traffic::kinds; ++i) {
      measure(subject, id, number::traffic[i], {}, traffic.bytes[i]);
    }
  }

  void add_core(const QhasCore& core) {
    const UnitId unit = assembly_.core_unit(core_number(core.core));
    const bool only = qhas_.cores.size() == 1;
    const auto subject = only ? Measure::Subject::profile : Measure::Subject::unit;
    const std::uint32_t id = only ? 0 : index_of(unit);
    measure(subject, id, number::graph_wall, assembly_.cycles, core.timeline_cycles);
    // 0 is of what never executed; what is missing is less.
    if (core.time_us > 0) {
      measure(subject, id, number::dsp_execute, assembly_.microseconds(), core.time_us);
    }
    if (core.graph_execute_us > 0) {
      measure(subject, id, number::graph_execute, assembly_.microseconds(), core.graph_execute_us);
    }
    if (std::isfinite(core.inferences_per_second) && core.inferences_per_second > 0) {
      profile_.add_measure(subject, id, number::stated_rate, origin_, {},
                           core.inferences_per_second);
    }
    add_busy(core, subject, id);
    measure(subject, id, number::peak_vtcm, {}, core.peak_vtcm_alloc);
    measure(subject, id, number::unique_qnn_ops, {}, core.unique_qnn_ops);
    measure(subject, id, number::qnn_nodes, {}, core.qnn_nodes);
    measure(subject, id, number::unique_htp_ops, {}, core.unique_htp_ops);
    measure(subject, id, number::htp_nodes, {}, core.htp_nodes);
    add_traffic(subject, id, core.traffic);
    for (const QhasResource& resource : core.resources) add_resource(core, resource);
  }

  // Without a RUN_TRACE only this says how fast PCYCLE ran: cycles of the timeline over whole
  // microseconds of Graph Execute, of which up to one is lost to rounding.
  void add_rate() {
    std::int64_t cycles = 0, microseconds = 0;
    for (const QhasCore& core : qhas_.cores) {
      if (core.timeline_cycles <= cycles || core.graph_execute_us <= 0) continue;
      cycles = core.timeline_cycles;
      microseconds = core.graph_execute_us;
    }
    if (cycles <= 0) return;
    Clock& clock = profile_.clocks[index_of(assembly_.cycles)];
    clock.derived_rate = Hertz{double(cycles) / double(microseconds) * 1e6};
    clock.derived_error = 1 / (double(microseconds) + 1);
  }

  void add_busy(const QhasCore& core, Measure::Subject subject, std::uint32_t id) {
    double work = 0;
    std::int64_t domain = missing;
    for (const QhasResource& resource : core.resources) {
      if (resource.cycles_used == missing) continue;
      work += double(resource.cycles_used);
      domain = std::max(domain, resource.cycles_used);
    }
    if (domain == missing) return;
    profile_.add_measure(subject, id, number::all_lanes, Origin::derived, assembly_.cycles, work);
    profile_.add_measure(subject, id, number::busiest_lane, Origin::derived, assembly_.cycles,
                         double(domain));
    if (core.timeline_cycles != missing && std::isfinite(core.percent_idle)) {
      const double idle = std::round(core.percent_idle / 100 * double(core.timeline_cycles));
      profile_.add_measure(subject, id, number::any_lane_busy, Origin::derived, assembly_.cycles,
                           double(core.timeline_cycles) - idle);
    }
  }

  void add_resource(const QhasCore& core, const QhasResource& resource) {
    if (resource.tid == missing) return;
    const std::string_view type = text(resource.type);
    const Engine engine = type == "HMX"   ? Engine::hmx
                          : type == "HVX" ? Engine::hvx
                          : type == "DMA" ? Engine::dma
                                          : Engine::other;
    const UnitId unit = assembly_.lane_unit(core_number(core.core), resource.tid, type, engine);
    const auto subject = Measure::Subject::unit;
    measure(subject, index_of(unit), number::lane_busy, assembly_.cycles, resource.cycles_used);
    if (std::isfinite(resource.utilization)) {
      profile_.add_measure(subject, index_of(unit), number::lane_utilization, origin_, {},
                           resource.utilization);
    }
    measure(subject, index_of(unit), number::lane_extent, assembly_.cycles,
            resource.timeline_cycles);
    add_traffic(subject, index_of(unit), resource.traffic);
  }

  // --- instances

  // The timeline of a summary that comes without its trace: the same, but for arrows and counters.
  void add_instances() {
    Spans& spans = profile_.spans;
    spans.reserve(qhas_.instances.size());
    for (const QhasInstance& instance : qhas_.instances) {
      const std::uint32_t core = core_number(instance.core);
      const std::int64_t tid = instance.tid == missing ? 0 : instance.tid;
      const UnitId lane = assembly_.lane_unit(core, tid, "", Engine::other);
      spans.add(lane, op_of(instance, core), flags_of(instance).span_kind(), instance.start_cycle,
                instance.cycles);
    }
    for (const QhasInstance& instance : qhas_.instances) {
      const std::uint32_t core = core_number(instance.core);
      const auto op = assembly_.find_op(core, instance.id);
      if (!op || linked_[index_of(*op)] || instance.inputs == 0) continue;
      linked_[index_of(*op)] = true;
      const auto first = qhas_.inputs.begin() + instance.first_input;
      add_inputs(assembly_, *op, core, {first, first + instance.inputs});
    }
    add_dominant_path(assembly_);
  }

  static OpFlags flags_of(const QhasInstance& instance) {
    OpFlags flags;
    flags.hmx = instance.hmx;
    flags.hvx = instance.hvx;
    flags.dma = instance.dma;
    flags.dma_set = instance.dma_set;
    flags.dma_wait = instance.dma_wait;
    flags.sync = instance.sync;
    return flags;
  }

  OpId op_of(const QhasInstance& instance, std::uint32_t core) {
    if (assembly_.ops.size() <= core) assembly_.ops.resize(core + 1);
    const auto [place, is_new] =
        assembly_.ops[core].try_emplace(instance.id, OpId(std::uint32_t(profile_.ops.size())));
    // Without an id nothing says that two instances are slices of one op.
    if (!is_new && instance.id != 0) return place->second;
    Op op;
    op.name = copy(instance.qnn_op != StringId::empty ? instance.qnn_op : instance.htp_op);
    op.kind = copy(instance.htp_op);
    op.node = copy(instance.qnn_op);
    op.node_kind = copy(instance.qnn_op_type);
    op.types = copy(instance.type);
    assembly_.set_shape(op, qhas_.shapes[instance.dims]);
    op.output = assembly_.bytes_of(op.extents, op.types);
    op.core = core;
    op.position = std::uint32_t(profile_.ops.size());
    op.id = instance.id;
    op.engine = flags_of(instance).engine();
    op.once_per_inference = instance.id != 0;  // an op's slices have its id
    profile_.ops.push_back(op);
    linked_.push_back(false);
    const OpId id{std::uint32_t(profile_.ops.size() - 1)};
    if (instance.id != 0 && instance.dims != ShapeId::none) {
      Tensor& tensor = assembly_.tensor(instance.id);
      tensor.name = op.node;
      tensor.shape = op.shape;
      tensor.extents = op.extents;
      tensor.type = op.types;
      tensor.size = op.output;
      tensor.producer = id;
    }
    return id;
  }

  // An op's id does not tell its slices apart, lane and start do.
  void join_instances() {
    if (qhas_.instances.empty()) return;
    struct Place {
      std::uint32_t core;
      std::int64_t tid;
      std::int64_t start;
      std::uint32_t index;
      bool before(const Place& other) const {
        return std::tie(core, tid, start) < std::tie(other.core, other.tid, other.start);
      }
      bool operator<(const Place& other) const {
        return before(other) || (!other.before(*this) && index < other.index);
      }
    };
    std::vector<Place> spans, instances;
    for (std::uint32_t i = 0; i < profile_.spans.size(); ++i) {
      const Unit& unit = profile_.units[index_of(profile_.spans.unit[i])];
      spans.push_back({unit.core, unit.lane, profile_.spans.start[i], i});
    }
    for (std::uint32_t i = 0; i < qhas_.instances.size(); ++i) {
      const QhasInstance& instance = qhas_.instances[i];
      const std::int64_t tid = instance.tid == missing ? 0 : instance.tid;
      instances.push_back({core_number(instance.core), tid, instance.start_cycle, i});
    }
    std::sort(spans.begin(), spans.end());
    std::sort(instances.begin(), instances.end());
    instance_of_.assign(profile_.spans.size(), nullptr);
    std::size_t joined = 0;
    for (std::size_t a = 0, b = 0; a < spans.size() && b < instances.size();) {
      if (spans[a].before(instances[b])) {
        ++a;
      } else if (instances[b].before(spans[a])) {
        ++b;
      } else {
        instance_of_[spans[a++].index] = &qhas_.instances[instances[b++].index];
        ++joined;
      }
    }
    if (joined < instances.size()) {
      assembly_.losses.add(Severity::warning, 0,
                           "instances of QHAS that the op trace does not have",
                           instances.size() - joined);
    }
    if (joined < spans.size()) {
      assembly_.losses.add(Severity::warning, 0, "ops of the trace that QHAS does not have",
                           spans.size() - joined);
    }
  }

  MeasureColumn& column(const NamedNumber& number, Origin origin, ClockId clock) {
    MeasureColumn added = profile_.column_of(number, origin, clock);
    for (MeasureColumn& known : profile_.spans.measures) {
      if (known.what == added.what) return known;
    }
    added.values.assign(profile_.spans.size(), missing);
    profile_.spans.measures.push_back(std::move(added));
    return profile_.spans.measures.back();
  }

  void add_columns() {
    add_packets();
    add_measured_path();
    for (std::size_t kind = 0; kind < Traffic::kinds; ++kind) {
      MeasureColumn& bytes = column(number::traffic[kind], Origin::measured, {});
      for (std::size_t i = 0; i < instance_of_.size(); ++i) {
        if (instance_of_[i]) bytes.values[i] = instance_of_[i]->traffic.bytes[kind];
      }
    }
    add_memory();
  }

  void add_packets() {
    MeasureColumn& packets = column(number::packets, Origin::derived, {});
    for (std::size_t i = 0; i < instance_of_.size(); ++i) {
      if (!instance_of_[i]) continue;
      packets.values[i] = packets_of(instance_of_[i]->cycles, instance_of_[i]->cycles_per_packet);
    }
  }

  // The viewer's own share counts where it has one; it says the same as the rule, or the rule has
  // changed.
  void add_measured_path() {
    MeasureColumn& path = column(number::dominant_path, Origin::derived, assembly_.cycles);
    std::uint64_t known = 0, different = 0;
    for (std::size_t i = 0; i < instance_of_.size(); ++i) {
      if (!instance_of_[i] || instance_of_[i]->dominant_path == missing) continue;
      ++known;
      if (path.values[i] == instance_of_[i]->dominant_path) continue;
      ++different;
      path.values[i] = instance_of_[i]->dominant_path;
    }
    if (known == instance_of_.size()) path.origin = Origin::measured;
    if (different == 0) return;
    assembly_.losses.add(Severity::warning, 0,
                         "dominant path differs from what the ownership rule gives; QHAS is taken",
                         different);
  }

  void add_memory() {
    for (std::size_t i = 0; i < instance_of_.size(); ++i) {
      if (!instance_of_[i]) continue;
      Op& op = profile_.ops[index_of(profile_.spans.op[i])];
      if (op.memory == StringId::empty) {
        op.memory = assembly_.intern(written_memory(instance_of_[i]->traffic));
      }
    }
  }

  // --- sums, where there are no instances

  // A summary without instances: its nodes are the ops, its types numbers of the profile. They
  // count the same cycles, so only one of the tables can be.
  void add_sums() {
    for (const QhasSum& node : qhas_.qnn_nodes) {
      Op op;
      op.name = op.node = copy(node.op);
      op.node_kind = copy(node.op_type);
      op.position = std::uint32_t(profile_.ops.size());
      const auto id = std::uint32_t(profile_.ops.size());
      profile_.ops.push_back(op);
      const auto subject = Measure::Subject::op;
      measure(subject, id, number::cycles, assembly_.cycles, node.cycles);
      for (const std::int64_t path : node.dominant_path) {
        measure(subject, id, number::dominant_path, assembly_.cycles, path);
      }
      measure(subject, id, number::htp_ops, {}, node.parts);
      add_traffic(subject, id, node.traffic);
    }
    add_unlisted();
    add_types("QNN op type", qhas_.qnn_types);
    add_types("HTP op type", qhas_.htp_types);
  }

  // The table of nodes holds the first ten by default, the totals are of all: what is left of a
  // type, and of all types, is an op too, so that ops add up to what the file states.
  void add_unlisted() {
    SumOfParts of_types;
    std::map<StringId, SumOfParts> listed;  // by type
    for (const QhasSum& node : qhas_.qnn_nodes) listed[node.op_type].add(SumOfParts(node));
    for (const QhasSum& type : qhas_.qnn_types) {
      SumOfParts rest(type);
      of_types.add(rest);
      const auto nodes = listed.find(type.op);
      const bool is_listed = nodes != listed.end();
      if (is_listed) rest.subtract(nodes->second);
      add_rest(fmt::format("{}{} nodes", is_listed ? "other " : "", text(type.op)), copy(type.op),
               rest);
    }
    const QhasCore* core = qhas_.cores.size() == 1 ? &qhas_.cores.front() : nullptr;
    const bool lacks_types = core != nullptr && core->unique_qnn_ops != missing &&
                             core->unique_qnn_ops > std::int64_t(qhas_.qnn_types.size());
    if (!lacks_types || qhas_.qnn_types.empty()) return;
    SumOfParts rest;
    for (const QhasResource& resource : core->resources) {
      rest.cycles = saturating_add(rest.cycles, std::max<std::int64_t>(resource.cycles_used, 0));
    }
    if (core->timeline_cycles != missing && std::isfinite(core->percent_idle)) {
      const double busy = double(core->timeline_cycles) * (1 - core->percent_idle / 100);
      rest.dominant_path = std::llround(std::clamp(busy, 0.0, 9e18));
    }
    rest.traffic = core->traffic;
    rest.parts = core->htp_nodes;
    rest.subtract(of_types);
    add_rest("nodes of other types", StringId::empty, rest);
  }

  struct SumOfParts {
    std::int64_t cycles = 0, dominant_path = 0, parts = 0;
    Traffic traffic;

    SumOfParts() { traffic.bytes.fill(0); }
    explicit SumOfParts(const QhasSum& sum) : cycles(known(sum.cycles)), parts(known(sum.parts)) {
      for (const std::int64_t path : sum.dominant_path) {
        dominant_path = saturating_add(dominant_path, known(path));
      }
      for (std::size_t i = 0; i < Traffic::kinds; ++i)
        traffic.bytes[i] = known(sum.traffic.bytes[i]);
    }
    static std::int64_t known(std::int64_t value) { return value == missing ? 0 : value; }
    void add(const SumOfParts& other) { combine(other, 1); }
    void subtract(const SumOfParts& other) { combine(other, -1); }
    void combine(const SumOfParts& other, std::int64_t sign) {
      const auto by = [&](std::int64_t& value, std::int64_t change) {
        value = saturating_add(known(value), sign * known(change));
      };
      by(cycles, other.cycles);
      by(dominant_path, other.dominant_path);
      by(parts, other.parts);
      for (std::size_t i = 0; i < Traffic::kinds; ++i) by(traffic.bytes[i], other.traffic.bytes[i]);
    }
  };

  void add_rest(const std::string& name, StringId type, const SumOfParts& rest) {
    if (rest.cycles <= 0) return;
    Op op;
    op.name = op.node = assembly_.intern(name);
    op.node_kind = type;
    op.position = std::uint32_t(profile_.ops.size());
    const auto id = std::uint32_t(profile_.ops.size());
    profile_.ops.push_back(op);
    const auto add = [&](const NamedNumber& number, ClockId clock, std::int64_t value) {
      if (value < 0) return;
      profile_.add_measure(Measure::Subject::op, id, number, origin_, clock, double(value));
    };
    add(number::cycles, assembly_.cycles, rest.cycles);
    add(number::dominant_path, assembly_.cycles, rest.dominant_path);
    add(number::htp_ops, {}, rest.parts);
    for (std::size_t i = 0; i < Traffic::kinds; ++i) {
      add(number::traffic[i], {}, rest.traffic.bytes[i]);
    }
  }

  void add_types(std::string_view table, const std::vector<QhasSum>& types) {
    const auto subject = Measure::Subject::profile;
    for (const QhasSum& type : types) {
      const std::string prefix = fmt::format("{} {}: ", table, text(type.op));
      measure(subject, 0, number::cycles.called(prefix + "cycles"), assembly_.cycles, type.cycles);
      for (const std::int64_t path : type.dominant_path) {
        const std::string name = prefix + "dominant path";
        const bool is_kernel = &types == &qhas_.htp_types;
        measure(subject, 0,
                (is_kernel ? number::kernel_dominant_path : number::dominant_path).called(name),
                assembly_.cycles, path);
      }
    }
  }

  Assembly& assembly_;
  Profile& profile_;
  const Qhas& qhas_;
  Origin origin_ = Origin::measured;
  std::vector<const QhasInstance*> instance_of_;  // by span; null: none
  std::vector<bool> linked_;                      // by op that this has made
};

}  // namespace

std::string_view written_memory(const Traffic& traffic) {
  const bool ddr = traffic.bytes[1] > 0, vtcm = traffic.bytes[3] > 0;
  return ddr && vtcm ? "DDR, VTCM" : ddr ? "DDR" : vtcm ? "VTCM" : "";
}

void add_qhas(Assembly& assembly, const Qhas& qhas) { QhasAssembler(assembly, qhas).assemble(); }

}  // namespace npuscope::qnn
