// How target files are read: every field with its bounds, whatever the architecture.
//
//   auto root = read_toml(text, "targets/aic100.toml");
//   FieldReader in(*root, "targets/aic100.toml");
//   in.number("clock.core_hz", target.core_hz, 1e6, 1e11);
//   if (!in.error().empty()) return input_error("{}", in.error());
//     targets/aic100.toml:20: clock.core_hz must be between 1000000 and 100000000000
#pragma once

#include <toml++/toml.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "npuscope/npu/target/target_file.hpp"

namespace npuscope::npu {

// An input error says where the text is no TOML.
Result<toml::table> read_toml(std::string_view toml, const std::string& name);

// From the key `architecture`; without it, nsp.
Result<TargetArchitecture> architecture_of(const toml::table& root, const std::string& name);

// Reads fields from one TOML document and keeps the first error, with its line.
class FieldReader {
 public:
  FieldReader(const toml::table& root, std::string name) : root_(root), name_(std::move(name)) {}

  void text(std::string_view path, std::string& out) {
    const auto node = root_.at_path(path);
    if (auto value = node.value<std::string>()) {
      out = *value;
    } else {
      fail(path, "a text");
    }
  }

  void boolean(std::string_view path, bool& out) {
    if (auto value = root_.at_path(path).value<bool>()) {
      out = *value;
    } else {
      fail(path, "true or false");
    }
  }

  void number(std::string_view path, double& out, double least, double most) {
    const auto node = root_.at_path(path);
    const auto value = node.value<double>();
    if (!value) return fail(path, "a number");
    if (!std::isfinite(*value) || *value < least || *value > most) {
      return fail(path, fmt::format("between {} and {}", least, most));
    }
    out = *value;
  }

  template <class Integer>
  void integer(std::string_view path, Integer& out, double least, double most) {
    double value = 0;
    number(path, value, least, most);
    if (value != std::floor(value)) return fail(path, "a whole number");
    out = Integer(value);
  }

  void fail(std::string_view path, std::string_view expected) {
    if (!error_.empty()) return;
    const auto line = root_.at_path(path).node() != nullptr
                          ? root_.at_path(path).node()->source().begin.line
                          : toml::source_index{0};
    error_ = line > 0 ? fmt::format("{}:{}: {} must be {}", name_, line, path, expected)
                      : fmt::format("{}: {} is missing; it must be {}", name_, path, expected);
  }

  const toml::table& root() const { return root_; }
  const std::string& error() const { return error_; }

 private:
  const toml::table& root_;
  std::string name_;
  std::string error_;
};

}  // namespace npuscope::npu
