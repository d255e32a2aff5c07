// Rules about DMA transfers: the time to issue them, small ones, and those that nothing hides.
#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/units/unit_numbers.hpp"

namespace npuscope::analysis {

namespace dma_issue {

constexpr double min_factor = 2, min_difference = 0.1;

RuleOutcome apply(FindingContext& context) {
  Finding finding;
  double issue = 0, transfers = 0;
  constexpr const char* text = "DMA transfers take {} of the time, their issue {}";
  std::string shares;  // as timelines draw them
  if (context.has_timeline()) {
    issue = context.domain_share(Engine::dma_issue);
    transfers = context.domain_share(Engine::dma);
    if (issue == 0 || transfers == 0) return DoesNotApply{};
    shares = fmt::format(text, percent(context.active_share(Engine::dma)),
                         percent(context.active_share(Engine::dma_issue)));
    finding.evidence = {
        share_evidence("issue_domain_share_of_wall", "DMA issue, the busiest thread, of the wall",
                       issue, MeasureKind::domain, "units: HARDWARE"),
        share_evidence("dma_domain_share_of_wall", "transfers, the busiest engine, of the wall",
                       transfers, MeasureKind::domain, "units: HARDWARE")};
  } else {
    const auto stated = stated_use(context, Engine::dma_issue);
    const auto in_flight = transfers_of_cores_time(context);
    if (!stated || !in_flight) return Missing{"the issue of transfers apart from transfers"};
    issue = stated->share;
    transfers = *in_flight;
    shares = fmt::format(text, percent(transfers), percent(issue));
    finding.evidence = {
        share_evidence("issue_stated_use", "DMA issue, the busiest thread, of its time", issue,
                       MeasureKind::unit_busy, "units: REPORTED BY THE FILES", stated->unit),
        share_evidence("dma_work_share_of_cores_time",
                       "transfers of DDR, issue to completion, of the wall of all cores", transfers,
                       MeasureKind::work, "ops: ucycles of aiccopy…")};
  }
  if (transfers < min_factor * issue || transfers - issue < min_difference) {
    return DoesNotApply{};
  }
  finding.title = std::move(shares);
  finding.weight = Weight::low;
  finding.no_gain = "affects interpretation only";
  finding.advice =
      "Ignore the utilisation of the DMA issue thread: it only starts transfers, which go on "
      "without "
      "it. Judge memory by the time of the transfers and by the bytes (npuscope memory).";
  return finding;
}

}  // namespace dma_issue

const Rule dma_issue_rule{"dma-issue-utilisation", dma_issue::apply};

namespace tiny_dma {

constexpr double min_share_of_transfers = 0.25;
constexpr std::uint64_t min_transfers = 64;
constexpr double min_share_of_work = 0.05;

// Ops all of whose transfers are small.
std::vector<bool> small_ops(FindingContext& context) {
  enum : std::uint8_t { none, small, large };
  const Profile& profile = context.profile();
  std::vector<std::uint8_t> size_of(profile.ops.size(), none);
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::size_t op = index_of(profile.spans.op[row]);
    if (op >= size_of.size() || domain_of(profile, row) != Domain::movement) continue;
    const std::int64_t bytes =
        saturating_add(context.analysis().traffic().of_span(Route::ddr_read, row),
                       context.analysis().traffic().of_span(Route::ddr_write, row));
    if (bytes <= 0) continue;
    if (bytes >= small_transfer) {
      size_of[op] = large;
    } else if (size_of[op] == none) {
      size_of[op] = small;
    }
  }
  std::vector<bool> ops;
  for (const std::uint8_t size : size_of) ops.push_back(size == small);
  return ops;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  if (!context.analysis().traffic().any_of_ops()) return Missing{"bytes of transfers"};
  std::uint64_t transfers = 0, small = 0;
  double bytes = 0, work = 0, small_work = 0;
  for (const TransferSize& size : context.analysis().transfers()) {
    transfers += size.transfers;
    work += double(size.ticks);
    if (size.below == 0 || size.below > small_transfer) continue;
    small += size.transfers;
    small_work += double(size.ticks);
    bytes += double(size.bytes);
  }
  if (small < min_transfers || double(small) < min_share_of_transfers * double(transfers) ||
      small_work < min_share_of_work * work) {
    return DoesNotApply{};
  }
  Finding finding;
  finding.title = fmt::format("{} of DDR transfers are below 4 KiB",
                              percent(double(small) / double(transfers)));
  finding.weight = Weight::medium;
  const char* source = "memory: TRANSFERS";
  finding.evidence = {
      count_evidence("small_transfers", "transfers below 4 KiB", double(small), source),
      share_evidence("small_share_of_transfers", "those, of all transfers of DDR",
                     double(small) / double(transfers), MeasureKind::count, source),
      bytes_evidence("small_bytes", "their bytes", bytes, source),
      ticks_evidence("small_work", "their work", small_work, MeasureKind::work, source),
      share_evidence("small_share_of_work", "that, of the work of all transfers",
                     work > 0 ? small_work / work : 0, MeasureKind::work, source)};
  const std::vector<bool> ops = small_ops(context);
  finding.places = places_of_ops(context, ops);
  finding.advice = context.words(
      {.usual = "Join them: one transfer for biases and scales of several ops, whole rows instead "
                "of columns, constants packed beside the weights that they belong to.",
       .sigmastar_ipu =
           "Fewer, larger tensors between layers: operators that are fused into one layer "
           "(npuscope ipu operators lists the groups) need no transfer between them, and "
           "rows of an image in the chip's own format and alignment are read in one piece."});
  return trial_of(std::move(finding), factors_of(ops, 0),
                  "ops with none but small transfers take no time");
}

}  // namespace tiny_dma

const Rule tiny_dma_rule{"tiny-dma", tiny_dma::apply};

namespace exposed_dma {

constexpr double min_share = 0.1;

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  // A transfer in flight until software collects it is no data movement to hide.
  if (context.profile().spans.measure(NumberRole::op_window) != nullptr) return DoesNotApply{};
  // Where bandwidth is the bound, hiding transfers better gains nothing.
  if (std::holds_alternative<Finding>(memory_bound_rule.apply(context))) return DoesNotApply{};
  const double moving = context.part(Part::movement_alone);
  const double waiting = context.part(Part::waiting_for_dma);
  if (!(context.analysis().coarse().compute_active > 0)) return DoesNotApply{};
  if (moving + waiting < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("Exposed data movement and DMA waits take {} of the wall",
                              percent((moving + waiting) / context.wall()));
  finding.weight = Weight::high;
  finding.evidence = {
      share_evidence("exposed_share_of_wall", "share of wall, both below",
                     (moving + waiting) / context.wall(), MeasureKind::wall, "show: WALL"),
      ticks_evidence("movement_alone", "data movement, nothing computes", moving, MeasureKind::wall,
                     "show: WALL"),
      ticks_evidence("waiting_for_dma_alone", "waiting for DMA, nothing works", waiting,
                     MeasureKind::wall, "show: WALL")};
  const auto& rows = context.analysis().units().units;
  const auto max = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.waiting_for_dma < b.waiting_for_dma;
  });
  if (max != rows.end() && max->waiting_for_dma > 0) {
    const std::string unit = path_of(context.profile(), max->unit);
    finding.evidence.push_back(ticks_evidence("dma_wait", "DMA wait of a unit, the longest",
                                              double(max->waiting_for_dma), MeasureKind::unit_busy,
                                              "units: UNITS", unit));
    finding.evidence.push_back(share_evidence("dma_wait_share_of_wall", "share of wall",
                                              double(max->waiting_for_dma) / context.wall(),
                                              MeasureKind::unit_busy, "units: UNITS", unit));
  }
  const Profile& profile = context.profile();
  finding.places = places_where(
      context,
      [&](UnitId unit, const SpanOfUnit& span) {
        return span.kind == SpanKind::dma_wait || work_of(profile, Domain::movement)(unit, span);
      },
      work_of(profile, Domain::compute));
  finding.gain = context.gain_by_hiding(moving + waiting, "all of that time hidden behind work");
  finding.advice = context.words(
      {.usual = "Start transfers earlier: fetch the next weights while the present ones are "
                "multiplied (double buffering needs VTCM for both), keep what fits in VTCM across "
                "inferences, and make the first kernels not wait for the whole input. npuscope "
                "path names the transfers that others waited for.",
       .sigmastar_ipu =
           "The IPU loads the weights of the next layer while a layer runs, but a layer's "
           "inputs only when the layers before it have stored them. Fewer bytes help: "
           "operators fused into one layer (npuscope ipu operators lists the groups), 8 bits "
           "instead of 16, smaller tensors between layers. npuscope path names the transfers "
           "that others waited for.",
       .neutral = "Start transfers earlier: fetch the next weights while the present ones are "
                  "multiplied (double buffering needs on-chip memory for both), keep on chip what "
                  "fits across inferences, and make the first kernels not wait for the whole "
                  "input. npuscope path names the transfers that others waited for."});
  if (!context.knows_bandwidth()) {
    finding.advice +=
        " Whether the DDR is busy meanwhile needs its peak to tell (--target): if it is, only "
        "fewer bytes help.";
  }
  return finding;
}

}  // namespace exposed_dma

const Rule exposed_dma_rule{"exposed-dma", exposed_dma::apply};

std::optional<StatedUse> stated_use(FindingContext& context, Engine engine) {
  const Profile& profile = context.profile();
  const UnitNumbers& numbers = context.analysis().unit_numbers();
  std::optional<StatedUse> max;
  for (std::size_t row = 0; row < numbers.row_count(); ++row) {
    for (const UnitNumber& number : numbers.row(row)) {
      const Meaning& is = numbers.columns[number.column].meaning;
      if (is.role != NumberRole::utilization) continue;
      const std::size_t unit = index_of(number.unit);
      if (unit >= profile.units.size() || profile.units[unit].engine != engine) continue;
      if (max && max->share >= number.value / 100) continue;
      max = StatedUse{number.value / 100, path_of(profile, number.unit)};
    }
  }
  return max;
}

std::optional<double> transfers_of_cores_time(FindingContext& context) {
  const Profile& profile = context.profile();
  const auto cores = std::count_if(profile.units.begin(), profile.units.end(),
                                   [](const Unit& unit) { return unit.engine == Engine::core; });
  if (cores == 0 || !(context.wall() > 0)) return std::nullopt;
  const OpTable& kinds = context.active_kinds();
  if (kinds.columns.empty()) return std::nullopt;
  const OpColumn& column = kinds.columns[kinds.ranked_by];
  if (column.clock != profile.base_clock || column.kind != MeasureKind::work) return std::nullopt;
  double transfers = 0;
  for (const OpRow& row : kinds.rows) {
    const bool is_copy = row.name.starts_with("aiccopy");
    if (!is_copy || row.name.starts_with("aiccopysamevtcm")) continue;
    transfers += row.values[kinds.ranked_by].value_or(0);
  }
  return transfers / (double(cores) * context.wall());
}

}  // namespace npuscope::analysis
