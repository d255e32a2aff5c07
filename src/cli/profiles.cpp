#include "cli/profiles.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/counted.hpp"
#include "base/memory_use.hpp"
#include "base/standard_streams.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/parser/parser.hpp"
#include "cli/standard_input.hpp"
#include "jobs/named_tables.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/profile/run_numbers.hpp"
#include "profile/scrub_names.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::cli {
namespace {

bool locale_is_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first that is set decides
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    for (const char* charset : {"UTF-8", "UTF8", "utf-8", "utf8"}) {
      if (locale.find(charset) != locale.npos) return true;
    }
    return false;
  }
  return false;
}

void print_damage(const std::vector<Profile>& profiles) {
  for (const Profile& profile : profiles) {
    if (!report::is_damaged(profile)) continue;
    print(stderr, "npuscope: {}\n", printable(report::damage_sentence(profile)));
  }
}

// Says once, long before it is so, that the files need more memory than they may have.
class MemoryForecast {
 public:
  explicit MemoryForecast(std::uint64_t limit)
      : limit_(limit > 0 ? limit : default_memory_limit()), at_first_(memory_in_use()) {}

  void update(std::uint64_t done, std::uint64_t total) {
    constexpr double min_share = 0.05;  // of the files, before anything is said
    if (said_ || total == 0 || double(done) < min_share * double(total)) return;
    const double share = std::min(1.0, double(done) / double(total));
    const std::uint64_t in_use = memory_in_use();
    if (in_use < at_first_ || in_use < limit_ / 16) return;
    const double needed = double(at_first_) + double(in_use - at_first_) / share;
    if (needed < 1.2 * double(limit_) || said_.exchange(true)) return;
    print(stderr,
          "npuscope: at this rate the files need about {} of memory; reading stops at {} "
          "(--max-memory)\n",
          report::bytes_text(needed), report::bytes_text(double(limit_)));
  }

 private:
  std::uint64_t limit_, at_first_;
  std::atomic<bool> said_ = false;
};

void name_standard_input(std::string& text) { text = with_standard_input_named(std::move(text)); }

void name_standard_input(std::vector<Note>& notes) {
  for (Note& note : notes) {
    name_standard_input(note.file);
    name_standard_input(note.message);
  }
}

void name_standard_input(Opened& opened) {
  name_standard_input(opened.notes);
  for (Profile& profile : opened.profiles) {
    name_standard_input(profile.notes);
    for (std::string& file : profile.provenance.files) name_standard_input(file);
  }
}

std::string reading(const std::vector<std::string>& files) {
  if (files.size() != 1) return "reading " + counted(files.size(), "file");
  const std::filesystem::path path = with_standard_input_named(files.front());
  return "reading " + (path.has_filename() ? path.filename() : path).string();
}

Result<Opened> open_all(const ProfileOptions& options) {
  std::vector<std::filesystem::path> paths(options.files.begin(), options.files.end());
  TRY_AS(roles, jobs::read_roles(options.roles));
  ProgressBar bar(reading(options.files));
  OpenOptions open;
  open.roles = std::move(*roles);
  open.tables = options.tables;
  open.time_unit = options.time_unit;
  open.source.memory_limit = options.max_memory;
  MemoryForecast forecast(options.max_memory);
  open.progress = [&](std::uint64_t done, std::uint64_t total) {
    bar.update(done, total);
    forecast.update(done, total);
  };
  auto opened = open_profiles(paths, open);
  if (opened) name_standard_input(*opened);
  return opened;
}

// A snapshot is what it was cut down to when it was made.
Status check_snapshot(const Profile& profile, const ProfileOptions& options) {
  const std::string& file = profile.provenance.files.front();
  if (!options.takes_snapshots) {
    return usage_error(
        "{}: a snapshot, which has the numbers that diff, check and show print and no spans; name "
        "the files that it was made of",
        file);
  }
  const std::string wanted = report::selection_text(options.selection);
  const std::string& is = profile.numbers->selection;
  if (wanted == is) return {};
  const auto named = [](const std::string& text) { return text.empty() ? "all" : text; };
  return usage_error(
      "{}: a snapshot of {} cannot be compared as {}; give the flags that it was made "
      "with, or make another",
      file, named(is), named(wanted));
}

// Leaves the one of each set that is nearest the median.
std::vector<analysis::RunSet> pick_samples(std::vector<Profile>& profiles) {
  std::vector<const Profile*> all;
  for (const Profile& profile : profiles) all.push_back(&profile);
  std::vector<analysis::RunSet> sets = analysis::run_sets(all);
  std::vector<Profile> picked;
  for (const analysis::RunSet& set : sets) {
    picked.push_back(std::move(profiles[set.nearest_median]));
  }
  profiles = std::move(picked);
  return sets;
}

}  // namespace

void add_profile_options(Command& command, ProfileOptions& options) {
  command
      .flag("files", options.files,
            "files and folders of any format; what belongs together "
            "becomes one profile")
      .required();
  command.flag("--from", options.selection.from,
               "start of the window, relative to the first event: 12.5ms, 300us, 1000cyc; "
               "@12.5ms is absolute");
  command.flag("--unit", options.selection.unit,
               "only units whose name matches this regular expression");
  command.flag("--op", options.selection.op,
               "only ops whose name, kind or node matches this regular expression");
  command
      .flag("--roles", options.roles,
            "a .toml file that says by category and name what the slices of a generic "
            "trace are (docs/formats/roles.md); repeatable")
      .one_each();
  command
      .flag("--tables", options.tables,
            "a .toml file, or a folder of them, that describes a table with a row a layer "
            "(docs/formats/tables.md; npuscope tables draft writes one); repeatable")
      .one_each()
      .called("FILE");
  add_choice<TraceTimeUnit>(command, "--time-unit", options.time_unit,
                            {{"us", TraceTimeUnit::microseconds},
                             {"ns", TraceTimeUnit::nanoseconds},
                             {"ms", TraceTimeUnit::milliseconds}},
                            "what times of a Chrome trace count, where its writer did not keep to "
                            "the format's microseconds");
  command
      .flag("--max-memory", options.max_memory,
            "reading stops where the process holds so much, and what was read stands: 8GiB; "
            "default: a third of the machine's")
      .check(size_in_bytes());
  command.flag("--keep-going", options.keep_going,
               "end with status 0 although a file that is named could not be opened");
}

ExitStatus status_of(const ProfileOptions& options, const std::vector<Note>& notes) {
  const bool lacks_some = std::any_of(notes.begin(), notes.end(), [](const Note& note) {
    return note.severity == Severity::error;
  });
  return lacks_some && !options.keep_going ? ExitStatus::input : ExitStatus::done;
}

void add_part_options(Command& command, ProfileOptions& options) {
  constexpr std::uint64_t max_number = std::numeric_limits<std::uint32_t>::max() - 1;
  command.flag("--core", options.selection.core, "only this core")
      .check(whole_number(0, max_number));
  command.flag("--inference", options.selection.inference, "only this inference")
      .check(whole_number(0, max_number));
}

Result<Selected> open_selected(const ProfileOptions& options, const report::SelectOptions& select) {
  TRY_AS(opened, open_all(options));
  print_damage(opened->profiles);
  // A window counts from the start of each sample.
  if (options.joins_runs && !options.selection.has_window()) {
    opened->profiles = analysis::join_runs(std::move(opened->profiles));
  }
  // Which inference stands for others does not depend on what part of it is looked at.
  std::vector<analysis::RunSet> sets;
  if (options.picks_samples) sets = pick_samples(opened->profiles);
  Selected selected{{}, std::move(opened->notes)};
  std::string first_error;
  for (std::size_t i = 0; i < opened->profiles.size(); ++i) {
    Profile& profile = opened->profiles[i];
    const Provenance from = profile.provenance;
    if (profile.numbers) {
      TRY(check_snapshot(profile, options));
      const std::string text = profile.numbers->selection;
      selected.parts.push_back({std::move(profile), {}, 0, text});
      continue;
    }
    auto part = report::select(std::move(profile), options.selection, select);
    if (part) {
      selected.parts.push_back(std::move(*part));
      if (options.picks_samples) selected.samples.push_back(std::move(sets[i]));
    } else if (opened->profiles.size() == 1) {
      return tl::unexpected(part.error());
    } else {
      if (first_error.empty()) first_error = part.error().message;
      selected.notes.push_back(left_out(from, part.error()));
    }
  }
  if (selected.parts.empty() && !opened->profiles.empty()) {
    return usage_error("nothing of {} profiles is selected; the first: {}", opened->profiles.size(),
                       first_error);
  }
  return selected;
}

Status scrub_names(std::vector<report::ProfilePart>& parts, const std::string& output) {
  NameScrubber scrubber;
  for (report::ProfilePart& part : parts) {
    TRY(check_output_is_no_input(part.profile.provenance.files, output));
    scrubber.scrub(part.profile);
    if (!part.text.empty()) part.text = "a part";  // its words may be names
  }
  return {};
}

std::vector<Profile> profiles_of(std::vector<report::ProfilePart> parts) {
  std::vector<Profile> profiles;
  for (report::ProfilePart& part : parts) profiles.push_back(std::move(part.profile));
  return profiles;
}

Note left_out(const Provenance& provenance, const Error& error) {
  const std::string file = provenance.files.empty() ? "" : provenance.files.front();
  return {Severity::warning, file, 0,
          fmt::format("{}; left out", without_file(error.message, file)), 1};
}

std::size_t terminal_width() {
  constexpr std::size_t of_a_file = 100, max = 200;
  const auto size = terminal_size();
  if (!size || size->columns == 0) return of_a_file;
  return std::min(size->columns, max);
}

std::size_t terminal_height() {
  constexpr std::size_t of_a_file = 30, max = 60, prompt = 1;
  const auto size = terminal_size();
  if (!size || size->rows <= prompt) return of_a_file;
  return std::min(size->rows - prompt, max);
}

bool shows_unicode() { return is_terminal(StandardStream::output) && locale_is_unicode(); }

bool shows_ascii_only() { return is_terminal(StandardStream::output) && !locale_is_unicode(); }

void print_notes(const std::vector<Note>& notes) {
  std::fflush(stdout);
  for (const std::string& line : report::note_lines(notes)) {
    print(stderr, "npuscope: {}\n", printable(line));
  }
}

void print_errors(const std::vector<Note>& notes) {
  std::vector<Note> errors;
  std::ranges::copy_if(notes, std::back_inserter(errors),
                       [](const Note& note) { return note.severity == Severity::error; });
  print_notes(errors);
}

}  // namespace npuscope::cli
