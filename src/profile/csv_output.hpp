// CSV (RFC 4180) as every command writes it. What a spreadsheet would take for a formula gets an
// apostrophe in front.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text_output.hpp"

namespace npuscope {

// One table: cells in a row, rows by end_row().
class Csv {
 public:
  explicit Csv(TextOutput& out) : out_(out) {}

  void text(std::string_view cell) {
    const bool is_formula = !cell.empty() && begins_formula(cell[0]);
    if (!is_formula && std::ranges::none_of(cell, needs_quotes)) return plain(cell);
    separate();
    out_.add(is_formula ? "\"'" : "\"");
    while (!cell.empty()) {
      const std::size_t quote = std::min(cell.find('"'), cell.size());
      out_.add(cell.substr(0, quote));
      if (quote < cell.size()) out_.add("\"\"");
      cell.remove_prefix(std::min(quote + 1, cell.size()));
    }
    out_.add('"');
  }
  void plain(std::string_view cell) {
    separate();
    out_.add_made(cell.size(), [&](char* at) { return print_text(at, cell); });
  }
  template <class Number>
  void number(Number value) {
    separate();
    out_.add_number(value);
  }
  void boolean(bool value) { number(int(value)); }
  void nothing() { separate(); }
  void end_row() {
    out_.add('\n');
    first_ = true;
  }

 private:
  static bool begins_formula(char c) {
    return c == '=' || c == '+' || c == '-' || c == '@' || c == '\t' || c == '\r';
  }
  static bool needs_quotes(char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; }
  void separate() {
    if (!first_) out_.add(',');
    first_ = false;
  }

  TextOutput& out_;
  bool first_ = true;
};

}  // namespace npuscope
