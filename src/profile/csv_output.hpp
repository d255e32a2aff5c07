// CSV (RFC 4180) as every command writes it. What a spreadsheet would take for a formula gets an
// apostrophe in front.
#pragma once

#include <string_view>

#include "base/text_output.hpp"

namespace npuscope {

// One table: cells in a row, rows by end_row().
class Csv {
 public:
  explicit Csv(TextOutput& out) : out_(out) {}

  void text(std::string_view cell) {
    separate();
    const bool is_formula =
        !cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != cell.npos;
    const bool is_quoted = is_formula || cell.find_first_of(",\"\n\r") != cell.npos;
    if (!is_quoted) return out_.add(cell);
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
    out_.add(cell);
  }
  template <class Number>
  void number(Number value) {
    separate();
    out_.add_number(value);
  }
  void boolean(bool value) { number(int(value)); }
  void copy(std::string_view cell) { text(cell); }
  void nothing() { separate(); }
  void end_row() {
    out_.add('\n');
    first_ = true;
  }

 private:
  void separate() {
    if (!first_) out_.add(',');
    first_ = false;
  }

  TextOutput& out_;
  bool first_ = true;
};

}  // namespace npuscope
