#include "formats/tpu_mlir/profile.hpp"

#include <simdjson.h>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/try.hpp"

namespace npuscope::tpu_mlir {

bool looks_like_tensor_locations(std::string_view head) {
  return has_text(head, "\"tiu_dma_id(before)\"");
}

Result<TensorLocations> read_tensor_locations(ByteSource& source) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  TRY_AS(text, read_all(source, max_bytes));
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (parser.parse(*text).get(list)) {
    return input_error("{}: not a list of tensor locations of tpu-mlir; copy the file again",
                       source.name());
  }
  TensorLocations locations;
  locations.file = source.name();
  for (const simdjson::dom::element& each : list) {
    std::int64_t line = 0;
    std::string_view operation, tensor;
    if (each["file-line"].get(line) || each["opcode"].get(operation)) continue;
    // Of several results the first: an operator is known by it in the names of the compiler.
    if (each["results"].at(0)["name"].get(tensor)) tensor = {};
    operation.remove_prefix(operation.starts_with("tpu.") ? 4 : 0);
    locations.by_line.try_emplace(line, Located{std::string(operation), std::string(tensor)});
  }
  return locations;
}

namespace {

// The value of `key` in attributes written as "key = value,".
std::string_view attribute(std::string_view head, std::string_view key) {
  const std::size_t at = head.find(key);
  if (at == head.npos) return {};
  head.remove_prefix(at + key.size());
  if (!head.starts_with(" = ")) return {};
  head.remove_prefix(3);
  const bool is_quoted = head.starts_with('"');
  head.remove_prefix(is_quoted);
  return head.substr(0, head.find_first_of(is_quoted ? "\"\n" : " ,}\n"));
}

}  // namespace

bool looks_like_module(std::string_view head) {
  return has_text(head, "module.chip") && has_text(head, "module.FLOPs");
}

Module read_module(std::string_view head, std::string file) {
  Module module;
  module.file = std::move(file);
  module.chip = attribute(head, "module.chip");
  module.flops = parse_number<std::int64_t>(attribute(head, "module.FLOPs")).value_or(0);
  constexpr std::string_view word = "module @";
  if (const std::size_t at = head.find(word); at != head.npos) {
    head.remove_prefix(at + word.size());
    module.name = head.substr(0, head.find_first_of(" {\n"));
  }
  return module;
}

LayerName layer_name(std::string_view text) {
  const std::size_t at = text.rfind('_');
  if (at == text.npos || at == 0) return {text, -1};
  const auto line = parse_number<std::int64_t>(text.substr(at + 1));
  if (!line || *line < 0) return {text, -1};
  return {text.substr(0, at), *line};
}

}  // namespace npuscope::tpu_mlir
