#include "cli/profiles.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "npuscope/base/files.hpp"
#include "npuscope/base/text.hpp"
#include "npuscope/profile/join_samples.hpp"
#include "npuscope/report/damage.hpp"
#include "npuscope/report/show.hpp"

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

Result<std::vector<RoleTable>> read_roles(const std::vector<std::string>& files) {
  std::vector<RoleTable> tables;
  for (const std::string& file : files) {
    const auto text = MappedFile::open(file);
    if (!text) return tl::unexpected(text.error());
    auto table = RoleTable::parse(as_text(text->bytes()), file);
    if (!table) return tl::unexpected(table.error());
    tables.push_back(std::move(*table));
  }
  return tables;
}

void print_damage(const std::vector<Profile>& profiles) {
  for (const Profile& profile : profiles) {
    if (!report::is_damaged(profile)) continue;
    print(stderr, "npuscope: {}\n", printable(report::damage_sentence(profile)));
  }
}

}  // namespace

void add_profile_options(CLI::App& command, ProfileOptions& options) {
  command
      .add_option("files", options.files,
                  "files and folders of any format; what belongs together "
                  "becomes one profile")
      ->required();
  command.add_option("--from", options.selection.from,
                     "begin of a window, after the first start: 12.5ms, 300us, 1000cyc; @ before "
                     "it: as the files count");
  command.add_option("--unit", options.selection.unit,
                     "only units whose name matches this regular expression");
  command.add_option("--op", options.selection.op,
                     "only ops whose name, kind or node matches this regular expression");
  command
      .add_option("--roles", options.roles,
                  "a .toml file that says by category and name what the slices of a generic "
                  "trace are (docs/formats/roles.md); repeatable")
      ->allow_extra_args(false);
  command.add_flag("--keep-going", options.keep_going,
                   "end with status 0 although a file that is named could not be opened");
}

ExitStatus status_of(const ProfileOptions& options, const std::vector<Note>& notes) {
  const bool lacks_some = std::any_of(notes.begin(), notes.end(), [](const Note& note) {
    return note.severity == Severity::error;
  });
  return lacks_some && !options.keep_going ? ExitStatus::input : ExitStatus::done;
}

Result<Opened> open_selected(const ProfileOptions& options, bool cut) {
  std::vector<std::filesystem::path> paths(options.files.begin(), options.files.end());
  auto roles = read_roles(options.roles);
  if (!roles) return tl::unexpected(roles.error());
  Result<Opened> opened = [&] {
    ProgressBar bar("reading");
    OpenOptions open;
    open.roles = std::move(*roles);
    open.progress = [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); };
    return open_profiles(paths, open);
  }();
  if (opened) print_damage(opened->profiles);
  // A window counts from the start of each sample.
  const bool has_window = !options.selection.from.empty() || !options.selection.until.empty();
  if (opened && options.joins_samples && !has_window) {
    opened->profiles = join_samples(std::move(opened->profiles));
  }
  if (!opened || options.selection.empty()) return opened;
  std::vector<Profile> parts;
  std::string first_error;
  for (const Profile& profile : opened->profiles) {
    auto part = report::select(profile, options.selection, cut);
    if (part) {
      parts.push_back(std::move(*part));
    } else if (opened->profiles.size() == 1) {
      return tl::unexpected(part.error());
    } else {
      if (first_error.empty()) first_error = part.error().message;
      opened->notes.push_back(left_out(profile, part.error()));
    }
  }
  if (parts.empty()) {
    return usage_error("nothing of {} profiles is selected; the first: {}", opened->profiles.size(),
                       first_error);
  }
  opened->profiles = std::move(parts);
  return opened;
}

Note left_out(const Profile& profile, const Error& error) {
  const auto& files = profile.provenance.files;
  const std::string file = files.empty() ? "" : files.front();
  std::string_view why = error.message;
  if (!file.empty() && why.starts_with(file + ": ")) why.remove_prefix(file.size() + 2);
  return {Severity::warning, file, 0, fmt::format("{}; left out", why), 1};
}

std::size_t terminal_width() {
  constexpr std::size_t of_a_file = 100, most = 200;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return of_a_file;
  return std::min<std::size_t>(size.ws_col, most);
}

bool shows_unicode() { return ::isatty(STDOUT_FILENO) != 0 && locale_is_unicode(); }

bool shows_ascii_only() { return ::isatty(STDOUT_FILENO) != 0 && !locale_is_unicode(); }

void print_notes(const std::vector<Note>& notes) {
  std::fflush(stdout);
  for (const Note& note : notes) {
    print(stderr, "npuscope: {}\n", printable(report::note_text(note)));
  }
}

}  // namespace npuscope::cli
