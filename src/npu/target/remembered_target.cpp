#include "npu/target/remembered_target.hpp"

#include <cstdlib>
#include <filesystem>

#include <toml++/toml.h>

#include "npuscope/base/files.hpp"

namespace npuscope::npu {
namespace {

namespace fs = std::filesystem;

// Empty where it is not set.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Empty where there is no home.
fs::path configuration_file() {
  const fs::path of_user = environment("XDG_CONFIG_HOME");
  if (of_user.is_absolute()) return of_user / "npuscope" / "config.toml";
  const fs::path home = environment("HOME");
  return home.is_absolute() ? home / ".config" / "npuscope" / "config.toml" : fs::path();
}

Result<std::string> configured_target() {
  const fs::path path = configuration_file();
  std::error_code unknown;
  if (path.empty() || !fs::exists(path, unknown)) return std::string();
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  try {
    const toml::table root = toml::parse(as_text(file->bytes()), path.string());
    for (const auto& [key, value] : root) {
      if (key.str() != "target") {
        return input_error("{}: unknown key '{}'; the only key is target", path.string(),
                           key.str());
      }
    }
    const auto target = root["target"].value<std::string>();
    if (root.contains("target") && !target) {
      return input_error("{}: target must be a text, such as \"htp-v75\"", path.string());
    }
    return target.value_or("");
  } catch (const toml::parse_error& error) {
    return input_error("{}:{}: {}; write target = \"htp-v75\"", path.string(),
                       error.source().begin.line, error.description());
  }
}

}  // namespace

Result<std::string> remembered_target() {
  const std::string target = environment("NPUSCOPE_TARGET");
  return target.empty() ? configured_target() : Result<std::string>(target);
}

}  // namespace npuscope::npu
