#include "npu/core/field_reader.hpp"

namespace npuscope::npu {

Result<toml::table> read_toml_of(const WantedTarget& wanted, std::string_view toml,
                                 const std::string& name) {
  auto root = read_toml(toml, name);
  if (!root) return root;
  const auto architecture = architecture_of(*root, name);
  if (!architecture) return tl::unexpected(architecture.error());
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
