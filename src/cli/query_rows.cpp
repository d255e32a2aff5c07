#include "cli/query_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "cli/profiles.hpp"
#include "npuscope/base/progress.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::cli {

HardStop::HardStop(std::chrono::milliseconds after, Error error)
    : watcher_([this, after, error = std::move(error)](const std::stop_token& stop) {
        watch(stop, after, error);
      }) {}

void HardStop::watch(const std::stop_token& stop, std::chrono::milliseconds after,
                     const Error& error) {
  std::unique_lock lock(mutex_);
  do {
    gone_.wait_for(lock, stop, after, [] { return false; });
    if (stop.stop_requested()) return;
    after = std::chrono::seconds(1);
  } while (writing_);
  const ExitStatus status = report(error);
  std::fflush(stderr);
  std::_Exit(int(status));  // what still runs holds what an orderly end would need
}

namespace {

constexpr std::uint64_t max_rows_of_text = 1'000;

void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// "500ms", "60s", "5min", and seconds without a unit.
Result<std::chrono::milliseconds> read_timeout(const std::string& text) {
  std::string_view unit = text;
  const double number = take_number<double>(unit).value_or(0);
  const double milliseconds = unit == "ms"                  ? 1
                              : unit == "s" || unit.empty() ? 1e3
                              : unit == "min"               ? 60e3
                                                            : 0;
  if (milliseconds == 0 || !(number > 0) || !(number * milliseconds <= 1e9)) {
    return usage_error("--timeout {}: no time like 500ms, 60s or 5min; the longest is 1000000s",
                       text);
  }
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::int64_t(number * milliseconds)));
}

void print_rest(const report::QuerySink& sink) {
  if (!sink.has_more()) return;
  std::fflush(stdout);
  print(stderr, "npuscope: these are the first {} rows, there are more; --max-rows sets how many\n",
        sink.rows());
}

}  // namespace

std::chrono::milliseconds last_moment(std::chrono::milliseconds time) {
  using std::chrono::milliseconds;
  return time + std::clamp(time, milliseconds(500), milliseconds(5'000));
}

std::size_t row_width(const RowOptions& options) {
  return options.width > 0 ? options.width : terminal_width();
}

Result<query::Limits> limits_of(const RowOptions& options) {
  TRY_AS(time, read_timeout(options.timeout));
  return query::Limits{*time, options.memory_mebibytes << 20};
}

Status print_query_rows(const RowOptions& options, const RowSource& source, HardStop& stop) {
  std::optional<BusySign> busy("querying");
  const auto write_rows = [&](std::string_view text) {
    busy.reset();
    stop.set_writing(true);
    write(text);
    stop.set_writing(false);
  };
  report::QueryOptions print_options{row_width(options), options.max_rows.value_or(0)};
  if (options.json || options.csv) {
    const auto stream = [&](auto sink) -> Status {
      TRY(source.run(sink));
      sink.finish();
      busy.reset();
      print_rest(sink);
      return {};
    };
    return options.json ? stream(report::QueryJson(write_rows, print_options, source.json_head()))
                        : stream(report::QueryCsv(write_rows, print_options));
  }
  if (!options.max_rows) print_options.max_rows = max_rows_of_text;
  report::QueryTable table(print_options);
  TRY(source.run(table));
  busy.reset();
  if (!options.markdown) source.before_text();
  write_rows(options.markdown ? table.markdown() : table.text());
  print_rest(table);
  return {};
}

ExitStatus print_query_schema(const RowOptions& options,
                              const std::vector<query::TableInfo>& tables) {
  if (options.json) {
    print_json(stdout, report::query_schema_json(tables));
  } else {
    write(report::query_schema_text(tables, row_width(options)));
  }
  return ExitStatus::done;
}

void add_row_options(Command& command, RowOptions& options) {
  command.flag("--json", options.json, "print JSON: rows as objects");
  command.flag("--csv", options.csv, "print CSV").excludes("--json");
  command.flag("--markdown", options.markdown, "print a Markdown table")
      .excludes("--json")
      .excludes("--csv");
  command
      .flag("--top,--max-rows", options.max_rows, "rows printed (1000; 0: all, as in JSON and CSV)")
      .check(whole_number());
  command.flag("--timeout", options.timeout, "stops the query: 500ms, 60s, 5min").shows_usual();
  command.flag("--memory", options.memory_mebibytes, "MiB that SQLite may take")
      .check(whole_number(16, 1 << 20))
      .shows_usual();
  command.flag("--width", options.width, "columns of the text; default: the terminal's")
      .check(whole_number(20, 10'000));
  command.flag("--schema", options.schema, "list tables, columns, views and functions");
}

}  // namespace npuscope::cli
