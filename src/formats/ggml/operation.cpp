#include "formats/ggml/operation.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::ggml {
namespace {

constexpr std::size_t max_operands = 32;

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (parts.size() < max_operands) {
    const std::size_t end = text.find(separator);
    const std::string_view part = trimmed(text.substr(0, end));
    parts.push_back(part.empty() ? text.substr(0, 0) : part);  // of here, for fit()
    if (end == text.npos) break;
    text.remove_prefix(end + separator.size());
  }
  return parts;
}

struct Sides {
  std::vector<std::string_view> inputs, outputs;
};

Sides sides_of(std::string_view text) {
  const std::size_t arrow = text.find(" -> ");
  if (arrow == text.npos) return {parts_of(text, " x "), {}};
  return {parts_of(text.substr(0, arrow), " x "), parts_of(text.substr(arrow + 4), " x ")};
}

// Names may hold the separator; the numbers of dimensions are not in doubt. What is too much is of
// the last name.
void fit(std::vector<std::string_view>& names, std::size_t count) {
  if (names.size() <= count || count == 0) return;
  const std::string_view last = names[count - 1];
  names[count - 1] = {last.data(),
                      std::size_t(names.back().data() + names.back().size() - last.data())};
  names.resize(count);
}

std::optional<Extents> extents_of(std::string_view text) {
  Extents extents{1, 1, 1, 1};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto extent = take_number<std::int64_t>(text);
    if (!extent || *extent < 0 || *extent > std::int64_t{1} << 40) return std::nullopt;
    extents[i] = *extent;
    if (text.empty()) return extents;
    if (!text.starts_with(':')) return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::string_view without_views(std::string_view name) { return name.substr(0, name.find(" (")); }

// The number at the end of a name, behind `mark`.
std::optional<int> number_behind(std::string_view name, std::string_view mark) {
  const std::size_t at = name.rfind(mark);
  if (at == name.npos || at == 0) return std::nullopt;
  const auto number = parse_number<int>(name.substr(at + mark.size()));
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int> layer_in_weight(std::string_view name) {
  const std::size_t at = name.find("blk.");
  if (at == name.npos) return std::nullopt;
  std::string_view rest = name.substr(at + 4);
  const auto layer = take_number<int>(rest);
  return layer && *layer >= 0 && rest.starts_with('.') ? layer : std::nullopt;
}

void find_layer(Operation& operation) {
  for (const Tensor& input : operation.inputs) {
    if ((operation.layer = layer_in_weight(input.name))) return;
  }
  const auto in_names = [&](const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) {
      const std::string_view name = without_views(tensor.name);
      if ((operation.layer =
               name.starts_with("cache_") ? number_behind(name, "_l") : number_behind(name, "-"))) {
        return true;
      }
    }
    return false;
  };
  if (in_names(operation.outputs)) return;
  const auto tells = [](const Tensor& tensor) {
    constexpr std::array<std::string_view, 4> words{"output", "result_", "token_embd", "inp_"};
    return std::ranges::any_of(
        words, [&](std::string_view word) { return tensor.name.starts_with(word); });
  };
  operation.is_of_no_layer =
      std::ranges::any_of(operation.inputs, tells) || std::ranges::any_of(operation.outputs, tells);
  for (const Tensor& input : operation.inputs) {
    const std::string_view name = without_views(input.name);
    if (!name.starts_with("cache_")) continue;
    if ((operation.layer = number_behind(name, "_l"))) return;
  }
}

// "blk.0.ffn_gate.weight" is "ffn_gate", "Qcur-0 (view)" is "Qcur".
std::string base_of(std::string_view name) {
  std::string_view base = without_views(name);
  if (layer_in_weight(base)) {
    base.remove_prefix(base.find("blk.") + 4);
    base.remove_prefix(base.find('.') + 1);
  }
  if (const std::size_t end = base.find(".weight"); end != base.npos) base = base.substr(0, end);
  if (base.starts_with("cache_")) {
    if (number_behind(base, "_l")) base = base.substr(0, base.rfind("_l"));
  } else if (number_behind(base, "-")) {
    base = base.substr(0, base.rfind('-'));
  }
  return std::string(base);
}

// Names that ggml invents for tensors without one differ from build to build.
bool is_invented(std::string_view name) {
  return name.starts_with("node_") || name.starts_with("leaf_") || name.starts_with(' ') ||
         name.empty();
}

void find_role(Operation& operation) {
  std::string names;
  const auto add = [&](const std::string& name) {
    if (names.size() < 200) names += (names.empty() ? "" : "+") + name;
  };
  for (const Tensor& input : operation.inputs) {
    if (is_weight(input)) add(base_of(input.name));
  }
  if (!names.empty()) {
    operation.role = names;
    return;
  }
  operation.role = operation.op;
  if (operation.outputs.empty()) return;
  const std::string name = base_of(operation.outputs.back().name);
  if (!is_invented(name) && !name.starts_with("__")) operation.role += " " + name;
}

// Of a kernel's parameters, "hmx-tiled vtcm 7340032"; 0: not there, or beyond `max`.
std::uint64_t number_of(std::string_view kernel, std::string_view word, std::uint64_t max) {
  const std::size_t at = kernel.find(word);
  if (at == kernel.npos) return 0;
  std::string_view rest = kernel.substr(at + word.size());
  const auto number = take_number<std::uint64_t>(rest);
  return number && *number <= max ? *number : 0;
}

void complete(Operation& operation) {
  for (const std::string_view word : {"FENCE", "ALLREDUCE", "MDEV_GROUP"}) {
    operation.synchronises = operation.synchronises || operation.op.find(word) != operation.op.npos;
  }
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 40, max_cores = 16;
  operation.vtcm_bytes = number_of(operation.kernel, "vtcm ", max_bytes);
  if (operation.op == "MDEV_GROUP") {
    operation.cores = std::max(1u, std::uint32_t(number_of(operation.kernel, "count ", max_cores)));
  }
  find_layer(operation);
  find_work(operation);
  find_role(operation);
}

bool add_tensors(std::vector<Tensor>& into, const std::vector<std::string_view>& names,
                 const std::vector<std::string_view>& extents,
                 const std::vector<std::string_view>& types) {
  if (names.size() != extents.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto numbers = extents_of(extents[i]);
    if (!numbers) {
      if (names[i] == "NONE" || extents[i] == "NONE") continue;  // a source that is not used
      return false;
    }
    into.push_back({std::string(names[i]), i < types.size() ? std::string(types[i]) : std::string(),
                    *numbers, std::string(extents[i])});
  }
  return true;
}

}  // namespace

std::optional<Operation> parse_operation(std::string_view text) {
  const bool has_bars = text.find('|') != text.npos;
  std::vector<std::string_view> fields;
  if (has_bars) {
    fields = parts_of(text, "|");
  } else {
    const std::size_t end = text.find(": ");
    if (end == text.npos) return std::nullopt;
    fields = parts_of(text.substr(end + 2), " : ");
    fields.insert(fields.begin(), text.substr(0, end));
  }
  if (fields.size() < 4) return std::nullopt;
  Operation operation;
  operation.op = fields[0];
  if (has_bars && fields.size() > 5 && fields[5] != "----") operation.kernel = fields[5];
  Sides names = sides_of(fields[1]);
  const Sides extents = sides_of(fields[2]), types = sides_of(fields[3]);
  fit(names.inputs, extents.inputs.size());
  fit(names.outputs, extents.outputs.size());
  if (fields[2] != "----" &&
      (!add_tensors(operation.inputs, names.inputs, extents.inputs, types.inputs) ||
       !add_tensors(operation.outputs, names.outputs, extents.outputs, types.outputs))) {
    return std::nullopt;
  }
  complete(operation);
  return operation;
}

std::optional<Operation> parse_first_operation(std::string_view text) {
  Operation operation;
  const std::size_t end = text.find(' ');
  if (end == text.npos || end == 0) return std::nullopt;
  operation.op = text.substr(0, end);
  const Sides sides = sides_of(text.substr(end + 1));
  const auto add = [](std::vector<Tensor>& into, std::string_view part) {
    if (part.ends_with(')')) {
      if (const std::size_t ids = part.rfind("(ids "); ids != part.npos) {
        part = trimmed(part.substr(0, ids));
      }
    }
    const std::size_t cut = part.rfind(' ');
    const auto numbers = cut == part.npos ? std::nullopt : extents_of(part.substr(cut + 1));
    if (!numbers) return false;
    into.push_back(
        {std::string(part.substr(0, cut)), "", *numbers, std::string(part.substr(cut + 1))});
    return true;
  };
  for (const std::string_view part : sides.inputs) {
    if (!add(operation.inputs, part)) return std::nullopt;
  }
  for (const std::string_view part : sides.outputs) {
    if (!add(operation.outputs, part)) return std::nullopt;
  }
  if (operation.outputs.empty()) return std::nullopt;
  complete(operation);
  return operation;
}

}  // namespace npuscope::ggml
