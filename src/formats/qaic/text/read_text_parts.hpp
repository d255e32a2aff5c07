// One function for each text of read_text.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

Result<std::vector<Profile>> read_summary(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_compiler_log(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_runner_log(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_latency_table(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_latency_statistics(std::string_view text,
                                                     const std::string& name);

}  // namespace npuscope::qaic
