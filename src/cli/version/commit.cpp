#include "cli/build_commit.hpp"
#include "cli/version/version.hpp"

namespace npuscope::cli {

const char* build_commit() { return NPUSCOPE_COMMIT; }

}  // namespace npuscope::cli
