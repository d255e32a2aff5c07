#include "npuscope/analysis/run_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/latency.hpp"
#include "analysis/run_identity.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

ProfileContent content_of(const Profile& profile) {
  if (profile.numbers) return profile.numbers->content;
  const Spans& spans = profile.spans;
  const bool says_which = spans.instance.size() == spans.size();
  const bool is_one =
      !says_which || std::all_of(spans.instance.begin(), spans.instance.end(),
                                 [&](std::uint32_t id) { return id == spans.instance.front(); });
  const bool is_of_calls = profile.ops.empty() || !analyse_latency(profile).rows.empty();
  return {profile.ops.size(), profile.edges.size(), spans.size() > 0, is_one, is_of_calls};
}

namespace {

using Key = std::pair<std::string, std::string>;  // format, graph
using Lots = std::map<Key, std::vector<std::size_t>>;

// What a profile says: first whether it has a timeline and ops, then how much of the graph.
struct Worth {
  int level = 0;
  std::size_t detail = 0;
  auto operator<=>(const Worth&) const = default;
};

Worth worth_of(const Profile& profile) {
  const ProfileContent content = content_of(profile);
  return {2 * content.has_spans + (content.ops > 0), content.ops + content.edges};
}

std::string names_of(const std::set<std::string>& graphs) {
  std::string names;
  for (const std::string& graph : graphs) names += (names.empty() ? "'" : ", '") + graph + "'";
  return names;
}

// Of one graph, or of all where none is named.
Lots lots_of(std::span<const Profile> profiles, std::string_view graph) {
  Lots lots;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (!graph.empty() && profiles[i].provenance.graph != graph) continue;
    lots[{profiles[i].provenance.format, profiles[i].provenance.graph}].push_back(i);
  }
  return lots;
}

struct Candidate {
  Key a, b;
  Worth worth;
};

// The best of the candidates; several graphs that are as good are a question to the user.
Result<Candidate> best_of(const std::vector<Candidate>& candidates) {
  const auto best =
      std::max_element(candidates.begin(), candidates.end(),
                       [](const auto& x, const auto& y) { return x.worth < y.worth; });
  std::set<std::string> graphs;
  for (const Candidate& each : candidates) {
    if (each.worth.level == best->worth.level) graphs.insert(each.a.second);
  }
  if (graphs.size() < 2) return *best;
  return usage_error(
      "there are runs of {} graphs ({}); choose one with --graph NAME, or name the files of one",
      graphs.size(), names_of(graphs));
}

// Both in cycles, or both in time.
bool have_related_clocks(const Profile& a, const Profile& b) {
  const auto clock = [](const Profile& of) -> const Clock* {
    const std::size_t base = index_of(of.base_clock);
    return base < of.clocks.size() ? &of.clocks[base] : nullptr;
  };
  const Clock *of_a = clock(a), *of_b = clock(b);
  if (of_a == nullptr || of_b == nullptr) return false;
  const auto counts_cycles = [](const Clock& of) { return of.kind == ClockKind::unit_cycles; };
  if (counts_cycles(*of_a) && counts_cycles(*of_b)) return true;
  return of_a->rate.value > 0 && of_b->rate.value > 0;
}

// What there is where the graph that was asked for is not.
Error unknown_graph(std::span<const Profile> profiles, const char* side, std::string_view graph) {
  std::set<std::string> graphs;
  for (const Profile& profile : profiles) {
    if (!profile.provenance.graph.empty()) graphs.insert(profile.provenance.graph);
  }
  if (graphs.empty()) {
    return Error{
        ErrorKind::usage,
        fmt::format("--graph {}: the files of {} do not say which graph they are of; leave "
                    "out --graph and name the files",
                    graph, side)};
  }
  return Error{ErrorKind::usage, fmt::format("--graph {}: {} has no run of it, but of {}", graph,
                                             side, names_of(graphs))};
}

}  // namespace

Result<ChosenRuns> choose_runs(std::span<const Profile> a, std::span<const Profile> b,
                               std::string_view graph) {
  if (a.empty() || b.empty()) return usage_error("a comparison needs a profile on either side");
  const Lots lots_a = lots_of(a, graph), lots_b = lots_of(b, graph);
  if (lots_a.empty()) return tl::unexpected(unknown_graph(a, "A", graph));
  if (lots_b.empty()) return tl::unexpected(unknown_graph(b, "B", graph));
  const auto worth = [](std::span<const Profile> of, const Lots::value_type& lot) {
    return worth_of(of[lot.second.front()]);
  };
  std::vector<Candidate> candidates;
  for (const auto& lot : lots_a) {
    const auto other = lots_b.find(lot.first);
    if (other == lots_b.end()) continue;
    candidates.push_back({lot.first, lot.first, std::min(worth(a, lot), worth(b, *other))});
  }
  if (candidates.empty()) {
    // Rather two formats whose times compare than the best of either side.
    const auto has_partner = [](const Lots::value_type& lot, std::span<const Profile> of,
                                const Lots& others, std::span<const Profile> of_others) {
      return std::any_of(others.begin(), others.end(), [&](const Lots::value_type& other) {
        return have_related_clocks(of[lot.second.front()], of_others[other.second.front()]);
      });
    };
    const auto all_or_related = [](std::vector<Candidate> all, std::vector<Candidate> related) {
      return related.empty() ? std::move(all) : std::move(related);
    };
    std::vector<Candidate> all, related;
    for (const auto& lot : lots_a) {
      all.push_back({lot.first, lot.first, worth(a, lot)});
      if (has_partner(lot, a, lots_b, b)) related.push_back(all.back());
    }
    TRY_AS(best_a, best_of(all_or_related(std::move(all), std::move(related))));
    const Lots chosen_a{*lots_a.find(best_a->a)};
    all.clear();
    related.clear();
    for (const auto& lot : lots_b) {
      all.push_back({lot.first, lot.first, worth(b, lot)});
      if (has_partner(lot, b, chosen_a, a)) related.push_back(all.back());
    }
    TRY_AS(best_b, best_of(all_or_related(std::move(all), std::move(related))));
    candidates.push_back({best_a->a, best_b->b, {}});
  }
  TRY_AS(best, best_of(candidates));
  ChosenRuns chosen{lots_a.at(best->a), lots_b.at(best->b), {}};
  chosen.left_out[0] = a.size() - chosen.a.size();
  chosen.left_out[1] = b.size() - chosen.b.size();
  return chosen;
}

Result<ChosenRuns> choose_runs(std::span<const Profile> b, std::string_view graph) {
  if (b.empty()) return usage_error("check needs a profile");
  if (lots_of(b, graph).empty()) return tl::unexpected(unknown_graph(b, "this side", graph));
  auto chosen = choose_runs(b, b, graph);
  if (!chosen) return chosen;
  return ChosenRuns{{}, std::move(chosen->b), {0, chosen->left_out[1]}};
}

namespace {

double wall_of(const Profile& profile) { return double(length_of(timeline_of(profile))); }

// The first inference of a session, where others are there.
bool is_first(const Profile& profile) { return only_inference(profile) == 0u; }

void measure(RunSet& set, std::span<const Profile* const> profiles) {
  set.nearest_median = set.profiles.front();
  if (set.profiles.size() == 1) return;  // its wall would be looked for in all spans
  const bool has_others = std::any_of(set.profiles.begin(), set.profiles.end(),
                                      [&](std::size_t i) { return !is_first(*profiles[i]); });
  std::vector<std::size_t> warm;
  for (const std::size_t i : set.profiles) {
    if (!has_others || !is_first(*profiles[i])) warm.push_back(i);
  }
  set.cold = set.profiles.size() - warm.size();
  std::vector<double> walls;
  for (const std::size_t i : warm) walls.push_back(wall_of(*profiles[i]));
  set.walls = spread_of(walls);
  const auto nearest = std::min_element(walls.begin(), walls.end(), [&](double a, double b) {
    return std::abs(a - set.walls.median) < std::abs(b - set.walls.median);
  });
  set.nearest_median = warm[std::size_t(nearest - walls.begin())];
}

}  // namespace

std::vector<RunSet> run_sets(std::span<const Profile* const> profiles) {
  std::vector<RunSet> sets;
  std::map<RunIdentity, std::size_t> known;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    std::size_t place = sets.size();
    const bool is_sample = only_inference(*profiles[i]) && wall_of(*profiles[i]) > 0;
    if (is_sample) place = known.try_emplace(run_identity(*profiles[i]), place).first->second;
    if (place == sets.size()) sets.emplace_back();
    sets[place].profiles.push_back(i);
  }
  for (RunSet& set : sets) measure(set, profiles);
  return sets;
}

namespace {

struct Sample {
  std::size_t place = 0;  // among the profiles
  std::uint32_t inference = 0;
  std::vector<std::optional<Interval>> extents = {};  // of what each unit did, the last of no unit
  bool joins = false;
};

// Whether one comes after the other, by number and by time: on each unit, since those of several
// cores go on to the next inference one by one.
bool follow(const Sample& a, const Sample& b) {
  const bool in_order = a.inference < b.inference;
  const Sample &early = in_order ? a : b, &late = in_order ? b : a;
  if (a.inference == b.inference || a.extents.size() != b.extents.size()) return false;
  for (std::size_t unit = 0; unit < early.extents.size(); ++unit) {
    const auto &before = early.extents[unit], &after = late.extents[unit];
    if (before && after && before->end > after->begin) return false;
  }
  return true;
}

// None: not one inference with nothing but spans, units, ops and numbers.
std::optional<Sample> sample_of(const Profile& profile, std::size_t place) {
  const Spans& spans = profile.spans;
  const std::size_t rows = spans.size();
  if (rows == 0 || spans.instance.size() != rows || profile.provenance.inferences != 1) return {};
  const bool is_plain = spans.arguments.empty() && profile.counters.size() == 0 &&
                        profile.phases.empty() && profile.flows.empty();
  if (!is_plain) return {};
  Sample sample{place, spans.instance[0], {}, true};
  sample.extents.resize(profile.units.size() + 1);
  bool any = false;
  for (std::size_t row = 0; row < rows; ++row) {
    if (spans.instance[row] != sample.inference) return {};
    const Role role = role_of(spans.kind[row]);
    if (role != Role::work && role != Role::wait) continue;
    const Interval interval = interval_of(spans, row);
    const std::size_t unit = std::min<std::size_t>(index_of(spans.unit[row]), profile.units.size());
    Interval& extent = sample.extents[unit].emplace(sample.extents[unit].value_or(interval));
    any = true;
    extent.begin = std::min(extent.begin, interval.begin);
    extent.end = std::max(extent.end, interval.end);
  }
  if (!any || sample.inference == every_instance) return {};
  return sample;
}

// What must be the same for samples of one program on the same hardware.
class Likeness {
 public:
  Likeness(const Profile& a, const Profile& b) : a_(a), b_(b) {}

  bool holds() const {
    return !a_.provenance.graph.empty() && run_identity(a_) == run_identity(b_) &&
           same(a_.clocks, b_.clocks, &Likeness::clock) &&
           same(a_.units, b_.units, &Likeness::unit) && same(a_.ops, b_.ops, &Likeness::op) &&
           same(a_.edges, b_.edges, &Likeness::edge) && same_columns();
  }

 private:
  bool same_columns() const {
    return a_.base_clock == b_.base_clock && a_.tensors.size() == b_.tensors.size() &&
           a_.spans.processor_cycles.empty() == b_.spans.processor_cycles.empty() &&
           a_.spans.measures.empty() && b_.spans.measures.empty();
  }

  template <class Rows, class Same>
  bool same(const Rows& a, const Rows& b, Same is_same) const {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(this->*is_same)(a[i], b[i])) return false;
    }
    return true;
  }
  bool text(StringId a, StringId b) const { return a_.text(a) == b_.text(b); }
  bool clock(const Clock& a, const Clock& b) const {
    return a.kind == b.kind && a.rate.value == b.rate.value && text(a.name, b.name);
  }
  bool unit(const Unit& a, const Unit& b) const {
    return std::tie(a.device, a.core, a.engine, a.lane, a.parent) ==
               std::tie(b.device, b.core, b.engine, b.lane, b.parent) &&
           text(a.name, b.name);
  }
  bool op(const Op& a, const Op& b) const {
    return std::tie(a.core, a.group, a.position, a.id, a.output.value) ==
               std::tie(b.core, b.group, b.position, b.id, b.output.value) &&
           text(a.name, b.name) && text(a.kind, b.kind) && text(a.node, b.node);
  }
  bool edge(const Edge& a, const Edge& b) const {
    return std::tie(a.from, a.to, a.kind) == std::tie(b.from, b.to, b.kind);
  }

  const Profile &a_, &b_;
};

template <class T>
void append(Column<T>& to, const Column<T>& from) {
  for (const T& value : from) to.push_back(value);
}

// Numbers of the sample's run become those of its inference.
void add_measures(Profile& to, const Profile& from, std::uint32_t inference) {
  for (Measure measure : from.measures) {
    const bool of_program =
        measure.subject == Measure::Subject::profile || measure.subject == Measure::Subject::op;
    if (of_program && measure.instance == every_instance) continue;
    measure.what = to.strings.intern(from.text(measure.what));
    if (measure.instance == every_instance) measure.instance = inference;
    to.measures.push_back(measure);
  }
}

void add_sample(Profile& to, const Profile& from, std::uint32_t inference) {
  add_measures(to, from, inference);
  Spans& spans = to.spans;
  append(spans.unit, from.spans.unit);
  append(spans.op, from.spans.op);
  append(spans.kind, from.spans.kind);
  append(spans.start, from.spans.start);
  append(spans.duration, from.spans.duration);
  append(spans.processor_cycles, from.spans.processor_cycles);
  append(spans.instance, from.spans.instance);
  to.provenance.inferences += 1;
  for (const std::string& file : from.provenance.files) {
    auto& files = to.provenance.files;
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  to.notes.insert(to.notes.end(), from.notes.begin(), from.notes.end());
  to.checks.insert(to.checks.end(), from.checks.begin(), from.checks.end());
}

// Numbers of a whole sample, where it becomes one of several.
void number_measures(Profile& profile, std::uint32_t inference) {
  for (Measure& measure : profile.measures) {
    const bool of_program =
        measure.subject == Measure::Subject::profile || measure.subject == Measure::Subject::op;
    if (!of_program && measure.instance == every_instance) measure.instance = inference;
  }
}

}  // namespace

std::vector<Profile> join_runs(std::vector<Profile> profiles) {
  using Set = std::vector<Sample>;
  std::vector<Set> sets;
  for (std::size_t place = 0; place < profiles.size(); ++place) {
    const auto sample = sample_of(profiles[place], place);
    const auto fits = [&](const Set& set) {
      return sample && set.front().joins &&
             std::all_of(set.begin(), set.end(),
                         [&](const Sample& other) { return follow(other, *sample); }) &&
             Likeness(profiles[set.front().place], profiles[place]).holds();
    };
    const auto found = std::find_if(sets.begin(), sets.end(), fits);
    if (found == sets.end()) {
      sets.push_back({sample.value_or(Sample{.place = place})});
    } else {
      found->push_back(*sample);
    }
  }
  std::vector<Profile> joined;
  for (Set& set : sets) {
    std::sort(set.begin(), set.end(),
              [](const Sample& a, const Sample& b) { return a.inference < b.inference; });
    Profile& whole = joined.emplace_back(std::move(profiles[set.front().place]));
    if (set.size() > 1) {
      number_measures(whole, set.front().inference);
      if (set.front().inference > 0) whole.provenance.temperature = Provenance::Temperature::warm;
    }
    for (std::size_t i = 1; i < set.size(); ++i) {
      add_sample(whole, profiles[set[i].place], set[i].inference);
    }
  }
  return joined;
}

}  // namespace npuscope::analysis
