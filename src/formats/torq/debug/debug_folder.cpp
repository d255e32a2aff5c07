#include "formats/torq/debug/debug_folder.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/torq/debug/onnx_lines.hpp"
#include "formats/torq/fields.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::torq {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_source = std::uint64_t{256} << 20;
constexpr std::uint64_t largest_debug_info = std::uint64_t{4} << 30;

Result<std::string> read_file(const fs::path& path, std::uint64_t limit) {
  TRY_AS(source, open_byte_source(path));
  auto text = read_all(**source, limit);
  if (text && text->empty()) return input_error("{}: is empty; copy it again", path.string());
  return text;
}

// Behind "%0 =" or "(…) =".
std::string_view without_results(std::string_view line) {
  if (!line.starts_with('%') && !line.starts_with('(')) return line;
  const auto equals = line.find('=');
  return equals == line.npos ? line : trimmed(line.substr(equals + 1));
}

std::optional<std::string> operator_in(std::string_view line) {
  line = without_results(trimmed(line));
  constexpr std::string_view torch = "torch.operator \"";
  if (line.starts_with(torch)) {
    line.remove_prefix(torch.size());
    return std::string(line.substr(0, line.find('"')));
  }
  if (line.starts_with("\"tosa.")) {
    line.remove_prefix(1);
    return std::string(line.substr(0, line.find('"')));
  }
  if (!line.starts_with("tosa.")) return std::nullopt;
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

std::string name_of_operator(std::string_view name, std::size_t line) {
  return fmt::format("{}@L{}", name, line);
}

bool holds_operators(std::string_view text) {
  return text.find("torch.operator \"") != text.npos || text.find("tosa.") != text.npos;
}

bool is_regular(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// "main_dispatch_0" of "debug/main_dispatch_0.mlir" and "…/main_dispatch_0.mlirb.mlir".
std::string stem_of(const std::string& file) {
  std::string name = fs::path(file).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".mlir", ".mlirb", ".txt"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

}  // namespace

SourceFiles::SourceFiles(std::vector<fs::path> folders, bool with_onnx)
    : folders_(std::move(folders)), with_onnx_(with_onnx) {}

void SourceFiles::read_onnx(const std::string& file, Source& source) {
  constexpr std::size_t max_looked_at = 10'000;
  const fs::path wanted = fs::path(file).stem();
  for (const fs::path& folder : folders_) {
    std::vector<fs::path> models;
    std::error_code error;
    std::size_t looked_at = 0;
    for (fs::directory_iterator entry(folder, error), end;
         !error && entry != end && looked_at++ < max_looked_at; entry.increment(error)) {
      if (entry->path().extension() == ".onnx" && is_regular(entry->path())) {
        models.push_back(entry->path());
      }
    }
    const auto named = std::find_if(models.begin(), models.end(),
                                    [&](const fs::path& each) { return each.stem() == wanted; });
    if (named == models.end() && models.size() != 1) continue;
    const fs::path model = named == models.end() ? models.front() : *named;
    const auto bytes = read_file(model, largest_source);
    if (bytes) source.lines = lines_of_onnx(*bytes);
    source.found = !source.lines.empty();
    if (!source.found) continue;
    source.model = model.string();
    return;
  }
}

std::vector<std::pair<std::string, std::string>> SourceFiles::models() const {
  std::vector<std::pair<std::string, std::string>> models;
  for (const auto& [file, source] : files_) {
    if (!source.model.empty()) models.emplace_back(file, source.model);
  }
  return models;
}

const SourceFiles::Source& SourceFiles::source(const std::string& file) {
  const auto [place, is_new] = files_.try_emplace(file);
  if (!is_new) return place->second;
  std::vector<fs::path> candidates{fs::path(file)};
  for (const fs::path& folder : folders_) {
    candidates.push_back(folder / file);
    if (fs::path(file).has_parent_path()) candidates.push_back(folder / fs::path(file).filename());
  }
  const auto cannot_be_read = [&](const fs::path& path, std::string_view why) {
    unreadable_.push_back({Severity::warning, path.string(), 0,
                           fmt::format("{}; operators of this source file are missing", why), 1});
  };
  for (const fs::path& path : candidates) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    const bool is_there = status.type() != fs::file_type::not_found;
    if (is_there && error) cannot_be_read(path, "cannot be looked at: " + error.message());
    if (!fs::is_regular_file(status)) continue;
    const auto text = read_file(path, largest_source);
    if (!text) {
      cannot_be_read(path, without_file(text.error().message, path.string()));
      continue;
    }
    place->second.found = true;
    std::string_view rest = *text;
    while (rest.data() != nullptr) place->second.lines.emplace_back(take_first(rest, '\n'));
    break;
  }
  if (!place->second.found && with_onnx_) read_onnx(file, place->second);
  return place->second;
}

std::optional<std::string> SourceFiles::operator_at(const FileLocation& at) {
  const Source& from = source(at.file);
  if (!from.found) return std::nullopt;
  if (at.line == 0 || at.line > from.lines.size()) {
    ++missing_lines_;
    return std::nullopt;
  }
  return operator_in(from.lines[at.line - 1]);
}

std::vector<std::string> SourceFiles::operators_at(const std::vector<FileLocation>& places) {
  std::vector<std::string> operators;
  for (const FileLocation& place : places) {
    if (const auto name = operator_at(place)) {
      operators.push_back(name_of_operator(*name, place.line));
    }
  }
  return operators;
}

std::vector<std::string> SourceFiles::operators() const {
  std::vector<std::string> operators;
  for (const auto& [file, source] : files_) {
    for (std::size_t line = 0; line < source.lines.size(); ++line) {
      if (const auto name = operator_in(source.lines[line])) {
        operators.push_back(name_of_operator(*name, line + 1));
      }
    }
  }
  return operators;
}

std::uint64_t SourceFiles::missing_files() const {
  return std::uint64_t(std::count_if(files_.begin(), files_.end(),
                                     [](const auto& each) { return !each.second.found; }));
}

const DispatchInfo* DebugInfo::find(std::string_view name) const {
  if (name.empty()) return dispatches.size() == 1 ? &dispatches.front() : nullptr;
  for (const DispatchInfo& dispatch : dispatches) {
    if (dispatch.name == name) return &dispatch;
  }
  for (const DispatchInfo& dispatch : dispatches) {
    if (stem_of(dispatch.file) == name) return &dispatch;
  }
  return nullptr;
}

namespace {

struct NumberedDispatch {
  std::string_view model;
  std::int64_t number = 0;
};

std::optional<NumberedDispatch> numbered(std::string_view name) {
  constexpr std::string_view word = "_dispatch_";
  const auto at = name.find(word);
  if (at == name.npos) return std::nullopt;
  const std::string_view rest = name.substr(at + word.size());
  const auto number = whole_number(rest.substr(0, rest.find('_')));
  if (!number) return std::nullopt;
  return NumberedDispatch{name.substr(0, at), *number};
}

}  // namespace

std::string_view model_of_dispatch(std::string_view name) {
  const auto found = numbered(name);
  return found ? found->model : std::string_view();
}

std::vector<std::vector<const DispatchInfo*>> DebugInfo::by_model() const {
  std::vector<std::vector<const DispatchInfo*>> models;
  std::map<std::pair<fs::path, std::string_view>, std::size_t> places;
  std::set<std::pair<fs::path, std::string_view>> seen;
  for (const DispatchInfo& each : dispatches) {
    const fs::path folder = fs::path(each.file).parent_path();
    if (!seen.emplace(folder, each.name).second) continue;
    const auto number = numbered(each.name);
    const auto [place, is_new] = number ? places.try_emplace({folder, number->model}, models.size())
                                        : std::pair(places.end(), true);
    if (is_new) models.emplace_back();
    (is_new ? models.back() : models[place->second]).push_back(&each);
  }
  const auto number_of = [](const DispatchInfo* each) {
    const auto found = numbered(each->name);
    return found ? found->number : 0;
  };
  for (auto& model : models) {
    std::stable_sort(model.begin(), model.end(),
                     [&](const auto* a, const auto* b) { return number_of(a) < number_of(b); });
  }
  return models;
}

std::size_t folders_in_common(const fs::path& a, const fs::path& b) {
  const fs::path of_a = a.lexically_normal().parent_path(),
                 of_b = b.lexically_normal().parent_path();
  const auto ends = std::mismatch(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
  return std::size_t(std::distance(of_a.begin(), ends.first));
}

std::optional<DebugInfo> nearest_to(const fs::path& file, const DebugInfo& debug) {
  std::size_t nearest = 0, near_ones = 0;
  for (const DispatchInfo& each : debug.dispatches) {
    const std::size_t common = folders_in_common(file, each.file);
    near_ones = common > nearest ? 1 : near_ones + (common == nearest);
    nearest = std::max(nearest, common);
  }
  if (near_ones == debug.dispatches.size()) return std::nullopt;
  DebugInfo near;
  near.sources = debug.sources;
  for (const DispatchInfo& each : debug.dispatches) {
    if (folders_in_common(file, each.file) == nearest) near.dispatches.push_back(each);
  }
  for (const std::string& each : debug.files) {
    if (folders_in_common(file, each) == nearest) near.files.push_back(each);
  }
  return near;
}

std::vector<std::string> DebugInfo::operators_of(const DispatchInfo& dispatch,
                                                 LocationId location) const {
  if (!sources) return {};
  return sources->operators_at(dispatch.locations.files(location));
}

namespace {

// Whether the operators of ONNX models stand where the kernels of such operators say that they do:
// another model, or one that was imported in another way, has other lines.
void check_models(DebugInfo& debug) {
  const auto for_each_place = [&](const auto& body) {
    for (const DispatchInfo& dispatch : debug.dispatches) {
      for (const UnitWork& work : dispatch.work) {
        const auto files = dispatch.locations.files(work.location);
        if (!work.kernel.empty() && !files.empty()) body(work.kernel, files.front());
      }
    }
  };
  for_each_place([&](const std::string&, const FileLocation& at) { debug.sources->has(at.file); });
  if (debug.sources->models().empty()) return;
  std::size_t fitting = 0, contradicting = 0;
  for_each_place([&](const std::string& kernel, const FileLocation& at) {
    const auto name = debug.sources->operator_at(at);
    const KernelFit fit = name ? fit_of(kernel, *name) : KernelFit::unknown;
    fitting += fit == KernelFit::fits;
    contradicting += fit == KernelFit::contradicts;
  });
  const bool fits = fitting > 0 && fitting >= contradicting;
  for (const auto& [file, model] : debug.sources->models()) {
    debug.notes.push_back(
        {Severity::info, model, 0,
         fits ? fmt::format("{} is not there: its operators are those of this model, in the order "
                            "in which the importer writes them",
                            file)
              : fmt::format("not the model of {}, or imported in another way: kernels and "
                            "operators do not fit; put {} there",
                            file, file),
         1});
    if (!fits) debug.sources->forget(file);
  }
}

}  // namespace

Result<DebugInfo> load_debug_info(const std::vector<fs::path>& files,
                                  const std::vector<fs::path>& source_folders) {
  DebugInfo debug;
  std::vector<fs::path> folders;
  std::optional<Error> first;
  for (const fs::path& file : files) {
    const std::string name = file.string();
    const auto text = read_file(file, largest_debug_info);
    auto dispatches = text ? read_debug_info(*text, name)
                           : Result<std::vector<DispatchInfo>>(tl::unexpected(text.error()));
    if (!dispatches) {
      if (!first) first = dispatches.error();
      if (text && holds_operators(*text)) continue;  // the model itself: a source of names
      const std::string& message = dispatches.error().message;
      const bool named = message.starts_with(name + ": ");
      debug.notes.push_back({text ? Severity::info : Severity::warning, name, 0,
                             named ? message.substr(name.size() + 2) : message, 1});
      continue;
    }
    debug.files.push_back(name);
    const fs::path folder = file.parent_path();
    for (const fs::path& place : {folder, folder / ".."}) {
      if (std::find(folders.begin(), folders.end(), place) == folders.end()) {
        folders.push_back(place);
      }
    }
    for (DispatchInfo& dispatch : *dispatches) debug.dispatches.push_back(std::move(dispatch));
  }
  // Bytecode next to the text that was made of it.
  std::erase_if(debug.notes, [&](const Note& note) {
    const auto stem = fs::path(note.file).stem();
    return note.file.ends_with(".mlirb") &&
           std::any_of(debug.files.begin(), debug.files.end(),
                       [&](const std::string& file) { return fs::path(file).stem() == stem; });
  });
  if (debug.dispatches.empty()) {
    return tl::unexpected(first.value_or(Error{ErrorKind::input, "no debug information is named"}));
  }
  folders.insert(folders.end(), source_folders.begin(), source_folders.end());
  debug.sources = std::make_shared<SourceFiles>(std::move(folders), true);
  check_models(debug);
  return debug;
}

Result<DebugInfo> load_debug_info(const fs::path& path,
                                  const std::vector<fs::path>& source_folders) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return load_debug_info(std::vector<fs::path>{path}, source_folders);
  }
  std::vector<fs::path> files;
  fs::directory_iterator entry(path, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (!is_regular(entry->path())) continue;
    constexpr std::size_t head_bytes = std::size_t{64} << 10;
    const auto head = read_head(entry->path(), head_bytes);
    if (head && (looks_like_mlir(*head) || looks_like_mlir_bytecode(*head))) {
      files.push_back(entry->path());
    }
  }
  if (files.empty()) {
    return input_error("{}: holds no MLIR; name the folder of --torq-debug-info", path.string());
  }
  std::sort(files.begin(), files.end());
  return load_debug_info(files, source_folders);
}

}  // namespace npuscope::torq
