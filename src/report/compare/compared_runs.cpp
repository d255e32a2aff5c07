#include "report/compare/compared_runs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/run_identity.hpp"
#include "base/try.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

// What else there is of the same runs, which has no ops.
std::vector<const Profile*> beside(std::span<const Profile> profiles,
                                   const std::vector<std::size_t>& chosen) {
  std::vector<const Profile*> others;
  const std::string& graph = profiles[chosen.front()].provenance.graph;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles[i];
    const std::string& of = profile.provenance.graph;
    const bool is_chosen = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
    const bool is_same_graph = of.empty() || graph.empty() || of == graph;
    if (is_chosen || !is_same_graph) continue;
    if (analysis::content_of(profile).is_of_calls) others.push_back(&profile);
  }
  return others;
}

RunsOfSide side_of(std::span<const Profile> profiles, const std::vector<std::size_t>& chosen,
                   std::uint64_t left_out) {
  RunsOfSide side;
  for (const std::size_t i : chosen) side.runs.push_back(&profiles[i]);
  side.beside = beside(profiles, chosen);
  side.left_out = left_out;
  return side;
}

bool is_any_damaged(const std::vector<const Profile*>& runs) {
  return std::ranges::any_of(runs, [](const Profile* run) { return is_damaged(*run); });
}

}  // namespace

Result<RunsOfSides> runs_of_sides(std::span<const Profile> a, std::span<const Profile> b,
                                  std::string_view graph) {
  TRY_AS(chosen, analysis::choose_runs(a, b, graph));
  return RunsOfSides{side_of(a, chosen->a, chosen->left_out[0]),
                     side_of(b, chosen->b, chosen->left_out[1])};
}

Result<RunsOfSide> runs_of_side(std::span<const Profile> b, std::string_view graph) {
  TRY_AS(chosen, analysis::choose_runs(b, graph));
  return side_of(b, chosen->b, chosen->left_out[1]);
}

Result<std::unique_ptr<ComparedRuns>> compare_runs(const RunsOfSide& a, const RunsOfSide& b) {
  auto made = std::make_unique<ComparedRuns>();
  made->diff.a = a.runs;
  made->diff.b = b.runs;
  made->diff.left_out[0] = a.left_out;
  made->diff.left_out[1] = b.left_out;
  const std::vector<const Profile*>* runs[] = {&a.runs, &b.runs, &a.beside, &b.beside};
  auto& samples = made->samples;
  for (std::size_t i = 0; i < 4; ++i) samples[i] = analysis::samples_of(*runs[i]);
  TRY_AS(comparer, analysis::Comparer::make(samples[0], samples[1], samples[2], samples[3]));
  made->comparer.emplace(std::move(*comparer));
  return made;
}

void judge_gates(std::vector<JudgedGate> gates, const analysis::Comparer& comparer,
                 Judgement& judgement) {
  for (JudgedGate& gate : gates) {
    auto judged = analysis::judge(gate.gate, comparer);
    if (judged) {
      gate.result = std::move(*judged);
      judgement.gates.push_back(std::move(gate));
    } else {
      const std::string sentence =
          fmt::format("gate {} not judged: {}", gate_name(gate.gate), judged.error().message);
      judgement.unjudged.push_back({std::move(gate.gate), sentence});
    }
  }
}

Status check_gates_are_of_whole_runs(const Diff& diff) {
  const bool any_gate = !diff.gates.empty();
  if (!any_gate || (!is_any_damaged(diff.a) && !is_any_damaged(diff.b))) return {};
  return input_error(
      "no gate is passed on a damaged profile; copy its file again, or judge what could be read "
      "with --allow-partial");
}

}  // namespace npuscope::report
