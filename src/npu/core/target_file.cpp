#include "npu/core/target_file.hpp"

#include <toml++/toml.h>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/core/builtin_targets.hpp"
#include "npu/core/field_reader.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::npu {
namespace {

struct ArchitectureNames {
  std::string_view name;
  std::string_view family;
};

constexpr std::array<ArchitectureNames, 3> architectures{{
    {"nsp", "Cloud AI 100 or Hexagon NPU"},
    {"torq", "Synaptics Torq NPU"},
    {"ipu", "SigmaStar IPU"},
}};

Result<TargetFile> target_file(std::string name, std::string_view toml) {
  TRY_AS(root, read_toml(toml, name));
  TRY_AS(architecture, architecture_of(*root, name));
  return TargetFile{std::move(name), *architecture, std::string(toml)};
}

// The names of the built-in targets, of one architecture or of all.
std::string names_of(std::optional<TargetArchitecture> architecture) {
  std::string names;
  for (const auto& [name, toml] : builtin_target_files) {
    if (architecture) {
      const auto file = target_file(std::string(name), toml);
      if (!file || file->architecture != *architecture) continue;
    }
    names += names.empty() ? name : fmt::format(", {}", name);
  }
  return names;
}

}  // namespace

std::string_view name_of(TargetArchitecture architecture) {
  return architectures[std::size_t(architecture)].name;
}

std::string_view family_of(TargetArchitecture architecture) {
  return architectures[std::size_t(architecture)].family;
}

Result<toml::table> read_toml(std::string_view toml, const std::string& name) {
  try {
    return toml::parse(toml, name);
  } catch (const toml::parse_error& error) {
    return input_error("{}:{}: {}; see targets/aic100.toml for an example", name,
                       error.source().begin.line, error.description());
  }
}

Result<TargetArchitecture> architecture_of(const toml::table& root, const std::string& name) {
  const auto* node = root.get("architecture");
  if (node == nullptr) return TargetArchitecture::nsp;
  const auto value = node->value<std::string>();
  for (std::size_t i = 0; value && i < architectures.size(); ++i) {
    if (*value == architectures[i].name) return TargetArchitecture(i);
  }
  return input_error("{}:{}: architecture must be one of nsp, torq, ipu", name,
                     node->source().begin.line);
}

std::string builtin_target_names(TargetArchitecture architecture) { return names_of(architecture); }
std::string builtin_target_names() { return names_of(std::nullopt); }

Result<TargetFile> find_target_file(const std::string& name_or_path) {
  if (name_or_path.ends_with(".toml")) {
    TRY_AS(file, MappedFile::open(name_or_path));
    return target_file(name_or_path, as_text(file->bytes()));
  }
  for (const auto& [known, toml] : builtin_target_files) {
    if (known == name_or_path) return target_file(fmt::format("targets/{}.toml", known), toml);
  }
  return usage_error("target '{}' is not built in{}; use one of: {}, or the path of a .toml file",
                     name_or_path, did_you_mean(names_of(std::nullopt), name_or_path),
                     names_of(std::nullopt));
}

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
  TRY_AS(file, MappedFile::open(path));
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

Result<toml::table> read_toml_of(const WantedTarget& wanted, std::string_view toml,
                                 const std::string& name) {
  TRY_AS(root, read_toml(toml, name));
  TRY_AS(architecture, architecture_of(*root, name));
  if (*architecture == wanted.architecture) return root;
  return tl::unexpected(
      Error{wanted.error, fmt::format("{}: it describes a {}; this needs {}", name,
                                      family_of(*architecture), wanted.needed)});
}

void FieldReader::text(std::string_view path, std::string& out) {
  if (auto value = root_.at_path(path).value<std::string>()) {
    out = *value;
  } else {
    fail(path, "a text");
  }
}

void FieldReader::boolean(std::string_view path, bool& out) {
  if (auto value = root_.at_path(path).value<bool>()) {
    out = *value;
  } else {
    fail(path, "true or false");
  }
}

void FieldReader::number(std::string_view path, double& out, double min, double max) {
  const auto value = root_.at_path(path).value<double>();
  if (!value) return fail(path, "a number");
  if (!std::isfinite(*value) || *value < min || *value > max) {
    return fail(path, fmt::format("between {} and {}", min, max));
  }
  out = *value;
}

void FieldReader::numbers(std::string_view path, std::map<std::string, double, std::less<>>& out,
                          double min, double max) {
  const auto* table = root_.at_path(path).as_table();
  if (table == nullptr) return fail(path, "a table with an entry `default`");
  for (const auto& [key, node] : *table) {
    number(fmt::format("{}.{}", path, key.str()), out[std::string(key.str())], min, max);
  }
}

void FieldReader::fail(std::string_view path, std::string_view expected) {
  if (!error_.empty()) return;
  const auto line = root_.at_path(path).node() != nullptr
                        ? root_.at_path(path).node()->source().begin.line
                        : toml::source_index{0};
  error_ = line > 0 ? fmt::format("{}:{}: {} must be {}", name_, line, path, expected)
                    : fmt::format("{}: {} is missing; it must be {}", name_, path, expected);
}

}  // namespace npuscope::npu
