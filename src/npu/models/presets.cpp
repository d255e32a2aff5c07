#include "npuscope/npu/models/architecture.hpp"

namespace npuscope::npu {
namespace {

Architecture amber_7b() {
  Architecture amber;
  amber.name = "amber-7b";
  amber.kind = ModelKind::decoder;
  amber.hidden_size = 4096;
  amber.layers = 32;
  amber.heads = 32;
  amber.key_value_heads = 32;
  amber.head_size = 128;
  amber.feed_forward_size = 11008;
  amber.vocabulary_size = 32000;
  return amber;
}

Architecture qwen3_0_6b() {
  Architecture qwen;
  qwen.name = "qwen3-0.6b";
  qwen.kind = ModelKind::decoder;
  qwen.hidden_size = 1024;
  qwen.layers = 28;
  qwen.heads = 16;
  qwen.key_value_heads = 8;
  qwen.head_size = 128;
  qwen.feed_forward_size = 3072;
  qwen.vocabulary_size = 151936;
  qwen.tied_embeddings = true;
  qwen.query_key_norm = true;
  qwen.rotary_base = 1e6;
  return qwen;
}

Architecture bert_base() {
  Architecture bert;
  bert.name = "bert-base";
  bert.kind = ModelKind::encoder;
  bert.hidden_size = 768;
  bert.layers = 12;
  bert.heads = 12;
  bert.key_value_heads = 12;
  bert.head_size = 64;
  bert.feed_forward_size = 3072;
  bert.vocabulary_size = 28996;
  bert.max_positions = 512;
  bert.norm_epsilon = 1e-12;
  return bert;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {amber_7b(), "huggingface.co/LLM360/Amber, config.json"},
      {qwen3_0_6b(), "huggingface.co/Qwen/Qwen3-0.6B, config.json"},
      {bert_base(), "huggingface.co/google-bert/bert-base-cased, config.json"},
  };
  return all;
}

}  // namespace npuscope::npu
