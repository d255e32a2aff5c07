// Two sides of runs, compared and judged: what diff prints, report shows and the library's users
// ask for.
//
//   const auto sides = runs_of_sides(profiles_a, profiles_b, "");   // who are samples of one thing
//   auto compared = compare_runs(sides->a, sides->b);
//   judge_gates(std::move(gates), *(*compared)->comparer, (*compared)->diff);
//   (*compared)->diff.comparison = (*compared)->comparer->compare({});
//   diff_document((*compared)->diff)
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "npuscope/analysis/compare.hpp"
#include "npuscope/analysis/samples.hpp"
#include "report/compare/diff_document.hpp"

namespace npuscope::report {

struct RunsOfSide {
  std::vector<const Profile*> runs;
  std::vector<const Profile*> beside;  // of the same runs: latency files, and logs without ops
  std::uint64_t left_out = 0;          // profiles of other formats and graphs
};

struct RunsOfSides {
  RunsOfSide a, b;
};

// The errors of analysis::choose_runs. The profiles must live as long as the runs.
Result<RunsOfSides> runs_of_sides(std::span<const Profile> a, std::span<const Profile> b,
                                  std::string_view graph);
// B alone.
Result<RunsOfSide> runs_of_side(std::span<const Profile> b, std::string_view graph);

struct ComparedRuns {
  std::vector<analysis::RunSamples> samples[4];  // of A and B, and of what is beside them
  std::optional<analysis::Comparer> comparer;
  Diff diff;  // without gates and rows
};

// It stays where it is: the comparer refers to its samples. The errors of Comparer::make.
Result<std::unique_ptr<ComparedRuns>> compare_runs(const RunsOfSide& a, const RunsOfSide& b);

// Each, whatever becomes of the others.
void judge_gates(std::vector<JudgedGate> gates, const analysis::Comparer& comparer,
                 Judgement& judgement);

// An input error where gates were judged on a damaged profile.
Status check_gates_are_of_whole_runs(const Diff& diff);

}  // namespace npuscope::report
