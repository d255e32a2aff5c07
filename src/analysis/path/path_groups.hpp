// A path in groups: how much of it each op takes, next to the op's slack and the vendor's own
// number, and how much of it each unit and each reason.
//
//   const ExecutionsByOp executions = executions_by_op(*paths);
//   const PathOps ops = group_path_by_op(profile, Grouping::op, path.steps, executions);
//   ops.rows[0].label      "MatMul_0"
//   ops.rows[0].on_path    12312 ticks of the base clock
//   ops.rows[0].slack      0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// Executions of an inference and their slack (ExecutionTimes) by op; the last is of spans without
// one.
struct ExecutionsByOp {
  struct OfOp {
    std::uint64_t executions = 0;
    std::int64_t work = 0;
    std::int64_t slack = std::numeric_limits<std::int64_t>::max();  // the least
  };
  std::vector<OfOp> ops;
  std::vector<bool> ran;  // by row of the profile's spans: it is an execution
};

ExecutionsByOp executions_by_op(const PathAnalysis& paths);

struct PathOpRow {
  std::string name;                     // empty: spans without an op, or of no kind
  std::uint32_t layers = 1;             // repeated layers whose like operators these are
  StringId kind{};                      // of the first op in the profile that has one
  std::uint64_t executions = 0;         // spans
  std::uint64_t steps = 0;              // of the path
  std::int64_t on_path = 0;             // duration of those steps
  std::int64_t gaps = 0;                // before those steps
  std::int64_t work = 0;                // sum over executions
  std::int64_t slack = 0;               // least of its executions
  std::optional<double> dominant_path;  // sum over executions
};

struct PathOps {
  std::vector<PathOpRow> rows;       // most on the path first, then least slack
  std::vector<std::uint32_t> of_op;  // row of each op; last that of spans without one; no_row: none
};

PathOps group_path_by_op(const Profile& profile, Grouping grouping,
                         const std::vector<PathStep>& steps, const ExecutionsByOp& executions);

struct PathUnitRow {
  UnitId unit = UnitId::none;
  std::uint64_t steps = 0;
  std::int64_t on_path = 0;
  std::int64_t gaps = 0;  // before those steps
};

std::vector<PathUnitRow> group_path_by_unit(const Profile& profile,
                                            const std::vector<PathStep>& steps);

struct PathReasonRow {
  Reason reason = Reason::start;
  std::uint64_t steps = 0;
  std::int64_t gaps = 0;
  std::int64_t delays = 0;  // of the gaps, beyond what such a constraint takes at best
};

// In the order of Reason, those that occur.
std::vector<PathReasonRow> group_path_by_reason(const std::vector<PathStep>& steps);

struct PathEngineRow {
  Engine engine = Engine::none;
  std::int64_t on_path = 0;
};

// In the order of Engine, those that occur.
std::vector<PathEngineRow> group_path_by_engine(const Profile& profile,
                                                const std::vector<PathStep>& steps);

// The vendor's "dominant path" (QHAS: dominant_path_htp_0) as a list in order of time: which
// execution owned each segment. It is no path of dependencies: owned_time.hpp says the rule.
//
//   const auto path = vendor_path(profile);
//   path->segments[17]     q::ConvLayer_s1.opt, from 40057, 4,095 cycles, of 4,095: whole
//   path->owned + path->idle == path->wall, of each core
//
// Set beside the critical path it shows where the two disagree: `critical` is the part of a segment
// during which a step of that path is of its op.
struct VendorSegment {
  std::uint32_t row = no_row;  // the span that owns it; none: idle
  std::uint32_t core = 0;
  std::int64_t start = 0;  // ticks of the base clock
  std::int64_t duration = 0;
  std::int64_t critical = 0;  // of it; a slice of the op on another thread counts
};

struct VendorPath {
  std::vector<VendorSegment> segments;  // by core, then time
  std::int64_t wall = 0;                // ticks, sum over cores: first start to last end
  std::int64_t owned = 0;
  std::int64_t idle = 0;
  // Executions whose segments do not add up to the number that the trace has of them.
  std::uint64_t differing = 0;
};

// A usage error when the profile has no dominant path, which only QNN's optraces have.
Result<VendorPath> vendor_path(const Profile& profile, const std::vector<PathStep>& steps);

// Likely reasons for waits on a path that nothing recorded explains: the execution on another unit
// that ended just before the step began. A guess, kept apart from what the profile says: nothing
// else is computed from it.
//
//   const LikelyReasons likely = likely_reasons(profile, path, basis.instance);
//   likely.reasons[0]     step 12 began 19 ticks after span 4711 had ended on HVX 513
//   likely.waiting        17788 ticks that all such steps waited for nothing recorded
//   likely.by_chance      0.07: that part of all moments lies as close behind some end

struct LikelyReason {
  std::size_t step = 0;           // in CriticalPath::steps
  std::uint32_t row = no_row;     // the span that ended
  std::int64_t ended_before = 0;  // ticks between its end and the step's start
};

struct LikelyReasons {
  std::int64_t within = 0;  // ticks: an end no longer before a start than that is its reason
  std::vector<LikelyReason> reasons;
  std::int64_t waiting = 0;
  double by_chance = 0;  // to a thousandth
};

// Of the steps that waited for nothing recorded, longer than `within` and (unless only the order on
// their unit is known) than their constraint takes. `within` is 100 cycles, or 100 ns of a clock
// that counts no cycles (a tick at least): what telling another unit takes at most in the QNN
// traces that are known.
LikelyReasons likely_reasons(const Profile& profile, const CriticalPath& path,
                             std::optional<std::uint32_t> instance);

}  // namespace npuscope::analysis
