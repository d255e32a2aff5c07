#include "npu/models/reference.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "npu/models/onnx_interpreter.hpp"

namespace npuscope::npu::test_support {
namespace {

Row times(const Row& x, const std::string& weight, std::int64_t columns) {
  const Array w = random_array(weight, {std::int64_t(x.size()), columns});
  Row out(std::size_t(columns), 0);
  for (std::size_t k = 0; k < x.size(); ++k) {
    for (std::size_t c = 0; c < out.size(); ++c) {
      out[c] += x[k] * w.values[k * out.size() + c];
    }
  }
  return out;
}

Row sum(const Row& a, const Row& b) {
  Row out = a;
  for (std::size_t i = 0; i < a.size(); ++i) out[i] += b[i];
  return out;
}

Row rms_norm(const Row& x, const std::string& weight, double epsilon) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / double(x.size()) + epsilon);
  Row out = random_array(weight, {std::int64_t(x.size())}).values;
  for (std::size_t i = 0; i < x.size(); ++i) out[i] *= x[i] * scale;
  return out;
}

double dot(const Row& a, const Row& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

Row rotated(const Row& x, std::int64_t position, double base) {
  Row out = x;
  const std::size_t half = x.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle = double(position) * std::pow(base, -double(2 * i) / double(x.size()));
    out[i] = x[i] * std::cos(angle) - x[i + half] * std::sin(angle);
    out[i + half] = x[i + half] * std::cos(angle) + x[i] * std::sin(angle);
  }
  return out;
}

// The values weighted by softmax(query x keys / sqrt(size)).
Row attended(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values) {
  Row mixed(query.size(), 0);
  double total = 0;
  for (std::size_t t = 0; t < keys.size(); ++t) {
    const double share = std::exp(dot(query, keys[t]) / std::sqrt(double(query.size())));
    total += share;
    for (std::size_t e = 0; e < mixed.size(); ++e) mixed[e] += share * values[t][e];
  }
  for (double& element : mixed) element /= total;
  return mixed;
}

class ReferenceDecoder {
 public:
  explicit ReferenceDecoder(const Architecture& architecture)
      : a_(architecture), layers_(std::size_t(architecture.layers)) {}

  Row logits(const std::vector<std::int64_t>& tokens) {
    Row x;
    const Array table =
        random_array("model.embed_tokens.weight", {a_.vocabulary_size, a_.hidden_size});
    for (std::size_t position = 0; position < tokens.size(); ++position) {
      x = part(table.values, tokens[position], a_.hidden_size);
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        x = layer(x, i, std::int64_t(position));
      }
    }
    x = rms_norm(x, "model.norm.weight", a_.norm_epsilon);
    if (!a_.tied_embeddings) return times(x, "lm_head.weight", a_.vocabulary_size);
    Row out;
    for (std::int64_t token = 0; token < a_.vocabulary_size; ++token) {
      out.push_back(dot(x, part(table.values, token, a_.hidden_size)));
    }
    return out;
  }

 private:
  struct Head {
    Row key, value;
  };
  using Token = std::vector<Head>;  // one for each key/value head

  Row prepared(const Row& head, const std::string& norm, std::int64_t position) const {
    const Row x = a_.query_key_norm ? rms_norm(head, norm, a_.norm_epsilon) : head;
    return rotated(x, position, a_.rotary_base);
  }

  Row layer(const Row& x, std::size_t index, std::int64_t position) {
    const std::string path = "model.layers." + std::to_string(index) + ".";
    const Row h = rms_norm(x, path + "input_layernorm.weight", a_.norm_epsilon);
    const Row attended = attention(h, path + "self_attn.", layers_[index], position);
    const Row y = sum(x, times(attended, path + "self_attn.o_proj.weight", a_.hidden_size));
    const Row g = rms_norm(y, path + "post_attention_layernorm.weight", a_.norm_epsilon);
    Row gate = times(g, path + "mlp.gate_proj.weight", a_.feed_forward_size);
    const Row up = times(g, path + "mlp.up_proj.weight", a_.feed_forward_size);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
    return sum(y, times(gate, path + "mlp.down_proj.weight", a_.hidden_size));
  }

  Row attention(const Row& h, const std::string& path, std::vector<Token>& past,
                std::int64_t position) {
    const Row q = times(h, path + "q_proj.weight", a_.query_size());
    const Row k = times(h, path + "k_proj.weight", a_.key_value_size());
    const Row v = times(h, path + "v_proj.weight", a_.key_value_size());
    Token token;
    for (std::int64_t i = 0; i < a_.key_value_heads; ++i) {
      token.push_back({prepared(part(k, i, a_.head_size), path + "k_norm.weight", position),
                       part(v, i, a_.head_size)});
    }
    past.push_back(token);
    Row out;
    for (std::int64_t i = 0; i < a_.heads; ++i) {
      const auto shared = std::size_t(i / (a_.heads / a_.key_value_heads));
      const Row query = prepared(part(q, i, a_.head_size), path + "q_norm.weight", position);
      std::vector<Row> keys, values;
      for (const Token& other : past) {
        keys.push_back(other[shared].key);
        values.push_back(other[shared].value);
      }
      const Row mixed = attended(query, keys, values);
      out.insert(out.end(), mixed.begin(), mixed.end());
    }
    return out;
  }

  const Architecture a_;
  std::vector<std::vector<Token>> layers_;
};

class ReferenceEncoder {
 public:
  explicit ReferenceEncoder(const Architecture& architecture) : a_(architecture) {}

  std::vector<Row> run(const std::vector<EncoderToken>& tokens) const {
    std::vector<Row> x;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Row word = row_of("embeddings.word_embeddings.", a_.vocabulary_size, tokens[i].id);
      const Row type = row_of("embeddings.token_type_embeddings.", 2, tokens[i].type);
      const Row place =
          row_of("embeddings.position_embeddings.", a_.max_positions, std::int64_t(i));
      x.push_back(layer_norm(sum(sum(word, type), place), "embeddings.LayerNorm."));
    }
    for (std::int64_t i = 0; i < a_.layers; ++i) {
      x = layer(x, tokens, "encoder.layer." + std::to_string(i) + ".");
    }
    return x;
  }

 private:
  Row row_of(const std::string& table, std::int64_t rows, std::int64_t row) const {
    return part(random_array(table + "weight", {rows, a_.hidden_size}).values, row, a_.hidden_size);
  }

  static Row dense(const Row& x, const std::string& path, std::int64_t columns) {
    return sum(times(x, path + "weight", columns), random_array(path + "bias", {columns}).values);
  }

  Row layer_norm(const Row& x, const std::string& path) const {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / double(x.size());
    double variance = 0;
    for (const double value : x) variance += (value - mean) * (value - mean) / double(x.size());
    Row out = random_array(path + "bias", {a_.hidden_size}).values;
    const Row scale = random_array(path + "weight", {a_.hidden_size}).values;
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] += scale[i] * (x[i] - mean) / std::sqrt(variance + a_.norm_epsilon);
    }
    return out;
  }

  std::vector<Row> layer(const std::vector<Row>& x, const std::vector<EncoderToken>& tokens,
                         const std::string& path) const {
    const std::string self = path + "attention.self.", after = path + "attention.output.";
    std::vector<Row> queries, keys, values, out;
    for (const Row& row : x) {
      queries.push_back(dense(row, self + "query.", a_.query_size()));
      keys.push_back(dense(row, self + "key.", a_.query_size()));
      values.push_back(dense(row, self + "value.", a_.query_size()));
    }
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Row heads = attention(queries[t], keys, values, tokens);
      const Row y = layer_norm(sum(dense(heads, after + "dense.", a_.hidden_size), x[t]),
                               after + "LayerNorm.");
      Row inner = dense(y, path + "intermediate.dense.", a_.feed_forward_size);
      for (double& value : inner) value *= (1 + std::erf(value / std::sqrt(2.0))) / 2;
      out.push_back(layer_norm(sum(dense(inner, path + "output.dense.", a_.hidden_size), y),
                               path + "output.LayerNorm."));
    }
    return out;
  }

  Row attention(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values,
                const std::vector<EncoderToken>& tokens) const {
    Row out;
    for (std::int64_t head = 0; head < a_.heads; ++head) {
      std::vector<Row> seen_keys, seen_values;
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        if (!tokens[t].attended) continue;
        seen_keys.push_back(part(keys[t], head, a_.head_size));
        seen_values.push_back(part(values[t], head, a_.head_size));
      }
      const Row mixed = attended(part(query, head, a_.head_size), seen_keys, seen_values);
      out.insert(out.end(), mixed.begin(), mixed.end());
    }
    return out;
  }

  const Architecture a_;
};

}  // namespace

Row part(const Row& x, std::int64_t index, std::int64_t size) {
  return {x.begin() + index * size, x.begin() + (index + 1) * size};
}

Row reference_logits(const Architecture& decoder, const std::vector<std::int64_t>& tokens) {
  return ReferenceDecoder(decoder).logits(tokens);
}

std::vector<Row> reference_hidden_states(const Architecture& encoder,
                                         const std::vector<EncoderToken>& tokens) {
  return ReferenceEncoder(encoder).run(tokens);
}

}  // namespace npuscope::npu::test_support
