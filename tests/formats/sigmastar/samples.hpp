// Models and timelines for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/timeline.hpp"

namespace npuscope::sigmastar::test_support {

// Operators of these types and marks, one after the other.
inline Model make_model(const std::vector<std::pair<std::string, std::uint32_t>>& operators) {
  Model model;
  model.description = "made by a test";
  model.tensors.push_back({"images", 3, {1, 32, 32, 3}, 0});
  model.inputs = {0};
  for (const auto& [type, mark] : operators) {
    ModelOperator each;
    each.type = type;
    each.is_custom = type == "Fix2Float" || type == "Reshape_Alias";
    each.mark = mark;
    each.inputs = {std::int32_t(model.tensors.size()) - 1};
    each.outputs = {std::int32_t(model.tensors.size())};
    model.tensors.push_back({"out" + std::to_string(model.operators.size()), 7, {1, 4}, 0});
    model.operators.push_back(each);
  }
  model.outputs = {std::int32_t(model.tensors.size()) - 1};
  return model;
}

inline LayerTimeline read_text(const std::string& text) {
  const auto source = open_byte_source(text, "log.json");
  auto timeline = read_layer_timeline(**source);
  return timeline ? std::move(*timeline) : LayerTimeline{};
}

inline std::string error_of(const std::string& text) {
  const auto source = open_byte_source(text, "log.json");
  const auto timeline = read_layer_timeline(**source);
  return timeline ? "" : timeline.error().message;
}

// A layer as the vendor's script writes it, at 1 MHz: a cycle is a microsecond.
inline std::string layer_event(const std::string& name, int core, int start, int cycles) {
  return R"({"ph":"X","name":")" + name + R"(","pid":"core)" + std::to_string(core) +
         R"(","tid":0,"ts":)" + std::to_string(start) + R"(,"dur":)" + std::to_string(cycles) +
         R"(,"args":{"total_cycle":)" + std::to_string(cycles) +
         R"(,"conv_cycle_percent":"50.0%","vector_cycle_percent":25}})";
}

}  // namespace npuscope::sigmastar::test_support
