// ONNX file in, Graph out. Shapes are propagated here, operator by operator, so models of opsets
// newer than any installed ONNX library work; weights may be absent (external data is not opened)
// and are never copied. Functions and decided branches (If) are put in place of their nodes.
//
//   ImportOptions options;
//   options.symbols = {{"seq_len", 32}, {"ctx_len", 128}};
//   Result<Graph> graph = import_onnx_file("model.onnx", options);
//   if (!graph) return tl::unexpected(graph.error());
//   for (const Node& node : graph->nodes) macs += multiply_accumulates(*graph, node);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/npu/graph/import_options.hpp"

namespace npuscope::npu {

// Input errors: not ONNX, a cycle, a symbol without value (names it and says how to define it), an
// operator that is not known (node, type, domain, opset), shapes that do not fit each other, sizes
// that depend on data (unless the file states them). Any bytes are safe: memory and time stay
// proportional to them.
Result<Graph> import_onnx(ByteSpan bytes, std::string_view name, const ImportOptions& options);
Result<Graph> import_onnx_file(const std::filesystem::path& path, const ImportOptions& options);

// -network-specialization-config: {"specializations": [{"batch_size": "1", "seq_len": "32"}, ...]};
// values are numbers or decimal strings. One Symbols per specialisation.
Result<std::vector<Symbols>> read_specializations(ByteSpan json, std::string_view name);

// Definitions on the command line, "seq_len,32" or "use_cache,true", into the options. A usage
// error where a symbol gets two values.
Status parse_symbols(const std::vector<std::string>& definitions, ImportOptions& options);

}  // namespace npuscope::npu
