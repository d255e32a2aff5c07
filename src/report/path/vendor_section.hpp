// The vendor's dominant path as a list, beside the critical path.
#pragma once

#include <cstddef>

#include "npuscope/analysis/path.hpp"
#include "npuscope/base/result.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// Of its segments the longest `most`, in order of time. A usage error where there is none.
Result<Section> vendor_section(const Profile& profile, const analysis::CriticalPath& path,
                               std::size_t max);

}  // namespace npuscope::report
