// How fast SQL answers over 5 million spans: on the profile, and the same query on the SQLite file
// that convert writes. Rows per second are rows of the table.
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "jobs/export/export.hpp"
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/query/database.hpp"

namespace npuscope::query {
namespace {

const Profile& profile() {
  static const Profile large = bench::large_profile(5'000'000);
  return large;
}

struct Count : RowSink {
  std::uint64_t rows = 0;
  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const Cell>) override {
    ++rows;
    return true;
  }
};

constexpr const char* by_unit = "SELECT unit, count(*), sum(duration) FROM spans GROUP BY unit";
constexpr const char* by_kind = "SELECT kind, sum(duration) FROM spans GROUP BY kind";
constexpr const char* by_op_name =
    "SELECT op, sum(duration) FROM named_spans GROUP BY op ORDER BY 2 DESC LIMIT 10";
constexpr const char* by_two = "SELECT unit, kind, sum(duration) FROM spans GROUP BY unit, kind";
constexpr const char* window =
    "SELECT count(*), sum(duration) FROM spans WHERE unit = 7 AND start BETWEEN 1000 AND 90000";
constexpr const char* top = "SELECT id, duration FROM spans ORDER BY duration DESC LIMIT 10";
constexpr const char* joined =
    "SELECT ops.name, sum(spans.duration) FROM spans JOIN ops ON ops.id = spans.op GROUP BY "
    "ops.name";

// Opening included: each time as a user asks the first time.
void on_profile(benchmark::State& state, const char* sql) {
  bench::measure(state, profile(), [&] {
    const NamedProfile named{"a", &profile()};
    auto database = Database::open({&named, 1}, {});
    Count count;
    if (!database || !database->run(sql, count)) state.SkipWithError("the query failed");
    return count.rows;
  });
}

const std::filesystem::path& exported_file() {
  struct File {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 fmt::format("npuscope-query-bench-{}.db", ::getpid());
    File() {
      if (!jobs::write_sqlite(profile(), path)) path.clear();
    }
    ~File() { std::filesystem::remove(path); }
  };
  static const File file;
  return file.path;
}

void on_file(benchmark::State& state, const char* sql) {
  sqlite3* database = nullptr;
  if (sqlite3_open(exported_file().c_str(), &database) != SQLITE_OK) {
    state.SkipWithError("no file");
  }
  for (auto _ : state) {
    const auto ignore = [](void*, int, char**, char**) { return 0; };
    if (sqlite3_exec(database, sql, ignore, nullptr, nullptr) != SQLITE_OK) {
      state.SkipWithError("the query failed");
    }
  }
  sqlite3_close(database);
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(profile().spans.size()));
}

BENCHMARK_CAPTURE(on_profile, by_unit, by_unit)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(on_profile, by_kind, by_kind)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(on_profile, by_op_name, by_op_name)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK_CAPTURE(on_profile, by_two, by_two)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(on_profile, window, window)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(on_profile, top, top)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(on_profile, joined, joined)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(on_file, by_unit, by_unit)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(on_file, by_kind, by_kind)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(on_file, by_op_name, by_op_name)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(on_file, by_two, by_two)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(on_file, window, window)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(on_file, top, top)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(on_file, joined, joined)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace npuscope::query
