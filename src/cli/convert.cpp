// npuscope convert: profiles into files of another format.
#include <memory>

#include "base/near_names.hpp"
#include "cli/profiles.hpp"
#include "jobs/export/convert.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::cli {
namespace {

struct ConvertOptions : ProfileOptions {
  std::string format;           // empty: by the ending of the output
  std::vector<std::string> to;  // ends the window; before --format, it named the format
  std::string output;
  bool cut = false;
  bool scrub = false;
  bool json = false;
};

constexpr const char* formats = "chrome, perfetto, csv, sqlite or json";
constexpr std::string_view format_words = "chrome, perfetto, csv, sqlite, json";

// --to is the end of the window; a format there is what --format says.
Result<jobs::Target> read_to(ConvertOptions& options) {
  std::optional<jobs::Target> target;
  if (!options.format.empty()) {
    target = jobs::target_named(options.format);
    if (!target)
      return usage_error("--format: '{}' is unknown{}; use {}", options.format,
                         did_you_mean(format_words, options.format), formats);
  }
  for (const std::string& word : options.to) {
    if (const auto named = jobs::target_named(word)) {
      if (target && *target != *named) {
        return usage_error("--to {}: two formats are asked for; name one", word);
      }
      target = named;
    } else if (report::looks_like_time(word)) {
      if (!options.selection.until.empty()) {
        return usage_error("--to {}: the window has two ends; give --to once", word);
      }
      options.selection.until = word;
    } else {
      return usage_error("--to {}: not a time like 12.5ms, where the window ends", word);
    }
  }
  if (!target) target = jobs::target_of(options.output);
  if (!target) return usage_error("--format is missing: name the format, {}", formats);
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
  if (options.scrub) {
    if (const Status done = scrub_names(selected->parts, options.output); !done) {
      return report(done.error());
    }
  }
  const std::vector<Profile> profiles = profiles_of(std::move(selected->parts));
  const auto converted = [&] {
    ProgressBar bar("writing");
    return jobs::convert(
        profiles, {*target, options.output,
                   [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); }});
  }();
  if (!converted) return report(converted.error());
  // What was written to standard output is the result; what is said about it must not mix with it.
  std::FILE* stream = options.output == "/dev/stdout" ? stderr : stdout;
  if (options.json) {
    print_json(stream, report::converted_json(*converted, selected->notes, options.selection));
    print_errors(selected->notes);
  } else {
    print(stream, "{}", report::converted_text(*converted));
    print_notes(selected->notes);
  }
  return status_of(options, selected->notes);
}

}  // namespace

void add_convert_command(Command& program) {
  Command& command =
      program.command("convert", "Write profiles as Chrome JSON, Perfetto, CSV, SQLite or JSON");
  const auto options = std::make_shared<ConvertOptions>();
  add_profile_options(command, *options);
  command.flag("--format", options->format, "of what is written; default: by the output's ending")
      .called("chrome|perfetto|csv|sqlite|json");
  command.flag("--to,--until", options->to, "end of the window").one_each();
  command
      .flag("-o,--output", options->output,
            "the file, or a folder (with a / at its end): CSV tables, several profiles")
      .required();
  command.flag("--cut", options->cut,
               "cut what reaches beyond the window, instead of keeping it whole");
  command.flag("--scrub", options->scrub,
               "stand-ins for names of models, ops, tensors, files, processes and threads, so that "
               "it can be shown to others");
  command.flag("--json", options->json, "print as JSON what was written");
  command.matters_with("--cut", {"--from", "--to"});
  command.action = [options] { return convert(*options); };
}

}  // namespace npuscope::cli
