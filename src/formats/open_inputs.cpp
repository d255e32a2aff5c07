#include "formats/open_inputs.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "base/file_identity.hpp"
#include "formats/open_table.hpp"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t deepest_folder = 64;

class Finder {
 public:
  explicit Finder(std::uint64_t pipe_limit) : pipe_limit_(pipe_limit) {}

  void add_named(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
      const std::size_t before = found_.files.size() + found_.notes.size();
      walk(path, 0);
      if (found_.files.size() + found_.notes.size() == before) {
        note(Severity::error, path, "an empty folder; name one that holds profiling files");
      }
    } else if (fs::is_fifo(status)) {
      if (met_before(path) == nullptr) add_pipe(path);
    } else if (fs::is_regular_file(status)) {
      add_file(path, true);
    } else if (!fs::exists(status)) {
      const bool hidden = error && error != std::errc::no_such_file_or_directory;
      note(Severity::error, path,
           hidden ? refused(error) : "no such file or folder; check the path");
    } else {
      note(Severity::error, path, "a device or socket, not a file; name a file, folder or pipe");
    }
  }

  static std::string refused(const std::error_code& error) {
    return fmt::format("cannot be looked at: {}; check the path", error.message());
  }

  FoundFiles finish() { return std::move(found_); }

 private:
  void note(Severity severity, const fs::path& path, std::string message) {
    found_.notes.push_back({severity, path.string(), 0, std::move(message), 1});
  }

  struct Met {
    fs::path path;
    std::size_t file = 0;  // in found_.files, of a file
  };

  // What was met before and is the same file or folder, under whatever name; null: it is new.
  const Met* met_before(const fs::path& path) {
    const auto identity = identity_of(path);
    if (!identity) return nullptr;
    const auto [place, is_new] = met_.try_emplace(*identity, Met{path, found_.files.size()});
    if (is_new) return nullptr;
    std::error_code none;
    note(
        Severity::info, path,
        fmt::format("the same {} as {}; opened once",
                    fs::is_directory(path, none) ? "folder" : "file", place->second.path.string()));
    return &place->second;
  }

  void add_file(const fs::path& path, bool named) {
    if (const Met* before = met_before(path)) {
      found_.files[before->file].named |= named;
    } else {
      found_.files.push_back({path, named});
    }
  }

  void walk(const fs::path& folder, std::size_t depth) {
    if (met_before(folder) != nullptr) return;
    if (depth > deepest_folder) {
      return note(Severity::warning, folder,
                  fmt::format("lies more than {} folders deep; left out", deepest_folder));
    }
    std::error_code error;
    std::vector<fs::path> entries;
    fs::directory_iterator entry(folder, error), end;
    for (; !error && entry != end; entry.increment(error)) entries.push_back(entry->path());
    if (error) {
      note(Severity::error, folder,
           fmt::format("cannot be read: {}; check the permissions", error.message()));
    }
    std::sort(entries.begin(), entries.end(), [](const fs::path& a, const fs::path& b) {
      return a.filename().native() < b.filename().native();
    });
    for (const fs::path& path : entries) visit(path, depth);
  }

  void visit(const fs::path& path, std::size_t depth) {
    std::error_code unknown;
    const fs::file_status status = fs::status(path, unknown);
    if (unknown && unknown != std::errc::no_such_file_or_directory &&
        unknown != std::errc::too_many_symbolic_link_levels) {
      return note(Severity::error, path, refused(unknown));
    }
    if (fs::is_directory(status)) {
      if (fs::is_symlink(fs::symlink_status(path, unknown))) {
        return note(Severity::info, path, "a link to a folder; not followed");
      }
      return walk(path, depth + 1);
    }
    if (fs::is_regular_file(status)) {
      add_file(path, false);
    } else {
      note(Severity::info, path, "a broken link, pipe, device or socket; left out");
    }
  }

  void add_pipe(const fs::path& path) {
    auto spooled = spool(path, pipe_limit_);
    if (!spooled) {  // its message begins with the path, as a note does
      return note(Severity::error, path, spooled.error().message.substr(path.native().size() + 2));
    }
    SpooledPipe pipe;
    pipe.name = path.string();
    pipe.file = std::move(*spooled);
    pipe.path = path_of_open(pipe.file.get());
    found_.files.push_back({pipe.path, true});
    found_.pipes.push_back(std::move(pipe));
  }

  std::uint64_t pipe_limit_;
  FoundFiles found_;
  std::map<FileIdentity, Met> met_;
};

}  // namespace

FoundFiles find_files(std::span<const fs::path> paths, std::uint64_t pipe_limit) {
  Finder finder(pipe_limit);
  for (const fs::path& path : paths) finder.add_named(path);
  return finder.finish();
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t deepest_set = 64;

std::uint64_t size_of(const fs::path& path) {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  return unknown ? 0 : std::uint64_t(size);
}

// As far as their first bytes tell.
Belonging belonging_of(const fs::path& path) {
  const auto head = read_head(path, head_bytes);
  return head ? belonging_of(Candidate{path, *head}) : Belonging::unknown;
}

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code unknown;
  fs::recursive_directory_iterator entry(folder, unknown), end;
  for (; !unknown && entry != end; entry.increment(unknown)) bytes += size_of(entry->path());
  return bytes;
}

class Cutting {
 public:
  void add_folder(const fs::path& folder, std::size_t depth) {
    std::vector<fs::path> files, folders;
    std::error_code unknown;
    fs::directory_iterator entry(folder, unknown), end;
    for (; !unknown && entry != end; entry.increment(unknown)) {
      std::error_code closed;
      const bool is_link = fs::is_symlink(entry->path(), closed);
      if (fs::is_directory(entry->path(), closed)) {
        if (!is_link) folders.push_back(entry->path());
      } else if (fs::is_regular_file(entry->path(), closed)) {
        files.push_back(entry->path());
      }
    }
    std::sort(files.begin(), files.end());
    std::sort(folders.begin(), folders.end());
    std::vector<fs::path> alone;
    for (const fs::path& file : files) {
      const Belonging belongs = belonging_of(file);
      if (belongs == Belonging::together) return add(folder, bytes_below(folder));
      if (belongs == Belonging::alone) alone.push_back(file);
    }
    for (const fs::path& file : alone) sets_.push_back({{file}, size_of(file), false});
    const bool goes_on = !folders.empty() && depth < deepest_set;
    if (alone.empty() && (!goes_on || unknown)) return add_empty(folder, depth);
    for (const fs::path& each : folders) add_folder(each, depth + 1);
  }

  // Files that are named one by one: those of a folder may belong together.
  void add_files(const std::vector<fs::path>& files) {
    const bool all_alone = std::all_of(files.begin(), files.end(), [](const fs::path& file) {
      return belonging_of(file) == Belonging::alone;
    });
    if (all_alone) {
      for (const fs::path& file : files) add(file, size_of(file));
      return;
    }
    FileSet set{files, 0};
    for (const fs::path& file : files) set.bytes += size_of(file);
    sets_.push_back(std::move(set));
  }

  void add(const fs::path& path, std::uint64_t bytes) { sets_.push_back({{path}, bytes}); }

  std::vector<FileSet> finish() { return std::move(sets_); }

 private:
  // Nothing in it is a profile: where it was named, opening says so.
  void add_empty(const fs::path& folder, std::size_t depth) {
    if (depth == 0) add(folder, 0);
  }

  std::vector<FileSet> sets_;
};

}  // namespace

std::vector<FileSet> file_sets(std::span<const fs::path> paths) {
  Cutting cutting;
  std::vector<std::pair<fs::path, std::vector<fs::path>>> named;  // by folder, in their order
  const auto flush = [&] {
    for (const auto& [folder, files] : named) cutting.add_files(files);
    named.clear();
  };
  for (const fs::path& path : paths) {
    std::error_code unknown;
    if (fs::is_regular_file(path, unknown)) {
      const fs::path parent = path.parent_path();
      const auto found = std::find_if(named.begin(), named.end(),
                                      [&](const auto& each) { return each.first == parent; });
      if (found != named.end()) {
        found->second.push_back(path);
      } else {
        named.push_back({parent, {path}});
      }
      continue;
    }
    flush();
    if (fs::is_directory(path, unknown)) {
      cutting.add_folder(path, 0);
    } else {
      cutting.add(path, 0);
    }
  }
  flush();
  return cutting.finish();
}

}  // namespace npuscope
