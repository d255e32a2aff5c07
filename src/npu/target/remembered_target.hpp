// The target of profiles that do not name their hardware: NPUSCOPE_TARGET, else
// `target = "htp-v75"` in $XDG_CONFIG_HOME/npuscope/config.toml (~/.config/npuscope/config.toml).
#pragma once

#include <string>

#include "npuscope/base/result.hpp"

namespace npuscope::npu {

// Empty where nothing is remembered. An input error for a file that cannot be understood.
Result<std::string> remembered_target();

}  // namespace npuscope::npu
