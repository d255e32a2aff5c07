// Attention in all its forms: projections, heads, masks, softmax, past keys and values.
#include <algorithm>
#include <cmath>

#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"
#include "npu/graph/operators/attention.hpp"
#include "npu/graph/parts/parts.hpp"

namespace npuscope::npu {
namespace {

constexpr double hidden_score = -65504;  // of float16, the lowest

class AttentionParts {
 public:
  AttentionParts(Parts& parts, const Node& node)
      : parts_(parts),
        node_(node),
        type_(parts[node.outputs.at(0)].type),
        sizes_(attention_sizes(parts.graph(), node)) {
    if (sizes_.key_heads < 1 || sizes_.heads % sizes_.key_heads != 0) {
      fail("{} heads do not share {} heads of keys", sizes_.heads, sizes_.key_heads);
    }
    group_ = sizes_.heads / sizes_.key_heads;
    rows_ = multiply(group_, sizes_.queries);
  }

  // ai.onnx: q, k, v, mask, past key, past value, lengths
  void standard() {
    query_ = to_heads("query", input_of(node_, 0), sizes_.heads, sizes_.head_size);
    set_keys(input_of(node_, 1), input_of(node_, 2), input_of(node_, 4), input_of(node_, 5), 1, 2);
    if (node_.int_attribute("is_causal", 0) != 0) hide_later();
    add_mask(input_of(node_, 3));
    hide_beyond(input_of(node_, 6));
    attend(3);
  }

  // com.microsoft: q, k, v, bias, padding, scores to add, past key, past value; or, of the
  // decoder's form, q, k, v, padding, scores to add, past key, past value ... bias.
  void multi_head() {
    const bool decodes = node_.op == "DecoderMaskedMultiHeadAttention";
    const std::size_t padding = decodes ? 3 : 4, past = decodes ? 5 : 6;
    std::vector<TensorId> x = unpacked();
    add_bias(x, input_of(node_, decodes ? 10 : 3));
    query_ = to_heads("query", x[0], sizes_.heads, sizes_.head_size);
    set_keys(x[1], x[2], input_of(node_, past), input_of(node_, past + 1), 1, 2);
    if (node_.int_attribute("unidirectional", 0) != 0) hide_later();
    hide_padding(input_of(node_, padding));
    add_mask(input_of(node_, padding + 1));
    attend(3);
  }

  // com.microsoft: q, k, v, past key, past value, lengths, total, cosines, sines, positions, scores
  // to add
  void group_query() {
    std::vector<TensorId> x{input_of(node_, 0), input_of(node_, 1), input_of(node_, 2)};
    const std::int64_t own = sizes_.heads * sizes_.head_size;
    const std::int64_t shared = sizes_.key_heads * sizes_.head_size;
    if (x[1] == TensorId::none) x = parts_.split("packed", x[0], 2, {own, shared, shared});
    if (node_.int_attribute("do_rotary", 0) != 0) {
      rotate("query_rotary", x[0], sizes_.heads);
      rotate("key_rotary", x[1], sizes_.key_heads);
    }
    query_ = to_heads("query", x[0], sizes_.heads, sizes_.head_size);
    set_keys(x[1], x[2], input_of(node_, 3), input_of(node_, 4), 1, 2);
    hide_beyond(input_of(node_, 5));
    if (input_of(node_, 5) == TensorId::none) hide_later();
    add_mask(input_of(node_, 10));
    attend(3);
  }

  // com.microsoft: x, weights, bias, mask, past, scores to add; quantised with scales and zero
  // points among them
  void projecting() {
    const bool quantized = node_.op == "QAttention";
    const Shape weights = parts_.shape(input_of(node_, 1));
    TensorId all = TensorId::none;
    if (quantized) {
      all = parts_.add(
          "projection", "MatMulInteger",
          {input_of(node_, 0), input_of(node_, 1), input_of(node_, 6), input_of(node_, 7)});
      all = parts_.add("dequantized", "Cast", {all}, {{"to", std::int64_t{1}}});
      all = parts_.add("scaled", "Mul", {all, parts_.scalar(DataType::float32, 1)});
    } else {
      all = parts_.add("projection", "MatMul", {input_of(node_, 0), input_of(node_, 1)});
    }
    if (input_of(node_, 2) != TensorId::none)
      all = parts_.add("projection_bias", "Add", {all, input_of(node_, 2)});
    const std::int64_t own = sizes_.heads * sizes_.head_size;
    const std::int64_t of_values = sizes_.heads * sizes_.value_head_size;
    if (2 * own + of_values != weights[1]) fail("its heads do not fit its weights");
    const auto x = parts_.split("projected", all, 2, {own, own, of_values});
    query_ = to_heads("query", x[0], sizes_.heads, sizes_.head_size);
    const TensorId past = input_of(node_, quantized ? 8 : 4);
    std::vector<TensorId> old{TensorId::none, TensorId::none};
    if (past != TensorId::none) {
      const Shape shape = parts_.shape(past);
      if (shape.size() != 5) fail("its past is {}", to_text(shape));
      old = parts_.split("past", past, 0, {1, 1});
      for (TensorId& each : old)
        each = parts_.reshape("past_heads", each, {shape.begin() + 1, shape.end()});
    }
    set_keys(x[1], x[2], old[0], old[1], ~std::size_t{0}, ~std::size_t{0});
    if (const TensorId present = output_of(node_, 1); present != TensorId::none) {
      Shape apart = parts_.shape(keys_);
      apart.insert(apart.begin(), 1);
      parts_.add("present", "Concat",
                 {parts_.reshape("present_key", keys_, apart),
                  parts_.reshape("present_value", values_, apart)},
                 {{"axis", std::int64_t{0}}}, present);
    }
    if (node_.int_attribute("unidirectional", 0) != 0) hide_later();
    hide_padding(input_of(node_, quantized ? 5 : 3));
    if (!quantized) add_mask(input_of(node_, 5));
    attend(2);
  }

 private:
  // [B, S, H * D] -> [B, H, S, D]; of that form already it stays.
  TensorId to_heads(const std::string& part, TensorId x, std::int64_t heads, std::int64_t size) {
    const Shape shape = parts_.shape(x);
    if (shape.size() == 4) return x;
    if (shape.size() != 3) fail("it is {} and not of heads", to_text(shape));
    const TensorId apart = parts_.reshape(part + "_heads", x, {shape[0], shape[1], heads, size});
    return parts_.transpose(part + "_transpose", apart, {0, 2, 1, 3});
  }

  // Query, key and value, also where they come in one tensor: [B, S, H, 3, D], or keys with values
  // [B, L, H, 2, D].
  std::vector<TensorId> unpacked() {
    std::vector<TensorId> x{input_of(node_, 0), input_of(node_, 1), input_of(node_, 2)};
    const std::size_t from = parts_.shape(x[0]).size() == 5 ? 0 : 1;
    if (x[from] == TensorId::none) fail("it lacks keys");
    const Shape shape = parts_.shape(x[from]);
    if (shape.size() != 5) return x;
    const auto inside = parts_.split("packed", x[from], 3, std::vector<std::int64_t>(3 - from, 1));
    for (std::size_t i = from; i < 3; ++i) {
      x[i] =
          parts_.reshape("unpacked", inside[i - from], {shape[0], shape[1], shape[2] * shape[4]});
    }
    return x;
  }

  void add_bias(std::vector<TensorId>& x, TensorId bias) {
    if (bias == TensorId::none) return;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == TensorId::none || parts_.shape(x[i]).size() != 3) continue;
      const TensorId own = parts_.constant("bias_of_heads", type_, {parts_.shape(x[i])[2]});
      x[i] = parts_.add("bias", "Add", {x[i], own});
    }
  }

  // Past keys and values and the new ones, which are the outputs `key` and `value`. Where the past
  // has room for the new ones they are put into it.
  void set_keys(TensorId k, TensorId v, TensorId past_k, TensorId past_v, std::size_t key,
                std::size_t value) {
    if (k == TensorId::none || v == TensorId::none) fail("it lacks keys or values");
    const TensorId made_k = output_of(node_, key), made_v = output_of(node_, value);
    const Shape shape = parts_.shape(k);
    const bool alone = past_k == TensorId::none && output_of(node_, 1) == TensorId::none;
    if (alone && shape.size() == 3) {
      const TensorId apart =
          parts_.reshape("key_heads", k, {shape[0], shape[1], sizes_.key_heads, sizes_.head_size});
      turned_keys_ = parts_.transpose("key_transpose", apart, {0, 2, 3, 1});
    } else {
      keys_ =
          with_past("key", to_heads("key", k, sizes_.key_heads, sizes_.head_size), past_k, made_k);
      turned_keys_ = parts_.transpose("key_turned", keys_, {0, 1, 3, 2});
    }
    values_ = with_past("value", to_heads("value", v, sizes_.key_heads, sizes_.value_head_size),
                        past_v, made_v);
  }

  TensorId with_past(const std::string& part, TensorId x, TensorId past, TensorId into) {
    if (past == TensorId::none) {
      return into == TensorId::none ? x : parts_.add(part + "_present", "Identity", {x}, {}, into);
    }
    if (parts_.shape(past).size() != 4) fail("its past is {}", to_text(parts_.shape(past)));
    const std::int64_t old = parts_.shape(past)[2];
    if (old == sizes_.keys && old > 0) {
      return parts_.add(part + "_present", "TensorScatter", {past, x}, {}, into);
    }
    return parts_.add(part + "_present", "Concat", {past, x}, {{"axis", std::int64_t{2}}}, into);
  }

  // Rows of the tables of cosines and sines at the tokens' positions, and the rotation as one
  // operator.
  void rotate(const std::string& part, TensorId& x, std::int64_t heads) {
    std::vector<TensorId> inputs{parts_.reshape(
        part + "_heads", x, {sizes_.batch, sizes_.queries, heads, sizes_.head_size})};
    for (const std::size_t table : {7, 8}) {
      if (cosines_.size() == 2 || input_of(node_, table) == TensorId::none) continue;
      const TensorId rows =
          parts_.add("rotary_rows", "Gather", {input_of(node_, table), positions()});
      const Shape shape = parts_.shape(rows);
      cosines_.push_back(
          parts_.reshape("rotary_table", rows, {sizes_.batch, sizes_.queries, 1, shape.back()}));
    }
    inputs.insert(inputs.end(), cosines_.begin(), cosines_.end());
    const Shape shape = parts_.shape(x);
    x = parts_.reshape(part + "_joined", parts_.add(part, "com.microsoft.RotaryEmbedding", inputs),
                       shape);
  }

  // Of every token, [B, S].
  TensorId positions() {
    if (positions_ != TensorId::none) return positions_;
    const TensorId lengths = input_of(node_, 5);
    if (const TensorId given = input_of(node_, 9); given != TensorId::none)
      return positions_ = given;
    if (lengths == TensorId::none || parts_[lengths].elements() != std::uint64_t(sizes_.batch)) {
      fail("it lacks lengths");
    }
    const TensorId first = parts_.reshape("position", lengths, {sizes_.batch, 1});
    if (sizes_.queries == 1) return positions_ = first;
    return positions_ = parts_.add(
               "positions", "Add",
               {first, parts_.constant("steps", parts_[lengths].type, {1, sizes_.queries})});
  }

  // Every query sees no later keys: known scores to add, the same rows for all heads of a group.
  void hide_later() {
    if (sizes_.queries == 1) return;
    masks_.push_back(parts_.constant("causal_mask", type_, {rows_, sizes_.keys}));
  }

  // `lengths` [B] tells how many keys there are; of the queries the last sees all of those.
  void hide_beyond(TensorId lengths) {
    if (lengths == TensorId::none) return;
    const DataType type = parts_[lengths].type;
    Shape rows{sizes_.batch, 1, 1, 1};
    TensorId last = parts_.reshape("length", lengths, rows);
    if (sizes_.queries > 1 && node_.op == "GroupQueryAttention") {
      last = parts_.add("lengths", "Sub",
                        {last, parts_.constant("rows_before", type, {1, 1, sizes_.queries, 1})});
    }
    const TensorId seen = parts_.add(
        "seen", "Less", {parts_.constant("key_numbers", type, {1, 1, 1, sizes_.keys}), last});
    add_hidden(seen);
  }

  // [B] lengths, or 1 where a key counts: [B, L], [B, S, L] or [B, 1, S, L].
  void hide_padding(TensorId padding) {
    if (padding == TensorId::none) return;
    const Shape shape = parts_.shape(padding);
    if (shape.size() < 2) {
      if (parts_[padding].elements() == std::uint64_t(sizes_.batch)) hide_beyond(padding);
      return;  // of other forms than lengths the end of the first part is enough
    }
    Shape wide = shape;
    while (wide.size() < 4) wide.insert(wide.begin() + 1, 1);
    const TensorId seen = parts_.add("seen", "Cast", {parts_.reshape("padding", padding, wide)},
                                     {{"to", std::int64_t{9}}});
    add_hidden(seen);
  }

  void add_hidden(TensorId seen) {
    add_mask(parts_.add("mask", "Where",
                        {seen, parts_.scalar(type_, 0), parts_.scalar(type_, hidden_score)}));
  }

  // Broadcast to [B, H, S, L]; boolean where a key counts. In rows of the group's queries.
  void add_mask(TensorId mask) {
    if (mask == TensorId::none) return;
    if (parts_[mask].type == DataType::boolean) return add_hidden(mask);
    Shape shape = parts_.shape(mask);
    while (shape.size() < 4) shape.insert(shape.begin(), 1);
    if (shape.size() > 4 || shape[3] != sizes_.keys) {
      fail("its mask is {}", to_text(parts_.shape(mask)));
    }
    if (group_ > 1 && (shape[1] > 1 || shape[2] > 1)) {
      const bool of_heads = shape[1] == sizes_.heads;
      const std::int64_t heads = of_heads ? sizes_.key_heads : 1;
      const Shape apart{shape[0], heads, of_heads ? group_ : 1, shape[2], shape[3]};
      mask = parts_.reshape("mask_apart", mask, apart);
      const Shape rows{shape[0], heads, group_, sizes_.queries, shape[3]};
      if (apart != rows) mask = parts_.add("mask_rows", "Expand", {mask, parts_.integers(rows)});
      shape = {shape[0], heads, rows_, shape[3]};
    }
    masks_.push_back(parts_.reshape("mask_shape", mask, shape));
  }

  // Scores of the queries of a group of heads, [B, KH, G * S, L], as rows of one product.
  void attend(std::size_t scores_output) {
    const auto& [batch, heads, key_heads, queries, keys, size, value_size, depth] = sizes_;
    const Shape scores_shape{batch, key_heads, rows_, keys};
    const TensorId wanted = output_of(node_, scores_output);
    const std::int64_t mode = node_.int_attribute("qk_matmul_output_mode", 0);
    const auto put_out = [&](TensorId scores, std::int64_t stage) {
      if (wanted == TensorId::none || stage != mode) return;
      parts_.add("scores_out", "Reshape", {scores, parts_.integers(parts_.shape(wanted))}, {},
                 wanted);
    };
    const double scale = node_.float_attribute("scale", 0);
    const double factor =
        scale > 0 ? scale : 1 / std::sqrt(double(std::max<std::int64_t>(size, 1)));
    TensorId q = parts_.add("scaled_query", "Mul", {query_, parts_.scalar(type_, factor)});
    q = parts_.reshape("query_groups", q, {batch, key_heads, rows_, size});
    TensorId scores = parts_.add("scores", "MatMul", {q, turned_keys_});
    if (parts_.shape(scores) != scores_shape) fail("its scores are {}", to_text(scores_shape));
    put_out(scores, 0);
    const double cap = node_.float_attribute("softcap", 0);
    if (cap > 0) {
      scores = parts_.add("uncapped", "Mul", {scores, parts_.scalar(type_, 1 / cap)});
      scores = parts_.add("capped", "Tanh", {scores});
      scores = parts_.add("softcap", "Mul", {scores, parts_.scalar(type_, cap)});
    }
    put_out(scores, 2);
    for (const TensorId mask : masks_) scores = parts_.add("masked", "Add", {scores, mask});
    put_out(scores, 1);
    scores = parts_.add("softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    put_out(scores, 3);
    const TensorId made = node_.outputs[0];
    TensorId y = parts_.add("context", "MatMul", {scores, values_}, {},
                            group_ == 1 && parts_.shape(made).size() == 4 ? made : TensorId::none);
    if (y == made) return;
    if (parts_.shape(made).size() == 4) {
      parts_.add("context_heads", "Reshape", {y, parts_.integers(parts_.shape(made))}, {}, made);
      return;
    }
    y = parts_.reshape("context_heads", y, {batch, heads, queries, value_size});
    y = parts_.transpose("context_transpose", y, {0, 2, 1, 3});
    parts_.add("context_joined", "Reshape", {y, parts_.integers(parts_.shape(made))}, {}, made);
  }

  Parts& parts_;
  const Node& node_;
  const DataType type_;
  const AttentionSizes sizes_;
  std::int64_t group_ = 1;  // heads that share keys and values
  std::int64_t rows_ = 1;   // of their queries
  TensorId query_ = TensorId::none;
  TensorId keys_ = TensorId::none;         // [B, KH, L, D]
  TensorId turned_keys_ = TensorId::none;  // [B, KH, D, L]
  TensorId values_ = TensorId::none;
  TensorId positions_ = TensorId::none;
  std::vector<TensorId> cosines_;  // and sines
  std::vector<TensorId> masks_;
};

}  // namespace

void make_attention(Parts& parts, const Node& node) {
  AttentionParts attention(parts, node);
  if (node.domain.empty() || is_flex_attention(node)) return attention.standard();
  if (node.op == "GroupQueryAttention") return attention.group_query();
  if (node.op == "Attention" || node.op == "QAttention") return attention.projecting();
  attention.multi_head();
}

}  // namespace npuscope::npu
