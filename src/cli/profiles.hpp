// What every command that takes profiles has in common: files in, a part of them, notes out.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/formats/open.hpp"
#include "report/selection.hpp"

namespace npuscope::cli {

struct ProfileOptions {
  std::vector<std::string> files;
  report::Selection selection;
  std::vector<std::string> roles;   // files with tables of roles (event_roles.hpp)
  std::vector<std::string> tables;  // files and folders with descriptions of tables
  TraceTimeUnit time_unit = TraceTimeUnit::microseconds;
  bool keep_going = false;       // a file that cannot be opened is no failure
  std::uint64_t max_memory = 0;  // bytes that reading may take; 0: ByteSourceOptions' default
  bool joins_runs = false;       // samples of one program become one profile (run_sets.hpp)
  bool picks_samples = false;    // of such samples only the one nearest their median is kept
  bool takes_snapshots = false;  // which have numbers and no spans
};

// FILES, --from, --unit, --op; the end of the window is the command's own flag.
void add_profile_options(Command& command, ProfileOptions& options);

// --core and --inference, of commands that look at a timeline.
void add_part_options(Command& command, ProfileOptions& options);

struct Selected {
  std::vector<report::ProfilePart> parts;
  std::vector<Note> notes;
  std::vector<analysis::RunSet> samples = {};  // that each part stands for, where it was picked
};

// Opens the files, with a progress bar, and keeps what is selected. Says on standard error which
// profiles are damaged.
Result<Selected> open_selected(const ProfileOptions& options,
                               const report::SelectOptions& select = {});

// Stand-ins for names in all of them (scrub_names.hpp), once `output` is known to be none of their
// files.
Status scrub_names(std::vector<report::ProfilePart>& parts, const std::string& output);

std::vector<Profile> profiles_of(std::vector<report::ProfilePart> parts);

// What a command ends with that printed its result: input where a file that was named is in no
// profile, which the notes of opening say, unless the options say to keep going.
ExitStatus status_of(const ProfileOptions& options, const std::vector<Note>& notes);

// The note that a profile was passed over; what `error` says of its file stands there once.
Note left_out(const Provenance& provenance, const Error& error);

// Columns of the terminal that standard output is, at most 200; 100 where it is none.
std::size_t terminal_width();
// Lines of a page that the terminal shows whole, with the next prompt below it; 30 of a file.
std::size_t terminal_height();

// Whether standard output is a terminal whose locale says UTF-8.
bool shows_unicode();
// Whether it is a terminal whose locale says anything else.
bool shows_ascii_only();

// Notes about files that are no profile, on standard error.
void print_notes(const std::vector<Note>& notes);
// Next to JSON, which has all notes: what decides the status is said on standard error too.
void print_errors(const std::vector<Note>& notes);

}  // namespace npuscope::cli
