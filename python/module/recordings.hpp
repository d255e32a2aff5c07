// A profile as Python holds it: with its analysis, what it was cut down to, and the runs that it
// was joined of. Views of its columns, pages and tables hold it too, so that it lives as long as
// they do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/selection.hpp"

namespace npuscope::python {

struct Recording {
  analysis::Analysis analysis;                          // its own profile
  std::shared_ptr<const std::vector<Note>> notes = {};  // of files that hold no profile
  std::string selection = {};                           // in words; empty: all
  bool leaves_out_rows = false;                         // units or ops
  std::vector<report::Selection> selections = {};       // one of the other
  // Files of one inference each, as they were before they became one profile; null: it was one.
  std::shared_ptr<const std::vector<Profile>> samples = {};

  const Profile& profile() const { return analysis.profile(); }
  bool is_part() const { return !selections.empty(); }
};

struct ProfileHandle {
  std::shared_ptr<const Recording> recording;
};

// Usage error: a snapshot has no spans.
void check_has_timeline(const Recording& recording);

}  // namespace npuscope::python
