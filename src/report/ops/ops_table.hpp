// The table of `npuscope ops` while it is made: ops_columns.cpp adds what a column shows,
// ops_document.cpp analyses, chooses columns and prints.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "analysis/ops/op_bounds.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "report/document/document.hpp"
#include "report/ops/op_column_name.hpp"
#include "report/ops/ops_document.hpp"

namespace npuscope::report {

// "DDR read (bytes)" as "ddr_read_bytes".
std::string ops_key(std::string_view name);
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
