#include "npu/core/target_file.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "base/toml_reader.hpp"
#include "base/try.hpp"
#include "npu/core/builtin_targets.hpp"
#include "npu/core/target_reader.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::npu {
namespace {

namespace fs = std::filesystem;

struct ArchitectureNames {
  std::string_view name;
  std::string_view family;
};

constexpr std::array<ArchitectureNames, 3> architectures{{
    {"nsp", "Cloud AI 100 or Hexagon NPU"},
    {"torq", "Synaptics Torq NPU"},
    {"ipu", "SigmaStar IPU"},
}};

// "my.toml:3", of the file that a value is from: with `based_on` they are of several.
std::string place_of(const toml::node& node, const std::string& name) {
  const toml::source_region& source = node.source();
  return fmt::format("{}:{}", source.path ? *source.path : name, source.begin.line);
}

Result<TargetFile> target_file(std::string name, std::string_view toml) {
  TRY_AS(root, read_toml(toml, name));
  TRY_AS(architecture, architecture_of(*root, name));
  return TargetFile{std::move(name), *architecture, std::string(toml), false};
}

std::optional<std::string_view> find_builtin(std::string_view name) {
  for (const auto& [known, toml] : builtin_target_files) {
    if (known == name) return toml;
  }
  return std::nullopt;
}

// The architecture of a built-in target, out of what stands before its first table: all of the file
// need not be parsed.
TargetArchitecture builtin_architecture(std::string_view toml) {
  const toml::table head = toml::parse(toml.substr(0, toml.find("\n[")));
  const auto base = find_builtin(head["based_on"].value_or(std::string_view()));
  return !head.contains("architecture") && base ? builtin_architecture(*base)
                                                : *architecture_of(head, "");
}

// The names of the built-in targets, of one architecture or of all.
std::string names_of(std::optional<TargetArchitecture> architecture) {
  std::string names;
  for (const auto& [name, toml] : builtin_target_files) {
    if (architecture && builtin_architecture(toml) != *architecture) continue;
    names += names.empty() ? name : fmt::format(", {}", name);
  }
  return names;
}

std::string file_of_builtin(std::string_view name) { return fmt::format("targets/{}.toml", name); }

// What `own` says, over `base`: tables key by key, all else as a whole. Values are moved, since
// only then do they keep the lines that they are from.
void lay_over(toml::table& base, toml::table&& own) {
  for (auto&& [key, value] : std::move(own)) {
    toml::table* table = value.as_table();
    toml::table* below = base[key].as_table();
    if (table != nullptr && below != nullptr) {
      lay_over(*below, std::move(*table));
    } else {
      value.visit([&](auto& node) { base.insert_or_assign(key, std::move(node)); });
    }
  }
}

constexpr std::size_t max_based_on = 8;  // files, one on the other

// `files`: those that are based on this one, outermost first.
Result<toml::table> read_based(std::string_view toml, const std::string& name,
                               std::vector<std::string> files) {
  TRY_AS(own, parse_toml(toml, name, ErrorKind::input));
  const toml::node* based_on = own->get("based_on");
  if (based_on == nullptr) return own;
  const auto base = based_on->value<std::string>();
  const std::string place = place_of(*based_on, name);
  const auto builtin = find_builtin(base.value_or(""));
  // A program holds such a text too, so that one from elsewhere must not open any file there is.
  const bool is_next_to_it = base && base->ends_with(".toml") && base->find('/') == base->npos;
  if (!builtin && !is_next_to_it) {
    return input_error(
        "{}: based_on must be a built-in target ({}) or a .toml file in the same folder", place,
        names_of(std::nullopt));
  }
  files.push_back(name);
  const std::string file =
      builtin ? file_of_builtin(*base) : (fs::path(name).parent_path() / *base).string();
  if (files.size() > max_based_on || std::find(files.begin(), files.end(), file) != files.end()) {
    return input_error("{}: based_on leads {}; at most {} files may be based on one another", place,
                       files.size() > max_based_on ? "too far" : "back to " + file, max_based_on);
  }
  Result<toml::table> root = toml::table();
  if (builtin) {
    root = read_based(*builtin, file, std::move(files));
  } else {
    TRY_AS(mapped, MappedFile::open(file));
    root = read_based(as_text(mapped->bytes()), file, std::move(files));
  }
  if (!root) return root;
  // What it is called is its own.
  for (const char* key : {"name", "description"}) root->erase(key);
  lay_over(*root, std::move(*own));
  return root;
}

}  // namespace

std::string_view name_of(TargetArchitecture architecture) {
  return architectures[std::size_t(architecture)].name;
}

std::string_view family_of(TargetArchitecture architecture) {
  return architectures[std::size_t(architecture)].family;
}

Result<toml::table> read_toml(std::string_view toml, const std::string& name) {
  return read_based(toml, name, {});
}

std::string written(const toml::table& root) {
  std::ostringstream text;
  text << toml::toml_formatter(root) << '\n';
  return text.str();
}

Result<TargetArchitecture> architecture_of(const toml::table& root, const std::string& name) {
  const auto* node = root.get("architecture");
  if (node == nullptr) return TargetArchitecture::nsp;
  const auto value = node->value<std::string>();
  for (std::size_t i = 0; value && i < architectures.size(); ++i) {
    if (*value == architectures[i].name) return TargetArchitecture(i);
  }
  return input_error("{}: architecture must be one of nsp, torq, ipu", place_of(*node, name));
}

std::string builtin_target_names(TargetArchitecture architecture) { return names_of(architecture); }
bool is_builtin_target(std::string_view name) { return find_builtin(name).has_value(); }
std::string builtin_target_names() { return names_of(std::nullopt); }

Result<TargetFile> find_target_file(const std::string& name_or_path) {
  if (name_or_path.ends_with(".toml")) {
    TRY_AS(file, MappedFile::open(name_or_path));
    return target_file(name_or_path, as_text(file->bytes()));
  }
  if (const auto toml = find_builtin(name_or_path)) {
    return TargetFile{file_of_builtin(name_or_path), builtin_architecture(*toml),
                      std::string(*toml), true};
  }
  return usage_error("target '{}' is not built in{}; use one of: {}, or the path of a .toml file",
                     name_or_path, did_you_mean(names_of(std::nullopt), name_or_path),
                     names_of(std::nullopt));
}

namespace {

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
  const TomlFile source{path.string(), ErrorKind::input};
  TRY_AS(root, parse_toml(as_text(file->bytes()), source.name, source.error));
  TomlReader in(*root, source);
  std::string target;
  in.text("target", target);
  TRY(in.finish());
  return target;
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

void TargetReader::text(std::string_view path, std::string& out) {
  if (auto value = take(path).value<std::string>()) {
    out = *value;
  } else {
    fail(path, "a text");
  }
}

void TargetReader::boolean(std::string_view path, bool& out) {
  if (auto value = take(path).value_exact<bool>()) {
    out = *value;
  } else {
    fail(path, "true or false");
  }
}

void TargetReader::number(std::string_view path, double& out, double min, double max) {
  const auto node = take(path);
  const auto value = node.value<double>();
  if (!value || node.is_boolean()) return fail(path, "a number");  // true would be 1
  if (!std::isfinite(*value) || *value < min || *value > max) {
    return fail(path, fmt::format("between {} and {}", min, max));
  }
  out = *value;
}

void TargetReader::numbers(std::string_view path, std::map<std::string, double, std::less<>>& out,
                           double min, double max) {
  const auto* table = take(path).as_table();
  if (table == nullptr) return fail(path, "a table with an entry `default`");
  for (const auto& [key, node] : *table) {
    number(fmt::format("{}.{}", path, key.str()), out[std::string(key.str())], min, max);
  }
}

void TargetReader::fail(std::string_view path, std::string_view expected) {
  if (!error_.empty()) return;
  const toml::node* node = root_.at_path(path).node();
  error_ = node != nullptr && node->source().begin.line > 0
               ? fmt::format("{}: {} must be {}", place_of(*node, name_), path, expected)
               : fmt::format("{}: {} is missing; it must be {}", name_, path, expected);
}

void TargetReader::refuse_others() {
  asked_for_.emplace("architecture");
  refuse_others(root_, "");
}

void TargetReader::refuse_others(const toml::node& node, const std::string& path) {
  if (const toml::table* const table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      const std::string_view name = key.str();
      refuse_others(value, path.empty() ? std::string(name) : fmt::format("{}.{}", path, name));
    }
    return;
  }
  const auto in_list = asked_for_.lower_bound(path + '[');  // "pmu.recipes.AxiRd[0]"
  const bool is_known = asked_for_.contains(path) ||
                        (in_list != asked_for_.end() && in_list->starts_with(path + '['));
  if (is_known || !error_.empty()) return;
  const std::vector<std::string_view> names(asked_for_.begin(), asked_for_.end());
  error_ = fmt::format("{}: {} is unknown{}; remove it, or see targets/ for the fields there are",
                       place_of(node, name_), path, did_you_mean(names, path));
}

}  // namespace npuscope::npu
