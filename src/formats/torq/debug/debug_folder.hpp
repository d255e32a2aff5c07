// All debug information of a model: a file, or a folder with one for each dispatch.
//
//   const auto debug = load_debug_info("debug_info");
//   debug->find("main_dispatch_0_elementwise")->actions
//   debug->operators_of(*dispatch, location)      {"tosa.add@L3", "tosa.clamp@L4"}
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/torq/debug/debug_info.hpp"

namespace npuscope::torq {

// The lines of the model's own source files, which locations point into. A file is looked for
// where the location says, then by its name alone in the folders; then, where that is asked for, an
// ONNX model in the folders, of the same name or the only one.
class SourceFiles {
 public:
  explicit SourceFiles(std::vector<std::filesystem::path> folders = {}, bool with_onnx = false);

  // "tosa.add" of `%0 = tosa.add %a, %b : …`; none for a line that holds no operator of tosa or
  // torch, and where there is no such file or line.
  std::optional<std::string> operator_at(const FileLocation& place);

  // Those of several places, "tosa.add@L3", in their order.
  std::vector<std::string> operators_at(const std::vector<FileLocation>& places);

  // All operators of the files that were found, "onnx.Conv@L94", in their order.
  std::vector<std::string> operators() const;

  bool has(const std::string& file) { return source(file).found; }
  // Source files in whose place an ONNX model is read, with the model's path.
  std::vector<std::pair<std::string, std::string>> models() const;
  // As if the file were not there.
  void forget(const std::string& file) { files_[file] = {}; }

  // Files that were looked for and not found, and lines beyond the ends of files.
  std::uint64_t missing_files() const;
  std::uint64_t missing_lines() const { return missing_lines_; }
  // Files that are there and cannot be read, a warning each.
  const std::vector<Note>& unreadable() const { return unreadable_; }

 private:
  struct Source {
    bool found = false;
    std::string model;  // its path, where the lines are of ONNX
    std::vector<std::string> lines;
  };
  const Source& source(const std::string& file);

  void read_onnx(const std::string& file, Source& source);

  std::vector<std::filesystem::path> folders_;
  bool with_onnx_ = false;
  std::map<std::string, Source> files_;
  std::uint64_t missing_lines_ = 0;
  std::vector<Note> unreadable_;
};

struct DebugInfo {
  std::vector<DispatchInfo> dispatches;
  std::vector<std::string> files;
  std::vector<Note> notes;               // files that are none
  std::shared_ptr<SourceFiles> sources;  // null: operators are not looked up

  // By the name of the function, or of the file without its ending. An empty name, as the older
  // logs have none, finds the only dispatch there is.
  const DispatchInfo* find(std::string_view name) const;

  // Dispatches of one model and folder together, each once, in the order of their numbers:
  // smallcnn_dispatch_2_conv before smallcnn_dispatch_10. One whose name has no number stands
  // alone.
  std::vector<std::vector<const DispatchInfo*>> by_model() const;

  // The source operators of a location, "tosa.add@L3", in the order of its places.
  std::vector<std::string> operators_of(const DispatchInfo& dispatch, LocationId location) const;
};

// Of the debug information of several models in folders of their own that which is nearest to a
// file, by the folders that both are in; none where all of it is equally near.
std::optional<DebugInfo> nearest_to(const std::filesystem::path& file, const DebugInfo& debug);

// How many folders both files are in.
std::size_t folders_in_common(const std::filesystem::path& a, const std::filesystem::path& b);

// "smallcnn" of "smallcnn_dispatch_10_elementwise"; empty where the name has no number.
std::string_view model_of_dispatch(std::string_view name);

// Files of a folder that are no debug information are left out, with a note. Sources are looked for
// in the folder of the debug information and in the one above it, then in `source_folders`. An
// input error where there is no dispatch, or only bytecode.
Result<DebugInfo> load_debug_info(const std::filesystem::path& path,
                                  const std::vector<std::filesystem::path>& source_folders = {});

// The same of named files.
Result<DebugInfo> load_debug_info(const std::vector<std::filesystem::path>& files,
                                  const std::vector<std::filesystem::path>& source_folders);

}  // namespace npuscope::torq
