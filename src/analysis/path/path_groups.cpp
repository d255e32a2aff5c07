#include "analysis/path/path_groups.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/ops/row_names.hpp"
#include "profile/owned_time.hpp"

namespace npuscope::analysis {
namespace {

// A row for each label of an op that executed; of_op is filled in.
void add_labels(const Profile& profile, Grouping grouping, const ExecutionsByOp& executions,
                PathOps& ops) {
  const std::size_t count = profile.ops.size();
  ops.of_op.assign(count + 1, no_row);
  std::vector<std::string_view> labels;
  for (const Op& op : profile.ops) {
    labels.push_back(profile.text(grouping == Grouping::kind ? op.kind : op.label()));
  }
  std::optional<RowNames> names;
  if (grouping == Grouping::op) names.emplace(labels, true);
  std::unordered_map<std::string_view, std::uint32_t> row_of;  // by name
  for (std::size_t i = 0; i <= count; ++i) {
    if (executions.ops[i].executions == 0) continue;
    const Op op = i < count ? profile.ops[i] : Op{};
    const std::string_view name = i == count ? std::string_view{}
                                  : names    ? names->of(i)
                                             : labels[i];
    const auto [place, is_new] = row_of.try_emplace(name, ops.rows.size());
    if (is_new) {
      PathOpRow& row = ops.rows.emplace_back();
      row.name = name;
      row.layers = names && i < count ? names->layers(i) : 1;
      row.slack = std::numeric_limits<std::int64_t>::max();
      row.kind = op.kind;
    }
    PathOpRow& row = ops.rows[place->second];
    if (row.kind != op.kind) row.kind = StringId::empty;
    ops.of_op[i] = place->second;
  }
}

// The vendor's; windows of ops that a reader ranks them by are none.
bool is_dominant_path(const MeasureColumn& column) {
  return column.kind == MeasureKind::dominant_path && column.meaning.role != NumberRole::op_window;
}

const MeasureColumn* dominant_path_of(const Spans& spans) {
  for (const MeasureColumn& column : spans.measures) {
    if (is_dominant_path(column) && column.values.size() == spans.size()) {
      return &column;
    }
  }
  return nullptr;
}

void sort_rows(PathOps& ops) {
  std::vector<std::uint32_t> order(ops.rows.size()), place(ops.rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const PathOpRow &left = ops.rows[a], &right = ops.rows[b];
    return std::tuple(-left.on_path, left.slack, -left.work, a) <
           std::tuple(-right.on_path, right.slack, -right.work, b);
  });
  std::vector<PathOpRow> sorted;
  sorted.reserve(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(ops.rows[order[i]]);
  }
  ops.rows = std::move(sorted);
  for (std::uint32_t& row : ops.of_op) row = row == no_row ? no_row : place[row];
}

}  // namespace

PathOps group_path_by_op(const Profile& profile, Grouping grouping,
                         const std::vector<PathStep>& steps, const ExecutionsByOp& executions) {
  PathOps ops;
  add_labels(profile, grouping, executions, ops);
  const Spans& spans = profile.spans;
  const auto row_of = [&](OpId op) -> PathOpRow& {
    return ops.rows[ops.of_op[std::min<std::size_t>(index_of(op), profile.ops.size())]];
  };
  for (std::size_t op = 0; op < executions.ops.size(); ++op) {
    const ExecutionsByOp::OfOp& of_op = executions.ops[op];
    if (of_op.executions == 0) continue;
    PathOpRow& row = ops.rows[ops.of_op[op]];
    row.executions += of_op.executions;
    row.work += of_op.work;
    row.slack = std::min(row.slack, of_op.slack);
  }
  const MeasureColumn* dominant = dominant_path_of(spans);
  for (std::size_t i = 0; dominant != nullptr && i < spans.size(); ++i) {
    if (!executions.ran[i] || dominant->values[i] == MeasureColumn::missing) continue;
    PathOpRow& row = row_of(spans.op[i]);
    row.dominant_path = row.dominant_path.value_or(0) + double(dominant->values[i]);
  }
  for (const PathStep& step : steps) {
    PathOpRow& row = row_of(step.op);
    row.steps += 1;
    row.on_path += step.duration;
    row.gaps += step.gap;
  }
  sort_rows(ops);
  return ops;
}

std::vector<PathUnitRow> group_path_by_unit(const Profile& profile,
                                            const std::vector<PathStep>& steps) {
  const std::size_t units = profile.units.size();
  std::vector<PathUnitRow> rows(units + 1);
  for (std::size_t unit = 0; unit < units; ++unit) rows[unit].unit = UnitId(std::uint32_t(unit));
  for (const PathStep& step : steps) {
    PathUnitRow& row = rows[std::min<std::size_t>(index_of(step.unit), units)];
    row.steps += 1;
    row.on_path += step.duration;
    row.gaps += step.gap;
  }
  std::erase_if(rows, [](const PathUnitRow& row) { return row.steps == 0; });
  std::stable_sort(rows.begin(), rows.end(), [](const PathUnitRow& a, const PathUnitRow& b) {
    return a.on_path > b.on_path;
  });
  return rows;
}

std::vector<PathReasonRow> group_path_by_reason(const std::vector<PathStep>& steps) {
  std::vector<PathReasonRow> rows(reason_count);
  for (const PathStep& step : steps) {
    PathReasonRow& row = rows[std::size_t(step.reason)];
    row.reason = step.reason;
    row.steps += 1;
    row.gaps += step.gap;
    row.delays += step.reason == Reason::start ? 0 : step.delay;
  }
  std::erase_if(rows, [](const PathReasonRow& row) { return row.steps == 0; });
  return rows;
}

std::vector<PathEngineRow> group_path_by_engine(const Profile& profile,
                                                const std::vector<PathStep>& steps) {
  std::vector<PathEngineRow> rows(std::size_t(Engine::other) + 1);
  std::vector<bool> seen(rows.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].engine = Engine(i);
  for (const PathStep& step : steps) {
    const auto engine = std::size_t(engine_of(profile, step.row));
    seen[engine] = true;
    rows[engine].on_path += step.duration;
  }
  std::erase_if(rows, [&](const PathEngineRow& row) { return !seen[std::size_t(row.engine)]; });
  return rows;
}

namespace {

// Of an op that is sliced over threads the path takes one slice, the vendor perhaps another.
std::vector<std::vector<const PathStep*>> steps_by_op(const Profile& profile,
                                                      const std::vector<PathStep>& steps) {
  std::vector<std::vector<const PathStep*>> of_op(profile.ops.size());
  for (const PathStep& step : steps) {
    if (index_of(step.op) < of_op.size()) of_op[index_of(step.op)].push_back(&step);
  }
  return of_op;
}

std::int64_t shared(const VendorSegment& segment, const std::vector<const PathStep*>& steps) {
  const std::int64_t end = segment.start + segment.duration;
  std::int64_t time = 0;
  for (const PathStep* step : steps) {
    const std::int64_t begin = std::max(segment.start, step->start);
    time += std::max<std::int64_t>(std::min(end, step->start + step->duration) - begin, 0);
  }
  return time;
}

}  // namespace

Result<VendorPath> vendor_path(const Profile& profile, const std::vector<PathStep>& steps) {
  const MeasureColumn* const stated = dominant_path_of(profile.spans);
  if (stated == nullptr) {
    return usage_error(
        "the profile has no dominant path of the vendor's; only optraces of QNN's HTP have one");
  }
  const auto steps_of_op = steps_by_op(profile, steps);
  std::vector<std::int64_t> owned(profile.spans.size(), 0);
  VendorPath path;
  for (const CoreOwners& of_core : dominant_path_of(profile)) {
    for (const OwnedTime& time : of_core.times) {
      VendorSegment segment{no_row, of_core.core, time.start, time.end - time.start, 0};
      path.wall += segment.duration;
      if (time.owner == OwnedTime::idle) {
        path.idle += segment.duration;
      } else {
        segment.row = std::uint32_t(time.owner);
        path.owned += segment.duration;
        owned[segment.row] += segment.duration;
        const std::size_t op = index_of(profile.spans.op[segment.row]);
        if (op < steps_of_op.size()) segment.critical = shared(segment, steps_of_op[op]);
      }
      path.segments.push_back(segment);
    }
  }
  for (std::size_t row = 0; row < owned.size(); ++row) {
    const std::int64_t value = stated->values[row];
    path.differing += value != MeasureColumn::missing && value != owned[row];
  }
  return path;
}

}  // namespace npuscope::analysis
