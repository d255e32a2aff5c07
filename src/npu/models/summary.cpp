#include "npu/models/summary.hpp"

#include "base/try.hpp"

#include <vector>

namespace npuscope::npu {
namespace {

// Counts that notice when they no longer fit in 63 bits instead of wrapping round.
class CheckedCount {
 public:
  CheckedCount(std::int64_t value) : value_(value) {}  // NOLINT: counts mix with plain sizes

  CheckedCount& operator+=(CheckedCount other) {
    overflowed_ |= other.overflowed_ || __builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  CheckedCount& operator*=(CheckedCount other) {
    overflowed_ |= other.overflowed_ || __builtin_mul_overflow(value_, other.value_, &value_);
    return *this;
  }
  friend CheckedCount operator+(CheckedCount a, CheckedCount b) { return a += b; }
  friend CheckedCount operator*(CheckedCount a, CheckedCount b) { return a *= b; }

  CheckedCount padded_to(std::int64_t multiple) const {
    CheckedCount padded = *this + (multiple - 1);
    padded.value_ -= padded.value_ % multiple;
    return padded;
  }

  bool overflowed() const { return overflowed_; }
  std::uint64_t value() const { return std::uint64_t(value_); }

 private:
  std::int64_t value_ = 0;
  bool overflowed_ = false;
};

constexpr std::int64_t float16_bytes = 2;

// `count` products of [rows x depth] by [depth x columns].
struct Product {
  CheckedCount count;
  CheckedCount rows;
  CheckedCount depth;
  CheckedCount columns;
};

// The two products of attention: queries by keys, and weights by values.
std::vector<Product> attention_products(const Architecture& a, const InputSizes& sizes,
                                        std::int64_t attended_tokens) {
  const CheckedCount count = CheckedCount(a.layers) * sizes.batch * a.heads;
  return {{count, sizes.sequence, a.head_size, attended_tokens},
          {count, sizes.sequence, attended_tokens, a.head_size}};
}

std::vector<Product> decoder_products(const Architecture& a, const InputSizes& sizes) {
  const CheckedCount tokens = CheckedCount(sizes.batch) * sizes.sequence;
  auto products = attention_products(a, sizes, sizes.context);
  products.push_back({a.layers, tokens, a.hidden_size, a.query_size()});
  products.push_back({a.layers * 2, tokens, a.hidden_size, a.key_value_size()});
  products.push_back({a.layers, tokens, a.query_size(), a.hidden_size});
  products.push_back({a.layers * 2, tokens, a.hidden_size, a.feed_forward_size});
  products.push_back({a.layers, tokens, a.feed_forward_size, a.hidden_size});
  products.push_back({1, sizes.batch, a.hidden_size, a.vocabulary_size});
  return products;
}

std::vector<Product> encoder_products(const Architecture& a, const InputSizes& sizes) {
  const CheckedCount tokens = CheckedCount(sizes.batch) * sizes.sequence;
  auto products = attention_products(a, sizes, sizes.sequence);
  products.push_back({a.layers * 3, tokens, a.hidden_size, a.query_size()});
  products.push_back({a.layers, tokens, a.query_size(), a.hidden_size});
  products.push_back({a.layers, tokens, a.hidden_size, a.feed_forward_size});
  products.push_back({a.layers, tokens, a.feed_forward_size, a.hidden_size});
  return products;
}

CheckedCount decoder_parameters(const Architecture& a) {
  const CheckedCount attention =
      CheckedCount(a.hidden_size) * 2 * (a.query_size() + a.key_value_size());
  const CheckedCount feed_forward = CheckedCount(a.hidden_size) * a.feed_forward_size * 3;
  const CheckedCount norms = 2 * a.hidden_size + (a.query_key_norm ? 2 * a.head_size : 0);
  const CheckedCount table = CheckedCount(a.hidden_size) * a.vocabulary_size;
  return (attention + feed_forward + norms) * a.layers + table * (a.tied_embeddings ? 1 : 2) +
         a.hidden_size;
}

CheckedCount encoder_parameters(const Architecture& a) {
  const CheckedCount attention =
      CheckedCount(a.hidden_size) * 4 * a.query_size() + 3 * a.query_size() + a.hidden_size;
  const CheckedCount feed_forward =
      CheckedCount(a.hidden_size) * 2 * a.feed_forward_size + a.feed_forward_size + a.hidden_size;
  constexpr std::int64_t token_types = 2;
  const CheckedCount tables =
      CheckedCount(a.hidden_size) * (a.vocabulary_size + a.max_positions + token_types);
  const CheckedCount norm = 2 * a.hidden_size;  // scale and bias
  return (attention + feed_forward + norm * 2) * a.layers + tables + norm;
}

}  // namespace

Result<ModelSummary> summarize(const Architecture& architecture, const InputSizes& sizes) {
  TRY(validate(architecture, sizes));
  const bool decoder = architecture.kind == ModelKind::decoder;
  const CheckedCount parameters =
      decoder ? decoder_parameters(architecture) : encoder_parameters(architecture);
  const CheckedCount weight_bytes = parameters * float16_bytes;
  CheckedCount retained_bytes = 0;
  if (decoder) {
    retained_bytes = CheckedCount(2 * float16_bytes) * architecture.layers * sizes.batch *
                     sizes.context * architecture.key_value_size();
  }
  CheckedCount macs = 0;
  CheckedCount padded_macs = 0;
  for (const Product& product :
       decoder ? decoder_products(architecture, sizes) : encoder_products(architecture, sizes)) {
    macs += product.count * product.rows * product.depth * product.columns;
    padded_macs += product.count * product.rows.padded_to(padded_row_multiple) * product.depth *
                   product.columns;
  }
  if (weight_bytes.overflowed() || retained_bytes.overflowed() || padded_macs.overflowed()) {
    return usage_error("{}: its sizes multiply to more than 63 bits hold; take smaller ones",
                       architecture.name);
  }
  return ModelSummary{parameters.value(), weight_bytes.value(), retained_bytes.value(),
                      macs.value(), padded_macs.value()};
}

}  // namespace npuscope::npu
