#include "fleet/questions/listing.hpp"

#include <algorithm>
#include <map>

#include "base/try.hpp"

namespace npuscope::fleet {
namespace {

ListedGroup group_of(const AnswerRow& row, std::size_t at) {
  ListedGroup group;
  group.by = {row.begin(), row.begin() + std::ptrdiff_t(at)};
  group.runs = std::uint64_t(integer_at(row, at));
  group.damaged = std::uint64_t(integer_at(row, at + 1));
  group.devices = std::uint64_t(integer_at(row, at + 2));
  group.models = std::uint64_t(integer_at(row, at + 3));
  if (group.runs > 0) {
    group.first = integer_at(row, at + 4);
    group.last = integer_at(row, at + 5);
  }
  return group;
}

constexpr const char* sums =
    "count(*), sum(damaged), count(DISTINCT device), count(DISTINCT model), min(time), max(time)";
constexpr std::size_t sum_count = 6;

Status ask_totals(Store& store, const ChosenRuns& runs, FleetListing& answer) {
  TRY_AS(all, row_of(store, sum_count, fmt::format("SELECT {} FROM {}", sums, runs.sql())));
  answer.all = group_of(*all, 0);
  TRY_AS(facts,
         row_of(store, 2,
                fmt::format("SELECT count(*), count(DISTINCT op) FROM {}", runs.facts("op_runs"))));
  answer.op_runs = std::uint64_t(integer_at(*facts, 0));
  answer.ops = std::uint64_t(integer_at(*facts, 1));
  return {};
}

Status ask_groups(Store& store, const ChosenRuns& runs, FleetListing& answer) {
  TRY_AS(rows, answer_of(store, runs.by().size() + sum_count,
                         fmt::format("SELECT {}{} FROM {} GROUP BY {}", runs.groups_and(), sums,
                                     runs.sql(), runs.groups())));
  for (const AnswerRow& row : *rows) answer.groups.push_back(group_of(row, runs.by().size()));
  std::sort(answer.groups.begin(), answer.groups.end(),
            [](const ListedGroup& a, const ListedGroup& b) { return a.by < b.by; });
  return {};
}

Status ask_newest(Store& store, const ChosenRuns& runs, std::size_t top, FleetListing& answer) {
  const auto rows =
      answer_of(store, 11,
                fmt::format("SELECT run, time, model, device, soc, sdk, format, temperature, "
                            "inferences, damaged, files FROM {} ORDER BY time DESC, run LIMIT {}",
                            runs.sql(), std::min<std::size_t>(top, 1'000'000'000)));
  if (!rows) return tl::unexpected(rows.error());
  std::map<Id, std::size_t> place;
  std::string ids;
  for (const AnswerRow& row : *rows) {
    place[integer_at(row, 0)] = answer.newest.size();
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ", integer_at(row, 0));
    answer.newest.push_back({integer_at(row, 0), integer_at(row, 1), known_at(row, 2),
                             known_at(row, 3), known_at(row, 4), known_at(row, 5), text_at(row, 6),
                             text_at(row, 7), std::uint64_t(integer_at(row, 8)),
                             integer_at(row, 9) != 0, "", text_at(row, 10)});
  }
  if (place.empty()) return {};
  // All tags, where the list of ids would not fit a statement.
  constexpr std::size_t max_ids = 20'000;
  const std::string where = place.size() <= max_ids ? fmt::format(" WHERE run IN ({})", ids) : "";
  TRY_AS(tags,
         answer_of(store, 3,
                   fmt::format("SELECT run, key, value FROM tags{} ORDER BY run, key", where)));
  for (const AnswerRow& row : *tags) {
    const auto found = place.find(integer_at(row, 0));
    if (found == place.end()) continue;
    std::string& text = answer.newest[found->second].tags;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", text_at(row, 1), text_at(row, 2));
  }
  return {};
}

}  // namespace

Result<FleetListing> list_of(Store& store, const Choice& choice, std::size_t top) {
  TRY_AS(runs, ChosenRuns::of(store, choice, DamagedRuns::included));
  TRY_AS(tags, tag_keys(store));
  FleetListing answer;
  answer.by = runs->by();
  answer.runs = runs->runs();
  answer.tags = *tags;
  answer.remarks = runs->remarks();
  Status done = ask_totals(store, *runs, answer);
  if (done) {
    done = runs->by().empty() ? ask_newest(store, *runs, top, answer)
                              : ask_groups(store, *runs, answer);
  }
  if (!done) return tl::unexpected(done.error());
  return answer;
}

Result<std::vector<Id>> runs_before(Store& store, const Choice& choice, std::int64_t time) {
  TRY_AS(runs, ChosenRuns::of(store, choice, DamagedRuns::included));
  TRY_AS(rows, answer_of(store, 1,
                         fmt::format("SELECT run FROM {} WHERE time < {} ORDER BY run", runs->sql(),
                                     time)));
  std::vector<Id> ids;
  for (const AnswerRow& row : *rows) ids.push_back(integer_at(row, 0));
  return ids;
}

}  // namespace npuscope::fleet
