#include "cli/file_choices.hpp"

#include <iterator>
#include <sstream>

#include "base/try.hpp"
#include "jobs/named_tables.hpp"
#include "npu/core/target_file.hpp"

namespace npuscope::cli {

Flag& add_rules_option(Command& command, std::string& name) {
  return command
      .flag("--rules", name,
            "group by rules: a .toml file, or transformer, operators, kernels, bookkeeping")
      .offers(analysis::Rules::builtin_names());
}

Result<std::optional<analysis::Rules>> chosen_rules(const std::string& name, bool by_given,
                                                    analysis::Grouping& grouping) {
  using analysis::Grouping;
  if (name.empty()) return std::optional<analysis::Rules>();
  if (!by_given) grouping = Grouping::rule;
  if (grouping != Grouping::rule) {
    return usage_error("--rules groups ops by rules; leave out --by");
  }
  TRY_AS(rules, jobs::named_rules(name));
  return std::optional(std::move(*rules));
}

std::vector<std::string> target_names() {
  std::string names = npu::builtin_target_names();
  std::erase(names, ',');
  std::istringstream words(names);
  return {std::istream_iterator<std::string>(words), {}};
}

void add_target_option(Command& command, report::PeakText& peaks) {
  command
      .flag("--target", peaks.target,
            "hardware description for peak rates: " + npu::builtin_target_names() +
                " or a .toml file; default: by device, else NPUSCOPE_TARGET or the configuration "
                "file")
      .offers(target_names());
}

}  // namespace npuscope::cli
