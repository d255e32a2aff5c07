// npuscope fleet add: files into a store.
#include <algorithm>

#include "cli/fleet/fleet.hpp"
#include "cli/parser/parser.hpp"
#include "cli/standard_input.hpp"
#include "jobs/fleet/fleet_add.hpp"
#include "npuscope/base/progress.hpp"
#include "report/fleet/fleet_document.hpp"

namespace npuscope::cli {
namespace {

struct AddOptions : PageOptions {
  std::string store;
  std::vector<std::string> files, with, tags;
  bool spans = false;
  bool keep_going = false;
  std::uint64_t max_memory = 0;
};

ExitStatus add(const AddOptions& options) {
  auto labels = fleet::Labels::parse(options.tags);
  if (!labels) return report(labels.error());
  jobs::AddRequest request;
  request.store = options.store;
  request.files.assign(options.files.begin(), options.files.end());
  request.with.assign(options.with.begin(), options.with.end());
  request.labels = std::move(*labels);
  request.spans = options.spans;
  request.open.source.memory_limit = options.max_memory;
  Result<jobs::AddOutcome> outcome;
  {
    ProgressBar bar("adding");
    request.open.progress = [&](std::uint64_t done, std::uint64_t total) {
      bar.update(done, total);
    };
    outcome = jobs::add_to_fleet(request);
  }
  if (!outcome) return report(outcome.error());
  const ExitStatus printed = print_answer(
      options,
      report::fleet_added_document({fleet::store_name(options.store), outcome->added,
                                    outcome->damaged, outcome->sets, outcome->unopened}),
      outcome->notes);
  const bool lacks_some =
      std::any_of(outcome->notes.begin(), outcome->notes.end(),
                  [](const Note& note) { return note.severity == Severity::error; });
  if (printed != ExitStatus::done) return printed;
  return lacks_some && !options.keep_going ? ExitStatus::input : ExitStatus::done;
}

}  // namespace

void add_fleet_add(Command& fleet) {
  Command& command =
      fleet.command("add", "Add the runs of files to a store; makes it where there is none");
  const auto options = std::make_shared<AddOptions>();
  add_store_option(command, options->store);
  command
      .flag("files", options->files,
            "files and folders of any format; a folder of folders is opened one by one")
      .required();
  command
      .flag("--tag", options->tags,
            "key=value of all these runs; device, soc, sdk, model and time set the columns "
            "of runs; repeatable")
      .one_each();
  command
      .flag("--with", options->with,
            "a file that belongs to each of them: a program, a model; repeatable")
      .one_each();
  command.flag("--spans", options->spans, "also keep every span: large");
  command
      .flag("--max-memory", options->max_memory,
            "reading stops where the process holds so much: 8GiB; default: a third of the "
            "machine's")
      .check(size_in_bytes());
  command.flag("--keep-going", options->keep_going,
               "end with status 0 although a file could not be opened");
  add_page_options(command, *options);
  command.action = [options] { return add(*options); };
}

}  // namespace npuscope::cli
