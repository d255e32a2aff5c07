#include "profile/shape_texts.hpp"

#include <array>
#include <unordered_map>

#include "base/numbers.hpp"

namespace npuscope {
namespace {

constexpr std::size_t max_rank = 16;

// "1, 8, 32", "1 x 64".
ShapeId shape_in_list(std::string_view list, Shapes& shapes) {
  std::array<std::int64_t, max_rank> extents;
  std::size_t rank = 0;
  constexpr std::string_view between = ", x";
  while (!list.empty()) {
    if (between.find(list.front()) != between.npos) {
      list.remove_prefix(1);
      continue;
    }
    const auto extent = take_number<std::int64_t>(list);
    if (!extent || *extent <= 0 || rank == max_rank) return ShapeId::none;
    extents[rank++] = *extent;
  }
  return shapes.intern({extents.data(), rank});
}

// By the width in the last word: "in TCM Src x float16 ", "index32", "i8", "ui4", "bool".
std::uint8_t bits_of_element(std::string_view text) {
  constexpr std::uint8_t usual = 32;
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  const std::string_view type = text.substr(text.rfind(' ') + 1);
  if (type == "bool") return 8;
  std::string_view digits = type.substr(std::min(type.find_first_of("0123456789"), type.size()));
  const std::uint32_t bits = take_number<std::uint32_t>(digits).value_or(usual);
  return bits > 0 && bits <= 64 ? std::uint8_t(bits) : usual;
}

// "in TCM Src1 W float16 <64 x 3 x 7 x 7> 18KB"
std::optional<Operand> operand_in(std::string_view line, Shapes& shapes) {
  const auto open = line.rfind('<'), close = line.rfind('>');
  if (open == line.npos || close == line.npos || close < open) return std::nullopt;
  Operand operand;
  operand.shape = shape_in_list(line.substr(open + 1, close - open - 1), shapes);
  if (shapes[operand.shape].empty()) return std::nullopt;
  operand.bits = bits_of_element(line.substr(0, open));
  operand.is_output = line.starts_with("out") || line.starts_with("inout");
  return operand;
}

// What texts say, each read once: ops by the ten thousands share some hundred.
template <class Value>
class Remembered {
 public:
  const Value& of(StringId text, auto read) {
    const auto [place, is_new] = values_.try_emplace(std::uint32_t(text));
    if (is_new) place->second = read();
    return place->second;
  }

 private:
  std::unordered_map<std::uint32_t, Value> values_;  // by StringId
};

struct AttributesText {
  std::optional<PeerPort> port;                 // of no op
  ProductKind product = ProductKind::matrices;  // of an op that is one
};

class OpTexts {
 public:
  explicit OpTexts(Profile& profile) : profile_(profile) {}

  void read() {
    for (std::uint32_t i = 0; i < profile_.ops.size(); ++i) {
      Op& op = profile_.ops[i];
      if (op.shape != StringId::empty) op.extents = extents_of(op.shape);
      const bool is_product = op.operands != StringId::empty && names_product(op.kind);
      if (is_product) {
        op.product = ProductKind::matrices;
        op.operand_list = operands_of(op.operands);
      }
      if (op.attributes == StringId::empty) continue;
      const AttributesText& attributes = attributes_of(op.attributes);
      if (is_product) op.product = attributes.product;
      if (!attributes.port) continue;
      profile_.peer_ports.push_back(*attributes.port);
      profile_.peer_ports.back().op = OpId(i);
    }
  }

 private:
  ShapeId extents_of(StringId shape) {
    return shapes_.of(shape, [&] { return shape_in(profile_.text(shape), profile_.shapes); });
  }
  OperandsId operands_of(StringId operands) {
    return operands_.of(operands, [&] {
      return operands_in(profile_.text(operands), profile_.operand_lists, profile_.shapes);
    });
  }
  bool names_product(StringId kernel) {
    return products_.of(kernel, [&] {
      return profile_.text(kernel).find("convolution") != std::string_view::npos;
    });
  }
  const AttributesText& attributes_of(StringId attributes) {
    return attributes_.of(attributes, [&] { return read_attributes(profile_.text(attributes)); });
  }
  AttributesText read_attributes(std::string_view text) {
    AttributesText read;
    if (attribute_in(text, "Kernels")) {
      read.product = attribute_in(text, "Transposed") == "1" ? ProductKind::transposed_convolution
                                                             : ProductKind::convolution;
    }
    if (const auto port = port_in(attribute_in(text, "PortDescription").value_or(""))) {
      const auto intern = [&](std::string_view part) { return profile_.strings.intern(part); };
      read.port = {OpId::none, intern(port->from), intern(port->to),
                   intern(attribute_in(text, "TransactionId").value_or("")), port->is_sender};
    }
    return read;
  }

  Profile& profile_;
  Remembered<ShapeId> shapes_;
  Remembered<OperandsId> operands_;
  Remembered<AttributesText> attributes_;
  Remembered<bool> products_;
};

}  // namespace

ShapeId shape_in(std::string_view text, Shapes& shapes) {
  if (text.empty()) return ShapeId::none;
  const auto open = text.find('[');
  if (open == text.npos) return shape_in_list(text, shapes);
  const auto close = text.find(']', open);
  if (close == text.npos) return ShapeId::none;
  return shape_in_list(text.substr(open + 1, close - open - 1), shapes);
}

ShapeId shape_of(std::span<const std::int64_t> extents, Shapes& shapes) {
  const bool sound = std::ranges::all_of(extents, [](std::int64_t extent) { return extent > 0; });
  return sound && extents.size() <= max_rank ? shapes.intern(extents) : ShapeId::none;
}

OperandsId operands_in(std::string_view text, OperandLists& lists, Shapes& shapes) {
  std::vector<Operand> operands;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto operand = operand_in(line, shapes);
    if (!operand) return OperandsId::none;
    operands.push_back(*operand);
  }
  return operands.empty() ? OperandsId::none : lists.intern(operands);
}

std::optional<std::string_view> attribute_in(std::string_view attributes, std::string_view key) {
  for (auto at = attributes.find(key); at != attributes.npos; at = attributes.find(key, at + 1)) {
    const bool begins_key = at == 0 || attributes[at - 1] == '{' || attributes[at - 1] == ' ';
    const std::string_view rest = attributes.substr(at + key.size());
    if (begins_key && rest.starts_with(": ")) {
      return rest.substr(2, rest.find_first_of(",}", 2) - 2);
    }
  }
  return std::nullopt;
}

std::optional<PortText> port_in(std::string_view description) {
  if (const auto at = description.find("->"); at != description.npos) {
    return PortText{description.substr(0, at), description.substr(at + 2), true};
  }
  if (const auto at = description.find("<-"); at != description.npos) {
    return PortText{description.substr(at + 2), description.substr(0, at), false};
  }
  return std::nullopt;
}

void read_op_texts(Profile& profile) { OpTexts(profile).read(); }

}  // namespace npuscope
