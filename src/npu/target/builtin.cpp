#include "npu/target/builtin_targets.hpp"
#include "npuscope/npu/target/target.hpp"

namespace npuscope::npu {

Result<Target> builtin_target(std::string_view name) {
  std::string names;
  for (const auto& [known, toml] : builtin_target_files) {
    if (known == name) return parse_target(toml, fmt::format("targets/{}.toml", known));
    names += names.empty() ? known : fmt::format(", {}", known);
  }
  return usage_error("target '{}' is not built in; use one of: {}, or the path of a .toml file",
                     name, names);
}

}  // namespace npuscope::npu
