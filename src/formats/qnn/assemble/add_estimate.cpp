#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.hpp"
#include "formats/qnn/assemble/assembly.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

SpanKind kind_of(EstimateStep step) {
  switch (step) {
    case EstimateStep::work:
    case EstimateStep::start: return SpanKind::op;
    case EstimateStep::transfer: return SpanKind::transfer;
    case EstimateStep::sync: return SpanKind::dma_wait;
    case EstimateStep::spawn:
    case EstimateStep::validate: break;
  }
  return SpanKind::sync;
}

// The trace's strings are the profile's by now.
class EstimateAssembler {
 public:
  EstimateAssembler(Assembly& assembly, const Estimate& estimate)
      : assembly_(assembly), profile_(assembly.profile), estimate_(estimate) {}

  void assemble() {
    if (estimate_.core_megahertz > 0) {
      profile_.clocks[index_of(assembly_.cycles)].rate = Hertz{estimate_.core_megahertz * 1e6};
    }
    add_lanes();
    add_ops();
    add_spans();
    add_traffic();
    add_dominant_path(assembly_);
    add_counters();
    add_numbers();
  }

 private:
  void add_lanes() {
    std::vector<bool> is_used(estimate_.lanes.size(), false);
    for (const std::uint32_t lane : estimate_.lane) is_used[lane] = true;
    units_.assign(estimate_.lanes.size(), UnitId::none);
    for (std::size_t i = 0; i < estimate_.lanes.size(); ++i) {
      const EstimateLane& lane = estimate_.lanes[i];
      if (!is_used[i]) continue;
      const std::string_view name = profile_.text(lane.name);
      units_[i] = assembly_.lane_unit(lane.core, lane.tid, name, lane.engine);
      Unit& unit = profile_.units[index_of(units_[i])];
      if (!name.empty()) unit.name = lane.name;
      unit.process_id = lane.process_id;
      unit.thread_id = lane.thread_id;
    }
  }

  void add_ops() {
    for (const EstimateOp& from : estimate_.ops) {
      Op op;
      op.name = op.kind = from.kind;
      assembly_.set_shape(op, std::span(from.dims));
      op.memory = assembly_.intern(written_memory(from.traffic));
      op.core = from.core;
      op.position = std::uint32_t(profile_.ops.size());
      op.id = from.id;
      op.engine = from.engine;
      op.once_per_inference = true;
      if (assembly_.ops.size() <= from.core) assembly_.ops.resize(from.core + 1);
      assembly_.ops[from.core].try_emplace(from.id, OpId(std::uint32_t(profile_.ops.size())));
      profile_.ops.push_back(op);
    }
  }

  void add_spans() {
    const chrome::Slices& slices = estimate_.events.slices;
    Spans& spans = profile_.spans;
    spans.resize(estimate_.rows.size());
    for (std::size_t i = 0; i < estimate_.rows.size(); ++i) {
      const std::uint32_t row = estimate_.rows[i];
      spans.unit[i] = units_[estimate_.lane[i]];
      spans.op[i] = OpId(estimate_.op[i]);
      spans.kind[i] = kind_of(estimate_.steps[i]);
      spans.start[i] = slices.start[row] / 1000;
      spans.duration[i] = slices.duration[row] / 1000;
    }
    spans.processor_cycles = Column<std::int64_t>();
    spans.instance = Column<std::uint32_t>();
  }

  // The event that works moves the op's bytes; an op in several parts moves them once.
  void add_traffic() {
    std::vector<bool> has_moved(estimate_.ops.size(), false);
    std::vector<MeasureColumn> columns;
    for (const NamedNumber& number : number::traffic) {
      columns.push_back(profile_.column_of(number, Origin::estimated));
      columns.back().values.assign(profile_.spans.size(), 0);
    }
    for (std::size_t i = 0; i < estimate_.steps.size(); ++i) {
      const EstimateStep step = estimate_.steps[i];
      const std::uint32_t op = estimate_.op[i];
      if ((step != EstimateStep::work && step != EstimateStep::transfer) || has_moved[op]) continue;
      has_moved[op] = true;
      for (std::size_t kind = 0; kind < Traffic::kinds; ++kind) {
        columns[kind].values[i] = estimate_.ops[op].traffic.bytes[kind];
      }
    }
    for (MeasureColumn& column : columns) profile_.spans.measures.push_back(std::move(column));
  }

  void add_counters() {
    const chrome::Marks& marks = estimate_.events.marks;
    Counters& counters = profile_.counters;
    std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> series;
    for (std::size_t row = 0; row < marks.size(); ++row) {
      if (marks.phase[row] != 'C' || marks.arguments.count(row) == 0) continue;
      const auto bytes = marks.arguments.at(row, 0).as_number();
      if (!bytes || !std::isfinite(*bytes)) continue;
      const std::uint32_t core = estimate_.core_of_thread[marks.thread[row]];
      const auto [place, is_new] =
          series.try_emplace({core, marks.name[row]}, counters.series.size());
      if (is_new) {
        CounterSeries added;
        added.unit = assembly_.core_unit(core);
        added.name = marks.name[row];
        added.quantity = assembly_.intern("bytes");
        if (profile_.text(added.name) == "TCM usage") added.role = NumberRole::vtcm_allocated;
        counters.series.push_back(added);
        peak_.push_back(0);
      }
      if (counters.series[place->second].role == NumberRole::vtcm_allocated) {
        peak_[place->second] = std::max(peak_[place->second], *bytes);
      }
      counters.of.push_back(place->second);
      counters.time.push_back(marks.time[row] / 1000);
      counters.value.push_back(*bytes);
    }
  }

  void add_numbers() {
    const auto add = [&](const NamedNumber& number, ClockId clock, double value) {
      profile_.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, clock, value);
    };
    add(number::estimated_wall, assembly_.cycles, double(estimate_.last - estimate_.first));
    const double peak = peak_.empty() ? 0 : *std::ranges::max_element(peak_);
    if (peak > 0) add(number::peak_vtcm, {}, peak);
    if (estimate_.vtcm_bytes > 0) add(number::vtcm_size, {}, double(estimate_.vtcm_bytes));
    if (estimate_.hvx_threads > 0) add(number::hvx_threads, {}, double(estimate_.hvx_threads));
    if (estimate_.ddr_bytes_per_second > 0) {
      add(number::ddr_peak, {}, estimate_.ddr_bytes_per_second);
    }
    assembly_.losses.add(Severity::info, 0,
                         "the compiler's estimate on the host: nothing ran, so there is neither a "
                         "cold nor a warm inference");
  }

  Assembly& assembly_;
  Profile& profile_;
  const Estimate& estimate_;
  std::vector<UnitId> units_;  // by lane
  std::vector<double> peak_;   // by series
};

}  // namespace

void add_estimate(Assembly& assembly, const Estimate& estimate) {
  EstimateAssembler(assembly, estimate).assemble();
}

}  // namespace npuscope::qnn
