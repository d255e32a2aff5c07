// Makes a header that holds TOML files as the lines of profile/embedded_toml.hpp, when npuscope is
// built:
//
//   embed_toml OUTPUT NAMESPACE NAME FILES...
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "profile/embedded_toml.hpp"

namespace {

void print_line(std::ostream& out, char is, std::string_view key, std::string_view text) {
  if (text.find('\n') != text.npos)
    throw std::runtime_error("texts of several lines are not embedded");
  out << is << key << '\t' << text << '\n';
}

void print_value(std::ostream& out, std::string_view key, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return print_line(out, '=', key, *text);
  if (const auto yes = node.value_exact<bool>()) return print_line(out, '?', key, *yes ? "1" : "0");
  std::ostringstream number;
  number.precision(17);
  if (const auto whole = node.value_exact<std::int64_t>()) {
    number << *whole;
    return print_line(out, '#', key, number.str());
  }
  if (const auto real = node.value_exact<double>()) {
    number << *real;
    return print_line(out, '.', key, number.str());
  }
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty())
    throw std::runtime_error("this kind of value is not embedded");
  for (const toml::node& each : *list) {
    print_line(out, '-', key, each.value_exact<std::string>().value());
  }
}

// What is of no table first: a value belongs to the last table before it.
void print_file(std::ostream& out, const toml::table& root) {
  for (const auto& [key, node] : root) {
    if (!node.is_array_of_tables()) print_value(out, key.str(), node);
  }
  for (const auto& [key, node] : root) {
    if (!node.is_array_of_tables()) continue;
    for (const toml::node& each : *node.as_array()) {
      print_line(out, '[', key.str(), "");
      for (const auto& [name, value] : *each.as_table()) print_value(out, name.str(), value);
    }
  }
}

void embed(int count, char** words) {
  std::ostringstream text;
  text << "// Made by cmake/embed_toml.cpp.\n#pragma once\n#include \"profile/embedded_toml.hpp\"\n"
       << "namespace " << words[2] << " {\ninline constexpr EmbeddedToml " << words[3]
       << "[] = {\n";
  for (int i = 4; i < count; ++i) {
    const toml::table root = toml::parse_file(words[i]);
    std::ostringstream lines;
    print_file(lines, root);
    if (npuscope::EmbeddedToml{{}, lines.view()}.table() != root) {
      throw std::runtime_error(std::string(words[i]) + ": its lines say something else");
    }
    text << "{\"" << std::filesystem::path(words[i]).stem().string() << "\", R\"embedded("
         << lines.view() << ")embedded\"},\n";
  }
  text << "};\n}  // namespace " << words[2] << '\n';
  std::ofstream(words[1]) << text.str();
}

}  // namespace

int main(int count, char** words) {
  try {
    embed(count, words);
    return 0;
  } catch (const toml::parse_error& error) {
    const toml::source_region& place = error.source();
    std::cerr << *place.path << ':' << place.begin.line << ": " << error.description() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "embed_toml: " << error.what() << '\n';
  }
  return 1;
}
