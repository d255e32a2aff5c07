#include "npu/graph/import_onnx.hpp"

#include <simdjson.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/graph/importer.hpp"

namespace npuscope::npu {
Result<Graph> import_onnx(ByteSpan bytes, std::string_view name, const ImportOptions& options) {
  for (const auto& [symbol, value] : options.symbols) {
    if (value < 0)
      return usage_error("symbol '{}' has the value {}; give one from 0 on", printable(symbol),
                         value);
  }
  if (as_text(bytes).starts_with("version https://git-lfs")) {
    return input_error("{}: a git-lfs pointer, not the model itself; run git lfs pull", name);
  }
  ModelSource model;
  try {
    model = read_model_source(bytes);
  } catch (const ImportFailure& failure) {
    return input_error("{}: not an ONNX model: {}", name, printable(failure.message));
  }
  if (!model.graph || (model.ir_version <= 0 && model.opsets.empty())) {
    return input_error("{}: not an ONNX model; name a .onnx file", name);
  }
  try {
    return Importer(model, options).run();
  } catch (const ImportFailure& failure) {
    return input_error("{}: {}", name, printable(failure.message));
  }
}

Result<Graph> import_onnx_file(const std::filesystem::path& path, const ImportOptions& options) {
  TRY_AS(file, MappedFile::open(path));
  return import_onnx(file->bytes(), path.string(), options);
}

namespace {

// {"specializations": [{"batch_size": "1", "seq_len": "32"}, ...]}

namespace dom = simdjson::dom;

constexpr std::string_view form =
    "write {\"specializations\": [{\"batch_size\": \"1\", \"seq_len\": \"32\"}]}";

std::optional<std::int64_t> dimension_of(const dom::element& value) {
  if (value.is_int64()) return std::int64_t(value.get_int64());
  if (!value.is_string()) return std::nullopt;
  return parse_number<std::int64_t>(std::string_view(value.get_string()));
}

Result<Symbols> read_symbols(const dom::element& element, std::size_t index,
                             std::string_view name) {
  dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) {
    return input_error("{}: specialization {} is not an object; {}", name, index, form);
  }
  Symbols symbols;
  for (const auto [key, value] : object) {
    const auto number = dimension_of(value);
    if (!number || *number < 0) {
      return input_error("{}: '{}' of specialization {} is not a whole number from 0 on; {}", name,
                         printable(key), index, form);
    }
    if (!symbols.emplace(key, *number).second) {
      return input_error("{}: specialization {} gives '{}' twice; remove one", name, index,
                         printable(key));
    }
  }
  if (symbols.empty()) {
    return input_error("{}: specialization {} gives no values; {}", name, index, form);
  }
  return symbols;
}

}  // namespace

Result<std::vector<Symbols>> read_specializations(ByteSpan json, std::string_view name) {
  dom::parser parser;
  dom::element document;
  const std::string_view text = as_text(json);
  if (const auto error = parser.parse(text.data(), text.size()).get(document)) {
    return input_error("{}: not JSON ({}); {}", name, simdjson::error_message(error), form);
  }
  dom::object top;
  if (document.get_object().get(top) != simdjson::SUCCESS) {
    return input_error("{}: not an object; {}", name, form);
  }
  std::size_t lists = 0;
  for (const auto [key, value] : top) {
    if (key != "specializations") {
      return input_error("{}: '{}' is not known here; {}", name, printable(key), form);
    }
    lists += 1;
  }
  if (lists > 1) {
    return input_error("{}: gives 'specializations' {} times; make one list of them", name, lists);
  }
  dom::array list;
  if (top["specializations"].get_array().get(list) != simdjson::SUCCESS) {
    return input_error("{}: has no list of specializations; {}", name, form);
  }
  std::vector<Symbols> all;
  for (const dom::element& element : list) {
    TRY_AS(symbols, read_symbols(element, all.size(), name));
    all.push_back(std::move(*symbols));
  }
  if (all.empty()) return input_error("{}: its list of specializations is empty; {}", name, form);
  return all;
}

namespace {

struct Definition {
  std::string symbol;
  std::int64_t value = 0;
  bool is_truth = false;
};

Result<Definition> parse_symbol(std::string_view definition) {
  const std::size_t comma = definition.rfind(',');
  const std::string_view text =
      comma == std::string_view::npos ? std::string_view{} : definition.substr(comma + 1);
  const std::string symbol(definition.substr(0, comma));
  if (comma > 0 && (text == "true" || text == "false"))
    return Definition{symbol, text == "true", true};
  const auto value = parse_number<std::int64_t>(text);
  if (comma == 0 || !value || *value < 1) {
    return usage_error(
        "-onnx-define-symbol={}: write name,value with a value of 1 or more, such as "
        "batch_size,1",
        definition);
  }
  return Definition{symbol, *value};
}

}  // namespace

Status parse_symbols(const std::vector<std::string>& definitions, ImportOptions& options) {
  for (const std::string& definition : definitions) {
    TRY_AS(given, parse_symbol(definition));
    const auto [known, added] = options.symbols.emplace(given->symbol, given->value);
    if (!added && known->second != given->value) {
      return usage_error("-onnx-define-symbol gives '{}' the values {} and {}; give it one",
                         given->symbol, known->second, given->value);
    }
    if (given->is_truth) options.truths.insert(given->symbol);
  }
  return {};
}

}  // namespace npuscope::npu
