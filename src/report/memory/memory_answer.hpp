// What the pages of memory start from: the hardware's peaks and the table.
#pragma once

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/memory.hpp"
#include "report/memory/memory_document.hpp"

namespace npuscope::report {

struct MemoryAnswer {
  analysis::Peaks peaks;
  analysis::MemoryTable table;
};

// Usage errors: peaks that cannot be read. An input error: MACs of another model.
Result<MemoryAnswer> memory_answer(const analysis::Analysis& analysis,
                                   const MemoryRequest& request);

}  // namespace npuscope::report
