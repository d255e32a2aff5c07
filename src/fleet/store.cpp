#include "fleet/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <set>

#include "base/try.hpp"
#include "fleet/clickhouse/clickhouse_store.hpp"
#include "fleet/place/store_place.hpp"
#include "fleet/questions/answer.hpp"
#include "fleet/sqlite/sqlite_store.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::size_t ids_of_question = 5'000;

using TagsOfRun = std::set<std::pair<std::string, std::string>>;

// Rows of some runs, by lists of ids that fit a statement.
template <class Take>
Status each_of(Store& store, std::size_t columns, const char* select, const std::vector<Id>& ids,
               const Take& take) {
  for (std::size_t at = 0; at < ids.size(); at += ids_of_question) {
    const auto begin = ids.begin() + std::ptrdiff_t(at);
    const auto end = begin + std::ptrdiff_t(std::min(ids_of_question, ids.size() - at));
    const auto rows =
        answer_of(store, columns, fmt::format("{} IN ({})", select, fmt::join(begin, end, ",")));
    if (!rows) return tl::unexpected(rows.error());
    for (const AnswerRow& row : *rows) take(row);
  }
  return {};
}

}  // namespace

Result<KnownRuns> known_runs(Store& store, const Batch& batch) {
  KnownRuns known;
  std::map<Id, std::string> contents;
  std::vector<Id> ids;
  for (const Run& run : batch.runs) {
    contents.emplace(run.id, run.content);
    ids.push_back(run.id);
  }
  std::optional<Id> clash;
  Status done =
      each_of(store, 2, "SELECT id, content FROM runs WHERE id", ids, [&](const AnswerRow& row) {
        const Id id = integer_at(row, 0);
        known.runs.insert(id);
        if (contents[id] != text_at(row, 1)) clash = id;
      });
  if (!done) return tl::unexpected(done.error());
  if (clash) {
    return input_error(
        "{}: two runs of different content have the id {}; add this one to another store",
        store.name(), *clash);
  }
  std::map<Id, TagsOfRun> here, there;
  for (const Id id : known.runs) here[id], there[id];
  for (const Tag& tag : batch.tags) {
    if (known.runs.contains(tag.run)) here[tag.run].emplace(tag.key, tag.value);
  }
  done = each_of(store, 3, "SELECT run, key, value FROM tags WHERE run",
                 {known.runs.begin(), known.runs.end()}, [&](const AnswerRow& row) {
                   there[integer_at(row, 0)].emplace(text_at(row, 1), text_at(row, 2));
                 });
  if (!done) return tl::unexpected(done.error());
  for (const auto& [id, tags] : here) {
    if (tags != there[id]) known.other_tags.push_back(id);
  }
  return known;
}

Added added_of(const Batch& batch, KnownRuns&& known) {
  Added added;
  added.known = known.runs.size();
  added.runs = batch.runs.size() - added.known;
  added.op_runs =
      std::uint64_t(std::count_if(batch.op_runs.begin(), batch.op_runs.end(),
                                  [&](const OpRun& row) { return !known.runs.contains(row.run); }));
  added.other_tags = std::move(known.other_tags);
  return added;
}

bool store_exists(const std::filesystem::path& path) {
  if (ClickHouseAddress::is_one(path.native())) {
    const auto address = ClickHouseAddress::parse(path.native());
    return !address || !ClickHouseStore::is_missing(*address);
  }
  std::error_code unknown;
  return std::filesystem::exists(file_of_store(path), unknown);
}

Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, StoreMode mode,
                                          const query::Limits& limits) {
  if (ClickHouseAddress::is_one(path.native())) {
    TRY_AS(address, ClickHouseAddress::parse(path.native()));
    return ClickHouseStore::open(*address, mode, limits);
  }
  if (const std::size_t end = end_of_scheme(path.native()); end > 0) {
    return usage_error(
        "{}: an unknown kind of store; name a file or folder, or clickhouse://host:8123/database",
        path.native().substr(0, end));
  }
  const std::filesystem::path file = file_of_store(path);
  if (!store_exists(path)) {
    if (mode != StoreMode::make) {
      return input_error("{}: no such store; npuscope fleet add makes one", file.string());
    }
  } else if (std::error_code unknown; !std::filesystem::is_regular_file(file, unknown)) {
    return input_error("{}: a device or pipe, not a store; name a file or folder", file.string());
  }
  return SqliteStore::open(file, mode, limits);
}

}  // namespace npuscope::fleet
