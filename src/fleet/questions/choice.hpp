// Which runs a question is of, and what its rows are of: --where and --by, in columns of runs and
// keys of tags.
//
//   const auto runs = ChosenRuns::of(store, {.where = "soc='SM8650' AND build>=120",
//                                            .by = {"build"}});
//   "SELECT build, count(*) FROM " + runs->facts("inferences", "cold = 0") + " GROUP BY build"
//
// A tag whose values are all numbers is one, else it is a text. Damaged runs are left out of what
// is measured, and counted.
#pragma once

#include <string>
#include <vector>

#include "fleet/questions/answer.hpp"

namespace npuscope::fleet {

struct Choice {
  std::string where = {};            // an expression of SQL; empty: all runs
  std::vector<std::string> by = {};  // columns of runs, keys of tags
};

enum class DamagedRuns : std::uint8_t { left_out, included };

class ChosenRuns {
 public:
  // A usage error for names that the store does not have, and for what SQL objects to.
  static Result<ChosenRuns> of(Store& store, const Choice& choice,
                               DamagedRuns damaged = DamagedRuns::left_out);

  // A table in parentheses: `run`, the columns of runs, and the tags that the choice names.
  const std::string& sql() const { return sql_; }
  // What stands between FROM and GROUP BY: the rows of a table of facts with the columns of their
  // runs, by a condition on columns of the table alone.
  std::string facts(std::string_view table, std::string_view condition = {}) const;
  // "build, device": what rows are grouped by; empty where there is nothing.
  std::string groups() const;
  // "build, device, " before other columns.
  std::string groups_and() const { return groups().empty() ? "" : groups() + ", "; }
  const std::vector<std::string>& by() const { return by_; }

  std::uint64_t runs() const { return runs_; }
  std::uint64_t damaged() const { return damaged_; }  // left out
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::string sql_, joined_sql_;
  FactJoin join_;
  bool is_part_ = false;  // not all runs of the store
  std::vector<std::string> by_;
  std::uint64_t runs_ = 0, damaged_ = 0;
  std::vector<std::string> remarks_;
};

// A tag of the store.
struct TagKey {
  std::string key;
  std::uint64_t runs = 0;
  std::uint64_t values = 0;
  bool is_number = false;  // all of them are
  bool has_numbers = false;
};
Result<std::vector<TagKey>> tag_keys(Store& store);

// In what the times of the chosen runs can be told: cycles where all count them, else seconds where
// all clocks have a rate, else ticks of the one clock that all have.
struct CommonClock {
  enum class Unit : std::uint8_t { cycles, seconds, ticks };
  Unit unit = Unit::ticks;
  std::optional<double> hertz = {};  // of the clock, where all have one rate
  // "work / hertz", of a column in ticks and a row that has the run's columns.
  std::string value_of(const std::string& ticks) const;
};
const char* name_of(CommonClock::Unit unit);
// A usage error where there is none: such times are not compared.
Result<CommonClock> common_clock(Store& store, const ChosenRuns& runs);

}  // namespace npuscope::fleet
