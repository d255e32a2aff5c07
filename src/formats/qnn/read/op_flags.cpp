#include "formats/qnn/read/op_trace.hpp"

namespace npuscope::qnn {

Engine OpFlags::engine() const {
  if (hmx) return Engine::hmx;
  if (hvx) return Engine::hvx;
  if (dma || dma_set || dma_wait) return Engine::dma;
  return Engine::other;
}

SpanKind OpFlags::span_kind() const {
  if (dma_wait) return SpanKind::dma_wait;
  if (sync) return SpanKind::sync;
  return SpanKind::op;
}

void add_flag(OpFlags& flags, std::string_view word) {
  if (word == "uses_hmx") flags.hmx = true;
  if (word == "uses_hvx") flags.hvx = true;
  if (word == "dma") flags.dma = true;
  if (word == "dma_set") flags.dma_set = true;
  if (word == "dma_wait") flags.dma_wait = true;
  if (word == "sync") flags.sync = true;
  if (word == "null_exec") flags.null_exec = true;
}

std::vector<std::string_view> texts_in(std::string_view json_array) {
  std::vector<std::string_view> texts;
  for (;;) {
    const std::size_t open = json_array.find('"');
    if (open == std::string_view::npos) return texts;
    std::size_t close = open + 1;
    while (close < json_array.size() && json_array[close] != '"') {
      close += json_array[close] == '\\' ? 2 : 1;
    }
    if (close >= json_array.size()) return texts;
    texts.push_back(json_array.substr(open + 1, close - open - 1));
    json_array.remove_prefix(close + 1);
  }
}

}  // namespace npuscope::qnn
