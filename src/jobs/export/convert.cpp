#include "jobs/export/convert.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/try.hpp"
#include "jobs/export/export.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/formats/chrome/write.hpp"
#include "npuscope/formats/perfetto/write.hpp"

namespace npuscope::jobs {
namespace {

namespace fs = std::filesystem;
using report::Converted;

struct TargetName {
  const char* name;
  Target target;
  const char* ending;  // of files in a folder
};
constexpr TargetName targets[] = {{"chrome", Target::chrome, ".json"},
                                  {"perfetto", Target::perfetto, ".pftrace"},
                                  {"csv", Target::csv, ""},
                                  {"sqlite", Target::sqlite, ".db"},
                                  {"json", Target::json, ".json"}};

Result<Exported> write_chrome(const Profile& profile, const fs::path& path,
                              const ProgressReport& progress) {
  TRY_AS(file, AtomicFile::create(path));
  Losses losses =
      chrome::write_trace(profile, [&](std::string_view piece) { file->write(piece); }, {progress});
  TRY(file->commit());
  return Exported{std::move(losses), file->bytes_written()};
}

Result<Exported> write_perfetto(std::span<const Profile> profiles, const fs::path& path,
                                const ProgressReport& progress) {
  std::vector<const Profile*> pointers;
  for (const Profile& profile : profiles) pointers.push_back(&profile);
  TRY_AS(report, perfetto::write_trace(pointers, path, {progress}));
  return Exported{report->losses, report->bytes};
}

Result<Exported> write_one(const Profile& profile, const ConvertRequest& request,
                           const fs::path& path) {
  switch (request.target) {
    case Target::chrome: return write_chrome(profile, path, request.progress);
    case Target::perfetto: return write_perfetto({&profile, 1}, path, request.progress);
    case Target::csv: return write_csv(profile, path, request.progress);
    case Target::sqlite: return write_sqlite(profile, path, request.progress);
    case Target::json: return write_json(profile, path, request.progress);
  }
  return usage_error("{}: no such format", path.string());
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return !path.has_filename() || fs::is_directory(path, unknown);
}

// A name for the file of a profile: that of what it was read from, with a number where it repeats.
std::string file_name_of(const Profile& profile, std::set<std::string>& taken) {
  std::string name = "profile";
  if (!profile.provenance.files.empty()) {
    fs::path file = fs::path(profile.provenance.files.front()).filename();
    if (file.extension() == ".gz" || file.extension() == ".zst") file = file.stem();
    if (!file.stem().empty()) name = file.stem().string();
  }
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", name, i);
  return unique;
}

Status add(Converted& converted, const Result<Exported>& exported, const fs::path& path) {
  if (!exported) return tl::unexpected(exported.error());
  for (const Loss& loss : exported->losses.entries) converted.losses.add(loss.what, loss.count);
  for (const ExportedTable& table : exported->tables) {
    converted.files.push_back({table.path, table.bytes});
  }
  if (exported->tables.empty()) converted.files.push_back({path, exported->bytes});
  return {};
}

Status check_not_an_input(std::span<const Profile> profiles, const fs::path& output) {
  for (const Profile& profile : profiles) {
    if (auto free = check_output_is_no_input(profile.provenance.files, output); !free) return free;
  }
  return {};
}

Status check_tables(std::span<const Profile> profiles, const fs::path& folder) {
  for (const std::string& name : csv_file_names()) {
    const auto free = check_not_an_input(profiles, folder / name);
    if (!free) return free;
  }
  return {};
}

// The names of the outputs, all known before the first is written.
Result<std::vector<fs::path>> paths_in_folder(std::span<const Profile> profiles,
                                              const ConvertRequest& request) {
  std::vector<fs::path> paths;
  std::set<std::string> taken;
  for (const Profile& profile : profiles) {
    const auto& target = targets[std::size_t(request.target)];
    fs::path path = request.output / (file_name_of(profile, taken) + target.ending);
    TRY(check_not_an_input(profiles, path));
    if (request.target == Target::csv) {
      path /= "";
      TRY(check_tables(profiles, path));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<Converted> convert_into_folder(std::span<const Profile> profiles,
                                      const ConvertRequest& request) {
  TRY_AS(paths, paths_in_folder(profiles, request));
  TRY(make_folder(request.output));
  TRY(check_writable_folder(request.output));
  Converted converted;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    TRY(add(converted, write_one(profiles[i], request, (*paths)[i]), (*paths)[i]));
  }
  return converted;
}

// A trace of nothing is no trace.
Status check_timeline(std::span<const Profile> profiles, Target target) {
  if (target != Target::chrome && target != Target::perfetto) return {};
  for (const Profile& profile : profiles) {
    if (profile.spans.size() + profile.counters.size() + profile.phases.size() > 0) continue;
    const auto& files = profile.provenance.files;
    return usage_error(
        "{}: has no timeline, so no trace can be made of it; use csv, sqlite or json",
        files.empty() ? "the profile" : files.front());
  }
  return {};
}

}  // namespace

std::optional<Target> target_named(std::string_view name) {
  for (const TargetName& target : targets) {
    if (name == target.name) return target.target;
  }
  return std::nullopt;
}

std::optional<Target> target_of(const fs::path& output) {
  const std::string ending = output.extension().string();
  if (ending == ".pftrace" || ending == ".perfetto-trace") return Target::perfetto;
  if (ending == ".csv") return Target::csv;
  if (ending == ".db" || ending == ".sqlite" || ending == ".sqlite3") return Target::sqlite;
  return std::nullopt;
}

Result<Converted> convert(std::span<const Profile> profiles, const ConvertRequest& request) {
  TRY(check_timeline(profiles, request.target));
  const bool one_folder_of_tables = request.target == Target::csv && profiles.size() == 1;
  if (is_folder(request.output) && !one_folder_of_tables) {
    return convert_into_folder(profiles, request);
  }
  if (is_folder(request.output)) {
    TRY(check_tables(profiles, request.output));
  }
  if (!is_folder(request.output)) {
    TRY(check_not_an_input(profiles, request.output));
  }
  Converted converted;
  if (profiles.size() > 1 && request.target != Target::perfetto) {
    return usage_error(
        "{}: {} profiles were read and a file of this format holds one; name a "
        "folder (with a / at its end)",
        request.output.string(), profiles.size());
  }
  const auto exported = request.target == Target::perfetto
                            ? write_perfetto(profiles, request.output, request.progress)
                            : write_one(profiles.front(), request, request.output);
  TRY(add(converted, exported, request.output));
  return converted;
}

}  // namespace npuscope::jobs
