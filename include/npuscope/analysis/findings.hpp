// What costs a run time, and what in its numbers misleads: findings, each with its evidence, what
// it could gain at most, and the advice.
//
//   const Diagnosis diagnosis = analysis.findings({.peaks = …});
//   diagnosis.findings[0].rule        "boundary-tax"
//   diagnosis.findings[0].gain        30,649 cycles, 47.3 % of the wall, by longest path
//   diagnosis.findings[0].evidence    29,862 cycles active, kind active, "ops: by rule"
//   diagnosis.untried[0].missing      "bytes of transfers"
//
// A rule says nothing where it does not apply or could not gain half a percent of the wall, and
// what it would need where the profile does not say enough. Gains are upper bounds, each of one
// finding alone: they overlap and must not be added up. Findings are ranked by one denominator: the
// warm call as the host sees it, where the files have it (call.hpp), else the wall; then gains
// outside of the wall, then findings whose gain cannot be stated, the severest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/call.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/overlap.hpp"
#include "npuscope/analysis/roofline.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::analysis {

enum class EvidenceQuantity : std::uint8_t {
  ticks,    // of Evidence::clock
  seconds,  //
  hertz,    //
  bytes,    //
  share,    // 0.19 is 19 %; what of is said in Evidence::what
  count,    // whole
  number,
};

// One number that a finding rests on.
struct Evidence {
  std::string key;   // "hmx_domain_share_of_wall"
  std::string what;  // "HMX, the busiest, of the wall"
  double value = 0;
  EvidenceQuantity quantity = EvidenceQuantity::number;
  MeasureKind kind = MeasureKind::count;
  std::string source;   // "units: hardware", the command that shows it, or what it is derived from
  std::string of = {};  // which core, op or unit
  ClockId clock = {};   // of ticks
};

// Where evidence lies on the timeline: the spans of a unit in this time, of all where it is none.
struct EvidencePlace {
  UnitId unit = UnitId::none;
  Interval time;  // ticks of the base clock
};

// A gain as a part of a warm call, at most.
struct GainOfCall {
  double seconds = 0;
  double share = 0;
};

struct Gain {
  double ticks = 0;  // of the base clock; seconds where it is outside of the timeline
  double share = 0;  // of what `of` says
  bool of_wall = true;
  std::string of;   // "the wall"
  std::string how;  // how it was computed
  std::optional<GainOfCall> of_call = {};
};

enum class Weight : std::uint8_t { low, medium, high };
const char* name_of(Weight weight);

struct Finding {
  std::string rule;   // its name
  std::string title;  // one sentence
  Weight weight = Weight::medium;
  std::vector<Evidence> evidence;
  std::optional<Gain> gain;
  std::string no_gain;  // why there is none
  std::string advice;
  std::vector<EvidencePlace> places;  // where it cost most, the longest first; at most 20
};

struct UntriedRule {
  std::string rule;
  std::string missing;
};

struct Diagnosis {
  std::int64_t wall = 0;  // ticks of the timeline; 0: the profile has none
  bool cold = false;      // the wall is of a cold inference
  std::optional<Call> call;
  std::vector<Finding> findings;
  std::vector<std::string> quiet;    // rules that were tried and do not apply
  std::vector<UntriedRule> untried;  // in the order of finding_rules()
};

// The names of all rules ("memory-bound"), in the order in which they are tried; docs/rules.md says
// of each what it finds.
const std::vector<std::string>& finding_rules();
// A usage error that lists the names, unless it is one of them.
Status require_finding_rule(const std::string& name);

struct DiagnoseOptions {
  Peaks peaks = {};
  std::optional<Hertz> rate = {};  // of the base clock; none: as the profile has it
  std::string only = {};           // the name of one rule; empty: all
  bool places = false;             // fill Finding::places
};

}  // namespace npuscope::analysis
