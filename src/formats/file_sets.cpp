#include "formats/file_sets.hpp"

#include <algorithm>
#include <map>

#include "formats/open_table.hpp"

namespace npuscope {
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
