#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"

namespace npuscope::report {
namespace {

constexpr std::size_t narrowest_page = 60;

}  // namespace

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", thousands(count), count == 1 ? one : many);
}

std::string file_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.empty() ? path : name;
}

PageText::PageText(const Page& page, std::size_t width)
    : page_(page), profile_(*page.profile), width_(std::max(width, narrowest_page)) {}

// A label and what it says, over as many lines as it needs.
void PageText::line(std::string_view label, std::string_view text) {
  constexpr std::size_t label_width = 12;
  std::string words = printable(text);
  std::string start = fmt::format("  {:<{}}", label, label_width);
  const std::size_t room = width_ - label_width - 2;
  while (columns_of(words) > room) {
    std::size_t cut = words.rfind(' ', room);
    if (cut == std::string::npos || cut == 0) break;
    out_ += start + words.substr(0, cut) + "\n";
    words.erase(0, cut + 1);
    start = std::string(label_width + 2, ' ');
  }
  out_ += start + shortened(words, room) + "\n";
}

std::string PageText::base_with_unit(double ticks) const {
  const std::string text = base(ticks);
  return shows_time(profile_, profile_.base_clock)
             ? text
             : text + " " + unit_of(profile_, profile_.base_clock);
}

std::string PageText::more(std::uint64_t shown, std::uint64_t all) const {
  if (shown >= all) return thousands(all);
  return fmt::format("{} of {}", thousands(shown), thousands(all));
}

std::string PageText::print() {
  print_identity();
  print_contents();
  print_call();
  print_wall();
  print_throughput();
  print_phases();
  print_ops(page_.ops, "OPS", "op", true);
  print_ops(page_.kinds, "KINDS", "kind", false);
  print_engines();
  print_units();
  print_unit_numbers();
  print_pmu();
  print_traffic();
  print_peers();
  print_numbers();
  print_numbers_of_parts();
  print_counters();
  print_checks();
  print_notes();
  print_findings();
  return std::move(out_);
}

std::string page_text(const Page& page, std::size_t width) { return PageText(page, width).print(); }

}  // namespace npuscope::report
