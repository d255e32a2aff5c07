// npuscope snapshot: the numbers of runs as a baseline of a few kilobytes.
#include <memory>

#include "cli/compared_sides.hpp"
#include "formats/snapshot/snapshot.hpp"
#include "npuscope/base/files.hpp"
#include "report/compare/diff_document.hpp"

namespace npuscope::cli {
namespace {

struct SnapshotOptions : ProfileOptions {
  std::string output;
  bool json = false;
};

ExitStatus snapshot(SnapshotOptions options) {
  if (options.output.empty()) {
    return report(Error{ErrorKind::usage, "-o: names no file; give it a name"});
  }
  if (options.output == "-") options.output = "/dev/stdout";
  if (const auto usable = check_output_is_no_input(options.files, options.output); !usable) {
    return report(usable.error());
  }
  const auto side = open_side(options, options.files);
  if (!side) return report(side.error());
  std::vector<const Profile*> profiles;
  for (const Profile& profile : side->profiles) profiles.push_back(&profile);
  const std::vector<analysis::RunSamples> samples = analysis::samples_of(profiles);
  std::vector<npuscope::snapshot::SnapshotRun> runs;
  for (const analysis::RunSamples& run : samples) {
    runs.push_back({&run.profile(), run.numbers()});
    runs.back().numbers.selection = selection_text(options.selection);
  }
  const auto text = npuscope::snapshot::write_snapshot(runs);
  if (!text) return report(text.error());
  auto file = AtomicFile::create(options.output);
  if (!file) return report(file.error());
  file->write(*text);
  if (const Status written = file->commit(); !written) return report(written.error());
  report::WrittenSnapshot written{options.output, text->size(), {}};
  for (const auto& run : runs) written.runs.push_back({run.profile, &run.numbers});
  std::FILE* stream = options.output == "/dev/stdout" ? stderr : stdout;
  if (options.json) {
    print_json(stream, report::snapshot_written_json(written, side->notes));
    print_errors(side->notes);
  } else {
    print(stream, "{}", report::snapshot_written_text(written));
    print_notes(side->notes);
  }
  return status_of(options, side->notes);
}

}  // namespace

void add_snapshot_command(Command& program) {
  Command& command = program.command(
      "snapshot", "Keep the numbers of runs as a small file, a side of diff that git can hold");
  const auto options = std::make_shared<SnapshotOptions>();
  add_profile_options(command, *options);
  command.flag("--to,--until", options->selection.until, "end of the window");
  command.flag("-o,--output", options->output, "the file; baseline.npu").required();
  command.flag("--json", options->json, "print as JSON what was written");
  command.action = [options] { return snapshot(*options); };
}

}  // namespace npuscope::cli
