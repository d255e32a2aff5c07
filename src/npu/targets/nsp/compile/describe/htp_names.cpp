#include "npu/targets/nsp/compile/describe/describe.hpp"

#include <map>

#include "npu/graph/semantics.hpp"

namespace npuscope::npu::nsp {

namespace {

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
      "QuantizeLinear=Quantize DequantizeLinear=Dequantize Reshape=Reshape Flatten=Reshape "
      "Squeeze=Squeeze Unsqueeze=ExpandDims LSTM=Lstm GRU=Gru ConvTranspose=TransposeConv2d");
  return names;
}

const Names& compute_types() {
  static const Names names = word_pairs(
      "aicconverttod32=q::ForceFormat_Crouton aicconvertweightstod32=q::ForceFormat_Crouton "
      "aicconvertfromd32=q::ForceFormat_Flat aicsoftmax=q::Softmax aictranspose=q::Transpose_impl "
      "aicdepthwiseconvd32=q::DepthwiseConv2d aicinputsemaphoreinc=SyncOp "
      "aicoutputsemaphoreinc=SyncOp aicendcyclestats=SyncOp");
  return names;
}

}  // namespace

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

std::uint32_t qnn_data_type(DataType type) {
  // In the order of DataType.
  constexpr std::uint32_t numbers[] = {0x0032, 0x0232, 0x0216, 0x0216, 0x0232, 0x0408,
                                       0x0308, 0x0408, 0x0316, 0x0416, 0x0032, 0x0132,
                                       0x0064, 0x0164, 0x0308, 0x0408, 0x0508, 0x0032};
  return numbers[std::size_t(type)];
}

}  // namespace npuscope::npu::nsp
