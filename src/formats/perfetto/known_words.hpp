// What the data model knows of a span beyond a trace's own arguments, as names of annotations: how
// the writer says it and the reader takes it back.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

enum class Word : std::uint8_t {
  span,
  inference,
  processor_cycles,
  node,
  node_kind,
  memory,
  types,
  shape,
  attributes,
  operands,
  output_bytes,
  op_id,
  engine,
  core,
  group,
  position,
  once_per_inference,
  split_from,
  provider,
  microseconds,  // from here on of phases
  phase,
  parent,
  unit,
  first_kind,  // names of span kinds from here on
};

inline constexpr std::string_view word_prefix = "npuscope.";

inline constexpr std::array<std::string_view, 41> words = {"npuscope.span",
                                                           "npuscope.inference",
                                                           "npuscope.processor cycles",
                                                           "npuscope.node",
                                                           "npuscope.node kind",
                                                           "npuscope.memory",
                                                           "npuscope.types",
                                                           "npuscope.shape",
                                                           "npuscope.attributes",
                                                           "npuscope.operands",
                                                           "npuscope.output bytes",
                                                           "npuscope.op id",
                                                           "npuscope.engine",
                                                           "npuscope.core",
                                                           "npuscope.group",
                                                           "npuscope.position",
                                                           "npuscope.once per inference",
                                                           "npuscope.split from",
                                                           "npuscope.provider",
                                                           "npuscope.microseconds",
                                                           "npuscope.phase",
                                                           "npuscope.parent",
                                                           "npuscope.unit",
                                                           "op",
                                                           "sync",
                                                           "barrier",
                                                           "transfer",
                                                           "inference",
                                                           "activation",
                                                           "host",
                                                           "dma wait",
                                                           "slice",
                                                           "async",
                                                           "instant",
                                                           "kernel",
                                                           "copy",
                                                           "communication",
                                                           "runtime call",
                                                           "wait",
                                                           "annotation",
                                                           "profiler"};
static_assert(words.size() - std::size_t(Word::first_kind) == span_kind_count);

constexpr std::string_view text_of(Word word) { return words[std::size_t(word)]; }

constexpr Word word_of(SpanKind kind) {
  return Word(std::size_t(Word::first_kind) + std::size_t(kind));
}

}  // namespace npuscope::perfetto
