#include "formats/sigmastar/layer_pairing.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/sigmastar/tflite_schema.hpp"

namespace npuscope::sigmastar {

CoreAgreement compare_cores(std::vector<CoreLayer> layers) {
  sort_rows(layers.begin(), layers.end(), [](const CoreLayer& a, const CoreLayer& b) {
    return std::tie(a.layer, a.core, a.begin) < std::tie(b.layer, b.core, b.begin);
  });
  CoreAgreement agreement;
  for (std::size_t first = 0; first < layers.size();) {
    const auto is_same = [&](std::size_t i) {
      return i < layers.size() && layers[i].layer == layers[first].layer;
    };
    std::size_t others = first;  // of the first core that has the layer
    while (is_same(others) && layers[others].core == layers[first].core) ++others;
    std::size_t nth = first;
    std::size_t i = others;
    for (; is_same(i); ++i, ++nth) {
      if (layers[i].core != layers[i - 1].core) nth = first;
      if (nth >= others) continue;
      ++agreement.shared;
      agreement.apart += layers[i].begin > layers[nth].end || layers[nth].begin > layers[i].end;
    }
    first = i;
  }
  return agreement;
}

namespace {

class Pairing {
 public:
  Pairing(const Model& model, std::span<const PairedLayer> layers, const std::string& name)
      : model_(model), layers_(layers), name_(name) {
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
      if (model.operators[i].takes_layer()) takers_.push_back(std::uint32_t(i));
    }
  }

  Result<LayerPairing> pair(const PartOfLog& part) {
    if (layers_.size() == takers_.size()) {
      pairing_.operator_of = takers_;
    } else if (auto paired = pair_by_indices(part); !paired) {
      return tl::unexpected(paired.error());
    }
    TRY(check_types());
    return std::move(pairing_);
  }

 private:
  Status pair_by_indices(const PartOfLog& part);
  Status check_types() const;
  void take(const std::vector<std::uint32_t>* operator_of_index);

  const Model& model_;
  std::span<const PairedLayer> layers_;
  const std::string& name_;
  std::vector<std::uint32_t> takers_;
  LayerPairing pairing_;
};

// null: an index is the operator's.
void Pairing::take(const std::vector<std::uint32_t>* operator_of_index) {
  pairing_.by_own_indices = true;
  for (const PairedLayer& layer : layers_) {
    pairing_.operator_of.push_back(operator_of_index != nullptr ? (*operator_of_index)[*layer.index]
                                                                : std::uint32_t(*layer.index));
  }
}

Status Pairing::pair_by_indices(const PartOfLog& part) {
  std::set<std::uint64_t> indices;
  for (const PairedLayer& layer : layers_) {
    if (!layer.index) {
      return input_error(
          "{}: has {} layers without indices, but {} operators of the model take one; give the "
          "model that was running",
          name_, layers_.size(), takers_.size());
    }
    indices.insert(*layer.index);
  }
  const std::uint64_t last = *indices.rbegin();
  const bool fit_layers = last < takers_.size();
  const bool are_takers = std::all_of(indices.begin(), indices.end(), [&](std::uint64_t index) {
    return index < model_.operators.size() && model_.operators[index].takes_layer();
  });
  const auto takers_until_last =
      std::size_t(std::upper_bound(takers_.begin(), takers_.end(), last) - takers_.begin());
  const bool skip_only_members = are_takers && indices.size() == takers_until_last;
  const bool skip_nothing = last + 1 == indices.size();
  const bool is_every_operator = skip_nothing && indices.size() == model_.operators.size();
  if (is_every_operator || (skip_only_members && !skip_nothing)) {
    take(nullptr);
    return {};
  }
  if (last >= model_.operators.size() || (!fit_layers && !are_takers && !part.is_allowed)) {
    return input_error(
        "{}: has {} layers with indices up to {}, but {} of the model's {} operators take one; "
        "give "
        "the model that was running",
        name_, layers_.size(), last, takers_.size(), model_.operators.size());
  }
  if (!part.is_incomplete && !part.is_allowed) {
    return input_error(
        "{}: has the layers of {} of the {} operators of the model that take one; give the model "
        "that was running, or, if the log overflowed, take it again with a larger --ipu_log_size "
        "(ipu op-cost --allow-partial counts what is there)",
        name_, layers_.size(), takers_.size());
  }
  const bool are_the_same = fit_layers && takers_[last] == last;
  if (fit_layers && are_takers && !skip_only_members && !are_the_same) {
    return input_error(
        "{}: its {} layers fit the model's {} operators by number of layer and by number of "
        "operator; take the log again, whole",
        name_, layers_.size(), model_.operators.size());
  }
  take(fit_layers ? &takers_ : nullptr);
  return {};
}

// The operator's type that a layer's name holds as a word of its own: "12 CONV_2D", "CONV_2D_12".
std::string_view type_in(std::string_view name) {
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  std::size_t at = 0;
  while (at < name.size()) {
    std::size_t end = at;
    while (end < name.size() && is_word(name[end])) ++end;
    for (std::string_view word = name.substr(at, end - at); !word.empty();) {
      if (builtin_operator_code(word)) return word;
      const auto number = word.find_last_of('_');
      const bool is_numbered =
          number != word.npos && number + 1 < word.size() &&
          std::all_of(word.begin() + std::ptrdiff_t(number) + 1, word.end(), is_digit);
      word = is_numbered ? word.substr(0, number) : std::string_view();
    }
    at = std::max(end, at + 1);
  }
  return {};
}

// Names may carry an operator's type: where they do, most must be of a type of their group.
Status Pairing::check_types() const {
  std::size_t typed = 0, others = 0;
  std::string example;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::string_view type = type_in(layers_[i].name);
    if (type.empty()) continue;
    ++typed;
    std::size_t op = pairing_.operator_of[i];
    bool is_of_group = model_.operators[op].type == type;
    while (++op < model_.operators.size() && model_.operators[op].fusion == Fusion::member) {
      is_of_group = is_of_group || model_.operators[op].type == type;
    }
    if (is_of_group) continue;
    if (others++ > 0) continue;
    example = fmt::format("'{}' is operator {}, {}", printable(layers_[i].name),
                          pairing_.operator_of[i], model_.operators[pairing_.operator_of[i]].type);
  }
  if (others * 2 <= typed) return {};
  return input_error(
      "{}: {} of the {} layers that say a type are of another one in the model ({}); give the "
      "model "
      "that was running",
      name_, others, typed, example);
}

}  // namespace

Result<LayerPairing> pair_layers(const Model& model, std::span<const PairedLayer> layers,
                                 const PartOfLog& part, const std::string& name) {
  return Pairing(model, layers, name).pair(part);
}

}  // namespace npuscope::sigmastar
