#include <algorithm>

#include "npu/graph/fold_quantization.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::int64_t depth_of_product = 32;  // channels that one product of the HMX takes

// How many values of a window lie next to each other as channels, and how many products it then
// takes down and across.
struct Columns {
  std::int64_t channels = 0, down = 1, across = 1;
};

// One product for a small window; else two rows of as many columns as fit, which a stride of two
// permits.
Columns columns_of(std::int64_t channels, std::int64_t extent, std::int64_t stride) {
  if (channels * extent * extent <= depth_of_product) return {channels * extent * extent, 1, 1};
  const std::int64_t fit = depth_of_product / (2 * channels);
  if (stride != 2 || fit == 0) return {};
  const auto whole = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  return {2 * channels * std::min(extent, fit), whole(extent, 2), whole(extent, fit)};
}

class StemGatherer {
 public:
  explicit StemGatherer(Graph& graph) : graph_(graph) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) gather(i);
    connect(graph_);
  }

 private:
  // The host's image with channels last behind the transpose that puts them first; none: it is no
  // such.
  TensorId host_image(TensorId image) const {
    const NodeId turn = graph_[image].producer;
    if (turn == NodeId::none || graph_[turn].op != "Transpose" || !graph_[turn].has_input(0) ||
        graph_[turn].ints_attribute("perm") != Shape{0, 3, 1, 2} || !has_one_reader(graph_, image))
      return TensorId::none;
    const TensorId from = graph_[turn].inputs[0];
    const bool is_given = graph_[from].producer == NodeId::none && !graph_[from].constant;
    return is_given && has_one_reader(graph_, from) ? from : TensorId::none;
  }

  void gather(std::uint32_t at) {
    Node& node = graph_.nodes[at];
    if (node.op != "Conv" || !node.has_input(0) || !node.has_input(1) ||
        present(node.outputs).empty() || node.int_attribute("group", 1) != 1)
      return;
    const TensorId image = node.inputs[0], host = host_image(image);
    if (host == TensorId::none) return;
    const Tensor& weights = graph_[node.inputs[1]];
    const Shape made = graph_[node.outputs[0]].shape;
    const auto strides = node.ints_attribute("strides"),
               dilations = node.ints_attribute("dilations");
    const auto is_one = [](std::int64_t value) { return value == 1; };
    if (made.size() != 4 || !weights.constant || weights.shape.size() != 4 ||
        weights.shape[2] != weights.shape[3] || !std::ranges::all_of(dilations, is_one))
      return;
    const std::int64_t extent = weights.shape[2];
    const std::int64_t stride = strides.empty() ? 1 : strides[0];
    if (std::ranges::count(strides, stride) != std::ptrdiff_t(strides.size())) return;
    constexpr std::int64_t most_channels = 4, most_extent = 7;
    const std::int64_t channels = weights.shape[1];
    if (channels < 1 || channels > most_channels || extent < 3 || extent > most_extent ||
        stride > 2)
      return;
    const Columns columns = columns_of(channels, extent, stride);
    if (columns.channels == 0) return;
    Tensor gathered = graph_[image], taken = weights;
    gathered.name += "_Columns";
    gathered.shape = {made[0], columns.channels, made[2] + columns.down - 1,
                      made[3] + columns.across - 1};
    taken.name += "_Columns";
    taken.shape = {taken.shape[0], columns.channels, columns.down, columns.across};
    taken.values.reset();
    taken.float_values.reset();
    graph_.tensors.push_back(std::move(gathered));
    graph_.tensors.push_back(std::move(taken));
    const auto tensors = std::uint32_t(graph_.tensors.size());
    Node& turn = graph_.nodes[std::uint32_t(graph_[image].producer)];
    turn.op = columns.down * columns.across > 1 ? "GatherWideColumns" : "GatherColumns";
    turn.attributes.clear();
    turn.outputs = {TensorId(tensors - 2)};
    node.inputs[0] = turn.outputs[0];
    node.inputs[1] = TensorId(tensors - 1);
    node.attributes.erase("auto_pad");
    node.attributes["kernel_shape"] = Shape{columns.down, columns.across};
    node.attributes["strides"] = Shape{1, 1};
    node.attributes["pads"] = Shape{0, 0, 0, 0};
  }

  Graph& graph_;
};

}  // namespace

void quantize_before_turns(Graph& graph) {
  for (Node& turn : graph.nodes) {
    if (turn.op != "Transpose" || !turn.has_input(0) || turn.outputs.size() != 1) continue;
    const TensorId from = turn.inputs[0], turned = turn.outputs[0];
    if (turned == TensorId::none || graph[from].producer != NodeId::none || graph[from].constant ||
        !has_one_reader(graph, turned))
      continue;
    Node& quantize = graph.nodes[std::uint32_t(graph[turned].consumers[0])];
    const bool is_one_scale = quantize.op == "QuantizeLinear" && quantize.inputs.size() > 1 &&
                              quantize.inputs[0] == turned && quantize.has_input(1) &&
                              graph[quantize.inputs[1]].elements() == 1 &&
                              !present(quantize.outputs).empty();
    if (!is_one_scale) continue;
    graph[turned].type = graph[quantize.outputs[0]].type;
    graph[turned].shape = graph[from].shape;
    quantize.inputs[0] = from;
    std::swap(quantize.outputs, turn.outputs);
    turn.inputs = {turned};
    std::swap(quantize, turn);
  }
  connect(graph);
}

void gather_stems(Graph& graph) { StemGatherer(graph).run(); }

bool gathers_columns(const Node& node) {
  return node.op == "GatherColumns" || node.op == "GatherWideColumns";
}

}  // namespace npuscope::npu::nsp
