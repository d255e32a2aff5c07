// The engine: ranking, what is left out, words of the rules, hostile profiles.
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "analysis/findings/finding_tester.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::findings_test {
namespace {

using test_support::CoreBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> rules_of(const Diagnosis& diagnosis) {
  std::vector<std::string> rules;
  for (const Finding& finding : diagnosis.findings) rules.push_back(finding.rule);
  return rules;
}

// Of so many spans the rules are tried side by side; alone, each is the only one that asks.
TEST(Diagnose, ARuleOfManySaysWhatItSaysAlone) {
  CoreBuilder made;
  std::mt19937 random(3);
  const char* const kinds[] = {"q::ForceFormat_Flat", "q::Softmax", "q::mul",
                               "q::ConvLayer_s1.opt"};
  std::int64_t free_at[3] = {};
  for (std::uint32_t i = 0; i < 101'000; ++i) {
    const char* const kind = kinds[i % 4];
    const std::size_t unit = i % 4 == 3 ? 2 : random() % 2;
    const std::int64_t begin = free_at[unit] + std::int64_t(random() % 3);
    free_at[unit] = begin + 1 + std::int64_t(random() % 40);
    const UnitId units[] = {made.hvx, made.hvx1, made.hmx};
    made.span(units[unit], kind, begin, free_at[unit], SpanKind::op, kind);
    made.profile.spans.instance.push_back(i / 1'000);
  }
  const Diagnosis all = Analysis(made.profile).findings();
  EXPECT_GE(all.findings.size(), 2u);
  for (const Finding& finding : all.findings) {
    const test_support::Tried alone(finding.rule, made.profile);
    ASSERT_TRUE(alone.found()) << finding.rule;
    EXPECT_EQ(alone.finding().title, finding.title);
    EXPECT_EQ(alone.gain(), finding.gain ? finding.gain->ticks : -1) << finding.rule;
    ASSERT_EQ(alone.finding().evidence.size(), finding.evidence.size()) << finding.rule;
    for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
      EXPECT_EQ(alone.finding().evidence[i].value, finding.evidence[i].value) << finding.rule;
    }
  }
}

TEST(Diagnose, TheLargestGainFirstThenOthersByWeight) {
  CoreBuilder made;
  made.span(made.hvx, "flat", 0, 300, SpanKind::op, "q::ForceFormat_Flat");
  made.span(made.hvx, "softmax", 300, 400, SpanKind::op, "q::Softmax");
  made.span(made.hmx, "MatMul", 400, 700, SpanKind::op, "q::ConvLayer_s1.opt");
  made.span(made.hvx, "rest", 700, 1000, SpanKind::op, "q::mul");
  made.profile.provenance.temperature = Provenance::Temperature::cold;
  const Diagnosis diagnosis = Analysis(made.profile).findings();
  EXPECT_EQ(diagnosis.wall, 1000);
  EXPECT_EQ(diagnosis.findings.size() + diagnosis.quiet.size() + diagnosis.untried.size(),
            finding_rules().size());
  std::vector<double> shares;
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.gain) continue;
    shares.push_back(finding.gain->share);
    EXPECT_EQ(finding.gain->of, "the cold wall");
  }
  EXPECT_TRUE(std::is_sorted(shares.rbegin(), shares.rend()));
  const auto rules = rules_of(diagnosis);
  EXPECT_THAT(rules, ::testing::IsSupersetOf(
                         {"boundary-tax", "softmax", "serialised-hvx-hmx", "cold-inference"}));
  EXPECT_EQ(rules[shares.size()], "cold-inference");  // the first without a gain, as it is severe
}

// A cold inference of 1,000 cycles, of which the format conversion takes 900; its node takes 90 of
// the 300 cycles of a warm graph, which are 0.3 us of a call of 30 us.
CoreBuilder cold_with_warm_calls() {
  CoreBuilder made;
  made.span(made.hvx, "flat", 0, 900, SpanKind::op, "q::ForceFormat_Flat");
  made.span(made.hmx, "MatMul", 900, 1000, SpanKind::op, "q::ConvLayer_s1.opt");
  made.profile.edges = {{made.op("flat", "q::ForceFormat_Flat"),
                         made.op("MatMul", "q::ConvLayer_s1.opt"), EdgeKind::data}};
  made.profile.provenance.temperature = Provenance::Temperature::cold_then_warm;
  made.profile.clocks.push_back({made.text("ns"), ClockKind::wall, Hertz{1e9}, false, 0});
  const auto add = [&](Measure::Subject subject, std::uint32_t id, const char* what, ClockId clock,
                       double value, std::uint32_t instance) {
    Measure measure;
    measure.subject = subject;
    measure.subject_id = id;
    measure.what = made.text(what);
    measure.kind = MeasureKind::wall;
    measure.clock = clock;
    measure.value = value;
    measure.instance = instance;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  };
  const ClockId ns{std::uint32_t(made.profile.clocks.size() - 1)};
  const std::uint32_t flat = index_of(made.op("flat", "q::ForceFormat_Flat"));
  for (std::uint32_t i = 0; i < 3; ++i) {
    const double cold = i == 0 ? 10 : 1;
    add(Measure::Subject::profile, 0, "QNN (execute) time", ns, 30'000 * cold, i);
    add(Measure::Subject::profile, 0, "Accelerator (execute) time", ns, 1'000 * cold, i);
    add(Measure::Subject::op, flat, "node cycles", ClockId{}, i == 0 ? 900 : 90, i);
    made.phase("Graph Execute", i, 5'000 * i, 5'000 * i + (i == 0 ? 1'000 : 300), i == 0 ? 2 : 0.3);
  }
  return made;
}

TEST(Diagnose, RankedArtefactsOfTheColdRunAboveWhatCostsTheCall) {
  const Diagnosis diagnosis = Analysis(cold_with_warm_calls().profile).findings();
  ASSERT_TRUE(diagnosis.call);
  EXPECT_TRUE(diagnosis.cold);
  EXPECT_DOUBLE_EQ(diagnosis.call->seconds(), 30e-6);
  EXPECT_NEAR(*diagnosis.call->graph_ticks, 300, 1e-6);
  ASSERT_GE(diagnosis.findings.size(), 2u);
  EXPECT_EQ(diagnosis.findings[0].rule, "host-overhead");
  EXPECT_NEAR(diagnosis.findings[0].gain->of_call->share, 29.0 / 30, 1e-9);
  EXPECT_EQ(diagnosis.findings[0].title, "Host and transport take 96.7 % of a warm call");
}

TEST(Diagnose, PrintedGainsLargerThanAWarmGraph) {
  const Diagnosis diagnosis =
      Analysis(cold_with_warm_calls().profile).findings({.only = "boundary-tax"});
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  const Gain& gain = *diagnosis.findings[0].gain;
  EXPECT_NEAR(gain.ticks, 300, 1e-6);  // not the 900 of the cold inference
  EXPECT_NEAR(gain.share, 0.3, 1e-9);
  EXPECT_EQ(gain.of, "the cold wall");
  ASSERT_TRUE(gain.of_call);
  EXPECT_NEAR(gain.of_call->seconds, 0.09e-6, 1e-12);  // the node's 90 cycles at 1 GHz
  EXPECT_NEAR(gain.of_call->share, 0.003, 1e-9);
}

TEST(Diagnose, WhatNothingWouldComeOfIsNoFinding) {
  CoreBuilder made;  // beside the product, on another unit, and nothing waits for it
  made.span(made.hvx, "flat", 0, 300, SpanKind::op, "q::ForceFormat_Flat");
  made.span(made.hmx, "MatMul", 0, 1000, SpanKind::op, "q::ConvLayer_s1.opt");
  EXPECT_THAT(Analysis(made.profile).findings({.only = "boundary-tax"}).quiet,
              ElementsAre("boundary-tax"));
}

TEST(Diagnose, OneRuleAlone) {
  CoreBuilder made;
  made.span(made.hvx, "s", 0, 100, SpanKind::op, "q::Softmax");
  EXPECT_THAT(rules_of(Analysis(made.profile).findings({.only = "softmax"})),
              ElementsAre("softmax"));
}

TEST(Diagnose, AnEmptyProfileHasNothingToTry) {
  const Diagnosis diagnosis = Analysis(Profile{}).findings();
  EXPECT_TRUE(diagnosis.findings.empty());
  EXPECT_TRUE(diagnosis.quiet.empty());
  EXPECT_EQ(diagnosis.untried.size(), finding_rules().size());
  for (const UntriedRule& each : diagnosis.untried) EXPECT_NE(each.missing, "") << each.rule;
}

TEST(FindingRules, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const std::string& name : finding_rules()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(require_finding_rule(name)) << name;
  }
  const Status unknown = require_finding_rule("luck");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("unknown rule 'luck'"));
}

// Times, ids, kinds and numbers of every sort, right and wrong.
Profile hostile_profile(std::mt19937& random) {
  constexpr std::int64_t extremes[] = {0,
                                       1,
                                       -1,
                                       std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min(),
                                       1000};
  constexpr double numbers[] = {0,
                                -5,
                                1e308,
                                std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity(),
                                50};
  constexpr const char* names[] = {"utilization percent",
                                   "Accelerator (execute) time (cycles)",
                                   "QNN (execute) time",
                                   "Accelerator (execute) time",
                                   "ddr read bytes",
                                   "queue depth",
                                   "ucycles"};
  constexpr const char* kinds[] = {
      "@Spill", "@Fill", "q::Softmax", "aiccopytovtcm", "q::ForceFormat_Flat", "GdnMerge"};
  CoreBuilder made;
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  const int spans = int(random() % 40);
  for (int i = 0; i < spans; ++i) {
    const auto start = random() % 4 == 0 ? pick(extremes) : std::int64_t(random() % 500);
    made.span(UnitId(std::uint32_t(random() % 8)), "op" + std::to_string(random() % 9), 0, 0,
              SpanKind(random() % 11), pick(kinds));
    made.profile.spans.start.back() = start;
    made.profile.spans.duration.back() =
        random() % 4 == 0 ? pick(extremes) : std::int64_t(random() % 50);
  }
  if (random() % 2 == 0) {
    for (int i = 0; i < spans; ++i) made.profile.spans.instance.push_back(random() % 4);
  }
  made.bytes("ddr read bytes", {pick(extremes), 64, 128});
  for (int i = 0; i < 12; ++i) {
    Measure measure;
    measure.subject = Measure::Subject(random() % 5);
    measure.subject_id = std::uint32_t(random() % 12);
    measure.what = made.text(pick(names));
    measure.kind = MeasureKind(random() % 8);
    measure.clock = ClockId(std::uint32_t(random() % 2));
    measure.value = pick(numbers);
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  }
  for (std::uint32_t i = 0; i < 4; ++i) {
    made.phase("Graph Execute", i, 0, 0, pick(numbers));
    made.profile.phases.back().start = pick(extremes);
    made.profile.phases.back().duration = pick(extremes);
    made.profile.edges.push_back({OpId(std::uint32_t(random() % 12)),
                                  OpId(std::uint32_t(random() % 12)), EdgeKind(random() % 5)});
    made.profile.tensor_uses.push_back(
        {std::uint32_t(random() % 3), OpId(std::uint32_t(random() % 12))});
  }
  Tensor tensor;
  tensor.is_constant = true;
  tensor.size = Bytes{pick(extremes)};
  made.profile.tensors = {tensor};
  return std::move(made.profile);
}

TEST(Diagnose, ASigmaStarIpuWasAdvisedToUseVtcm) {
  // An IPU has no units of these rules.
  const std::set<std::string> of_others{"serialised-hvx-hmx", "vector-bound", "one-thread-op",
                                        "uncounted-waits", "spill"};
  std::mt19937 random(5);
  std::set<std::string> fired, changed;
  for (int round = 0; round < 300; ++round) {
    Profile profile = hostile_profile(random);
    profile.provenance.platform = Provenance::Platform::hexagon;
    const Diagnosis usual = Analysis(profile).findings();
    profile.provenance.platform = Provenance::Platform::sigmastar_ipu;
    const Diagnosis diagnosis = Analysis(profile).findings();
    ASSERT_EQ(diagnosis.findings.size(), usual.findings.size());
    for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
      const Finding& finding = diagnosis.findings[i];
      fired.insert(finding.rule);
      if (finding.advice != usual.findings[i].advice) changed.insert(finding.rule);
      if (of_others.contains(finding.rule)) continue;
      for (const char* word : {"VTCM", "HVX", "HMX", "HTP"}) {
        EXPECT_THAT(finding.advice, Not(HasSubstr(word))) << finding.rule;
      }
    }
  }
  EXPECT_GE(changed.size(), 3u) << testing::PrintToString(fired);
}

// Everything but traces, Torq, OpenVINO, XLA, ExecuTorch and IREE had Hexagon's words: a table of
// LiteRT, Vela or RKNN was told of VTCM.
TEST(Diagnose, HardwareThatIsNotKnownHadTheWordsOfHexagon) {
  std::mt19937 random(6);
  for (int round = 0; round < 100; ++round) {
    Profile profile = hostile_profile(random);
    profile.provenance.format = "RKNN layers";
    profile.provenance.device = "NPU";
    for (const Finding& finding : Analysis(profile).findings().findings) {
      // Of units and numbers that only Qualcomm's NPUs have.
      if (finding.rule == "serialised-hvx-hmx" || finding.rule == "vector-bound" ||
          finding.rule == "uncounted-waits" || finding.rule == "spill" ||
          finding.rule == "one-thread-op") {
        continue;
      }
      EXPECT_THAT(finding.advice, Not(HasSubstr("VTCM"))) << finding.rule;
      EXPECT_THAT(finding.advice, Not(HasSubstr("HVX"))) << finding.rule;
    }
  }
}

TEST(Diagnose, HostileProfilesEndInFindingsWhoseSharesAreShares) {
  std::mt19937 random(7);
  std::set<std::string> found;
  for (int round = 0; round < 2'000; ++round) {
    const Profile profile = hostile_profile(random);
    DiagnoseOptions options;
    options.peaks.ddr_bytes_per_s = 1e9;
    options.peaks.core_hz = 1e9;
    for (const Finding& finding : Analysis(profile).findings(options).findings) {
      found.insert(finding.rule);
      EXPECT_FALSE(finding.evidence.empty()) << finding.rule;
      EXPECT_EQ(finding.no_gain.empty(), finding.gain.has_value()) << finding.rule;
      if (!finding.gain) continue;
      EXPECT_GE(finding.gain->share, 0) << finding.rule << " in round " << round;
      EXPECT_LE(finding.gain->share, 1 + 1e-9) << finding.rule << " in round " << round;
    }
  }
  EXPECT_GT(found.size(), 8u);
}

}  // namespace
}  // namespace npuscope::analysis::findings_test
