#include "fleet/questions/findings.hpp"

#include <algorithm>
#include <tuple>

#include "base/sort_rows.hpp"
#include "base/try.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::size_t max_messages = 20;

std::string grouped(const ChosenRuns& runs) {
  return runs.by().empty() ? "" : " GROUP BY " + runs.groups();
}

Status ask_rules(Store& store, const ChosenRuns& runs, FleetFindings& answer) {
  const auto count = [](const char* outcome) {
    return fmt::format("sum(CASE WHEN outcome = '{}' THEN 1 ELSE 0 END)", outcome);
  };
  const std::size_t at = runs.by().size();
  TRY_AS(rows, answer_of(store, at + 5,
                         fmt::format("SELECT {}rule, {}, {}, {}, {} FROM {} GROUP BY {}rule",
                                     runs.groups_and(), count("found"), count("quiet"),
                                     count("untried"), store.percentile("gain_share", 50),
                                     runs.facts("findings"), runs.groups_and())));
  for (const AnswerRow& row : *rows) {
    FleetFinding finding;
    finding.by = {row.begin(), row.begin() + std::ptrdiff_t(at)};
    finding.rule = text_at(row, at);
    finding.found = std::uint64_t(integer_at(row, at + 1));
    finding.tried = finding.found + std::uint64_t(integer_at(row, at + 2));
    finding.untried = std::uint64_t(integer_at(row, at + 3));
    finding.gain_p50 = number_at(row, at + 4);
    answer.rows.push_back(std::move(finding));
  }
  std::sort(answer.rows.begin(), answer.rows.end(),
            [](const FleetFinding& a, const FleetFinding& b) {
              if (a.share() != b.share()) return a.share() > b.share();
              if (a.found != b.found) return a.found > b.found;
              return std::tie(a.rule, a.by) < std::tie(b.rule, b.by);
            });
  return {};
}

Status ask_losses(Store& store, const ChosenRuns& all, FleetFindings& answer) {
  TRY_AS(rows,
         answer_of(store, all.by().size() + 4,
                   fmt::format(
                       "SELECT {}count(*), sum(damaged), "
                       "sum(CASE WHEN warned > 0 THEN 1 ELSE 0 END), "
                       "sum(CASE WHEN failed > 0 THEN 1 ELSE 0 END) FROM {} LEFT JOIN "
                       "(SELECT run, sum(is_warned) AS warned, sum(is_failed) AS failed FROM "
                       "(SELECT run, 1 AS is_warned, 0 AS is_failed FROM notes WHERE severity = "
                       "'warning' UNION ALL SELECT run, 0 AS is_warned, 1 AS is_failed FROM checks "
                       "WHERE outcome = 'failed') AS flags GROUP BY run) AS flagged USING (run){}",
                       all.groups_and(), all.sql(), grouped(all))));
  const std::size_t at = all.by().size();
  for (const AnswerRow& row : *rows) {
    FleetLosses losses;
    losses.by = {row.begin(), row.begin() + std::ptrdiff_t(at)};
    std::uint64_t* const into[] = {&losses.runs, &losses.damaged, &losses.with_warnings,
                                   &losses.with_failed_checks};
    for (std::size_t i = 0; i < std::size(into); ++i) {
      *into[i] = std::uint64_t(integer_at(row, at + i));
    }
    answer.losses.push_back(std::move(losses));
  }
  sort_rows(answer.losses.begin(), answer.losses.end(),
            [](const FleetLosses& a, const FleetLosses& b) {
              const double left = double(a.damaged) * double(b.runs);
              const double right = double(b.damaged) * double(a.runs);
              return left != right ? left > right : a.by < b.by;
            });
  return {};
}

Status ask_messages(Store& store, const ChosenRuns& all, FleetFindings& answer) {
  TRY_AS(rows,
         answer_of(
             store, 4,
             fmt::format(
                 "SELECT severity, message, count(DISTINCT run) AS found, sum(\"count\") FROM {} "
                 "GROUP BY severity, message ORDER BY found DESC, severity, message LIMIT {}",
                 all.facts("notes", "severity IN ('warning', 'error')"), max_messages)));
  for (const AnswerRow& row : *rows) {
    answer.messages.push_back({text_at(row, 0), text_at(row, 1), std::uint64_t(integer_at(row, 2)),
                               std::uint64_t(integer_at(row, 3))});
  }
  return {};
}

}  // namespace

Result<FleetFindings> findings_of(Store& store, const Choice& choice) {
  const auto runs = ChosenRuns::of(store, choice);
  const auto all = ChosenRuns::of(store, choice, DamagedRuns::included);
  if (!runs || !all) return tl::unexpected(runs ? all.error() : runs.error());
  if (all->runs() == 0) return usage_error("no run is chosen; see what there is with fleet ls");
  FleetFindings answer;
  answer.by = runs->by();
  answer.runs = runs->runs();
  answer.remarks = all->remarks();
  Status done = ask_rules(store, *runs, answer);
  if (done) done = ask_losses(store, *all, answer);
  if (done) done = ask_messages(store, *all, answer);
  if (!done) return tl::unexpected(done.error());
  return answer;
}

}  // namespace npuscope::fleet
