#include <algorithm>

#include "npuscope/analysis/path.hpp"
#include "report/identities/identities.hpp"

namespace npuscope::report::identities {

using namespace analysis;

void try_path(const Sample& sample, Tried& tried) {
  const Result<PathAnalysis>& paths = sample.analysis.path();
  if (!paths) return;
  const CriticalPath path = paths->observed();
  std::int64_t work = 0, gaps = 0, parts = path.lead + path.tail, told = 0;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const PathStep& step = path.steps[i];
    const std::string detail = fmt::format("step {}", i + 1);
    tried.not_negative("step of the path", double(step.duration), detail);
    tried.not_negative("gap of the path", double(step.gap), detail);
    tried.not_negative("delay of the path", double(step.delay), detail);
    tried.at_most("delay <= gap", double(step.delay), double(step.gap), detail);
    std::int64_t of_gap = 0;
    for (const std::int64_t part : step.gap_parts) {
      tried.not_negative("part of a gap", double(part), detail);
      of_gap += part;
    }
    tried.equal("parts of a gap are the gap", of_gap, step.gap, detail);
    work += step.duration;
    if (i > 0) gaps += step.gap;
  }
  for (const std::int64_t part : path.gap_parts) told += part;
  parts += work + gaps;
  tried.equal("steps are the work of the path", work, path.work);
  tried.equal("gaps are the gaps of the path", gaps, path.gaps);
  tried.equal("work, gaps, lead and tail are the wall", parts, path.wall);
  tried.equal("parts of gaps are what is not work", told, path.wall - path.work);
  const auto known = paths->basis().instance;
  const std::int64_t wall = known && sample.analysis.inference_extents().contains(*known)
                                ? length_of(sample.analysis.inference_extents().at(*known))
                                : sample.analysis.coarse().wall;
  tried.equal("wall of the path is that of its inference", path.wall, wall);
  const WhatIf same = paths->what_if({});
  tried.near("nothing scaled is the observed wall", same.after, double(path.wall));
  const ExecutionTimes times = paths->executions();
  for (std::size_t row = 0; row < times.slack.size(); ++row) {
    if (times.work[row] < 0 && times.slack[row] < 0) continue;  // no execution
    tried.not_negative("slack", double(times.slack[row]), fmt::format("span {}", row));
    tried.not_negative("work of an execution", double(times.work[row]),
                       fmt::format("span {}", row));
    tried.at_most("slack <= wall", double(times.slack[row]), double(path.wall),
                  fmt::format("span {}", row));
  }
}

}  // namespace npuscope::report::identities
