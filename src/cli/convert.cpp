// npuscope convert: profiles into files of another format.
#include <memory>

#include "cli/profiles.hpp"
#include "npuscope/base/files.hpp"
#include "report/export/convert.hpp"

namespace npuscope::cli {
namespace {

struct ConvertOptions : ProfileOptions {
  std::vector<std::string> to;  // the format; a time ends the window
  std::string output;
  bool cut = false;
  bool json = false;
};

constexpr const char* formats = "chrome, perfetto, csv, sqlite or json";

// --to takes a format; a time there ends the window, which --until says without doubt.
Result<report::Target> read_to(ConvertOptions& options) {
  std::optional<report::Target> target;
  for (const std::string& word : options.to) {
    if (const auto named = report::target_named(word)) {
      if (target && *target != *named) {
        return usage_error("--to {}: two formats are asked for; name one", word);
      }
      target = named;
    } else if (report::looks_like_time(word)) {
      if (!options.selection.until.empty()) {
        return usage_error("--to {}: the window has two ends; give --until once", word);
      }
      options.selection.until = word;
    } else {
      return usage_error("--to {}: neither a format ({}) nor a time like 12.5ms", word, formats);
    }
  }
  if (!target) target = report::target_of(options.output);
  if (!target) return usage_error("--to is missing: name the format, {}", formats);
  return *target;
}

ExitStatus convert(ConvertOptions options) {
  if (options.output.empty()) {
    return report(Error{ErrorKind::usage, "-o: names no file or folder; give it a name"});
  }
  const auto target = read_to(options);
  if (!target) return report(target.error());
  if (options.output == "-") options.output = "/dev/stdout";
  // Before anything is read, and once more by convert() with what the folders among them hold.
  if (auto usable = check_output_is_no_input(options.files, options.output); !usable) {
    return report(usable.error());
  }
  auto selected = open_selected(options, {.cut = options.cut});
  if (!selected) return report(selected.error());
  const std::vector<Profile> profiles = profiles_of(std::move(selected->parts));
  const auto converted = [&] {
    ProgressBar bar("writing");
    return report::convert(
        profiles, {*target, options.output,
                   [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); }});
  }();
  if (!converted) return report(converted.error());
  // What was written to standard output is the result; what is said about it must not mix with it.
  std::FILE* stream = options.output == "/dev/stdout" ? stderr : stdout;
  print(stream, "{}",
        options.json ? report::converted_json(*converted, selected->notes, options.selection)
                     : report::converted_text(*converted));
  if (!options.json) print_notes(selected->notes);
  return status_of(options, selected->notes);
}

}  // namespace

void add_convert_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "convert", "Write profiles as Chrome JSON, Perfetto, CSV, SQLite or JSON");
  const auto options = std::make_shared<ConvertOptions>();
  add_profile_options(*command, *options);
  command->add_option("--to", options->to, std::string("the format: ") + formats)
      ->allow_extra_args(false);
  command->add_option("--until", options->selection.until, "end of the window");
  command
      ->add_option("-o,--output", options->output,
                   "the file, or a folder (with a / at its end): CSV tables, several profiles")
      ->required();
  command->add_flag("--cut", options->cut,
                    "cut what reaches beyond the window, instead of keeping it whole");
  command->add_flag("--json", options->json, "print as JSON what was written");
  command->callback([options, &status] { status = convert(*options); });
}

}  // namespace npuscope::cli
