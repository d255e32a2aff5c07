#include "cli/rules_choice.hpp"

#include "jobs/named_tables.hpp"

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
  auto rules = jobs::named_rules(name);
  if (!rules) return tl::unexpected(rules.error());
  return std::optional(std::move(*rules));
}

}  // namespace npuscope::cli
