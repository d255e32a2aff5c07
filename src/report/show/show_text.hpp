// The page as text, made a section after another. Each file show_text_*.cpp has the sections that
// its name says; show_text.cpp has their order and what they share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/units/unit_numbers.hpp"
#include "report/document/quantity.hpp"
#include "report/document/text_table.hpp"
#include "report/show/show.hpp"

namespace npuscope::report {

// "1 op", "3 ops".
std::string counted(std::uint64_t count, const char* one, const char* many);

std::string file_name(const std::string& path);

class PageText {
 public:
  PageText(const Page& page, std::size_t width);

  std::string print();

 private:
  using Align = TextColumn::Align;

  void heading(std::string_view text) { out_ += "\n" + std::string(text) + "\n"; }
  void line(std::string_view label, std::string_view text);
  void table(const TextTable& rows) { out_ += rows.print(width_); }
  std::string base(double ticks) const { return ticks_text(profile_, profile_.base_clock, ticks); }
  std::string base_with_unit(double ticks) const;
  void print_files();
  void print_identity();
  void print_contents();
  void print_call();
  void print_wall();
  void print_throughput();
  void print_phases();
  void print_ops(const analysis::OpTable& ops, const char* title, const char* one, bool with_kind);
  void print_engines();
  void print_units();
  void print_unit_numbers();
  void print_origins(const analysis::UnitNumbers& table);
  void print_pmu();
  void print_traffic();
  void print_peers();
  void print_numbers();
  void print_numbers_of_parts();
  void print_counters();
  void print_checks();
  void print_notes();
  void print_findings();
  std::string more(std::uint64_t shown, std::uint64_t all) const;
  std::string value_text(const analysis::OpColumn& column,
                         const std::optional<double>& value) const;
  std::string number_of(const analysis::UnitNumberColumn& column, double value) const;
  std::string number_of(const analysis::NumberRow& row, double value) const;

  const Page& page_;
  const Profile& profile_;
  std::size_t width_;
  std::string out_;
};

}  // namespace npuscope::report
