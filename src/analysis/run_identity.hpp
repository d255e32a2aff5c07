// What runs of one program have in common, and which inference a file of one is of, as a raw
// buffer says by its name.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::analysis {

// What a profile holds, and what one of a snapshot held that has no rows itself.

ProfileContent content_of(const Profile& profile);

inline std::optional<double> number_of_run(const Profile& profile, NumberRole role) {
  for (const Measure& measure : profile.measures) {
    const bool is_it = measure.subject == Measure::Subject::profile && measure.meaning.role == role;
    if (is_it && measure.value >= 0 && measure.value < 4e9) return measure.value;
  }
  return std::nullopt;
}

inline std::optional<std::uint32_t> only_inference(const Profile& profile) {
  const auto number = number_of_run(profile, NumberRole::inference);
  return number ? std::optional(std::uint32_t(*number)) : std::nullopt;
}

struct RunIdentity {
  std::string format, version, device, graph, instrumentation;
  std::string clock = {};
  double hertz = 0;
  std::size_t ops = 0;
  std::optional<double> program = {}, activation = {};
  auto operator<=>(const RunIdentity&) const = default;
};

inline RunIdentity run_identity(const Profile& profile) {
  const Provenance& from = profile.provenance;
  RunIdentity identity{from.format, from.version, from.device, from.graph, from.instrumentation};
  if (index_of(profile.base_clock) < profile.clocks.size()) {
    const Clock& base = profile.clocks[index_of(profile.base_clock)];
    identity.clock = profile.text(base.name);
    identity.hertz = base.rate.value;
  }
  identity.ops = profile.ops.size();
  identity.program = number_of_run(profile, NumberRole::program);
  identity.activation = number_of_run(profile, NumberRole::activation);
  return identity;
}

// Which profiles of two lots are runs that can be compared. A folder of one session often holds the
// same run in several formats and several graphs: only those of one format and graph are samples of
// one thing.
//
//   const auto chosen = choose_runs(opened_a, opened_b);
//   chosen->a            // {0, 1, 2, 3}: the raw buffers, not the trace, not the latency file
//   chosen->left_out[0]  // 2
//   choose_runs(opened_a, opened_b, "resnet50")   // only those of this graph
struct ChosenRuns {
  std::vector<std::size_t> a, b;
  std::uint64_t left_out[2] = {};
};

// Those of the format and graph that both sides have and that says most (a timeline of ops before a
// timeline, that before numbers); where they share none, of what says most on either side. A usage
// error when several graphs would do, or when a side has nothing of the graph that was asked for
// (empty: any).
Result<ChosenRuns> choose_runs(std::span<const Profile> a, std::span<const Profile> b,
                               std::string_view graph = {});

// Of one lot, as B: those that say most.
Result<ChosenRuns> choose_runs(std::span<const Profile> b, std::string_view graph = {});

}  // namespace npuscope::analysis
