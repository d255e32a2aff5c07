#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
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
  if (!context.has_timeline()) return Missing{"a timeline of units"};
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

const Rule tiny_dma_rule{
    {"tiny-dma", "many transfers below 4 KiB",
     "Transfers of DDR by size (npuscope memory, TRANSFERS). Gain: the wall's longest path with "
     "ops "
     "that have none but small transfers taking no time.",
     "64 transfers below 4 KiB or more, 25 % of all transfers, 5 % of their work",
     "4 KiB: AWS Neuron Explorer's aim for DMA sizes; counts and shares are npuscope's own",
     "Transfers without bytes. On the HTP a transfer's time is that of its issue."},
    tiny_dma::apply};

}  // namespace npuscope::analysis
