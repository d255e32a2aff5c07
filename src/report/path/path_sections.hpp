// What-if rules as people write them: "MatMul=2x", "unit:DMA=50%".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npuscope/analysis/path.hpp"
#include "npuscope/base/result.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// The factors of all rules together; empty without any. Usage errors as path_document() says.
Result<analysis::Scaling> scaling_of(const Profile& profile, const std::vector<std::string>& faster,
                                     const std::vector<std::string>& slower);

// The vendor's dominant path as a list, beside the critical path.

// Of its segments the longest `most`, in order of time. A usage error where there is none.
Result<Section> vendor_section(const Profile& profile, const analysis::CriticalPath& path,
                               std::size_t max);

}  // namespace npuscope::report
