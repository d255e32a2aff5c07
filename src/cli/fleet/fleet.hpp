// The subcommands of npuscope fleet, and what they share: a store, which runs, rows of what.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "fleet/place/store_place.hpp"
#include "fleet/questions/choice.hpp"
#include "fleet/store.hpp"
#include "report/fleet/fleet_document.hpp"

namespace npuscope::cli {

struct FleetOptions : PageOptions {
  std::string store;
  fleet::Choice choice;

  report::FleetHead head() const { return {fleet::store_name(store), choice.where}; }
};

void add_store_option(Command& command, std::string& store);
// STORE, --where, --by and the flags of a page.
void add_fleet_options(Command& command, FleetOptions& options);

// Of a flag whose values are names.
inline std::vector<Choice<std::string>> words_of(const std::vector<std::string>& names) {
  std::vector<Choice<std::string>> choices;
  for (const std::string& name : names) choices.push_back({name, name});
  return choices;
}

// The answer of a question about a store, printed.
template <class Ask>
ExitStatus answer_fleet(const FleetOptions& options, const Ask& ask) {
  auto store = fleet::open_store(options.store, fleet::StoreMode::read, fleet::page_limits());
  if (!store) return report(store.error());
  const Result<report::Document> document = ask(**store);
  if (!document) return report(document.error());
  return print_answer(options, *document, {});
}

void add_fleet_add(Command& fleet);
void add_fleet_questions(Command& fleet);
void add_fleet_changes(Command& fleet);
void add_fleet_sql(Command& fleet);
void add_fleet_keeping(Command& fleet);

}  // namespace npuscope::cli
