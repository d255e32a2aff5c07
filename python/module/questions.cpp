#include "questions.hpp"

#include <sqlite3.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "failure.hpp"
#include "fleet/store.hpp"
#include "jobs/named_tables.hpp"

namespace npuscope::python {
namespace {

// The library limits what SQLite takes in the whole process, where Python's sqlite3 may be, too.
// The last query of several at once gives back what was before the first.
class SqliteLimit {
 public:
  SqliteLimit() {
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) before_ = sqlite3_hard_heap_limit64(-1);
  }
  ~SqliteLimit() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) sqlite3_hard_heap_limit64(before_);
  }
  SqliteLimit(const SqliteLimit&) = delete;
  SqliteLimit& operator=(const SqliteLimit&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int count_ = 0;
  static inline sqlite3_int64 before_ = 0;
};

query::Limits limits_of(double seconds) {
  constexpr double max_seconds = 1e6;
  if (!(seconds > 0) || !(seconds <= max_seconds)) {
    throw Failure(
        {ErrorKind::usage,
         fmt::format("timeout {}: must be above 0 and at most 1000000 seconds", seconds)});
  }
  query::Limits limits;
  limits.time = std::chrono::milliseconds(std::int64_t(std::ceil(seconds * 1e3)));
  return limits;
}

}  // namespace

Opened opened_files(const std::vector<std::string>& files, bool keep_going,
                    std::uint64_t max_memory, const std::vector<std::string>& roles) {
  const std::vector<std::filesystem::path> paths(files.begin(), files.end());
  OpenOptions options;
  options.source.memory_limit = max_memory;
  options.roles = taken(jobs::read_roles(roles));
  Opened opened = taken(open_profiles(paths, options));
  if (!keep_going) check_all_opened(opened.notes);
  return opened;
}

void check_all_opened(const std::vector<Note>& notes) {
  for (const Note& note : notes) {
    if (note.severity != Severity::error) continue;
    throw Failure({ErrorKind::input, fmt::format("{}: {}", note.file, note.message)});
  }
}

std::shared_ptr<const Table> queried(std::span<const query::NamedProfile> profiles,
                                     const std::string& sql, double seconds, std::uint64_t max_rows,
                                     bool& has_more) {
  const query::Limits limits = limits_of(seconds);
  const SqliteLimit limit;
  auto database = taken(query::Database::open(profiles, limits));
  TableSink sink(max_rows);
  taken(database.run(sql, sink));
  has_more = sink.has_more();
  return std::make_shared<const Table>(std::move(sink).table());
}

std::shared_ptr<const Table> queried_store(const std::string& store, const std::string& sql,
                                           double seconds, std::uint64_t max_rows, bool& has_more) {
  const query::Limits limits = limits_of(seconds);
  const SqliteLimit limit;
  const auto opened = taken(fleet::open_store(store, fleet::StoreMode::read, limits));
  TableSink sink(max_rows);
  taken(opened->run(sql, sink));
  has_more = sink.has_more();
  return std::make_shared<const Table>(std::move(sink).table());
}

}  // namespace npuscope::python
