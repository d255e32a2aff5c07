#include "analysis/findings/places.hpp"

#include <algorithm>

#include "base/sort_rows.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/interval_sets.hpp"

namespace npuscope::analysis {
namespace {

// Keeps no more than it needs, however many spans there are.
class LongestPlaces {
 public:
  // Whether one of this length is kept. Asked of each span, and mostly not.
  bool takes(Interval time) const { return length_of(time) > longer_than_; }
  void take(const EvidencePlace& place) {
    if (!takes(place.time)) return;
    places_.push_back(place);
    if (places_.size() >= 1024) cut();
  }
  std::vector<EvidencePlace> result() {
    cut();
    std::ranges::sort(places_, {}, [](const EvidencePlace& place) { return place.time.begin; });
    return std::move(places_);
  }

 private:
  void cut() {
    sort_rows(places_, std::ranges::greater(),
              [](const EvidencePlace& place) { return length_of(place.time); });
    if (places_.size() < max_places) return;
    places_.resize(max_places);
    longer_than_ = length_of(places_.back().time);  // as long as the last: comes after it
  }
  std::vector<EvidencePlace> places_;
  std::int64_t longer_than_ = 0;
};

template <class Visit>
void for_each_span(const SpansByUnit& by_unit, const Visit& visit) {
  for (std::size_t unit = 0; unit < by_unit.groups(); ++unit) {
    for (const SpanOfUnit& span : by_unit.spans_of(UnitId(std::uint32_t(unit)))) {
      visit(UnitId(std::uint32_t(unit)), span);
    }
  }
}

bool is_work(const SpanOfUnit& span) { return role_of(span.kind) == Role::work; }

IntervalSet times_of(FindingContext& context, const WhichSpans& which) {
  const SpansByUnit& by_unit = context.analysis().spans_by_unit();
  std::vector<IntervalSet> sets;
  for (std::size_t i = 0; i < by_unit.groups(); ++i) {
    const UnitId unit{std::uint32_t(i)};
    std::vector<Interval> times;
    for (const SpanOfUnit& span : by_unit.spans_of(unit)) {
      if (which(unit, span)) times.push_back(span.interval());
    }
    if (!times.empty()) sets.push_back(union_of(std::move(times)));
  }
  std::vector<const IntervalSet*> all;
  for (const IntervalSet& set : sets) all.push_back(&set);
  return union_of_many(std::move(all));
}

std::vector<EvidencePlace> places_in(const IntervalSet& times) {
  LongestPlaces longest;
  for (const Interval& time : times) longest.take({UnitId::none, time});
  return longest.result();
}

}  // namespace

std::vector<EvidencePlace> longest_places(std::vector<EvidencePlace> places) {
  LongestPlaces longest;
  for (const EvidencePlace& place : places) longest.take(place);
  return longest.result();
}

std::vector<EvidencePlace> places_of_ops(FindingContext& context, const std::vector<bool>& ops) {
  if (!context.wants_places()) return {};
  LongestPlaces longest;
  for_each_span(context.analysis().spans_by_unit(), [&](UnitId unit, const SpanOfUnit& span) {
    if (!longest.takes(span.interval())) return;
    const std::size_t op = index_of(span.op);
    if (op < ops.size() && ops[op] && is_work(span)) longest.take({unit, span.interval()});
  });
  return longest.result();
}

std::vector<EvidencePlace> places_of_ops(FindingContext& context,
                                         const std::vector<double>& factors) {
  std::vector<bool> ops;
  for (const double factor : factors) ops.push_back(factor < 1);
  return places_of_ops(context, ops);
}

std::vector<EvidencePlace> places_where(FindingContext& context, const WhichSpans& ran,
                                        const WhichSpans& hid) {
  if (!context.wants_places()) return {};
  return places_in(difference_of(times_of(context, ran), times_of(context, hid)));
}

std::vector<EvidencePlace> idle_places(FindingContext& context) {
  if (!context.wants_places()) return {};
  return places_in(gaps_in(times_of(context, any_work()), context.analysis().coarse().timeline));
}

WhichSpans work_of(const Profile& profile, Domain domain) {
  return [&profile, domain](UnitId unit, const SpanOfUnit& span) {
    return is_work(span) && domain_of(profile, unit, span) == domain;
  };
}

WhichSpans any_work() {
  return [](UnitId, const SpanOfUnit& span) { return is_work(span); };
}

WhichSpans no_spans() {
  return [](UnitId, const SpanOfUnit&) { return false; };
}

}  // namespace npuscope::analysis
