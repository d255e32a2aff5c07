// Rules about ops whose spans are the frames of what the engines did for them, as logs of
// llama.cpp's Hexagon backend have them: what bounds them, how much of a token they are, what was
// lost.
#include <algorithm>
#include <array>

#include "analysis/findings/rules/rules.hpp"
#include "analysis/ops/op_windows.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {

namespace window_bound {

constexpr double min_share = 0.4, min_of_others = 0.15;

// What to do about it; none of what nothing can be done about.
const char* advice_for(WindowBound bound) {
  switch (bound) {
    case WindowBound::ddr:
      return "Each step reads all weights once, for one token or many, so fewer bytes are what "
             "helps: a type of fewer bits (q4_0 takes 4.5 bits a weight on the NPU, q4_K 5, q6_K "
             "7, q8_0 8.5), or more "
             "tokens for each read: several sequences at once (-np), a draft model (-md), a larger "
             "-ub for prompts. Faster kernels change nothing.";
    case WindowBound::hmx:
      return "The HMX works in f16, so its peak is half of what the data sheet says of int8. "
             "Larger -ub gives it longer jobs; GGML_HEXAGON_MM_SELECT chooses among the kernels.";
    case WindowBound::hvx:
      return "Vector threads bound these ops. Give them all threads (GGML_HEXAGON_NHVX unset or "
             "0), "
             "and prompts in larger -ub, so that products go to the HMX.";
    case WindowBound::conversion:
      return "Weights are made f16 tiles for the HMX, or activations q8, for most of these ops. "
             "q4_0 and q8_0 are unpacked faster than K types; a larger -ub unpacks weights once "
             "for "
             "more tokens.";
    case WindowBound::dispatch:
      return "Nothing runs in these ops for much of their time: they are too small, or wait for "
             "each other. Leave fusion on (GGML_HEXAGON_OPFUSION unset), and give more tokens at "
             "once (-ub, -np).";
    case WindowBound::mixed:
    case WindowBound::unknown: break;
  }
  return nullptr;
}

RuleOutcome apply(FindingContext& context) {
  const OpWindows windows = find_op_windows(context.analysis(), context.peaks());
  if (windows.rows.empty()) return Missing{"windows of ops"};
  std::array<double, 7> shares{};
  for (const OpWindow& row : windows.rows) shares[std::size_t(row.bound)] += row.share;
  WindowBound worst = WindowBound::unknown;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto bound = WindowBound(i);
    if (advice_for(bound) == nullptr) continue;
    const double min =
        bound == WindowBound::ddr || bound == WindowBound::hmx || bound == WindowBound::hvx
            ? min_share
            : min_of_others;
    if (shares[i] < min) continue;
    if (worst == WindowBound::unknown || shares[i] > shares[std::size_t(worst)]) worst = bound;
  }
  if (worst == WindowBound::unknown) return DoesNotApply{};
  const double share = shares[std::size_t(worst)];
  Finding finding;
  finding.title = fmt::format("{} bounds {} of the time of ops", name_of(worst), percent(share));
  finding.weight = Weight::high;
  finding.evidence = {share_evidence("bound_share_of_windows", "of the windows of all ops", share,
                                     MeasureKind::dominant_path, "ops: ENGINES IN OPS",
                                     name_of(worst))};
  std::size_t named = 0;
  for (const OpWindow& row : windows.rows) {
    if (row.bound != worst || ++named > 3) continue;
    finding.evidence.push_back(share_evidence("op_share_of_windows", "of the windows of all ops",
                                              row.share, MeasureKind::dominant_path,
                                              "ops: ENGINES IN OPS", row.label));
  }
  finding.no_gain = "what the ops take when it is not the bound is unknown";
  finding.advice = advice_for(worst);
  return finding;
}

}  // namespace window_bound

const Rule window_bound_rule{"window-bound", window_bound::apply};

namespace token_share {

constexpr double max_share = 0.8;

RuleOutcome apply(FindingContext& context) {
  double tokens = 0, time = 0, batches = 0;
  for (const Measure& measure : context.profile().measures) {
    if (measure.subject != Measure::Subject::profile) continue;
    if (measure.meaning.role == NumberRole::tokens) tokens = measure.value;
    if (measure.meaning.role == NumberRole::tokens_time) time = measure.value;
    if (measure.meaning.role == NumberRole::batch_time) batches = measure.value;
  }
  if (!(tokens > 0) || !(time > 0) || !(batches > 0))
    return Missing{"the time of tokens on the host"};
  const double share = batches / time;
  if (share >= max_share) return DoesNotApply{};
  Finding finding;
  finding.title =
      fmt::format("The NPU's batches take {} of the time of the tokens", percent(share));
  finding.weight = Weight::high;
  const char* source = "show: TOKENS";
  finding.evidence = {
      count_evidence("tokens", "tokens", tokens, source),
      ticks_evidence("tokens_time", "what they took, on the host", time, MeasureKind::wall, source),
      ticks_evidence("batch_time", "NPU batches", batches, MeasureKind::work, source),
      share_evidence("batch_share_of_tokens_time", "of that", share, MeasureKind::work, source)};
  finding.no_gain = "how much of the rest can go is unknown";
  finding.advice =
      "The rest is the host, the way to the NPU and back, and ops on CPU or GPU, of which "
      "other-backends says more. Each change of backend ends a batch: fewer splits, a larger "
      "GGML_HEXAGON_OPBATCH and GGML_HEXAGON_OPPOLL=1 shorten the way. Take tokens a second from a "
      "run with GGML_HEXAGON_PROFILE=1 or without: mode 3 prints thousands of lines a batch.";
  return finding;
}

}  // namespace token_share

const Rule token_share_rule{"token-share", token_share::apply};

namespace lost_events {

// Of a recorder that was full, whatever its events are of.
RuleOutcome of_recorder(double events) {
  Finding finding;
  finding.title = fmt::format("The recorder was full: {} events are missing",
                              thousands(std::uint64_t(std::min(events, 1e18))));
  finding.weight = Weight::high;
  finding.evidence = {
      count_evidence("lost_events", "events that were dropped", events, "query: measures")};
  finding.no_gain = "affects the recording only";
  finding.advice =
      "What ran later is not in the file, and the inference during which it became full is in no "
      "number. Record fewer inferences.";
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  for (const Measure& measure : context.profile().measures) {
    if (measure.meaning.role == NumberRole::lost_events && measure.value > 0) {
      return of_recorder(measure.value);
    }
  }
  const OpWindows windows = find_op_windows(context.analysis(), context.peaks());
  if (!windows.has_events) return Missing{"trace events in windows of ops"};
  double partial = 0;
  std::uint64_t rows = 0;
  for (const OpWindow& row : windows.rows) {
    if (!row.is_partial) continue;
    partial += row.share;
    rows += 1;
  }
  if (rows == 0) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("Trace events of ops were lost, or may have been: {} of their time",
                              percent(partial));
  finding.weight = Weight::medium;
  finding.evidence = {count_evidence("partial_rows", "ops, some of whose events are missing",
                                     double(rows), "ops: ENGINES IN OPS"),
                      share_evidence("partial_share_of_windows", "of the windows of all ops",
                                     partial, MeasureKind::dominant_path, "ops: ENGINES IN OPS")};
  finding.no_gain = "affects the recording only";
  finding.advice =
      "Shares of HVX, HMX and DMA in these ops are lower bounds, and what looks idle in them may "
      "not have been. Set a larger GGML_HEXAGON_OPTRACE, or a smaller GGML_HEXAGON_OPBATCH, and "
      "record again.";
  return finding;
}

}  // namespace lost_events

const Rule lost_events_rule{"lost-events", lost_events::apply};

}  // namespace npuscope::analysis
