// The table of `npuscope ops` while it is made: ops_columns.cpp adds what a column shows,
// ops_document.cpp analyses, chooses columns and prints.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/ops/op_bounds.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "report/document/document.hpp"
#include "report/ops/ops_document.hpp"

namespace npuscope::report {

// What a table of ops says in words: the name of a column, and what most of a row's work is.

// The name of a column of an op table, unlike that of any other of its columns.

// Cycles of two cores are two numbers of one name: "pcycles, core 0 cycles" says whose they are.
std::string op_column_name(const Profile& profile, const analysis::OpTable& table,
                           const analysis::OpColumn& column);

// Of ops by inference beside a timeline, which is of one inference: what other inferences took.
bool is_beside_timeline(const Profile& profile, const analysis::OpColumn& column);

// "inference 0, cold", "inferences 1 to 4, warm"; brief: "warm". Of a column that knows.
std::string inferences_text(const Profile& profile, const analysis::OpColumn& column, bool brief);

// "median of inferences 1 to 3, warm, summed over threads; times of spans are of one inference".
std::string beside_timeline_text(const Profile& profile, const analysis::OpColumn& column);

// What most of a row's work is.

// "q::ForceFormat_Crouton 74 %"; of one kernel alone its name, unless that is the row's.
Value main_kernel(const Profile& profile, const analysis::OpRow& row);

// Of how many layers of a table without a timeline the row is, all of one name; none: of one.
std::optional<std::uint64_t> layers_of_one_name(const Profile& profile,
                                                const analysis::OpTable& table,
                                                const analysis::OpRow& row);

// An engine that computes, what moves data, or neither; of a bound that is not known plain.
Style style_of(const analysis::OpBound& bound);

// "HVX+DMA issue": the one with most work first; nothing where none is known.
Value engines_of(const analysis::OpRow& row);

// Of the numbers in the column.
Format format_of(const analysis::OpColumn& column);

// What a row shows in a column.
using OpGetter = std::function<Value(const analysis::OpRow&)>;

struct OpsTableColumn {
  Field field;
  OpGetter get;
  std::string sort_name = {};  // what Analysis::ops() calls it; empty: not sorted by
};

class OpsTable {
 public:
  OpsTable(const analysis::Analysis& analysis, const OpsRequest& request)
      : analysis_(analysis), profile_(analysis.profile()), request_(request) {}

  Result<Document> make();

 private:
  Status analyse();
  void add(Field field, OpGetter get, std::string sort_name = {});
  void add_names();
  void add_place();
  void add_bound();
  void add_engines();
  void add_values();
  void add_value(std::size_t place);
  void add_share(std::size_t place, const std::string& key);
  void add_spread(std::size_t place, const std::string& key);
  void add_details();
  void add_model();
  Status choose_columns();
  std::string title() const;
  std::vector<std::string> remarks() const;
  std::string known_columns(bool to_sort) const;
  bool is_beside(const analysis::OpColumn& column) const {
    return is_beside_timeline(profile_, column);
  }
  bool is_in_order() const { return request_.sort == "start"; }
  bool is_ranked(std::size_t place) const { return place == table_.ranked_by; }
  // The mean, of what is counted over all inferences after the first.
  Value of_an_inference(double sum) const {
    return table_.inferences > 1 ? sum / double(table_.inferences - 1) : sum;
  }

  const analysis::Analysis& analysis_;
  const Profile& profile_;
  const OpsRequest& request_;
  analysis::OpTable table_;
  std::vector<analysis::OpBound> bounds_;  // by row
  std::vector<OpsTableColumn> columns_;
  std::set<std::string> keys_;
};

}  // namespace npuscope::report
