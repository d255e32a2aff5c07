#include "npu/targets/nsp/compile/qnn_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/images.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"
#include "npu/targets/nsp/compile/single_rows.hpp"

namespace npuscope::npu::nsp {
namespace {

bool is_wide(DataType type) { return type == DataType::float32 || type == DataType::float64; }

class Rewriter {
 public:
  Rewriter(Graph graph, bool convert_to_fp16)
      : graph_(std::move(graph)),
        fp16_(convert_to_fp16),
        images_(find_images(graph_)),
        sequences_(find_sequences(graph_)) {}

  Graph run() {
    for (const TensorId output : graph_.outputs) {
      const std::size_t rank = graph_[output].shape.size();
      if ((is_constant_product(output) && rank == 3) || is_biased_product(output) ||
          is_uneven(output))
        makes_rows_.insert(output);
    }
    for (const Node& node : graph_.nodes)
      if (gathers_columns(node)) gathered_.insert(node.inputs[0]);
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    if (fp16_) narrow();
    for (const TensorId input : graph_.inputs) take_input(input);
    std::map<TensorId, TensorId> own;  // of results that are outputs too
    for (const TensorId output : graph_.outputs) {
      if (graph_[output].constant || graph_[output].producer == NodeId::none) continue;
      const std::vector<std::string_view> steps = steps_of(output);
      if (!steps.empty()) own.emplace(output, copy_of(output));
    }
    for (Node& node : nodes) {
      for (TensorId& id : node.inputs) {
        if (const auto found = renamed_.find(id); found != renamed_.end()) id = found->second;
        if (const auto found = own.find(id); found != own.end()) id = found->second;
      }
      for (TensorId& id : node.outputs) {
        if (const auto found = own.find(id); found != own.end()) id = found->second;
      }
      sort_places(node);
      keep_order(node);
      const TensorId made = node.outputs.empty() ? TensorId::none : node.outputs[0];
      // What limits a product is done with it, before its places are put where they belong.
      const bool limits = is_limit(node) && spread_.contains(node.inputs[0]);
      const bool spreads = made != TensorId::none && (node.op == "ConvTranspose" || limits);
      const bool goes_on = spreads && !limits && is_limited(nodes, made);
      const std::string_view spreading = !spreads ? ""
                                         : limits ? spread_.at(node.inputs[0])
                                                  : spreading_of(node);
      if (goes_on) spread_.emplace(made, spreading);
      if (spreads && !goes_on) node.outputs[0] = copy_of(made);
      const bool puts = spreads && !goes_on;
      const TensorId becomes_image =
          reshapes(node) && !puts && is_image(made) && !is_image(node.inputs[0]) ? made
                                                                                 : TensorId::none;
      if (becomes_image != TensorId::none) node.outputs[0] = copy_of(made);
      graph_.nodes.push_back(std::move(node));
      if (becomes_image != TensorId::none) {
        const Node made_by = graph_.nodes.back();
        add("ManyToChannelsLast", made_by.name, made_by.outputs[0], made);
      }
      if (puts) {
        const Node made_by = graph_.nodes.back();
        add(spreading, made_by.name, made_by.outputs[0], made);
      }
    }
    for (const auto& [output, from] : own) give_output(from, output);
    connect(graph_);
    return std::move(graph_);
  }

 private:
  bool is_constant_product(TensorId id) const {
    const NodeId producer = graph_[id].producer;
    return producer != NodeId::none && graph_[producer].op == "MatMul" &&
           graph_[producer].has_input(1) && graph_[graph_[producer].inputs[1]].constant;
  }
  // What makes the tensor, whatever shape it is then seen in.
  NodeId maker_of(TensorId id) const {
    NodeId producer = graph_[id].producer;
    while (producer != NodeId::none && graph_[producer].op == "Reshape")
      producer = graph_[graph_[producer].inputs[0]].producer;
    return producer;
  }

  // A product and its bias, whose rows follow one another; after a LayerNormalization they lie in
  // tiles.
  bool is_biased_product(TensorId id) const {
    const NodeId maker = maker_of(id);
    const Shape& made = graph_[id].shape;
    if (maker == NodeId::none || made.size() < 2) return false;
    // Few rows are in one row of tiles, those of a strip are the places of an image.
    const std::uint64_t rows = elements_of(made, made.size() - 1);
    const std::uint64_t few = bits_of(graph_[id].type) <= 8 ? 24 : 7;
    if (rows <= few || rows == rows_of_a_strip || (made.size() == 3 && made[0] > 1)) return false;
    const auto lies_in_tiles = [&](TensorId factor) {
      const NodeId from = maker_of(factor);
      return from != NodeId::none && graph_[from].op == "LayerNormalization";
    };
    if (graph_[maker].op == "Gemm") {
      const bool seen = graph_[id].producer != maker;
      return seen && bits_of(graph_[id].type) <= 8 && !lies_in_tiles(graph_[maker].inputs[0]);
    }
    if (!is_sum(graph_[maker]) || graph_[id].producer != maker) return false;
    for (const TensorId term : graph_[maker].inputs) {
      if (is_constant_product(term)) return !lies_in_tiles(graph_[graph_[term].producer].inputs[0]);
    }
    return false;
  }

  // Integers of products, sums and norms whose rows do not fill eights.
  bool is_uneven(TensorId id) const {
    const Shape& made = graph_[id].shape;
    const NodeId maker = graph_[id].producer;
    if (made.size() < 2 || maker == NodeId::none || is_image(id) || bits_of(graph_[id].type) > 8)
      return false;
    const std::string& op = graph_[maker].op;
    if (op != "MatMul" && op != "Gemm" && op != "LayerNormalization" && !is_sum(graph_[maker]))
      return false;
    const std::uint64_t rows = elements_of(made, made.size() - 1);
    return rows > few_rows && rows % 8 != 0;
  }

  // By how far it puts the places of a transposed convolution apart, and whether it cuts off those
  // beyond the result.
  // Of few channels, all columns of a place fit into one block, and the result is in no tiles.
  std::string_view spreading_of(const Node& node) const {
    const auto strides = node.ints_attribute("strides");
    const std::int64_t stride = strides.empty() ? 1 : strides.front();
    const bool cuts = node.ints_attribute("kernel_shape") != strides;
    const Shape& made = graph_[node.outputs[0]].shape;
    if (made.size() == 4 && stride > 1 && made[1] * stride * stride <= channels_of_a_tile)
      return cuts ? "DepthToSpaceFlatCut" : "DepthToSpaceFlat";
    if (stride > 2) return stride > 4 ? "DepthToSpaceStride8" : "DepthToSpaceStride4";
    return cuts ? "DepthToSpaceCut" : "DepthToSpaceStride2";
  }

  bool is_limited(const std::vector<Node>& nodes, TensorId id) const {
    const auto& readers = graph_[id].consumers;
    if (readers.size() != 1) return false;
    return is_limit(nodes[std::uint32_t(readers[0])]);
  }

  void narrow() {
    const auto is_host = [&](TensorId id) {
      return std::ranges::find(graph_.inputs, id) != graph_.inputs.end() || is_output(graph_, id);
    };
    for (std::uint32_t i = 0; i < graph_.tensors.size(); ++i) {
      Tensor& tensor = graph_.tensors[i];
      if (is_wide(tensor.type) && (tensor.constant || !is_host(TensorId(i))))
        tensor.type = DataType::float16;
    }
  }

  // What lies between the host's tensor and that of the HTP; of an output the same, backwards.
  std::vector<std::string_view> steps_of(TensorId id) const {
    const Tensor& tensor = graph_[id];
    std::vector<std::string_view> steps;
    if (gathered_.contains(id)) return steps;  // what gathers it narrows it too
    // Products have rows by eights, which nothing after this one puts back.
    const bool rows = makes_rows_.contains(id);
    // That of an image of a camera is one operator, however large.
    const bool camera = is_image(id) && tensor.shape[1] < 32 && tensor.producer == NodeId::none;
    if (fp16_ && is_wide(tensor.type)) steps.push_back(camera ? "CastImage" : "Cast");
    if (rows) steps.push_back("FromRows");
    // Few channels are moved at once, more in two steps.
    constexpr std::int64_t wide = 48;  // from where on integers take longer is between 40 and 48
    if (is_sequence(id)) steps.push_back("SequenceToLast");
    if (!is_image(id)) return steps;
    steps.push_back(tensor.shape[1] < 32 ? "ToChannelsLast"
                    : bits_of(tensor.type) <= 8 && tensor.shape.back() >= wide
                        ? "WideToChannelsLast"
                        : "ManyToChannelsLast");
    return steps;
  }

  TensorId copy_of(TensorId id) {
    Tensor copy = graph_[id];
    copy.name += "_htp";
    if (fp16_ && is_wide(copy.type)) copy.type = DataType::float16;
    graph_.tensors.push_back(std::move(copy));
    return TensorId(graph_.tensors.size() - 1);
  }

  // Called after `of`, the host's tensor or the node that it is a part of.
  void add(std::string_view op, std::string_view of, TensorId from, TensorId to) {
    Node node;
    node.name = fmt::format("{}_{}", of, op);
    node.op = op;
    node.inputs = {from};
    node.outputs = {to};
    graph_.nodes.push_back(std::move(node));
  }

  void take_input(TensorId input) {
    if (graph_[input].consumers.empty()) return;
    TensorId at = input;
    for (const std::string_view step : steps_of(input)) {
      const TensorId next = copy_of(at);
      add(step, graph_[input].name, at, next);
      at = next;
    }
    if (at != input) renamed_.emplace(input, at);
  }

  void give_output(TensorId from, TensorId output) {
    std::vector<std::string_view> steps = steps_of(output);
    std::ranges::reverse(steps);
    TensorId at = from;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const TensorId next = i + 1 == steps.size() ? output : copy_of(at);
      const std::string_view step = steps[i] == "ManyToChannelsLast"   ? "ManyToChannelsFirst"
                                    : steps[i] == "WideToChannelsLast" ? "WideToChannelsFirst"
                                    : comes_flat(from)                 ? "FlatToChannelsFirst"
                                    : steps[i] == "ToChannelsLast"     ? "ToChannelsFirst"
                                    : steps[i] == "SequenceToLast"     ? "SequenceToFirst"
                                                                       : steps[i];
      add(step, graph_[output].name, at, next);
      at = next;
    }
  }

  // Channels of floating point that have become places, too few to fill a tile, are in none.
  bool comes_flat(TensorId id) const {
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (std::ranges::find(node->outputs, id) == node->outputs.end()) continue;
      if (node->op.starts_with("DepthToSpaceFlat")) return true;
      return node->op == "DepthToSpace" && graph_[id].shape[1] < channels_of_a_tile &&
             bits_of(graph_[id].type) > 8;
    }
    return false;
  }

  static bool reshapes(const Node& node) {
    return (node.op == "Reshape" || node.op == "Flatten") && node.has_input(0) &&
           !node.outputs.empty();
  }
  bool is_sequence(TensorId id) const {
    const auto at = std::uint32_t(id);
    return at < sequences_.size() && sequences_[at];
  }
  bool is_image(TensorId id) const {
    const auto at = std::uint32_t(id);
    if (at >= images_.size() || !images_[at]) return false;
    const Shape& shape = graph_[id].shape;
    return shape[1] > 1 && shape[2] * shape[3] > 1;
  }

  // The elements of an image that is seen in another shape follow one another with channels first.
  void keep_order(Node& node) {
    if (!reshapes(node) || !is_image(node.inputs[0]) || is_image(node.outputs[0])) return;
    const TensorId ordered = copy_of(node.inputs[0]);
    // In floating point one after the other; rows of whole tiles go faster.
    constexpr std::int64_t places_of_a_tile = 32;
    const Tensor& image = graph_[node.inputs[0]];
    const bool integer = bits_of(image.type) <= 8;
    const bool whole = image.shape[3] % places_of_a_tile == 0;
    add(integer ? "ManyToChannelsFirst"
        : whole ? "RowsInOrder"
                : "PlacesInOrder",
        node.name, node.inputs[0], ordered);
    node.inputs[0] = ordered;
  }

  void sort_places(Node& node) {
    if ((node.op != "Conv" && node.op != "QLinearConv") || !node.has_input(0)) return;
    const Tensor& from = graph_[node.inputs[0]];
    const auto kernel = node.ints_attribute("kernel_shape");
    const bool one_place =
        std::ranges::all_of(kernel, [](std::int64_t extent) { return extent == 1; });
    const bool integer = bits_of(from.type) <= 8;
    const std::int64_t channels = from.shape.size() == 4 ? from.shape[1] : 0;
    if (integer && channels == 1 && !one_place) return arrange(node, "Im2Col");
    if (is_sequence(node.outputs[0]) && !one_place) return zap_border(node);
    const auto sorting = sorting_for_strides(graph_, node);
    if (sorting.empty()) return;
    if (sorting == places_of_patches && channels > 0 && channels < channels_of_a_tile)
      return gather_patches(node);
    arrange(node, sorting);
  }

  // Patches of a camera's image become places before they are in tiles: small ones in vectors that
  // are mostly empty.
  void gather_patches(Node& node) {
    constexpr std::int64_t small = 8;
    const auto kernel = node.ints_attribute("kernel_shape");
    const bool few = kernel.front() < small;
    arrange(node, few ? "GatherFewPlaces" : "GatherPatches");
    Shape& shape = graph_[node.inputs[0]].shape;
    shape = {shape[0], shape[1] * kernel[0] * kernel[1], shape[2] / kernel[0],
             shape[3] / kernel[1]};
  }

  // Once for all convolutions with the same border; in floating point one that is as wide at both
  // ends is joined.
  void zap_border(Node& node) {
    const auto is_none = [](std::int64_t pad) { return pad == 0; };
    const Shape border_of_node = node.ints_attribute("pads");
    const bool automatic = node.string_attribute("auto_pad", "NOTSET") != "NOTSET";
    if (!automatic && std::ranges::all_of(border_of_node, is_none)) return;
    const auto strides = node.ints_attribute("strides");
    const bool joins = bits_of(graph_[node.inputs[0]].type) > 8 && border_of_node.size() == 2 &&
                       border_of_node[0] == border_of_node[1] &&
                       (strides.empty() || strides[0] == 1) && node.int_attribute("group", 1) == 1;
    Shape pads = node.ints_attribute("pads");
    if (pads.empty()) pads = node.ints_attribute("kernel_shape");  // auto_pad goes by it
    const std::pair border{node.inputs[0], std::move(pads)};
    const auto zapped = zapped_.find(border);
    if (zapped == zapped_.end()) arrange(node, joins ? "JoinBorder" : "ZapBorder");
    node.inputs[0] = zapped_.try_emplace(border, node.inputs[0]).first->second;
  }

  // What moves the places of a convolution's input first.
  void arrange(Node& node, std::string_view op) {
    const TensorId sorted = copy_of(node.inputs[0]);
    add(op, node.name, node.inputs[0], sorted);
    node.inputs[0] = sorted;
  }

  Graph graph_;
  bool fp16_;
  std::vector<bool> images_, sequences_;
  // Results of transposed convolutions that a limit follows, and how they are put apart.
  std::map<TensorId, std::string_view> spread_;
  // Of sequences, by their borders.
  std::map<std::pair<TensorId, Shape>, TensorId> zapped_;
  std::set<TensorId> makes_rows_;         // outputs that are a product's own result
  std::set<TensorId> gathered_;           // the host's images, read window by window
  std::map<TensorId, TensorId> renamed_;  // inputs as the HTP has them
};

}  // namespace

Graph qnn_graph(const Graph& graph, bool convert_to_fp16) {
  Graph quantized = graph;
  quantize_before_turns(quantized);
  Graph folded = fold_quantization(quantized, true);
  const auto scales = tensor_scales(folded);
  for (std::size_t i = 0; i < scales.size(); ++i) folded.tensors[i].scale = scales[i];
  fold_as_qnn(folded);
  return Rewriter(std::move(folded), convert_to_fp16).run();
}

}  // namespace npuscope::npu::nsp
