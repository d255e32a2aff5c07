#include "analysis/run_identity.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

#include "analysis/latency.hpp"

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
    std::vector<Candidate> of_a, of_b;
    for (const auto& lot : lots_a) of_a.push_back({lot.first, lot.first, worth(a, lot)});
    for (const auto& lot : lots_b) of_b.push_back({lot.first, lot.first, worth(b, lot)});
    const auto best_a = best_of(of_a), best_b = best_of(of_b);
    if (!best_a) return tl::unexpected(best_a.error());
    if (!best_b) return tl::unexpected(best_b.error());
    candidates.push_back({best_a->a, best_b->b, {}});
  }
  const auto best = best_of(candidates);
  if (!best) return tl::unexpected(best.error());
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

}  // namespace npuscope::analysis
