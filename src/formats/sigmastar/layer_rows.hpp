// The rows of a profile that are layers of an IPU timeline, by their arguments, and what those say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::sigmastar {

// What the events of an IPU timeline say about a layer. The vendor's script is not public: numbers
// may be bare, in quotes, or with a percent sign; the layer's index may be an argument of several
// names, or part of the event's name.
//
//   layer_key_named("dma_load_cycle_percent")    LayerKey::dma_load
//   number_in("\"12.5%\"")                       12.5
//   index_in("layer_12")                         12, at 6, of length 2
enum class LayerKey : std::uint8_t {
  none,
  total_cycle,
  conv,
  vector,
  dma_load,
  dma_store,
  index,
};
inline constexpr std::array percent_keys{LayerKey::conv, LayerKey::vector, LayerKey::dma_load,
                                         LayerKey::dma_store};

// In npuscope's own timelines: an argument of an inference; in otherData, true where records of the
// logs are missing.
inline constexpr std::string_view inference_key = "inference";
inline constexpr std::string_view incomplete_key = "incomplete";

LayerKey layer_key_named(std::string_view name);

// Whether an event with this argument is a layer.
inline bool tells_layer(LayerKey key) { return key != LayerKey::none && key != LayerKey::index; }

// Of a JSON value's text: none when it is no number.
std::optional<double> number_in(std::string_view text);
std::optional<std::uint64_t> whole_number_in(std::string_view text);

struct IndexInName {
  std::uint64_t index = 0;
  std::size_t at = 0;  // of its digits
  std::size_t length = 0;
};
// A name that is a number, begins with one ("12 CONV_2D", "12:..."), or ends with one after a
// separator or the word layer, op, operator, idx or index ("layer12", "Conv_12", not "CONV_2D").
std::optional<IndexInName> index_in(std::string_view name);

// "core0", "core 1", "IPU_CORE_1": the number; none for "corectrl0" and other names.
std::optional<std::uint32_t> core_in(std::string_view name);

struct LayerRow {
  std::size_t row = 0;
  std::uint32_t core = 0;
  double cycles = -1;                                               // total_cycle; -1: not said
  std::array<double, percent_keys.size()> percent{-1, -1, -1, -1};  // as percent_keys; -1: not said
  std::optional<std::uint64_t> index;
};

// By the names of the unit and of what it is part of (a thread, its process), or its process id.
std::optional<std::uint32_t> core_of(const Profile& profile, UnitId unit);

class LayerRows {
 public:
  explicit LayerRows(const Profile& profile);

  const std::vector<LayerRow>& layers() const { return layers_; }
  std::uint64_t unreadable() const { return unreadable_; }  // numbers that are none

 private:
  void read(const Profile& profile, std::size_t row, const std::vector<LayerKey>& roles);
  void number_cores(const Profile& profile);

  std::vector<LayerRow> layers_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace npuscope::sigmastar
