#include "formats/perfetto/restore/remove_spans.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace npuscope::perfetto {
namespace {

constexpr std::uint32_t removed = std::numeric_limits<std::uint32_t>::max();

// What row each of the old ones becomes.
std::vector<std::uint32_t> numbered(const std::vector<bool>& gone) {
  std::vector<std::uint32_t> number(gone.size(), removed);
  std::uint32_t next = 0;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (!gone[row]) number[row] = next++;
  }
  return number;
}

// Columns that the table lacks are empty.
template <class Value>
void close_gaps(Value& column, const std::vector<bool>& gone) {
  if (column.size() != gone.size()) return;
  std::size_t left = 0;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (!gone[row]) column[left++] = column[row];
  }
  column.resize(left);
}

void close_gaps(Arguments& arguments, const std::vector<bool>& gone) {
  if (arguments.size() != gone.size()) return;
  Arguments left;
  std::vector<std::uint64_t> values;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (gone[row]) continue;
    arguments.read(row, values);
    left.add(left.size(), arguments.shape(row), values);
  }
  left.shapes = std::move(arguments.shapes);
  arguments = std::move(left);
}

void remove_relations(Profile& profile, const std::vector<std::uint32_t>& number) {
  const auto new_row = [&](std::uint32_t row) {
    return row < number.size() ? number[row] : removed;
  };
  std::erase_if(profile.flows, [&](const Flow& flow) {
    return new_row(index_of(flow.from)) == removed || new_row(index_of(flow.to)) == removed;
  });
  for (Flow& flow : profile.flows) {
    flow.from = SpanId(number[index_of(flow.from)]);
    flow.to = SpanId(number[index_of(flow.to)]);
  }
  const auto of_span = [](const Measure& measure) {
    return measure.subject == Measure::Subject::span;
  };
  std::erase_if(profile.measures, [&](const Measure& measure) {
    return of_span(measure) && new_row(measure.subject_id) == removed;
  });
  for (Measure& measure : profile.measures) {
    if (of_span(measure)) measure.subject_id = number[measure.subject_id];
  }
}

void remove_unused_ops(Profile& profile) {
  std::vector<bool> unused(profile.ops.size(), true);
  for (const OpId op : profile.spans.op) {
    if (index_of(op) < unused.size()) unused[index_of(op)] = false;
  }
  const auto number = numbered(unused);
  close_gaps(profile.ops, unused);
  for (OpId& op : profile.spans.op) {
    if (index_of(op) < number.size()) op = OpId(number[index_of(op)]);
  }
}

}  // namespace

void remove_spans(Profile& profile, const std::vector<bool>& gone) {
  remove_relations(profile, numbered(gone));
  Spans& spans = profile.spans;
  close_gaps(spans.processor_cycles, gone);
  close_gaps(spans.instance, gone);
  close_gaps(spans.arguments, gone);
  for (MeasureColumn& measure : spans.measures) close_gaps(measure.values, gone);
  close_gaps(spans.op, gone);
  close_gaps(spans.kind, gone);
  close_gaps(spans.start, gone);
  close_gaps(spans.duration, gone);
  close_gaps(spans.unit, gone);
  remove_unused_ops(profile);
}

}  // namespace npuscope::perfetto
