// The graph against a slow and obvious twin: on thousands of random profiles every constraint is
// found by looking at all pairs, every schedule by repeating until nothing moves, every slack by
// beginning one execution later.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis::path_twin_test {
namespace {

struct Constraint {
  std::size_t from = 0, to = 0;
  std::tuple<int, int, std::size_t> kind;  // what shares a latency
  bool midst = false;                      // a flow out of the midst of its source
  double latency = 0;
};

class SlowTwin {
 public:
  explicit SlowTwin(const Profile& profile) : profile_(profile), spans_(profile.spans) {
    begin_ = *std::min_element(spans_.start.begin(), spans_.start.end());
    find_constraints();
    find_latencies();
    find_delays();
    explain_delays();
    find_delays();
  }

  std::vector<double> ones() const { return std::vector<double>(spans_.size(), 1); }

  // The last end with these factors, and one of them begun `later`.
  double last_end(const std::vector<double>& factor, std::size_t which = 0,
                  double later = 0) const {
    std::vector<double> starts(spans_.size(), 0), ends(spans_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < spans_.size(); ++i) {
        const double released = release(i, starts, ends, factor);
        const double at =
            (released < 0 ? start(i) : released + delay_[i]) + (i == which ? later : 0);
        const double until = at + double(spans_.duration[i]) * factor[i];
        moved = moved || at != starts[i] || until != ends[i];
        starts[i] = at;
        ends[i] = until;
      }
    }
    return *std::max_element(ends.begin(), ends.end());
  }

 private:
  double start(std::size_t i) const { return double(spans_.start[i] - begin_); }
  double end(std::size_t i) const { return start(i) + double(spans_.duration[i]); }
  std::vector<double> observed_start() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < spans_.size(); ++i) all.push_back(start(i));
    return all;
  }
  std::vector<double> observed_end() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < spans_.size(); ++i) all.push_back(end(i));
    return all;
  }

  std::tuple<int, int, std::size_t> kind_of(EdgeKind kind, std::size_t from, std::size_t to) const {
    const auto core = [&](std::size_t i) { return profile_.units[index_of(spans_.unit[i])].core; };
    return {1 + int(kind), core(from) == core(to), 0};
  }

  void find_constraints() {
    for (std::size_t to = 0; to < spans_.size(); ++to) {
      std::optional<std::size_t> before;
      for (std::size_t from = 0; from < spans_.size(); ++from) {
        if (from == to || spans_.unit[from] != spans_.unit[to] || end(from) > start(to)) continue;
        if (!before || end(from) > end(*before)) before = from;
      }
      if (before) constraints_.push_back({*before, to, {0, 0, index_of(spans_.unit[to])}});
    }
    for (const Edge& edge : profile_.edges) {  // op i is span i
      const std::size_t from = index_of(edge.from), to = index_of(edge.to);
      if (from == to || end(from) > start(to)) continue;
      constraints_.push_back({from, to, kind_of(edge.kind, from, to)});
    }
    for (const Flow& flow : profile_.flows) {
      const std::size_t from = index_of(flow.from), to = index_of(flow.to);
      if (from == to || start(from) > start(to)) continue;
      if (start(from) == start(to)) continue;  // made without such
      constraints_.push_back({from, to, kind_of(flow.kind, from, to), end(from) > start(to)});
    }
  }

  void find_delays() {
    delay_.assign(spans_.size(), 0);
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const auto released = release(i, observed_start(), observed_end(), ones());
      delay_[i] = released < 0 ? 0 : start(i) - released;
    }
  }

  double gap(const Constraint& of) const { return start(of.to) - end(of.from); }

  // Gives a class its least gap where one of it `is_evidence`.
  void set_latencies(const std::function<bool(const Constraint&, double min)>& is_evidence) {
    for (Constraint& each : constraints_) {
      if (each.midst) continue;
      double min = 1e18;
      for (const Constraint& other : constraints_) {
        if (other.kind == each.kind && !other.midst) min = std::min(min, gap(other));
      }
      for (const Constraint& other : constraints_) {
        if (other.kind != each.kind || other.midst || !is_evidence(other, min)) continue;
        each.latency = min;
      }
    }
  }

  void find_latencies() {
    set_latencies([&](const Constraint& each, double) {
      double latest = 0;
      for (const Constraint& rival : constraints_) {
        if (rival.to == each.to) latest = std::max(latest, end(rival.from));
      }
      return end(each.from) == latest;
    });
  }

  void explain_delays() {
    double longest = 0;
    for (const Constraint& each : constraints_) longest = std::max(longest, each.latency);
    set_latencies([&, longest](const Constraint& each, double min) {
      return delay_[each.to] > 0 && gap(each) == min && min <= longest;
    });
  }

  double release(std::size_t to, const std::vector<double>& starts, const std::vector<double>& ends,
                 const std::vector<double>& factor) const {
    double released = -1;
    for (const Constraint& each : constraints_) {
      if (each.to != to) continue;
      const double time =
          each.midst ? starts[each.from] + (start(to) - start(each.from)) * factor[each.from]
                     : ends[each.from] + each.latency;
      released = std::max(released, time);
    }
    return released;
  }

  const Profile& profile_;
  const Spans& spans_;
  std::int64_t begin_ = 0;
  std::vector<Constraint> constraints_;
  std::vector<double> delay_;
};

Profile random_profile(std::mt19937_64& random) {
  test_support::ProfileBuilder made;
  std::vector<UnitId> units;
  for (std::uint32_t i = 0; i < 1 + random() % 5; ++i) {
    units.push_back(made.unit("unit", Engine::hvx));
    made.profile.units.back().core = i % 2;
  }
  std::vector<std::int64_t> free(units.size(), std::int64_t(random() % 100) - 50);
  const std::size_t spans = 1 + random() % 14;
  for (std::size_t i = 0; i < spans; ++i) {
    const std::size_t unit = random() % units.size();
    const auto start = free[unit] + std::int64_t(random() % 3 == 0 ? random() % 20 : random() % 3);
    free[unit] = start + 1 + std::int64_t(random() % 25);
    made.span(units[unit], "op " + std::to_string(i), start, free[unit]);
  }
  constexpr EdgeKind kinds[] = {EdgeKind::data, EdgeKind::reuse, EdgeKind::order,
                                EdgeKind::transfer};
  for (std::size_t i = random() % (2 * spans); i > 0; --i) {
    made.profile.edges.push_back({OpId(std::uint32_t(random() % spans)),
                                  OpId(std::uint32_t(random() % spans)), kinds[random() % 4]});
  }
  for (std::size_t i = random() % spans; i > 0; --i) {
    const std::size_t from = random() % spans, to = random() % spans;
    if (made.profile.spans.start[from] == made.profile.spans.start[to]) continue;
    made.profile.flows.push_back(
        {SpanId(std::uint32_t(from)), SpanId(std::uint32_t(to)), EdgeKind::flow, {}, {}});
  }
  return std::move(made.profile);
}

TEST(PathTwin, SchedulesSlackAndPathAreThoseOfTheSlowTwin) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 4'000; ++round) {
    const Profile profile = random_profile(random);
    const auto analysis = PathAnalysis::create(profile, std::nullopt);
    ASSERT_TRUE(analysis);
    const SlowTwin twin(profile);
    const CriticalPath path = analysis->observed();
    ASSERT_EQ(double(path.wall), twin.last_end(twin.ones())) << round;
    ASSERT_EQ(path.wall, path.lead + path.work + path.gaps + path.tail);
    std::int64_t at = path.begin;
    for (const PathStep& step : path.steps) {
      ASSERT_GE(step.gap, 0);
      ASSERT_EQ(at + step.gap, step.start);
      at = step.start + step.duration;
    }

    std::vector<double> factors;
    Scaling scaling;
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      constexpr double some[] = {0, 0.25, 0.5, 1, 1, 2, 3};
      factors.push_back(some[random() % std::size(some)]);
      scaling.of_op.push_back(factors.back());
    }
    scaling.of_op.push_back(1);
    const WhatIf answer = analysis->what_if(scaling);
    ASSERT_DOUBLE_EQ(answer.after, twin.last_end(factors)) << round;
    ASSERT_EQ(analysis->wall_if(scaling), answer.after);
    ASSERT_LE(answer.limit, answer.after);
    if (answer.limit_speedup) {
      std::vector<double> alike = factors;
      for (double& factor : alike) factor = factor < 1 ? 1 / *answer.limit_speedup : factor;
      ASSERT_NEAR(twin.last_end(alike), answer.limit, 0.1) << round;
    }

    const ExecutionTimes times = analysis->executions();
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      const auto slack = double(times.slack[i]);
      ASSERT_EQ(twin.last_end(twin.ones(), i, slack), double(path.wall)) << round << " span " << i;
      ASSERT_GT(twin.last_end(twin.ones(), i, slack + 1), double(path.wall)) << round;
    }
    for (const PathStep& step : path.steps) {
      ASSERT_EQ(times.slack[step.row], 0);
    }
  }
}

}  // namespace
}  // namespace npuscope::analysis::path_twin_test
