// How many rows of a profile's tables are written, said every few thousand of them.
#pragma once

#include <cstdint>

#include "npuscope/base/progress.hpp"
#include "profile/schema.hpp"

namespace npuscope::jobs {

class RowProgress {
 public:
  RowProgress(const ProgressReport& report, std::uint64_t total) : report_(report), total_(total) {}

  void add_row() {
    constexpr std::uint64_t rows_between_reports = 1 << 12;
    if (++done_ % rows_between_reports == 0 && report_) report_(done_, total_);
  }

 private:
  const ProgressReport& report_;
  std::uint64_t done_ = 0, total_;
};

// Of all tables that `is_written` chooses.
std::uint64_t rows_of_tables(const schema::Source& source, auto is_written) {
  std::uint64_t rows = 0;
  for (const schema::Table& table : schema::tables()) {
    if (is_written(table)) rows += table.rows(source);
  }
  return rows;
}

}  // namespace npuscope::jobs
