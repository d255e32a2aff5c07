// What-if rules as people write them: "MatMul=2x", "unit:DMA=50%".
#pragma once

#include <string>
#include <vector>

#include "npuscope/analysis/path.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::report {

// The factors of all rules together; empty without any. Usage errors as path_document() says.
Result<analysis::Scaling> scaling_of(const Profile& profile, const std::vector<std::string>& faster,
                                     const std::vector<std::string>& slower);

}  // namespace npuscope::report
