#include "npu/torq/source_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::npu::torq {
namespace {

std::string_view element_type(DataType type) {
  switch (type) {
    case DataType::float32: return "f32";
    case DataType::float16: return "f16";
    case DataType::bfloat16: return "bf16";
    case DataType::float64: return "f64";
    case DataType::float8: return "f8E4M3FN";
    case DataType::int8: return "si8";
    case DataType::uint8: return "ui8";
    case DataType::int16: return "si16";
    case DataType::uint16: return "ui16";
    case DataType::int32: return "si32";
    case DataType::uint32: return "ui32";
    case DataType::int64: return "si64";
    case DataType::uint64: return "ui64";
    case DataType::int4: return "si4";
    case DataType::uint4: return "ui4";
    case DataType::boolean: return "i1";
    case DataType::undefined:
    case DataType::string: break;
  }
  return "none";
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Inside quotes; one line whatever the text holds.
std::string quotable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c < ' ' || c > '~') {
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

struct AttributeText {
  std::string operator()(std::int64_t value) const { return fmt::format("{} : si64", value); }
  std::string operator()(double value) const { return fmt::format("{:e} : f32", value); }
  std::string operator()(const std::string& value) const {
    return fmt::format("\"{}\"", quotable(value));
  }
  template <class Item>
  std::string operator()(const std::vector<Item>& values) const {
    std::vector<std::string> items;
    for (const Item value : values) items.push_back((*this)(value));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
};

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), names_(graph.tensors.size()) {}

  SourceText run() {
    name_tensors();
    line("module {");
    line(fmt::format("  func.func @main({}){} {{", arguments(), results()));
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const Tensor& tensor = graph_.tensors[i];
      if (!tensor.constant || tensor.producer != NodeId::none) continue;
      line(
          fmt::format("    {} = torch.operator \"onnx.Constant\"() {{torch.onnx.value = "
                      "dense_resource<__elided__>}} : () -> {}{}",
                      names_[i], type_of(tensor), comment(tensor.name)));
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string text = node_text(graph_.nodes[i]);
      out_.places.push_back({next_line_, std::uint32_t(text.find("= ") + 3)});
      line(text);
    }
    line(fmt::format("    return {}", list(graph_.outputs)));
    line("  }");
    line("}");
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_.text += text;
    out_.text += '\n';
    ++next_line_;
  }

  void name_tensors() {
    std::size_t number = 0;
    for (std::string& name : names_) name = fmt::format("%{}", number++);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      names_[std::size_t(graph_.inputs[i])] = fmt::format("%arg{}", i);
    }
  }

  std::string type_of(const Tensor& tensor) const {
    return fmt::format("!torch.vtensor<[{}],{}>", fmt::join(tensor.shape, ","),
                       element_type(tensor.type));
  }
  std::string type_of(TensorId id) const {
    return id == TensorId::none ? "!torch.none" : type_of(graph_[id]);
  }
  std::string name_of(TensorId id) const {
    return id == TensorId::none ? "%none" : names_[std::size_t(id)];
  }

  std::string list(const std::vector<TensorId>& ids) const {
    std::vector<std::string> names;
    for (const TensorId id : ids) names.push_back(name_of(id));
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string types(const std::vector<TensorId>& ids) const {
    std::vector<std::string> texts;
    for (const TensorId id : ids) texts.push_back(type_of(id));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string arguments() const {
    std::vector<std::string> texts;
    for (const TensorId id : graph_.inputs) {
      texts.push_back(fmt::format("{}: {}", name_of(id), type_of(id)));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string results() const {
    return graph_.outputs.empty() ? "" : fmt::format(" -> ({})", types(graph_.outputs));
  }

  static std::string comment(std::string_view name) {
    return name.empty() ? "" : fmt::format("  // {}", printable(name));
  }

  std::string node_text(const Node& node) const {
    std::vector<std::string> attributes;
    for (const auto& [key, value] : node.attributes) {
      if (!is_identifier(key)) continue;
      attributes.push_back(
          fmt::format("torch.onnx.{} = {}", key, std::visit(AttributeText{}, value)));
    }
    const std::string domain = node.domain.empty() ? "" : node.domain + ".";
    return fmt::format(
        "    {} = torch.operator \"onnx.{}{}\"({}){} : ({}) -> ({}){}", list(node.outputs),
        quotable(domain), quotable(node.op), list(node.inputs),
        attributes.empty() ? "" : fmt::format(" {{{}}}", fmt::join(attributes, ", ")),
        types(node.inputs), types(node.outputs), comment(node.name));
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  std::uint32_t next_line_ = 1;
  SourceText out_;
};

}  // namespace

SourceText write_source_text(const Graph& graph) { return Writer(graph).run(); }

}  // namespace npuscope::npu::torq
