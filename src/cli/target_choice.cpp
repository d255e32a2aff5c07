#include "cli/target_choice.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>

#include <toml++/toml.h>

#include "cli/environment.hpp"
#include "cli/flag_values.hpp"
#include "npu/target/target_file.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::cli {
namespace {

namespace fs = std::filesystem;

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

void offer_targets(const CLI::Option& option) {
  std::string names = npu::builtin_target_names();
  std::erase(names, ',');
  std::istringstream words(names);
  offer(option, {std::istream_iterator<std::string>(words), {}});
}

void add_target_option(CLI::App& command, report::PeakText& peaks) {
  offer_targets(
      *command.add_option("--target", peaks.target,
                          "hardware description for peak rates: " + npu::builtin_target_names() +
                              " or a .toml file; default: by device, else NPUSCOPE_TARGET or the "
                              "configuration file"));
}

Status choose_target(report::PeakText& peaks) {
  if (peaks.target.empty()) {
    auto remembered = remembered_target();
    if (!remembered) return tl::unexpected(remembered.error());
    peaks.remembered_target = std::move(*remembered);
  }
  for (const std::string& name : {peaks.target, peaks.remembered_target}) {
    if (name.empty()) continue;
    if (const auto file = npu::find_target_file(name); !file) return tl::unexpected(file.error());
  }
  return {};
}

}  // namespace npuscope::cli
