// Reads the rows of an answer, which a server writes as text with names and types in the first two
// lines (TabSeparatedWithNamesAndTypes): numbers in it are exact, of whatever size.
//
//   TabSeparated reader(sink);
//   reader.take("op\tp50\nInt64\tFlo"), reader.take("at64\n17\t2.5\n");   // a row of two cells
//   reader.finish()
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/query/database.hpp"

namespace npuscope::fleet {

class TabSeparated {
 public:
  explicit TabSeparated(query::RowSink& sink) : sink_(sink) {}

  // False: no more is wanted, or the text is none of such rows.
  bool take(std::string_view bytes);
  // Whether the text was whole; names what is wrong with it.
  Status finish() const;

 private:
  enum class Kind : std::uint8_t { integer, real, text };

  bool take_line(std::string_view line);
  bool take_cells(std::string_view line);
  bool refuse(const char* problem);

  query::RowSink& sink_;
  std::string rest_;  // of a line whose end is still to come
  std::size_t lines_ = 0;
  std::vector<std::string> names_;
  std::vector<Kind> kinds_;
  std::vector<std::string> texts_;
  std::vector<query::Cell> cells_;
  std::string problem_;
  bool is_enough_ = false;
};

}  // namespace npuscope::fleet
