#include "profile/filter_parts.hpp"

#include <set>

#include "profile/self_times.hpp"

namespace npuscope::filter_parts {

void Selection::copy_spans(Profile& part) {
  const Spans& all = profile_.spans;
  Spans& spans = part.spans;
  spans.unit = picked(all.unit, span_rows_, all.size());
  for (UnitId& unit : spans.unit) unit = UnitId(at(unit_number_, index_of(unit)));
  spans.op = picked(all.op, span_rows_, all.size());
  for (OpId& op : spans.op) op = OpId(at(op_number_, index_of(op)));
  spans.kind = picked(all.kind, span_rows_, all.size());
  spans.start = picked(all.start, span_rows_, all.size());
  spans.duration = picked(all.duration, span_rows_, all.size());
  spans.processor_cycles = picked(all.processor_cycles, span_rows_, all.size());
  spans.instance = picked(all.instance, span_rows_, all.size());
  for (const MeasureColumn& column : all.measures) {
    spans.measures.push_back({column.what, column.kind, column.origin, column.meaning, column.clock,
                              picked(column.values, span_rows_, all.size())});
  }
  copy_arguments(part);
  span_cut_.assign(all.size(), false);
  if (filter_.cut && filter_.window) {
    for (std::size_t row = 0; row < spans.size(); ++row) cut_span(spans, row);
  }
  copy_own_times(spans);
  find_other_instances(spans);
}

// The share of the critical path lies within the span itself, so what is left of it is known where
// all or none of the span was on it. Of bytes and cycles nobody knows in which part they fell.
std::int64_t path_left(std::int64_t path, std::int64_t duration, std::int64_t left) {
  const std::int64_t min = std::max<std::int64_t>(0, path - (duration - left));
  return path >= 0 && min == std::min(path, left) ? min : MeasureColumn::missing;
}

void Selection::cut_span(Spans& spans, std::size_t row) {
  const std::int64_t duration = std::max<std::int64_t>(0, spans.duration[row]);
  const Interval whole{spans.start[row], saturating_add(spans.start[row], duration)};
  const Interval left = intersection_of(whole, *filter_.window);
  if (left.begin == whole.begin && left.end == whole.end) return;
  spans.start[row] = left.begin;
  spans.duration[row] = saturating_subtract(left.end, left.begin);
  for (MeasureColumn& column : spans.measures) {
    if (row >= column.values.size() || column.values[row] == MeasureColumn::missing) continue;
    const bool is_path =
        column.kind == MeasureKind::dominant_path && column.clock == profile_.base_clock;
    column.values[row] = is_path ? path_left(column.values[row], duration, spans.duration[row])
                                 : MeasureColumn::missing;
  }
  if (row < spans.processor_cycles.size()) spans.processor_cycles[row] = -1;
  span_cut_[span_rows_[row]] = true;
  cut_ += 1;
}

void Selection::copy_arguments(Profile& part) const {
  const Arguments& all = profile_.spans.arguments;
  if (all.empty() || all.size() != profile_.spans.size()) return;
  Arguments& arguments = part.spans.arguments;
  arguments.shapes = all.shapes;
  std::vector<std::uint64_t> values;
  for (const std::uint32_t row : span_rows_) {
    all.read(row, values);
    arguments.add(arguments.size(), all.shape(row), values);
  }
}

void Selection::copy_units_and_ops(Profile& part) const {
  for (std::size_t i = 0; i < profile_.units.size(); ++i) {
    if (unit_number_[i] == gone) continue;
    part.units.push_back(profile_.units[i]);
    part.units.back().parent = UnitId(at(unit_number_, index_of(profile_.units[i].parent)));
  }
  for (std::size_t i = 0; i < profile_.ops.size(); ++i) {
    if (op_number_[i] != gone) part.ops.push_back(profile_.ops[i]);
  }
}

// Numbers of more than is selected would be read as those of the selection.
bool Selection::is_of_the_whole(const Measure& measure) const {
  const bool in_time = filter_.window && profile_.spans.size() > 0;
  const bool of_other =
      filter_.instance && profile_.spans.size() > 0 && measure.instance != *filter_.instance;
  const std::uint32_t id = measure.subject_id;
  switch (measure.subject) {
    case Measure::Subject::profile: return true;
    case Measure::Subject::unit: return in_time || of_other || filter_.keeps_op;
    case Measure::Subject::op: return in_time || of_other;
    case Measure::Subject::span: return id < span_cut_.size() && span_cut_[id];
    case Measure::Subject::phase: return id < phase_cut_.size() && phase_cut_[id];
  }
  return false;
}

void Selection::copy_measures(Profile& part) {
  for (const Measure& measure : profile_.measures) {
    if (is_of_the_whole(measure)) {
      left_out_ += 1;
      continue;
    }
    Measure copy = measure;
    const std::uint32_t id = measure.subject_id;
    switch (measure.subject) {
      case Measure::Subject::profile: break;
      case Measure::Subject::unit: copy.subject_id = at(unit_number_, id); break;
      case Measure::Subject::op: copy.subject_id = at(op_number_, id); break;
      case Measure::Subject::span: copy.subject_id = at(span_number_, id); break;
      case Measure::Subject::phase: copy.subject_id = at(phase_number_, id); break;
    }
    if (copy.subject_id != gone) part.measures.push_back(copy);
  }
}

void Selection::copy_relations(Profile& part) const {
  for (const Edge& edge : profile_.edges) {
    const std::uint32_t from = at(op_number_, index_of(edge.from));
    const std::uint32_t to = at(op_number_, index_of(edge.to));
    if (from != gone && to != gone) part.edges.push_back({OpId(from), OpId(to), edge.kind});
  }
  for (const PeerPort& port : profile_.peer_ports) {
    const std::uint32_t op = at(op_number_, index_of(port.op));
    if (op == gone) continue;
    part.peer_ports.push_back(port);
    part.peer_ports.back().op = OpId(op);
  }
  for (const Flow& flow : profile_.flows) {
    const std::uint32_t from = at(span_number_, index_of(flow.from));
    const std::uint32_t to = at(span_number_, index_of(flow.to));
    if (from == gone || to == gone) continue;
    part.flows.push_back({SpanId(from), SpanId(to), flow.kind, flow.name, flow.category});
  }
}

void Selection::copy_counters(Profile& part) const {
  const Counters& all = profile_.counters;
  std::vector<bool> sampled(all.series.size(), false);
  for (const std::uint32_t row : sample_rows_) sampled[all.of[row]] = true;
  const auto number = numbered(sampled);
  for (std::size_t i = 0; i < all.series.size(); ++i) {
    if (!sampled[i]) continue;
    part.counters.series.push_back(all.series[i]);
    UnitId& unit = part.counters.series.back().unit;
    unit = UnitId(at(unit_number_, index_of(unit)));
  }
  for (const std::uint32_t row : sample_rows_) {
    std::int64_t time = all.time[row];
    if (filter_.cut && filter_.window) time = std::max(time, filter_.window->begin);
    part.counters.of.push_back(number[all.of[row]]);
    part.counters.time.push_back(time);
    part.counters.value.push_back(all.value[row]);
  }
}

// Of the phases around what is left of one, the shortest knows best how fast the clock ran there.
double microseconds_of(const std::vector<Phase>& phases, const Phase& left, const Phase& whole) {
  const Phase* shortest = &whole;
  for (const Phase& phase : phases) {
    const bool contains =
        phase.start <= left.start &&
        saturating_add(left.start, left.duration) <= saturating_add(phase.start, phase.duration);
    if (contains && phase.microseconds > 0 && phase.duration < shortest->duration) {
      shortest = &phase;
    }
  }
  return shortest->microseconds * (double(left.duration) / double(shortest->duration));
}

bool cut_phase(Phase& phase, const Interval& window) {
  const std::int64_t duration = std::max<std::int64_t>(0, phase.duration);
  const Interval whole{phase.start, saturating_add(phase.start, duration)};
  const Interval left = intersection_of(whole, window);
  if (left.begin == whole.begin && left.end == whole.end) return false;
  phase.start = left.begin;
  phase.duration = saturating_subtract(left.end, left.begin);
  return true;
}

void Selection::copy_phases(Profile& part) {
  phase_number_.assign(profile_.phases.size(), gone);
  phase_cut_.assign(profile_.phases.size(), false);
  for (const std::uint32_t i : phases_left()) {
    const Phase& phase = profile_.phases[i];
    phase_number_[i] = std::uint32_t(part.phases.size());
    part.phases.push_back(phase);
    Phase& copy = part.phases.back();
    copy.unit = UnitId(at(unit_number_, index_of(phase.unit)));
    phase_cut_[i] = filter_.cut && filter_.window && cut_phase(copy, *filter_.window);
    if (!phase_cut_[i] || phase.microseconds < 0) continue;
    constexpr std::size_t max_compared = 1'000;  // of real files; forged ones may have millions
    const bool compare = profile_.phases.size() <= max_compared;
    copy.microseconds =
        microseconds_of(compare ? profile_.phases : std::vector<Phase>{}, copy, phase);
  }
  for (Phase& phase : part.phases) {
    if (phase.parent >= profile_.phases.size()) continue;  // none, or told by time
    const std::uint32_t parent = phase_number_[phase.parent];
    phase.parent = parent != gone ? parent : outermost_phase;
  }
}

void Selection::copy_tensors(Profile& part) const {
  part.shapes = profile_.shapes;
  part.operand_lists = profile_.operand_lists;
  part.tensors = profile_.tensors;
  for (Tensor& tensor : part.tensors) {
    tensor.producer = OpId(at(op_number_, index_of(tensor.producer)));
  }
  for (const TensorUse& use : profile_.tensor_uses) {
    const std::uint32_t consumer = at(op_number_, index_of(use.consumer));
    if (consumer != gone) part.tensor_uses.push_back({use.tensor, OpId(consumer)});
  }
}

// Spans that are left out took their time from those that enclose them: what these had to
// themselves is found from all that ran.
void Selection::find_own_times(Spans& part) const {
  if (rows_beside_.empty() || span_rows_.empty()) return;
  part.own.resize(span_rows_.size());
  std::vector<std::uint32_t> all = span_rows_;
  all.insert(all.end(), rows_beside_.begin(), rows_beside_.end());
  std::sort(all.begin(), all.end());
  const std::int64_t tolerance = nesting_tolerance(profile_);
  const SpansByUnit by_unit(profile_, all);
  std::vector<SpanOfUnit> of_unit;
  std::vector<std::int64_t> own;
  for (std::size_t group = 0; group < by_unit.groups(); ++group) {
    const SpansOfUnit uncut = by_unit.spans_of(UnitId(std::uint32_t(group)));
    of_unit.assign(uncut.begin(), uncut.end());
    for (SpanOfUnit& span : of_unit) {
      const Interval left = cut_interval(span.row);
      span.begin = left.begin;
      span.end = left.end;
    }
    find_self_times(of_unit, tolerance, own);
    for (std::size_t i = 0; i < of_unit.size(); ++i) {
      const std::uint32_t number = span_number_[of_unit[i].row];
      if (number != gone) part.own[number] = own[i];
    }
    const std::uint32_t unit = group < profile_.units.size() ? unit_number_[group] : gone;
    for (const Interval& each : held_within_work(of_unit)) {
      part.held_up.push_back({UnitId(unit), each.begin, each.end});
    }
  }
}

// An op that ran in some inferences alone took no time in the others, where it is the only one
// asked for, too.
void Selection::find_other_instances(Spans& part) const {
  const Spans& all = profile_.spans;
  part.other_instances = all.other_instances;
  if (filter_.instance || all.instance.size() != all.size()) return;
  std::set<std::uint32_t> others;
  std::uint32_t last = every_instance;
  for (const std::uint32_t row : rows_beside_) {
    if (all.instance[row] != last) others.insert(last = all.instance[row]);
  }
  last = every_instance;
  for (const std::uint32_t instance : part.instance) {
    if (others.empty()) break;
    if (instance != last) others.erase(last = instance);
  }
  others.erase(every_instance);
  part.other_instances.insert(part.other_instances.end(), others.begin(), others.end());
}

void Selection::copy_own_times(Spans& part) const {
  const Spans& all = profile_.spans;
  if (all.own.empty()) return find_own_times(part);
  part.own = picked(all.own, span_rows_, all.size());
  for (std::size_t row = 0; row < part.own.size(); ++row) {
    part.own[row] = std::min(part.own[row], std::max<std::int64_t>(0, part.duration[row]));
  }
  for (Spans::HeldUp each : all.held_up) {
    each.unit = UnitId(at(unit_number_, index_of(each.unit)));
    part.held_up.push_back(each);
  }
}

}  // namespace npuscope::filter_parts
