#include "formats/sigmastar/tflite_schema.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>

#include "formats/sigmastar/model.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr const char* operators[] = {"ADD",
                                     "AVERAGE_POOL_2D",
                                     "CONCATENATION",
                                     "CONV_2D",
                                     "DEPTHWISE_CONV_2D",
                                     "DEPTH_TO_SPACE",
                                     "DEQUANTIZE",
                                     "EMBEDDING_LOOKUP",
                                     "FLOOR",
                                     "FULLY_CONNECTED",
                                     "HASHTABLE_LOOKUP",
                                     "L2_NORMALIZATION",
                                     "L2_POOL_2D",
                                     "LOCAL_RESPONSE_NORMALIZATION",
                                     "LOGISTIC",
                                     "LSH_PROJECTION",
                                     "LSTM",
                                     "MAX_POOL_2D",
                                     "MUL",
                                     "RELU",
                                     "RELU_N1_TO_1",
                                     "RELU6",
                                     "RESHAPE",
                                     "RESIZE_BILINEAR",
                                     "RNN",
                                     "SOFTMAX",
                                     "SPACE_TO_DEPTH",
                                     "SVDF",
                                     "TANH",
                                     "CONCAT_EMBEDDINGS",
                                     "SKIP_GRAM",
                                     "CALL",
                                     "CUSTOM",
                                     "EMBEDDING_LOOKUP_SPARSE",
                                     "PAD",
                                     "UNIDIRECTIONAL_SEQUENCE_RNN",
                                     "GATHER",
                                     "BATCH_TO_SPACE_ND",
                                     "SPACE_TO_BATCH_ND",
                                     "TRANSPOSE",
                                     "MEAN",
                                     "SUB",
                                     "DIV",
                                     "SQUEEZE",
                                     "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                     "STRIDED_SLICE",
                                     "BIDIRECTIONAL_SEQUENCE_RNN",
                                     "EXP",
                                     "TOPK_V2",
                                     "SPLIT",
                                     "LOG_SOFTMAX",
                                     "DELEGATE",
                                     "BIDIRECTIONAL_SEQUENCE_LSTM",
                                     "CAST",
                                     "PRELU",
                                     "MAXIMUM",
                                     "ARG_MAX",
                                     "MINIMUM",
                                     "LESS",
                                     "NEG",
                                     "PADV2",
                                     "GREATER",
                                     "GREATER_EQUAL",
                                     "LESS_EQUAL",
                                     "SELECT",
                                     "SLICE",
                                     "SIN",
                                     "TRANSPOSE_CONV",
                                     "SPARSE_TO_DENSE",
                                     "TILE",
                                     "EXPAND_DIMS",
                                     "EQUAL",
                                     "NOT_EQUAL",
                                     "LOG",
                                     "SUM",
                                     "SQRT",
                                     "RSQRT",
                                     "SHAPE",
                                     "POW",
                                     "ARG_MIN",
                                     "FAKE_QUANT",
                                     "REDUCE_PROD",
                                     "REDUCE_MAX",
                                     "PACK",
                                     "LOGICAL_OR",
                                     "ONE_HOT",
                                     "LOGICAL_AND",
                                     "LOGICAL_NOT",
                                     "UNPACK",
                                     "REDUCE_MIN",
                                     "FLOOR_DIV",
                                     "REDUCE_ANY",
                                     "SQUARE",
                                     "ZEROS_LIKE",
                                     "FILL",
                                     "FLOOR_MOD",
                                     "RANGE",
                                     "RESIZE_NEAREST_NEIGHBOR",
                                     "LEAKY_RELU",
                                     "SQUARED_DIFFERENCE",
                                     "MIRROR_PAD",
                                     "ABS",
                                     "SPLIT_V",
                                     "UNIQUE",
                                     "CEIL",
                                     "REVERSE_V2",
                                     "ADD_N",
                                     "GATHER_ND",
                                     "COS",
                                     "WHERE",
                                     "RANK",
                                     "ELU",
                                     "REVERSE_SEQUENCE",
                                     "MATRIX_DIAG",
                                     "QUANTIZE",
                                     "MATRIX_SET_DIAG",
                                     "ROUND",
                                     "HARD_SWISH",
                                     "IF",
                                     "WHILE",
                                     "NON_MAX_SUPPRESSION_V4",
                                     "NON_MAX_SUPPRESSION_V5",
                                     "SCATTER_ND",
                                     "SELECT_V2",
                                     "DENSIFY",
                                     "SEGMENT_SUM",
                                     "BATCH_MATMUL",
                                     "PLACEHOLDER_FOR_GREATER_OP_CODES",
                                     "CUMSUM",
                                     "CALL_ONCE",
                                     "BROADCAST_TO",
                                     "RFFT2D",
                                     "CONV_3D",
                                     "IMAG",
                                     "REAL",
                                     "COMPLEX_ABS",
                                     "HASHTABLE",
                                     "HASHTABLE_FIND",
                                     "HASHTABLE_IMPORT",
                                     "HASHTABLE_SIZE",
                                     "REDUCE_ALL",
                                     "CONV_3D_TRANSPOSE",
                                     "VAR_HANDLE",
                                     "READ_VARIABLE",
                                     "ASSIGN_VARIABLE",
                                     "BROADCAST_ARGS",
                                     "RANDOM_STANDARD_NORMAL",
                                     "BUCKETIZE",
                                     "RANDOM_UNIFORM",
                                     "MULTINOMIAL",
                                     "GELU",
                                     "DYNAMIC_UPDATE_SLICE",
                                     "RELU_0_TO_1",
                                     "UNSORTED_SEGMENT_PROD",
                                     "UNSORTED_SEGMENT_MAX",
                                     "UNSORTED_SEGMENT_SUM",
                                     "ATAN2",
                                     "UNSORTED_SEGMENT_MIN",
                                     "SIGN"};
constexpr const char* types[] = {"FLOAT32", "FLOAT16",    "INT32",  "UINT8",     "INT64",
                                 "STRING",  "BOOL",       "INT16",  "COMPLEX64", "INT8",
                                 "FLOAT64", "COMPLEX128", "UINT64", "RESOURCE",  "VARIANT",
                                 "UINT32",  "UINT16",     "INT4"};

}  // namespace

std::string builtin_operator_name(std::int32_t code) {
  if (code < 0 || std::size_t(code) >= std::size(operators)) return fmt::format("BUILTIN_{}", code);
  return operators[code];
}

std::optional<std::int32_t> builtin_operator_code(std::string_view name) {
  const auto found = std::find(std::begin(operators), std::end(operators), name);
  if (found == std::end(operators)) return std::nullopt;
  return std::int32_t(found - std::begin(operators));
}

std::optional<std::uint64_t> bytes_of_tensor_type(std::int64_t type) {
  // As `types`; 0: neither of texts, of handles, nor of half bytes.
  constexpr std::uint64_t bytes[] = {4, 2, 4, 1, 8, 0, 1, 2, 8, 1, 8, 16, 8, 0, 0, 4, 2, 0};
  static_assert(std::size(bytes) == std::size(types));
  if (type < 0 || std::size_t(type) >= std::size(bytes) || bytes[type] == 0) return std::nullopt;
  return bytes[type];
}

std::string tensor_type_name(std::int64_t type) {
  if (type < 0 || std::size_t(type) >= std::size(types)) return fmt::format("TYPE_{}", type);
  return types[type];
}

}  // namespace npuscope::sigmastar
