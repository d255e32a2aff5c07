#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/sort_rows.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/describe/describe.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {
namespace {

// The names that Qualcomm's tools for the HTP give to what the reference compiler makes: types of
// QNN ops and of HTP ops. Seen in public optraces where possible (docs/formats/qnn-written.md).

using Names = std::map<std::string_view, std::string_view>;

// Op names of QnnOpDef.h.
const Names& qnn_types() {
  static const Names names = word_pairs(
      "Add=ElementWiseAdd Sum=ElementWiseAdd Sub=ElementWiseSubtract Mul=ElementWiseMultiply "
      "Div=ElementWiseDivide Max=ElementWiseMaximum Min=ElementWiseMinimum Pow=ElementWisePower "
      "Sqrt=ElementWiseSquareRoot Exp=ElementWiseExp Log=ElementWiseLog Abs=ElementWiseAbs "
      "Neg=ElementWiseNeg Erf=ElementWiseNeuron Relu=Relu Clip=ReluMinMax Gelu=Gelu FastGelu=Gelu "
      "QuickGelu=Gelu BiasGelu=Gelu Tanh=Tanh Sigmoid=Sigmoid HardSwish=HardSwish "
      "Where=ElementWiseSelect Softmax=Softmax LogSoftmax=LogSoftmax LayerNormalization=LayerNorm "
      "SkipLayerNormalization=LayerNorm RMSNormalization=RmsNorm "
      "SimplifiedLayerNormalization=RmsNorm InstanceNormalization=InstanceNorm "
      "BatchNormalization=Batchnorm LRN=Lrn MaxPool=PoolMax2d AveragePool=PoolAvg2d "
      "GlobalAveragePool=PoolAvg2d GlobalMaxPool=PoolMax2d ReduceMean=ReduceMean "
      "ReduceSum=ReduceSum ArgMax=Argmax ArgMin=Argmin Transpose=Transpose Concat=Concat "
      "Split=Split Slice=StridedSlice Pad=Pad Tile=Tile Expand=ElementWiseMultiply Resize=Resize "
      "Gather=Gather GatherElements=GatherElements GatherND=GatherNd ScatterND=ScatterNd "
      "ScatterElements=ScatterElements TopK=TopK CumSum=CumulativeSum Cast=Cast "
      "QuantizeLinear=Quantize DequantizeLinear=Dequantize ToChannelsLast=Transpose "
      "ManyToChannelsLast=Transpose WideToChannelsLast=Transpose WideToChannelsFirst=Transpose "
      "Swish=ElementWiseNeuron SwishBeta=ElementWiseNeuron "
      "ToChannelsFirst=Transpose SpaceToDepthStride2=Conv2d SpaceToDepthLarge=Conv2d "
      "SpaceToDepthFew=Conv2d Im2Col=Conv2d GatherColumns=Conv2d GatherWideColumns=Conv2d "
      "ZapBorder=Conv2d JoinBorder=Conv2d CastImage=Cast "
      "SequenceToLast=Transpose "
      "SequenceToFirst=Transpose "
      "SpaceRearrange=Conv2d DepthToSpaceStride2=TransposeConv2d "
      "DepthToSpaceCut=TransposeConv2d DepthToSpaceStride4=TransposeConv2d "
      "GatherPatches=Conv2d GatherFewPlaces=Conv2d PlacesToRows=Reshape RowsToPlaces=Reshape "
      "FlatToChannelsFirst=Transpose DepthToSpaceStride8=TransposeConv2d "
      "DepthToSpaceFlat=TransposeConv2d "
      "DepthToSpaceFlatCut=TransposeConv2d TakeChannels=Conv2d "
      "TakeBlocks=Conv2d "
      "ManyToChannelsFirst=Transpose RowsInOrder=Reshape PlacesInOrder=Reshape "
      "FromRows=Reshape "
      "Decimate=Conv2d Reshape=Reshape "
      "Flatten=Reshape "
      "Squeeze=Squeeze Unsqueeze=ExpandDims LSTM=Lstm GRU=Gru ConvTranspose=TransposeConv2d");
  return names;
}

const Names& compute_types() {
  static const Names names = word_pairs(
      "aicconverttod32=q::ForceFormat_Crouton aicconvertweightstod32=q::ForceFormat_Crouton "
      "aicconvertfromd32=q::ForceFormat_Flat aicsoftmax=q::Softmax aictranspose=q::Transpose_impl "
      "elementspacetodepthstride2=q::ConvLayer_SpaceToDepth_stride2.tcm "
      "elementspacetodepthlarge=q::ConvLayer_SpaceToDepth_stride2.tcm "
      "elementspacetodepthfew=q::ConvLayer_SpaceToDepth_stride2.tcm "
      "elementim2col=q::ConvLayer.opt.inconv_im2col.tcm elementzapborder=hnnx::BlockZapOp "
      "elementgathercolumns=q::ConvLayer.opt.inconv_im2col.tcm "
      "elementgatherwidecolumns=q::ConvLayer.opt.inconv_im2col.tcm "
      "elementdepthtospaceflat=q::d2s.shortD.flatout elementdepthtospaceflatcut=q::Transpose_impl "
      "elementjoinborder=q::Concat elementrowsinorder=q::Reshape elementplacesinorder=q::Reshape "
      "elementsequencetolast=q::Transpose_impl elementsequencetofirst=q::Transpose_impl "
      "aictransposerows=q::Transpose_impl aictransposekeys=q::Transpose_impl "
      "aictransposefewkeys=q::Transpose_impl aictransposefewheads=q::Reshape "
      "aicsplitblocks=q::SlicePad_shape_inplace aicbroadcastmul=q::Mul aicmulrows=q::Mul "
      "aicdivrows=q::Div.exe aicdivlastrows=q::Div.exe elementswishbeta=q::Swish_with_beta.fp16 "
      "elementswishbetarows=q::Swish_with_beta.fp16 "
      "aictransposevalues=q::Reshape aictransposeheads=q::Reshape aicconcatblocks=q::Concat "
      "aicconcatblock=q::Concat aicflatadd=q::Add.fp16 aicaddcolumns=q::Add.fp16 "
      "elementspacerearrange=q::space_rearrange aicsoftmaxnarrow=q::Softmax "
      "aicsoftmaxfew=q::Softmax aicsoftmaxshort=q::Softmax aicsoftmaxheads=q::Softmax "
      "elementdepthtospacestride2=q::x2s_opt elementdepthtospacecut=q::x2s_opt "
      "elementdepthtospacestride4=q::x2s_opt elementdepthtospacestride8=q::x2s_opt "
      "elementtakechannels=q::SlicePad_shape_inplace elementtakeblocks=q::SlicePad_shape_inplace "
      "elementgatherpatches=q::Transpose_impl elementgatherfewplaces=q::s2d.shortd.crtout "
      "elementplacestorows=q::Reshape elementrowstoplaces=q::Reshape "
      "elementflattochannelsfirst=q::Transpose_impl aicconcatblockagain=q::Concat "
      "aicconcatblocksagain=q::Concat aicconcatmany=q::Concat aicdepthtospaceshort=q::d2s.shortD "
      "aiclayernormrows=q::layernorm_2d_normalize aiclayernormwide=q::layernorm_2d_normalize "
      "aicconvertonechannel=q::Reshape aicconvertwiderows=q::ForceFormat_Flat "
      "aicavgpoolwhole=q::AvgPool_with_pad.tcm "
      "aictransposechannels=q::Transpose_impl aictransposefours=q::Transpose_impl "
      "aictransposepairs=q::Transpose_impl "
      "aicmaxpoolpaddedd32=q::MaxPool_valid.tcm "
      "aicmaxpoolwided32=q::MaxPool_valid.tcm aicmaxpoolnarrowd32=q::MaxPool_valid.tcm "
      "aicmaxpoold32=q::MaxPool_valid.tcm "
      "elementdecimate=q::Decimate aicdepthtospace=q::d2s_crd_opt "
      "elementcastimage=q::Cast_fp32_to_fp16.tcm aicmeanofrows=q::AvgPool_with_pad.tcm "
      "elementtochannelslast=q::Transpose_impl elementmanytochannelslast=q::Transpose.2D "
      "elementtochannelsfirst=q::Transpose.2D elementwidetochannelslast=q::Transpose.2D "
      "elementwidetochannelsfirst=q::Transpose.2D "
      "elementmanytochannelsfirst=q::Transpose.2D aiclrnd32=q::LrnAccChannelImp "
      "aicdepthwiselarged32=q::DepthwiseConv2d "
      "aicdepthwiseconvd32=q::DepthwiseConv2d aicinputsemaphoreinc=SyncOp "
      "aicoutputsemaphoreinc=SyncOp aicendcyclestats=SyncOp");
  return names;
}

// "FullyConnected" of a Gemm; an operator without a known counterpart keeps its ONNX name.
std::string qnn_op_type(const Graph& graph, const Node& node) {
  const OpClass op_class = classify(graph, node);
  if (op_class == OpClass::matmul) {
    const bool weights = node.has_input(1) && graph[node.inputs[1]].constant;
    const bool product = node.op == "MatMul" || node.op == "Gemm" || node.op == "MatMulInteger" ||
                         node.op == "QLinearMatMul";
    if (product) return weights || node.op == "Gemm" ? "FullyConnected" : "MatMul";
  }
  if (op_class == OpClass::convolution && node.op != "ConvTranspose") {
    const MatrixProduct product = matrix_product(graph, node);
    return product.batch > 1 && product.depth == product.kernel_area ? "DepthWiseConv2d" : "Conv2d";
  }
  const auto found = qnn_types().find(node.op);
  return std::string(found != qnn_types().end() ? found->second : std::string_view(node.op));
}

// Of a compute task, by its kernel: "q::Softmax". `qnn_type` names those without a name of their
// own.
std::string htp_compute_type(std::string_view kernel, std::string_view qnn_type, bool on_hmx,
                             bool integer) {
  if (on_hmx && kernel == "aicconvolutiond32") {
    return integer ? "q::ConvLayer_s1.opt" : "q::ConvLayer.fp16.s1.tcm";
  }
  const auto found = compute_types().find(kernel);
  return found != compute_types().end() ? std::string(found->second)
                                        : fmt::format("q::{}", qnn_type);
}

std::string_view htp_movement_type(Movement movement) {
  constexpr std::string_view types[] = {"q::vtcm_copy",
                                        "q::ConvLayer.opt.weights_to_vtcm",
                                        "q::ConvLayer.opt.bias_to_vtcm",
                                        "q::flat_to_vtcm",
                                        "q::*InputSlice",
                                        "q::*OutputSlice",
                                        "@Spill",
                                        "@Fill"};
  return types[std::size_t(movement)];
}

// QNN_DATATYPE_ of a tensor in device precision; of int8 and uint8 the fixed-point one.
std::uint32_t qnn_data_type(DataType type) {
  // In the order of DataType.
  constexpr std::uint32_t numbers[] = {0x0032, 0x0232, 0x0216, 0x0216, 0x0232, 0x0408,
                                       0x0408, 0x0308, 0x0408, 0x0316, 0x0416, 0x0032,
                                       0x0132, 0x0064, 0x0164, 0x0308, 0x0408, 0x0308,
                                       0x0408, 0x0508, 0x0032, 0x0408, 0x0308};
  static_assert(std::size(numbers) == data_type_count);
  return numbers[std::size_t(type)];
}

using qaic::SchematicOp;
using qaic::SchematicRole;

// QNN numbers its ops from here, four apart; below are Input, Output and the like (chain8 sample).
constexpr std::uint32_t first_node_id = 0x12;
constexpr std::uint32_t node_id_step = 4;
constexpr std::uint32_t service_id = 0;
constexpr std::uint32_t input_id = 2;
constexpr std::uint32_t output_id = 3;

constexpr std::uint32_t int32_type = 0x0032;

// Who wrote what lies in a buffer or in DDR.
struct Contents {
  std::uint32_t node = ~0u;  // whose tiles they are
  TensorId tensor = TensorId::none;
  std::vector<std::uint32_t> writers;   // ops
  std::vector<std::uint32_t> previous;  // of what this node's tiles overwrite in place

  void written_by(std::uint32_t op, const TaskSpec& task, bool in_place) {
    if (task.node != node) {
      previous = in_place ? std::exchange(writers, {}) : std::vector<std::uint32_t>{};
      writers.clear();
      node = task.node;
    }
    tensor = task.tensor;
    writers.push_back(op);
  }
};

class SchematicBuilder {
 public:
  SchematicBuilder(const Graph& graph, const LoweredNetwork& network,
                   const std::vector<TaskIndex>& origin, const qaic::Program& program,
                   const CompileOptions& options)
      : graph_(graph),
        network_(network),
        tasks_(network.tasks.tasks()),
        origin_(origin),
        program_(program),
        options_(options),
        place_(origin.size()),
        scales_(tensor_scales(graph)),
        input_node_(std::uint32_t(graph.nodes.size())),
        output_node_(input_node_ + 1),
        service_node_(input_node_ + 2) {
    for (std::uint32_t i = 0; i < origin.size(); ++i) place_[origin[i]] = i;
  }

  qaic::Schematic build() {
    out_.program_fingerprint = qaic::fingerprint(program_);
    add_nodes();
    out_.ops.reserve(origin_.size());
    for (const TaskIndex task : origin_) add_task(tasks_[task]);
    follow_vtcm();
    follow_ddr();
    for (std::uint32_t i = 0; i < origin_.size(); ++i) add_constants(i, tasks_[origin_[i]]);
    collect(edges_, &SchematicOp::input_begin, &SchematicOp::input_count, out_.inputs);
    collect(uses_, &SchematicOp::buffer_begin, &SchematicOp::buffer_count, out_.op_buffers);
    for (std::size_t i = 0; i < network_.tasks.buffers(); ++i) {
      out_.buffers.push_back(network_.tasks.buffer_bytes(BufferId(i)));
    }
    return std::move(out_);
  }

 private:
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  std::uint32_t text(std::string_view text) {
    const auto [found, added] =
        text_numbers_.emplace(std::string(text), std::uint32_t(out_.texts.size()));
    if (added) out_.texts.emplace_back(text);
    return found->second;
  }

  void add_nodes() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      node_types_.push_back(qnn_op_type(graph_, node));
      out_.nodes.push_back({first_node_id + std::uint32_t(i) * node_id_step, text(node.name),
                            text(node_types_.back())});
    }
    out_.nodes.push_back({input_id, text("Input"), text("Input")});
    out_.nodes.push_back({output_id, text("Output"), text("Output")});
    out_.nodes.push_back(
        {service_id, text("SystemService_ChunkPreload"), text("SystemService_ChunkPreload")});
  }

  std::uint32_t owner_of(const TaskSpec& task) const {
    if ((task.flags & qaic::task_end_stats) != 0) return service_node_;
    if (task.port != 0) return task.port == 100 ? input_node_ : output_node_;
    if (task.movement == Movement::host_input) return input_node_;
    if (task.movement == Movement::output || task.node >= graph_.nodes.size()) return output_node_;
    return task.node;
  }

  bool is_integer(const TaskSpec& task) const {
    return task.node < node_types_.size() && task.group == qaic::ThreadGroup::hmx &&
           task.tensor != TensorId::none && bits_of(type_of(task.tensor)) <= 8;
  }
  DataType type_of(TensorId id) const {
    return device_type(graph_[id].type, options_.convert_to_fp16);
  }

  void add_task(const TaskSpec& task) {
    SchematicOp op;
    op.node = owner_of(task);
    op.vtcm_read = task.vtcm_read;
    op.vtcm_write = task.vtcm_write;
    const std::string_view kernel = network_.strings[task.kernel];
    const bool waits_for_host = task.port != 0 || (task.flags & qaic::task_end_stats) != 0;
    if (waits_for_host) {
      op.type = text("SyncOp");
      op.role = std::uint32_t(SchematicRole::sync);
      op.vtcm_read = op.vtcm_write = 0;
    } else if (task.group == qaic::ThreadGroup::dma_issue) {
      const bool spills = task.movement == Movement::spill || task.movement == Movement::fill;
      op.type = text(htp_movement_type(task.movement));
      op.role = std::uint32_t(spills ? SchematicRole::spill : SchematicRole::dma);
    } else {
      const std::string_view node_type =
          task.node < node_types_.size() ? std::string_view(node_types_[task.node]) : "Output";
      op.type = text(htp_compute_type(kernel, node_type, task.group == qaic::ThreadGroup::hmx,
                                      is_integer(task)));
      op.role = std::uint32_t(SchematicRole::compute);
    }
    const bool makes_tensor = !waits_for_host && task.movement != Movement::output;
    if (makes_tensor && task.tensor != TensorId::none) describe(op, task.tensor, task.output_bytes);
    out_.ops.push_back(op);
  }

  // Of the op that is added next.
  void add_scale(TensorId id) {
    const auto& scale = scales_[std::uint32_t(id)];
    if (!scale || is_float(type_of(id))) return;
    const auto step = float(scale->step);
    if (!std::isfinite(step) || !(step > 0)) return;
    out_.scales.push_back({std::uint32_t(out_.ops.size()), step, std::int32_t(scale->zero_point)});
  }

  // The whole tensor, or, of a part, its elements in a row.
  void describe(SchematicOp& op, TensorId id, std::uint64_t bytes) {
    add_scale(id);
    const Tensor& tensor = graph_[id];
    const DataType type = type_of(id);
    op.data_type = qnn_data_type(type);
    const std::uint64_t bits = std::max(bits_of(type), 1u);
    if (device_bytes(tensor.elements(), type) == bytes) return describe(op, tensor.shape);
    describe(op, {std::int64_t(bytes * 8 / bits)});
  }
  // HTP tensors have four dimensions, or more.
  void describe(SchematicOp& op, const Shape& shape) {
    op.dims_begin = std::uint32_t(out_.dims.size());
    for (std::size_t rank = shape.size(); rank < 4; ++rank) out_.dims.push_back(1);
    out_.dims.insert(out_.dims.end(), shape.begin(), shape.end());
    op.dims_count = std::uint32_t(out_.dims.size()) - op.dims_begin;
  }

  void follow_vtcm() {
    std::vector<Contents> contents(network_.tasks.buffers());
    const auto& accesses = network_.tasks.accesses();
    const auto& views = network_.tasks.views();
    std::size_t next_view = 0;
    TaskIndex task = no_task;
    std::vector<BufferId> read;  // by the task at hand
    for (std::size_t i = 0; i <= accesses.size(); ++i) {
      for (; next_view < views.size() && views[next_view].after == i; ++next_view) {
        add_view(views[next_view], contents[std::size_t(views[next_view].buffer)]);
      }
      if (i == accesses.size()) break;
      const TaskGraph::Access& access = accesses[i];
      if (std::exchange(task, access.task) != access.task) read.clear();
      const std::uint32_t op = place_[access.task];
      Contents& here = contents[std::size_t(access.buffer)];
      uses_.emplace_back(op, std::uint32_t(access.buffer));
      if (access.writes) {
        const bool in_place = std::ranges::find(read, access.buffer) != read.end();
        here.written_by(op, tasks_[access.task], in_place);
        continue;
      }
      read.push_back(access.buffer);
      read_contents(op, tasks_[access.task].node, here);
    }
  }

  void read_contents(std::uint32_t op, std::uint32_t reader, Contents& contents) {
    const bool overwrites = reader == contents.node && !contents.previous.empty();
    if (!overwrites) join(contents);
    for (const std::uint32_t writer : overwrites ? contents.previous : contents.writers) {
      if (writer != op) edges_.emplace_back(op, writer);
    }
  }

  // Tiles become one tensor by an op that does not execute. Were every reader to name every tile,
  // there could be as many edges as the square of the tiles.
  void join(Contents& contents) {
    if (contents.writers.size() < 2 || contents.tensor == TensorId::none) return;
    const std::uint32_t owner = out_.ops[contents.writers.front()].node;
    const std::uint32_t joined = add_view_op("q::Concat", owner, contents.tensor);
    for (const std::uint32_t writer : contents.writers) edges_.emplace_back(joined, writer);
    contents.writers = {joined};
  }

  std::uint32_t add_view_op(std::string_view type, std::uint32_t owner, TensorId tensor) {
    SchematicOp op;
    op.type = text(type);
    op.node = owner;
    op.role = std::uint32_t(SchematicRole::view);
    describe(op, tensor, device_bytes(graph_[tensor].elements(), type_of(tensor)));
    out_.ops.push_back(op);
    return std::uint32_t(out_.ops.size() - 1);
  }

  void add_view(const TaskGraph::View& view, Contents& contents) {
    join(contents);
    const std::uint32_t op = add_view_op("q::Reshape", view.node, view.tensor);
    for (const std::uint32_t writer : contents.writers) edges_.emplace_back(op, writer);
    contents = {view.node, view.tensor, {op}, {}};
  }

  void follow_ddr() {
    std::map<std::uint32_t, Contents> contents;  // by storage
    for (const TaskGraph::DdrAccess& access : network_.tasks.ddr_accesses()) {
      const std::uint32_t op = place_[access.task];
      Contents& here = contents[access.tensor];
      if (access.writes) {
        here.written_by(op, tasks_[access.task], false);
      } else {
        read_contents(op, tasks_[access.task].node, here);
      }
    }
  }

  std::uint32_t constant(std::string_view type, std::uint32_t owner, std::uint32_t data_type,
                         const Shape* shape) {
    SchematicOp op;
    op.type = text(type);
    op.node = owner;
    op.role = std::uint32_t(SchematicRole::constant);
    op.data_type = data_type;
    if (shape != nullptr) describe(op, *shape);
    out_.ops.push_back(op);
    return std::uint32_t(out_.ops.size() - 1);
  }

  // A constant of the model; the nodes that share it share the op.
  std::uint32_t model_constant(TensorId id, std::uint32_t owner) {
    const auto [found, added] = constants_.emplace(std::uint32_t(id), 0);
    if (added) {
      add_scale(id);
      found->second = constant("$Const", owner, qnn_data_type(type_of(id)), &graph_[id].shape);
    }
    return found->second;
  }

  std::uint32_t shape_constant(const Shape& shape) {
    const auto [found, added] = shapes_.emplace(shape, 0);
    if (added) found->second = constant("$Shape", input_node_, int32_type, &shape);
    return found->second;
  }

  void add_constants(std::uint32_t op, const TaskSpec& task) {
    const auto add = [&](std::uint32_t constant) { edges_.emplace_back(op, constant); };
    switch (task.movement) {
      case Movement::weights:
      case Movement::bias:
      case Movement::constant: return add(model_constant(task.tensor, owner_of(task)));
      case Movement::host_input:
      case Movement::output: {
        const std::uint32_t begin = shape_constant({0, 0, 0, 0});
        const std::uint32_t extent = shape_constant(graph_[task.tensor].shape);
        if (task.movement == Movement::output) {
          for (const std::uint32_t shape : {extent, begin, begin}) add(shape);
        } else {
          for (const std::uint32_t shape : {begin, begin, extent, begin, extent, extent})
            add(shape);
        }
        return;
      }
      default: break;
    }
    const bool of_constants = task.ddr_read > 0 && task.read_purpose == TrafficPurpose::constants;
    if (of_constants && task.node < graph_.nodes.size()) {  // a table that is gathered from
      for (TensorId id : graph_.nodes[task.node].inputs) {
        if (id != TensorId::none && graph_[id].constant) {
          return add(model_constant(id, owner_of(task)));
        }
      }
    }
    if (task.group == qaic::ThreadGroup::hmx && task.port == 0 &&
        (task.flags & qaic::task_end_stats) == 0) {
      add_control_constants(op, owner_of(task));
    }
  }

  // Every product takes the same two: which kernel, which strides (chain8 sample).
  void add_control_constants(std::uint32_t op, std::uint32_t owner) {
    if (!controls_made_) {
      const Shape strides{1, 1, 1, 2};
      kernel_control_ = constant("$Const", owner, int32_type, nullptr);
      stride_control_ = constant("$Const", owner, int32_type, &strides);
      controls_made_ = true;
    }
    edges_.emplace_back(op, kernel_control_);
    edges_.emplace_back(op, stride_control_);
  }

  // Of each op the second halves of its pairs, in the order in which they were found. $Shape may be
  // named several times, others once.
  void collect(Pairs& pairs, std::uint32_t SchematicOp::*begin, std::uint32_t SchematicOp::*count,
               std::vector<std::uint32_t>& table) {
    sort_rows(pairs.begin(), pairs.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::uint32_t shape = text("$Shape");
    std::size_t at = 0;
    for (std::uint32_t op = 0; op < out_.ops.size(); ++op) {
      const std::size_t first = table.size();
      out_.ops[op].*begin = std::uint32_t(first);
      for (; at < pairs.size() && pairs[at].first == op; ++at) {
        const std::uint32_t other = pairs[at].second;
        const bool repeats = &table == &out_.inputs && out_.ops[other].type == shape;
        const auto mine = table.begin() + std::ptrdiff_t(first);
        if (repeats || std::find(mine, table.end(), other) == table.end()) table.push_back(other);
      }
      out_.ops[op].*count = std::uint32_t(table.size() - first);
    }
  }

  const Graph& graph_;
  const LoweredNetwork& network_;
  const std::vector<TaskSpec>& tasks_;
  const std::vector<TaskIndex>& origin_;
  const qaic::Program& program_;
  const CompileOptions& options_;
  std::vector<std::uint32_t> place_;                      // in the program, by task
  const std::vector<std::optional<TensorScale>> scales_;  // by tensor
  const std::uint32_t input_node_;
  const std::uint32_t output_node_;
  const std::uint32_t service_node_;
  std::vector<std::string> node_types_;
  std::map<std::string, std::uint32_t, std::less<>> text_numbers_;
  std::map<std::uint32_t, std::uint32_t> constants_;  // by tensor
  std::map<Shape, std::uint32_t> shapes_;
  bool controls_made_ = false;
  std::uint32_t kernel_control_ = 0;
  std::uint32_t stride_control_ = 0;
  Pairs edges_;  // op, op that makes what it reads
  Pairs uses_;   // op, buffer
  qaic::Schematic out_;
};

}  // namespace

qaic::Schematic make_schematic(const Graph& graph, const LoweredNetwork& network,
                               const std::vector<TaskIndex>& origin, const qaic::Program& program,
                               const CompileOptions& options) {
  return SchematicBuilder(graph, network, origin, program, options).build();
}

}  // namespace npuscope::npu::nsp
