#include "npuscope/profile/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace npuscope {
namespace {

constexpr std::uint32_t gone = std::numeric_limits<std::uint32_t>::max();

// New numbers of the rows that stay, in their old order; `gone` for the others.
std::vector<std::uint32_t> numbered(const std::vector<bool>& kept) {
  std::vector<std::uint32_t> number(kept.size(), gone);
  std::uint32_t next = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) {
    if (kept[row]) number[row] = next++;
  }
  return number;
}

std::uint32_t at(const std::vector<std::uint32_t>& numbers, std::uint32_t row) {
  return row < numbers.size() ? numbers[row] : gone;
}

template <class Columns, class Rows>
Columns picked(const Columns& column, const Rows& rows, std::size_t all) {
  Columns part;
  if (column.size() != all) return part;
  part.reserve(rows.size());
  for (const std::uint32_t row : rows) part.push_back(column[row]);
  return part;
}

Interval intersection_of(const Interval& a, const Interval& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

class Selection {
 public:
  Selection(const Profile& profile, const Filter& filter) : profile_(profile), filter_(filter) {}

  Profile make();

 private:
  bool unit_allowed(UnitId unit) const {
    return unit_allowed_.empty() ||
           (index_of(unit) < unit_allowed_.size() && unit_allowed_[index_of(unit)]);
  }
  bool op_allowed(OpId op) const {
    return op_allowed_.empty() || (index_of(op) < op_allowed_.size() && op_allowed_[index_of(op)]);
  }
  bool instance_allowed(std::size_t row) const {
    const auto& instances = profile_.spans.instance;
    return !filter_.instance || (row < instances.size() && instances[row] == *filter_.instance);
  }
  bool in_window(std::int64_t start, std::int64_t duration) const;
  bool span_stays(std::size_t row) const;
  void ask();
  void choose_spans();
  void choose_samples();
  void choose_units();
  void choose_ops();
  void copy_spans(Profile& part);
  void cut_span(Spans& spans, std::size_t row);
  bool is_of_the_whole(const Measure& measure) const;
  void copy_arguments(Profile& part) const;
  void copy_units_and_ops(Profile& part) const;
  void copy_measures(Profile& part);
  void copy_relations(Profile& part) const;
  void copy_counters(Profile& part) const;
  void copy_phases(Profile& part);
  void copy_tensors(Profile& part) const;

  const Profile& profile_;
  const Filter& filter_;
  std::vector<bool> unit_allowed_, op_allowed_;
  std::vector<std::uint32_t> span_rows_, sample_rows_;
  std::vector<std::uint32_t> unit_number_, op_number_, span_number_, phase_number_;
  std::vector<bool> span_cut_, phase_cut_;  // by their old numbers
  std::uint64_t cut_ = 0, left_out_ = 0;
};

bool Selection::in_window(std::int64_t start, std::int64_t duration) const {
  if (!filter_.window) return true;
  const Interval& window = *filter_.window;
  const std::int64_t end = saturating_add(start, std::max<std::int64_t>(0, duration));
  const bool is_moment = end == start;
  return start < window.end && (end > window.begin || (is_moment && start == window.begin));
}

bool Selection::span_stays(std::size_t row) const {
  const Spans& spans = profile_.spans;
  return in_window(spans.start[row], spans.duration[row]) && unit_allowed(spans.unit[row]) &&
         op_allowed(spans.op[row]) && instance_allowed(row);
}

void Selection::ask() {
  if (filter_.keeps_unit) {
    for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) {
      unit_allowed_.push_back(filter_.keeps_unit(profile_, UnitId(unit)));
    }
    if (unit_allowed_.empty()) unit_allowed_.push_back(false);
  }
  if (filter_.keeps_op) {
    for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) {
      op_allowed_.push_back(filter_.keeps_op(profile_, OpId(op)));
    }
    if (op_allowed_.empty()) op_allowed_.push_back(false);
  }
}

void Selection::choose_spans() {
  std::vector<bool> stays(profile_.spans.size());
  for (std::size_t row = 0; row < stays.size(); ++row) {
    stays[row] = span_stays(row);
    if (stays[row]) span_rows_.push_back(std::uint32_t(row));
  }
  span_number_ = numbered(stays);
}

// A sample holds until the next of its series, so the last one before the window is needed too.
void Selection::choose_samples() {
  const Counters& counters = profile_.counters;
  std::vector<std::uint32_t> last_before(counters.series.size(), gone);
  std::vector<bool> stays(counters.size(), false);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::uint32_t series = counters.of[i];
    if (series >= counters.series.size()) continue;
    const UnitId unit = counters.series[series].unit;
    if (unit != UnitId::none && !unit_allowed(unit)) continue;
    if (unit == UnitId::none && !unit_allowed_.empty()) continue;
    if (filter_.window && counters.time[i] < filter_.window->begin) {
      std::uint32_t& last = last_before[series];
      if (last == gone || counters.time[last] <= counters.time[i]) last = std::uint32_t(i);
    } else if (!filter_.window || counters.time[i] < filter_.window->end) {
      stays[i] = true;
    }
  }
  for (const std::uint32_t row : last_before) {
    if (row != gone) stays[row] = true;
  }
  for (std::size_t i = 0; i < stays.size(); ++i) {
    if (stays[i]) sample_rows_.push_back(std::uint32_t(i));
  }
}

void Selection::choose_units() {
  std::vector<bool> stays(profile_.units.size(), false);
  const auto keep = [&](UnitId unit) {  // and its parents; a ring of them ends where it began
    while (index_of(unit) < stays.size() && !stays[index_of(unit)]) {
      stays[index_of(unit)] = true;
      unit = profile_.units[index_of(unit)].parent;
    }
  };
  for (const std::uint32_t row : span_rows_) keep(profile_.spans.unit[row]);
  for (const std::uint32_t row : sample_rows_) {
    keep(profile_.counters.series[profile_.counters.of[row]].unit);
  }
  if (profile_.spans.size() == 0) {
    for (std::uint32_t unit = 0; unit < stays.size(); ++unit) {
      if (unit_allowed(UnitId(unit))) keep(UnitId(unit));
    }
  }
  unit_number_ = numbered(stays);
}

void Selection::choose_ops() {
  std::vector<bool> stays(profile_.ops.size(), false);
  for (const std::uint32_t row : span_rows_) {
    const std::uint32_t op = index_of(profile_.spans.op[row]);
    if (op < stays.size()) stays[op] = true;
  }
  if (profile_.spans.size() == 0) {
    for (std::uint32_t op = 0; op < stays.size(); ++op) stays[op] = op_allowed(OpId(op));
  }
  op_number_ = numbered(stays);
}

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
  if (!filter_.cut || !filter_.window) return;
  for (std::size_t row = 0; row < spans.size(); ++row) cut_span(spans, row);
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
  std::vector<bool> stays;
  for (const Phase& phase : profile_.phases) {
    stays.push_back(in_window(phase.start, phase.duration) &&
                    (!filter_.instance || phase.instance == *filter_.instance));
    if (!stays.back()) {
      phase_cut_.push_back(false);
      continue;
    }
    part.phases.push_back(phase);
    Phase& copy = part.phases.back();
    copy.unit = UnitId(at(unit_number_, index_of(phase.unit)));
    phase_cut_.push_back(filter_.cut && filter_.window && cut_phase(copy, *filter_.window));
    if (!phase_cut_.back() || phase.microseconds < 0) continue;
    constexpr std::size_t max_compared = 1'000;  // of real files; forged ones may have millions
    const bool compare = profile_.phases.size() <= max_compared;
    copy.microseconds =
        microseconds_of(compare ? profile_.phases : std::vector<Phase>{}, copy, phase);
  }
  phase_number_ = numbered(stays);
  for (Phase& phase : part.phases) {
    if (phase.parent >= stays.size()) continue;  // none, or told by time
    phase.parent = stays[phase.parent] ? phase_number_[phase.parent] : outermost_phase;
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

Profile Selection::make() {
  ask();
  choose_spans();
  choose_samples();
  choose_units();
  choose_ops();
  Profile part;
  part.provenance = profile_.provenance;
  part.strings = profile_.strings;
  part.clocks = profile_.clocks;
  part.base_clock = profile_.base_clock;
  part.notes = profile_.notes;
  copy_spans(part);
  copy_units_and_ops(part);
  copy_phases(part);
  copy_measures(part);
  copy_relations(part);
  copy_counters(part);
  copy_tensors(part);
  part.source_operators = profile_.source_operators;
  std::string message =
      fmt::format("filtered: {} of {} spans kept", span_rows_.size(), profile_.spans.size());
  if (cut_ > 0) {
    message += fmt::format(
        ", {} of them cut at the window: what they moved and counted is known of the whole only "
        "and "
        "left out",
        cut_);
  }
  if (left_out_ + profile_.checks.size() > 0) {
    message += "; numbers and checks of the whole run are left out";
  }
  part.notes.push_back({Severity::info, "", 0, std::move(message), 1});
  return part;
}

}  // namespace

Profile filtered(const Profile& profile, const Filter& filter) {
  if (filter.keeps_everything()) return profile;
  return Selection(profile, filter).make();
}

}  // namespace npuscope
