// npuscope fleet retain and export.
#include <chrono>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/fleet/fleet.hpp"
#include "fleet/questions/listing.hpp"
#include "fleet/tags.hpp"
#include "jobs/fleet/fleet_export.hpp"
#include "report/fleet/fleet_document.hpp"

namespace npuscope::cli {
namespace {

struct RetainOptions : PageOptions {
  std::string store;
  std::string older_than, before;
  fleet::Choice choice;
  bool dry_run = false;
};

// "90d", "12w", "36h": seconds.
Result<std::int64_t> read_age(const std::string& text) {
  std::string_view unit = text;
  const auto number = take_number<std::int64_t>(unit);
  const std::int64_t seconds = unit == "d"   ? 86'400
                               : unit == "w" ? 604'800
                               : unit == "h" ? 3'600
                                             : 0;
  constexpr std::int64_t max = 1'000'000;
  if (!number || *number < 0 || *number > max || seconds == 0) {
    return usage_error("--older-than {}: not an age; write 90d, 12w or 36h", text);
  }
  return *number * seconds;
}

Result<std::int64_t> moment_of(const RetainOptions& options) {
  if (options.older_than.empty() == options.before.empty()) {
    return usage_error("say which runs go: --older-than 90d, or --before 2026-01-01");
  }
  if (!options.before.empty()) {
    const auto time = fleet::time_of(options.before);
    if (!time) return usage_error("--before {}: not a time; write 2026-01-01", options.before);
    return *time;
  }
  TRY_AS(age, read_age(options.older_than));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - *age;
}

Result<report::FleetRemoved> retain(const RetainOptions& options) {
  TRY_AS(before, moment_of(options));
  TRY_AS(store, fleet::open_store(options.store, fleet::StoreMode::write, fleet::page_limits()));
  TRY_AS(runs, fleet::runs_before(**store, options.choice, *before));
  report::FleetRemoved said{
      fleet::store_name(options.store), *before, {runs->size(), 0}, options.dry_run};
  if (options.dry_run) return said;
  TRY_AS(removed, (*store)->remove(*runs));
  said.removed = *removed;
  return said;
}

void add_retain(Command& fleet) {
  Command& command = fleet.command("retain", "Remove runs that were recorded long ago");
  const auto options = std::make_shared<RetainOptions>();
  add_store_option(command, options->store);
  command.flag("--older-than", options->older_than, "age of the runs that go: 90d, 12w, 36h");
  command.flag("--before", options->before, "those recorded before: 2026-01-01");
  command.flag("--where", options->choice.where, "only of these runs, as SQL");
  command.flag("--dry-run", options->dry_run, "remove nothing, say how many would go");
  add_page_options(command, *options);
  command.action = [options] {
    const auto said = retain(*options);
    return said ? print_answer(*options, report::fleet_removed_document(*said), {})
                : report(said.error());
  };
}

struct ExportOptions : PageOptions {
  std::string store;
  std::string output;
  std::string where;
  std::optional<jobs::FleetFormat> to;
};

jobs::FleetFormat format_of(const ExportOptions& options) {
  if (options.to) return *options.to;
  const bool is_file = options.output.ends_with(".db") || options.output.ends_with(".sqlite") ||
                       options.output.ends_with(".sqlite3");
  return is_file ? jobs::FleetFormat::sqlite : jobs::FleetFormat::csv;
}

Result<report::FleetWritten> export_store(const ExportOptions& options) {
  TRY_AS(store, fleet::open_store(options.store, fleet::StoreMode::read, fleet::page_limits()));
  std::error_code unknown;
  if (std::filesystem::equivalent(options.output, (*store)->name(), unknown)) {
    return usage_error("-o {}: the store itself; name another file", options.output);
  }
  const auto exported =
      jobs::export_fleet(**store, format_of(options), options.output, options.where);
  if (!exported) return tl::unexpected(exported.error());
  return report::FleetWritten{fleet::store_name(options.store), options.output, exported->files,
                              exported->bytes};
}

void add_export(Command& fleet) {
  Command& command =
      fleet.command("export", "Write a store as a folder of CSV or Parquet files, or a copy of it");
  const auto options = std::make_shared<ExportOptions>();
  add_store_option(command, options->store);
  command
      .flag("-o,--output", options->output,
            "a folder, for a file of each table; or copy.db, for one SQLite file")
      .required();
  command.flag("--where", options->where,
               "only these runs, with the ops and units that they have, as SQL");
  using jobs::FleetFormat;
  add_choice<std::optional<FleetFormat>>(command, "--to", options->to,
                                         {{"csv", FleetFormat::csv},
                                          {"parquet", FleetFormat::parquet},
                                          {"sqlite", FleetFormat::sqlite}},
                                         "what files are written; else by the name of the output");
  add_page_options(command, *options);
  command.action = [options] {
    const auto said = export_store(*options);
    return said ? print_answer(*options, report::fleet_written_document(*said), {})
                : report(said.error());
  };
}

}  // namespace

void add_fleet_keeping(Command& fleet) {
  add_retain(fleet);
  add_export(fleet);
}

}  // namespace npuscope::cli
