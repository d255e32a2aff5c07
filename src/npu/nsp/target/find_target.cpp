#include "npu/nsp/target/target.hpp"
#include "npu/target/target_file.hpp"

namespace npuscope::npu::nsp {

Result<Target> find_target(const std::string& name_or_path) {
  const auto file = find_target_file(name_or_path);
  if (!file) return tl::unexpected(file.error());
  if (file->architecture != TargetArchitecture::nsp) {
    return usage_error(
        "target '{}' is a {}; this needs one with HMX and HVX cores: {}, or the path of such a "
        ".toml file",
        name_or_path, family_of(file->architecture), builtin_target_names(TargetArchitecture::nsp));
  }
  return parse_target(file->toml, file->name);
}

Result<Target> builtin_target(std::string_view name) { return find_target(std::string(name)); }

}  // namespace npuscope::npu::nsp
