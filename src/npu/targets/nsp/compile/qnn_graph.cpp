#include "npu/targets/nsp/compile/qnn_graph.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::nsp {
namespace {

bool is_wide(DataType type) { return type == DataType::float32 || type == DataType::float64; }

// Those that want channels last.
bool reads_images(const Graph& graph, const Node& node) {
  const OpClass op_class = classify(graph, node);
  return op_class == OpClass::convolution || op_class == OpClass::pooling ||
         node.op == "GlobalAveragePool" || node.op == "GlobalMaxPool" || node.op == "Resize";
}

bool is_limit(const Node& node) {
  return (node.op == "Relu" || node.op == "Clip") && node.has_input(0);
}
bool is_sum(const Node& node) {
  return (node.op == "Add" || node.op == "Sum") && node.inputs.size() == 2;
}

bool is_output(const Graph& graph, TensorId id) {
  return std::ranges::find(graph.outputs, id) != graph.outputs.end();
}
// Whether one node alone reads it.
bool has_one_reader(const Graph& graph, TensorId id) {
  return graph[id].consumers.size() == 1 && !is_output(graph, id);
}

constexpr std::int64_t block = 32;  // channels of a tile
constexpr std::string_view places_of_patches = "SpaceRearrange";

// Channels to places, or back: of fewer channels than a tile has, back in the host's order.
bool moves_depth(const Graph& graph, const Node& node) {
  if ((node.op != "DepthToSpace" && node.op != "SpaceToDepth") || node.outputs.size() != 1)
    return false;
  const Shape& made = graph[node.outputs[0]].shape;
  return made.size() == 4 && (made[1] >= block || node.op == "DepthToSpace");
}

bool keeps_images(OpClass op_class) {
  return op_class == OpClass::elementwise || op_class == OpClass::normalization ||
         op_class == OpClass::copy || op_class == OpClass::reduction;
}

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
      if ((is_constant_product(output) && rank == 3) || is_biased_product(output))
        makes_rows_.insert(output);
    }
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
    if (elements_of(made, made.size() - 1) < 8 || (made.size() == 3 && made[0] > 1)) return false;
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

  // By how far it puts the places of a transposed convolution apart, and whether it cuts off those
  // beyond the result.
  static std::string_view spreading_of(const Node& node) {
    const auto strides = node.ints_attribute("strides");
    const std::int64_t stride = strides.empty() ? 1 : strides.front();
    const bool cuts = node.ints_attribute("kernel_shape") != strides;
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
      return node->op == "DepthToSpace" && graph_[id].shape[1] < block &&
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
    add("ManyToChannelsFirst", node.name, node.inputs[0], ordered);
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
    if (is_sequence(node.outputs[0]) && !one_place) return arrange(node, "ZapBorder");
    const auto sorting = sorting_for_strides(graph_, node);
    if (sorting.empty()) return;
    if (sorting == places_of_patches && channels > 0 && channels < block)
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
  std::set<TensorId> makes_rows_;         // outputs that are a product's own result
  std::map<TensorId, TensorId> renamed_;  // inputs as the HTP has them
};

void remove_nodes(Graph& graph, const std::vector<bool>& gone) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
  connect(graph);
}

// x / sqrt(2) -> Erf -> + 1 -> * x -> / 2, or with the half first, becomes one operator.
class GeluFuser {
 public:
  explicit GeluFuser(Graph& graph) : graph_(graph), gone_(graph.nodes.size()) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].op == "Erf") fuse(i);
    remove_nodes(graph_, gone_);
  }

 private:
  static constexpr std::uint32_t none = ~0u;

  std::uint32_t producer(TensorId id) const {
    return id == TensorId::none ? none : std::uint32_t(graph_[id].producer);
  }
  std::uint32_t only_reader(TensorId id, std::string_view op) const {
    if (id == TensorId::none || !has_one_reader(graph_, id)) return none;
    const NodeId reader = graph_[id].consumers[0];
    return graph_[reader].op == op ? std::uint32_t(reader) : none;
  }
  // The other operand of a node that scales or shifts by a constant scalar.
  TensorId scaled(std::uint32_t node, std::string_view ops) const {
    if (node == none || ops.find(graph_.nodes[node].op) == ops.npos) return TensorId::none;
    const auto& inputs = graph_.nodes[node].inputs;
    if (inputs.size() != 2 || !graph_.nodes[node].has_input(0) || !graph_.nodes[node].has_input(1))
      return TensorId::none;
    for (std::size_t i = 0; i < 2; ++i) {
      const Tensor& factor = graph_[inputs[1 - i]];
      if (factor.constant && factor.elements() == 1) return inputs[i];
    }
    return TensorId::none;
  }

  void fuse(std::uint32_t erf) {
    if (!graph_.nodes[erf].has_input(0) || graph_.nodes[erf].outputs.empty()) return;
    const std::uint32_t scaling = producer(graph_.nodes[erf].inputs[0]);
    const TensorId x = scaled(scaling, "Div Mul");
    const std::uint32_t shifted = only_reader(graph_.nodes[erf].outputs[0], "Add");
    if (x == TensorId::none || scaled(shifted, "Add") == TensorId::none ||
        !has_one_reader(graph_, graph_.nodes[erf].inputs[0])) {
      return;
    }
    const TensorId sum = graph_.nodes[shifted].outputs[0];
    const std::uint32_t product = only_reader(sum, "Mul");
    if (product == none || graph_.nodes[product].inputs.size() != 2) return;
    const auto& factors = graph_.nodes[product].inputs;
    const TensorId other = factors[0] == sum ? factors[1] : factors[0];
    std::uint32_t last = product, half = only_reader(graph_.nodes[product].outputs[0], "Mul");
    if (other == x && scaled(half, "Mul") != TensorId::none) {
      last = half;
      half = product;
    } else if (half = producer(other); scaled(half, "Mul") != x || !has_one_reader(graph_, other)) {
      return;
    }
    for (const std::uint32_t node : {erf, scaling, shifted, product, half}) gone_[node] = true;
    gone_[last] = false;
    graph_.nodes[last].op = "Gelu";
    graph_.nodes[last].inputs = {x};
  }

  Graph& graph_;
  std::vector<bool> gone_;
};

// A limit of places that a product's channels become is done with the product.
void limit_before_places(Graph& graph) {
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_limit(node) || node.outputs.size() != 1) continue;
    const NodeId moves = graph[node.inputs[0]].producer;
    if (moves == NodeId::none || graph[moves].op != "DepthToSpace" ||
        !has_one_reader(graph, node.inputs[0]))
      continue;
    const TensorId from = graph[moves].inputs[0];
    const NodeId product = graph[from].producer;
    if (product == NodeId::none || graph[product].op != "Conv" || !has_one_reader(graph, from))
      continue;
    graph.nodes[std::uint32_t(moves)].outputs = {node.outputs[0]};
    gone[i] = true;
  }
  remove_nodes(graph, gone);
}

// Places of an image as rows, or rows as the places of one, are one step where the host's order has
// a reshape and a transpose.
void fuse_places(Graph& graph) {
  const std::vector<bool> images = find_images(graph);
  std::vector<bool> gone(graph.nodes.size());
  const auto turns = [](const Node& node) {
    return node.op == "Transpose" && node.has_input(0) &&
           node.ints_attribute("perm") == Shape{0, 2, 1};
  };
  const auto sees_places = [&](const Shape& image, const Shape& rows) {
    return image.size() == 4 && rows.size() == 3 && image[0] == rows[0] && image[1] == rows[1];
  };
  for (std::size_t i = 0; i < gone.size(); ++i) {
    Node& node = graph.nodes[i];
    const bool first = turns(node);
    if ((!first && node.op != "Reshape") || !node.has_input(0)) continue;
    const NodeId before = graph[node.inputs[0]].producer;
    if (before == NodeId::none || !has_one_reader(graph, node.inputs[0])) continue;
    const Node& other = graph[before];
    const bool pair = first ? other.op == "Reshape" && other.has_input(0) : turns(other);
    if (!pair || gone[std::uint32_t(before)]) continue;
    const TensorId from = other.inputs[0], image = first ? from : node.outputs[0];
    if (!images[std::uint32_t(image)] ||
        !sees_places(graph[image].shape, graph[node.inputs[0]].shape))
      continue;
    node.op = first ? "PlacesToRows" : "RowsToPlaces";
    node.inputs = {from};
    node.attributes.clear();
    gone[std::uint32_t(before)] = true;
  }
  remove_nodes(graph, gone);
}

// What limits a sum in tiles, such as that of two images, is part of the sum.
void fuse_limits(Graph& graph) {
  const std::vector<bool> images = find_images(graph);
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_limit(node) || present(node.outputs).empty() || node.outputs.size() != 1) continue;
    const TensorId sum = node.inputs[0];
    const NodeId producer = graph[sum].producer;
    const Shape& made = graph[sum].shape;
    // Rows by eights come out of their tiles before they are limited.
    const bool in_tiles = images[std::uint32_t(sum)] ||
                          (!made.empty() && elements_of(made, made.size() - 1) % 8 != 0);
    const bool fuses = producer != NodeId::none && is_sum(graph[producer]) && in_tiles &&
                       has_one_reader(graph, sum);
    if (!fuses) continue;
    graph.nodes[std::uint32_t(producer)].outputs = {node.outputs[0]};
    gone[i] = true;
  }
  remove_nodes(graph, gone);
}

// A mean of windows that counts the zeros around the image is a depthwise convolution.
void convolve_means(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.op != "AveragePool" || !node.has_input(0) || node.int_attribute("ceil_mode", 0) != 0)
      continue;
    const Tensor& from = graph[node.inputs[0]];
    const auto pads = node.ints_attribute("pads"), kernel = node.ints_attribute("kernel_shape");
    const bool counts = node.int_attribute("count_include_pad", 0) != 0 &&
                        std::ranges::any_of(pads, [](std::int64_t pad) { return pad > 0; });
    if (!counts || from.shape.size() != 4 || kernel.size() != 2) continue;
    Tensor weights;
    weights.name = node.name + "_weights";
    weights.type = from.type;
    weights.shape = {from.shape[1], 1, kernel[0], kernel[1]};
    weights.constant = true;
    node.op = "Conv";
    node.attributes["group"] = from.shape[1];
    graph.tensors.push_back(std::move(weights));
    node.inputs = {node.inputs[0], TensorId(graph.tensors.size() - 1)};
  }
  connect(graph);
}

// Convolutions of groups that do not fill tiles of channels: one for as many groups as lie at equal
// places in a tile, whose channels are taken out first and joined again.
class GroupSplitter {
 public:
  explicit GroupSplitter(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (Node& node : nodes) {
      if (node.op.empty()) continue;  // done with the products before it
      const std::int64_t channels = channels_of_part(node);
      if (channels == 0) {
        graph_.nodes.push_back(std::move(node));
        continue;
      }
      while (Node* reader = done_with_products(node.outputs[0], nodes)) {
        node.outputs = reader->outputs;
        reader->op.clear();
      }
      split(node, channels);
    }
    connect(graph_);
  }

 private:
  // What limits or scales the result, and nothing else reads; of integers a scale is a product of
  // its own.
  Node* done_with_products(TensorId made, std::vector<Node>& nodes) const {
    if (!has_one_reader(graph_, made)) return nullptr;
    Node& reader = nodes[std::uint32_t(graph_[made].consumers[0])];
    const bool scales = reader.op == "BatchNormalization" && reader.inputs[0] == made &&
                        reader.outputs.size() == 1 && bits_of(graph_[made].type) > 8;
    return is_limit(reader) || scales ? &reader : nullptr;
  }

  // 0: stays whole.
  std::int64_t channels_of_part(const Node& node) const {
    if (node.op != "Conv" || !node.has_input(0) || !node.has_input(1)) return 0;
    const Shape &from = graph_[node.inputs[0]].shape, &made = graph_[node.outputs[0]].shape;
    const std::int64_t groups = node.int_attribute("group", 1);
    if (from.size() != 4 || groups < 2 || groups >= from[1]) return 0;
    const std::int64_t channels = from[1], own = channels / groups;
    if (channels % block == 0) return 0;
    const std::int64_t aligned = std::gcd(channels, block);
    const std::int64_t part = aligned % own == 0 ? aligned : own;
    return part < channels && made[1] % (channels / part) == 0 ? part : 0;
  }

  void split(const Node& node, std::int64_t channels) {
    const TensorId from = node.inputs[0], made = node.outputs[0];
    Node joined;
    joined.name = node.name + "_Joined";
    joined.op = "Concat";
    joined.attributes["axis"] = std::int64_t{1};
    joined.outputs = {made};
    const std::int64_t all = graph_[from].shape[1];
    const std::int64_t columns = graph_[made].shape[1] / (all / channels);
    for (std::int64_t first = 0; first < all; first += channels) {
      Node part = node;
      part.name = fmt::format("{}_{}", node.name, first / channels);
      part.attributes["group"] = std::int64_t{1};
      part.inputs = {taken(node, from, first, channels),
                     weights(node, part.name, channels, columns)};
      if (node.has_input(2)) part.inputs.push_back(resized(node.inputs[2], part.name, 0, columns));
      part.outputs = {resized(made, part.name, 1, columns)};
      joined.inputs.push_back(part.outputs[0]);
      graph_.nodes.push_back(std::move(part));
    }
    graph_.nodes.push_back(std::move(joined));
  }

  TensorId taken(const Node& node, TensorId from, std::int64_t first, std::int64_t channels) {
    const std::string name = fmt::format("{}_From{}", node.name, first);
    Node take;
    take.name = name;
    take.inputs = {from};
    take.outputs = {resized(from, name, 1, channels)};
    take.op = first % block == 0 ? "TakeBlocks" : "TakeChannels";
    graph_.nodes.push_back(take);
    return take.outputs[0];
  }

  TensorId weights(const Node& node, const std::string& name, std::int64_t channels,
                   std::int64_t columns) {
    const TensorId part = resized(node.inputs[1], name, 0, columns);
    graph_[part].shape[1] = channels;
    return part;
  }

  TensorId resized(TensorId id, const std::string& name, std::size_t axis, std::int64_t extent) {
    Tensor part = graph_[id];
    part.name = fmt::format("{}_{}", part.name, name);
    part.shape[axis] = extent;
    part.values.reset();
    part.float_values.reset();
    graph_.tensors.push_back(std::move(part));
    return TensorId(graph_.tensors.size() - 1);
  }

  Graph& graph_;
};

// x * Sigmoid(x) becomes one operator.
void fuse_swish(Graph& graph) {
  std::vector<bool> gone(graph.nodes.size());
  for (Node& node : graph.nodes) {
    if (node.op != "Mul" || !node.has_input(0) || !node.has_input(1)) continue;
    for (std::size_t gate = 0; gate < 2; ++gate) {
      const NodeId producer = graph[node.inputs[gate]].producer;
      if (producer == NodeId::none || graph[producer].op != "Sigmoid" ||
          !graph[producer].has_input(0)) {
        continue;
      }
      const TensorId source = graph[producer].inputs[0];
      if (node.inputs[1 - gate] != source || !has_one_reader(graph, node.inputs[gate])) continue;
      gone[std::uint32_t(producer)] = true;
      node.op = "Swish";
      node.inputs = {source};
      break;
    }
  }
  remove_nodes(graph, gone);
}

}  // namespace

namespace {

// Tensors of so many dimensions that stand for places with channels.
template <class Reads>
std::vector<bool> find_places(const Graph& graph, std::size_t rank, const Reads& reads) {
  std::vector<bool> images(graph.tensors.size());
  const auto mark = [&](TensorId id) {
    if (graph[id].shape.size() == rank && !graph[id].constant) images[std::uint32_t(id)] = true;
  };
  const auto is_image = [&](TensorId id) { return bool(images[std::uint32_t(id)]); };
  const auto visit = [&](const Node& node, bool backwards) {
    auto inputs = present(node.inputs);
    auto outputs = present(node.outputs);
    if (reads(node)) {
      if (!inputs.empty()) mark(*inputs.begin());
      for (const TensorId id : outputs) mark(id);
    } else if (keeps_images(classify(graph, node)) || moves_depth(graph, node)) {
      if (!backwards && std::ranges::any_of(inputs, is_image))
        for (const TensorId id : outputs) mark(id);
      if (backwards && std::ranges::any_of(outputs, is_image))
        for (const TensorId id : inputs) mark(id);
    }
  };
  for (const Node& node : graph.nodes) visit(node, false);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) visit(*node, true);
  return images;
}

}  // namespace

std::string_view sorting_for_strides(const Graph& graph, const Node& node) {
  if ((node.op != "Conv" && node.op != "QLinearConv") || !node.has_input(0)) return {};
  const auto strides = node.ints_attribute("strides");
  const auto kernel = node.ints_attribute("kernel_shape");
  if (std::ranges::all_of(strides, [](std::int64_t stride) { return stride <= 1; })) return {};
  const Tensor& from = graph[node.inputs[0]];
  const std::int64_t channels = from.shape.size() == 4 ? from.shape[1] : 0;
  // Of depthwise ones of integers a kernel of its own reads every second place.
  const bool depthwise = channels > 1 && node.int_attribute("group", 1) == channels;
  if (bits_of(from.type) <= 8 && depthwise) return {};
  const auto all_are_one = [](std::int64_t extent) { return extent == 1; };
  if (std::ranges::all_of(kernel, all_are_one)) return "Decimate";
  if (kernel == strides) return places_of_patches;
  if (std::ranges::any_of(kernel, [](std::int64_t extent) { return extent > 3; }))
    return "SpaceToDepthLarge";
  constexpr std::int64_t of_cameras = 4;
  return channels > of_cameras ? "SpaceToDepthStride2" : "SpaceToDepthFew";
}

std::optional<Graph> with_sorted_places(const Graph& graph) {
  const auto needs_sorting = [&](const Node& node) {
    return !sorting_for_strides(graph, node).empty() && graph[node.inputs[0]].shape.size() == 4 &&
           !graph[node.inputs[0]].constant;
  };
  if (std::ranges::none_of(graph.nodes, needs_sorting)) return std::nullopt;
  Graph sorted = graph;
  sorted.nodes.clear();
  for (Node node : graph.nodes) {
    if (needs_sorting(node)) {
      Tensor places = graph[node.inputs[0]];
      places.name += "_sorted";
      sorted.tensors.push_back(std::move(places));
      Node sorting;
      sorting.op = sorting_for_strides(graph, node);
      sorting.name = fmt::format("{}_{}", node.name, sorting.op);
      sorting.inputs = {node.inputs[0]};
      sorting.outputs = {TensorId(sorted.tensors.size() - 1)};
      node.inputs[0] = sorting.outputs[0];
      sorted.nodes.push_back(std::move(sorting));
    }
    sorted.nodes.push_back(std::move(node));
  }
  connect(sorted);
  return sorted;
}

std::vector<bool> find_images(const Graph& graph) {
  return find_places(graph, 4, [&](const Node& node) { return reads_images(graph, node); });
}

std::vector<bool> find_sequences(const Graph& graph) {
  return find_places(graph, 3, [&](const Node& node) { return node.op == "Conv"; });
}

Graph qnn_graph(const Graph& graph, bool convert_to_fp16) {
  Graph folded = fold_quantization(graph, true);
  const auto scales = tensor_scales(folded);
  for (std::size_t i = 0; i < scales.size(); ++i) folded.tensors[i].scale = scales[i];
  GeluFuser(folded).run();
  fuse_swish(folded);
  fuse_limits(folded);
  limit_before_places(folded);
  fuse_places(folded);
  convolve_means(folded);
  GroupSplitter(folded).run();
  return Rewriter(std::move(folded), convert_to_fp16).run();
}

}  // namespace npuscope::npu::nsp
