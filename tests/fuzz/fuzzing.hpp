// What the targets share: inputs that a target makes itself, files for the time of one input, and
// what holds of every profile that a reader makes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::fuzz {

// Where fuzzing begins, with the seeds in files; each target defines it.
std::vector<std::string> good_inputs();

// An input that is refused must say why.
template <class Result>
bool is_read(const Result& result) {
  if (!result && result.error().message.empty()) __builtin_trap();
  return bool(result);
}

// A folder of this process, which goes with it.
class ScratchFolder {
 public:
  ScratchFolder() { std::filesystem::create_directories(path_); }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path file(std::string_view name) const { return path_ / name; }
  void write(std::string_view name, std::string_view bytes) const {
    std::filesystem::create_directories(file(name).parent_path());
    std::ofstream(file(name), std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("npuscope-fuzz-" + std::to_string(::getpid()));
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Columns of a table are equally long, and ids name rows that exist.
inline void require_sound(const Profile& profile) {
  const auto require = [](bool holds) {
    if (!holds) __builtin_trap();
  };
  const auto is_row = [](auto id, std::size_t rows) {
    return id == decltype(id)::none || index_of(id) < rows;
  };
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size(), ops = profile.ops.size(), rows = spans.size();
  for (const std::size_t length :
       {spans.op.size(), spans.kind.size(), spans.start.size(), spans.duration.size()}) {
    require(length == rows);
  }
  for (const std::size_t length :
       {spans.processor_cycles.size(), spans.instance.size(), spans.arguments.size()}) {
    require(length == rows || length == 0);
  }
  for (const MeasureColumn& column : spans.measures) require(column.values.size() == rows);
  for (std::size_t row = 0; row < rows; ++row) {
    require(is_row(spans.unit[row], units) && is_row(spans.op[row], ops));
    require(spans.duration[row] >= 0);
  }
  for (const Unit& unit : profile.units) require(is_row(unit.parent, units));
  for (const Edge& edge : profile.edges) require(is_row(edge.from, ops) && is_row(edge.to, ops));
  for (const Flow& flow : profile.flows) require(is_row(flow.from, rows) && is_row(flow.to, rows));
  for (const std::uint32_t series : profile.counters.of) {
    require(series < profile.counters.series.size());
  }
  require(profile.counters.time.size() == profile.counters.size());
  require(profile.counters.value.size() == profile.counters.size());
  for (const Phase& phase : profile.phases) {
    require(is_row(phase.unit, units));
    require(phase.parent >= outermost_phase || phase.parent < profile.phases.size());
  }
  for (const TensorUse& use : profile.tensor_uses) {
    require(use.tensor == no_tensor || use.tensor < profile.tensors.size());
    require(is_row(use.consumer, ops));
  }
  for (const Tensor& tensor : profile.tensors) require(is_row(tensor.producer, ops));
}

}  // namespace npuscope::fuzz
