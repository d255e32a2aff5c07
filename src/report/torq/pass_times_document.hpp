// Where the compiler's own time went, by pass.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/torq/pass_times.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct PassTimesOfFile {
  std::string file;
  std::vector<torq::PassReport> reports;
};

// A section a report, with its `top` longest passes; all in JSON.
Document pass_times_document(const std::vector<PassTimesOfFile>& files, std::size_t top);

}  // namespace npuscope::report
