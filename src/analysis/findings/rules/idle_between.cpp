#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

#include <algorithm>
#include <optional>

#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace idle_between {

constexpr double min_share = 0.1;

struct Between {
  std::uint64_t pairs = 0;  // of inferences recorded one after the other
  std::uint64_t gaps = 0;
  std::int64_t sum = 0;
  std::int64_t longest = 0;
  std::vector<EvidencePlace> places;
};

// Where numbers are left out, inferences may have run that nobody recorded.
Between between(const std::map<std::uint32_t, Interval>& extents) {
  Between found;
  std::optional<std::uint32_t> last;
  std::int64_t end = 0;  // of all before, because several may be in flight
  for (const auto& [number, extent] : extents) {
    if (last && number == *last + 1) {
      found.pairs += 1;
      const std::int64_t gap = std::max<std::int64_t>(0, saturating_subtract(extent.begin, end));
      found.gaps += gap > 0;
      found.sum = saturating_add(found.sum, gap);
      found.longest = std::max(found.longest, gap);
      found.places.push_back({UnitId::none, {end, extent.begin}});
    }
    end = last ? std::max(end, extent.end) : extent.end;
    last = number;
  }
  return found;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const Between found = between(context.analysis().inference_extents());
  if (found.pairs == 0) return Missing{"two inferences that follow one another"};
  const double idle = double(found.sum);
  if (idle < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("The device is idle between inferences for {} of the wall",
                              percent(idle / context.wall()));
  finding.weight = Weight::high;
  finding.evidence = {
      ticks_evidence("between_inferences", "from the end of one to the start of the next, all",
                     idle, MeasureKind::wall, "query: inferences"),
      share_evidence("between_inferences_share_of_wall", "share of wall", idle / context.wall(),
                     MeasureKind::wall, "query: inferences"),
      count_evidence("gaps_between", "gaps between inferences", double(found.gaps),
                     "query: inferences"),
      ticks_evidence("longest_between", "the longest of them", double(found.longest),
                     MeasureKind::wall, "query: inferences"),
      ticks_evidence("median_inference", "an inference, median after the first",
                     context.analysis().coarse().inferences.median_of_rest, MeasureKind::wall,
                     "show: WALL")};
  finding.places = longest_places(found.places);
  finding.gain = context.gain_of_wall(idle, "each inference starts where the one before ends");
  finding.advice =
      "The host is late. Keep two or more inferences in flight, so that the next one waits at the "
      "device when this one ends; prepare inputs and take results beside the device's work, not "
      "between; npuscope latency says what the host's part is. It changes nothing in how long one "
      "inference takes.";
  return finding;
}

}  // namespace idle_between

const Rule idle_between_rule{
    {"idle-between-inferences", "a device that waits for its next inference",
     "The time from the last end of an inference, and of those before it, to the first start of "
     "the next one, summed. Gain: all of it, of throughput.",
     "10 % of the wall",
     "10 %: users of Cloud AI 100 expect system throughput slightly below the device's; the "
     "vendor's notebook says to look at the host where they differ widely",
     "Inferences that were not recorded: only those with numbers that follow one another count. A "
     "test that sends one request at a time on purpose."},
    idle_between::apply};

}  // namespace npuscope::analysis
