// Rows of SQL as text, JSON, CSV or Markdown, and the limits of a query: the same flags in every
// command that takes SQL.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/command.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/query/database.hpp"
#include "query/schema.hpp"

namespace npuscope::cli {

// Ends the program when a call that cannot be interrupted takes too long: SQLite looks at no clock
// while it sorts, or within one function of SQL.
//
//   HardStop stop(65s, usage_error("..."));   // says so and exits, 65 s from here
//   ...                                       // unless it is gone by then
class HardStop {
 public:
  HardStop(std::chrono::milliseconds after, Error error);

  // Who waits for a reader of the output is not stuck.
  void set_writing(bool writing) { writing_ = writing; }

 private:
  void watch(const std::stop_token& stop, std::chrono::milliseconds after, const Error& error);

  std::atomic<bool> writing_ = false;
  std::mutex mutex_;
  std::condition_variable_any gone_;
  std::jthread watcher_;  // last: it uses the others
};

struct RowOptions {
  std::string timeout = "60s";
  std::uint64_t memory_mebibytes = 2048;
  std::optional<std::uint64_t> max_rows;  // none: what fits the form; 0: all
  std::size_t width = 0;
  bool json = false;
  bool csv = false;
  bool markdown = false;
  bool schema = false;
};

void add_row_options(Command& command, RowOptions& options);
std::size_t row_width(const RowOptions& options);

// A usage error for a time that is none.
Result<query::Limits> limits_of(const RowOptions& options);

// SQLite ends a query in time wherever it looks at the clock; elsewhere it gets as long again.
std::chrono::milliseconds last_moment(std::chrono::milliseconds time);

struct RowSource {
  std::function<Status(query::RowSink&)> run;
  std::function<std::string()> json_head;
  std::function<void()> before_text;
};
Status print_query_rows(const RowOptions& options, const RowSource& source, HardStop& stop);

// What --schema prints of these tables.
ExitStatus print_query_schema(const RowOptions& options,
                              const std::vector<query::TableInfo>& tables);

}  // namespace npuscope::cli
