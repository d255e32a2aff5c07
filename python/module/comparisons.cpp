// npuscope.diff: two sides, each of files or of profiles that are open, compared and judged.
#include <pybind11/stl.h>

#include "base/text.hpp"
#include "bindings.hpp"
#include "jobs/named_tables.hpp"
#include "questions.hpp"
#include "recordings.hpp"
#include "report/compare/compared_runs.hpp"
#include "report/compare/gate_text.hpp"

namespace npuscope::python {
namespace {

using Words = std::vector<std::string>;

// One of the two.
struct Side {
  Words files;
  std::vector<ProfileHandle> profiles;
};

struct Wanted {
  Words fail_if, require;
  std::string by, rules, graph, inconclusive;
  bool allow_partial = false, keep_going = false;
  std::size_t top = 0;
};

// All that a page of a comparison looks at.
struct ComparedSides {
  Side sides[2];
  Opened opened[2];
  std::unique_ptr<report::ComparedRuns> compared;
};

struct Comparison {
  std::shared_ptr<Page> page;
  bool failed = false;
  Words sentences;  // of gates that did not pass
  std::string markdown;
};

report::RunsOfSide runs_of(const Side& side) {
  report::RunsOfSide runs;
  for (const ProfileHandle& handle : side.profiles) {
    runs.runs.push_back(&handle.recording->profile());
  }
  return runs;
}

// Of files those that are samples of one thing; who names profiles has chosen them.
report::RunsOfSides runs_of(ComparedSides& held, const Wanted& wanted) {
  const bool is_of_files[] = {held.sides[0].profiles.empty(), held.sides[1].profiles.empty()};
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_of_files[i]) held.opened[i] = opened_files(held.sides[i].files, wanted.keep_going, 0);
  }
  if (is_of_files[0] && is_of_files[1]) {
    return taken(
        report::runs_of_sides(held.opened[0].profiles, held.opened[1].profiles, wanted.graph));
  }
  report::RunsOfSides runs;
  report::RunsOfSide* places[] = {&runs.a, &runs.b};
  for (std::size_t i = 0; i < 2; ++i) {
    *places[i] = is_of_files[i] ? taken(report::runs_of_side(held.opened[i].profiles, wanted.graph))
                                : runs_of(held.sides[i]);
  }
  return runs;
}

std::vector<report::JudgedGate> gates_of(const Wanted& wanted) {
  using report::Inconclusive;
  const auto inconclusive = chosen<Inconclusive>(
      "inconclusive", wanted.inconclusive,
      {{"fail", Inconclusive::fail}, {"warn", Inconclusive::warn}, {"pass", Inconclusive::pass}});
  std::vector<report::JudgedGate> gates;
  const auto add = [&](const Words& texts, report::GateForm form, const char* name) {
    for (const std::string& text : texts) {
      gates.push_back({taken(report::read_gate(text, form, name)), {}, inconclusive});
    }
  };
  add(wanted.fail_if, report::GateForm::fail_if, "--fail-if");
  add(wanted.require, report::GateForm::require, "--require");
  return gates;
}

std::string selection_of(const ComparedSides& held) {
  for (const Side& side : held.sides) {
    for (const ProfileHandle& handle : side.profiles) {
      if (!handle.recording->selection.empty()) return handle.recording->selection;
    }
  }
  return {};
}

void judge(Comparison& made, const ComparedSides& held, const Wanted& wanted) {
  const report::Diff& diff = held.compared->diff;
  if (!diff.unjudged.empty()) {
    throw Failure({ErrorKind::usage, diff.unjudged.front().sentence});
  }
  for (const report::JudgedGate& judged : diff.gates) {
    if (judged.result.outcome == analysis::GateOutcome::passed) continue;
    made.sentences.push_back(report::gate_sentence(judged));
  }
  made.failed = report::any_gate_failed(diff);
  if (!made.failed && !wanted.allow_partial) taken(report::check_gates_are_of_whole_runs(diff));
}

Comparison diff(Side a, Side b, const Wanted& wanted) {
  return unlocked([&] {
    using analysis::Grouping;
    const auto held = std::make_shared<ComparedSides>();
    held->sides[0] = std::move(a);
    held->sides[1] = std::move(b);
    auto grouping = chosen<Grouping>("by", wanted.by,
                                     {{"op", Grouping::op},
                                      {"part", Grouping::part},
                                      {"node", Grouping::node},
                                      {"layer", Grouping::layer},
                                      {"kind", Grouping::kind},
                                      {"rule", Grouping::rule}});
    std::optional<analysis::Rules> rules;
    if (!wanted.rules.empty()) rules = taken(jobs::named_rules(wanted.rules));
    auto gates = gates_of(wanted);
    const report::RunsOfSides runs = runs_of(*held, wanted);
    held->compared = taken(report::compare_runs(runs.a, runs.b));
    report::Diff& result = held->compared->diff;
    result.selection = selection_of(*held);
    report::judge_gates(std::move(gates), *held->compared->comparer, result);
    analysis::CompareOptions how;
    how.top = wanted.top == 0 ? ~std::size_t{0} : wanted.top;
    how.with_unchanged = false;
    how.grouping = grouping;
    how.rules = rules ? &*rules : nullptr;
    result.comparison = held->compared->comparer->compare(how);
    Comparison made;
    judge(made, *held, wanted);
    made.markdown = report::diff_markdown(result);
    std::vector<Note> notes = held->opened[0].notes;
    notes.insert(notes.end(), held->opened[1].notes.begin(), held->opened[1].notes.end());
    made.page = std::make_shared<Page>(
        Page{"npuscope diff", report::diff_document(result), std::move(notes), held});
    return made;
  });
}

}  // namespace

void bind_comparisons(py::module_& module) {
  using py::arg;
  py::class_<Side>(module, "Side")
      .def(py::init([](Words files, std::vector<ProfileHandle> profiles) {
        return Side{std::move(files), std::move(profiles)};
      }));
  py::class_<Comparison>(module, "Comparison")
      .def_readonly("page", &Comparison::page)
      .def_readonly("failed", &Comparison::failed)
      .def_readonly("sentences", &Comparison::sentences)
      .def_readonly("markdown", &Comparison::markdown);
  module.def(
      "diff",
      [](Side a, Side b, Words fail_if, Words require, std::string by, std::string rules,
         std::string graph, std::string inconclusive, bool allow_partial, bool keep_going,
         std::size_t top) {
        return diff(std::move(a), std::move(b),
                    {std::move(fail_if), std::move(require), std::move(by), std::move(rules),
                     std::move(graph), std::move(inconclusive), allow_partial, keep_going, top});
      },
      py::kw_only(), arg("a"), arg("b"), arg("fail_if"), arg("require"), arg("by"), arg("rules"),
      arg("graph"), arg("inconclusive"), arg("allow_partial"), arg("keep_going"), arg("top"));
}

}  // namespace npuscope::python
