#include "npuscope/npu/models/architecture.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::npu {
namespace {

// Far beyond any published model, and small enough that a file of it can be made.
constexpr std::int64_t max_layers = 4096;
constexpr std::int64_t max_heads = 1 << 14;
constexpr std::int64_t max_width = 1 << 20;   // hidden, head and feed-forward sizes
constexpr std::int64_t max_tokens = 1 << 24;  // vocabulary, sequence, context, positions
constexpr std::int64_t max_batch = 1 << 20;

constexpr std::int64_t default_positions = 512;

Result<Architecture> find_base(std::string_view base) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) {
    if (preset.architecture.name == base) return preset.architecture;
    names.push_back(preset.architecture.name);
  }
  Architecture custom;
  custom.name = base;
  if (base == "decoder") {
    custom.kind = ModelKind::decoder;
  } else if (base == "encoder") {
    custom.kind = ModelKind::encoder;
    custom.max_positions = default_positions;
    custom.norm_epsilon = 1e-12;
  } else {
    return usage_error(
        "unknown model '{}'{}; use one of {}, decoder, encoder", base,
        did_you_mean(fmt::format("{}, decoder, encoder", fmt::join(names, ", ")), base),
        fmt::join(names, ", "));
  }
  return custom;
}

template <class T>
void apply(const std::optional<T>& change, T& value) {
  if (change) value = *change;
}

void apply(const ArchitectureChanges& changes, Architecture& architecture) {
  apply(changes.name, architecture.name);
  apply(changes.hidden_size, architecture.hidden_size);
  apply(changes.layers, architecture.layers);
  apply(changes.heads, architecture.heads);
  apply(changes.key_value_heads, architecture.key_value_heads);
  apply(changes.head_size, architecture.head_size);
  apply(changes.feed_forward_size, architecture.feed_forward_size);
  apply(changes.vocabulary_size, architecture.vocabulary_size);
  apply(changes.max_positions, architecture.max_positions);
  apply(changes.tied_embeddings, architecture.tied_embeddings);
  apply(changes.query_key_norm, architecture.query_key_norm);
  apply(changes.rotary_base, architecture.rotary_base);
}

Status check_changes_belong(ModelKind kind, const ArchitectureChanges& changes) {
  if (kind == ModelKind::decoder && changes.max_positions) {
    return usage_error("a decoder has no table of positions; leave its size away");
  }
  if (kind == ModelKind::encoder &&
      (changes.tied_embeddings || changes.query_key_norm || changes.rotary_base)) {
    return usage_error(
        "an encoder has no tied embeddings, query and key norm, or rotary base; leave them away");
  }
  return {};
}

// What a custom architecture leaves open follows from the rest.
Status complete(Architecture& architecture, const ArchitectureChanges& changes) {
  const std::pair<const std::optional<std::int64_t>&, std::string_view> needed[] = {
      {changes.hidden_size, "hidden size"},
      {changes.layers, "layers"},
      {changes.heads, "heads"},
      {changes.feed_forward_size, "feed-forward size"},
      {changes.vocabulary_size, "vocabulary size"},
  };
  for (const auto& [change, what] : needed) {
    if (!change) {
      return usage_error("{} {} needs its {}; give it, or start from a preset",
                         architecture.kind == ModelKind::decoder ? "a" : "an",
                         name_of(architecture.kind), what);
    }
  }
  if (!changes.key_value_heads) architecture.key_value_heads = architecture.heads;
  if (!changes.head_size) {
    if (architecture.heads <= 0 || architecture.hidden_size % architecture.heads != 0) {
      return usage_error("hidden size {} does not split into {} heads; give the head size",
                         architecture.hidden_size, architecture.heads);
    }
    architecture.head_size = architecture.hidden_size / architecture.heads;
  }
  return {};
}

Status check_range(std::string_view what, std::int64_t value, std::int64_t max) {
  if (value < 1 || value > max) {
    return usage_error("{} is {}; take 1 to {}", what, value, max);
  }
  return {};
}

Status check_ranges(const Architecture& architecture, const InputSizes& sizes) {
  struct Range {
    std::string_view what;
    std::int64_t value;
    std::int64_t max;
  };
  const bool decoder = architecture.kind == ModelKind::decoder;
  const Range ranges[] = {
      {"hidden size", architecture.hidden_size, max_width},
      {"the number of layers", architecture.layers, max_layers},
      {"the number of heads", architecture.heads, max_heads},
      {"the number of key/value heads", architecture.key_value_heads, max_heads},
      {"head size", architecture.head_size, max_width},
      {"feed-forward size", architecture.feed_forward_size, max_width},
      {"vocabulary size", architecture.vocabulary_size, max_tokens},
      {"batch", sizes.batch, max_batch},
      {"sequence", sizes.sequence, max_tokens},
      decoder ? Range{"context", sizes.context, max_tokens}
              : Range{"the number of positions", architecture.max_positions, max_tokens},
  };
  for (const Range& range : ranges) TRY(check_range(range.what, range.value, range.max));
  return {};
}

Status check_decoder(const Architecture& architecture, const InputSizes& sizes) {
  if (architecture.heads % architecture.key_value_heads != 0) {
    return usage_error("{} heads do not share {} key/value heads evenly; take a divisor",
                       architecture.heads, architecture.key_value_heads);
  }
  if (architecture.head_size % 2 != 0) {
    return usage_error("head size {} is odd but rotary positions turn pairs; take an even one",
                       architecture.head_size);
  }
  if (sizes.sequence > sizes.context) {
    return usage_error("a sequence of {} tokens exceeds the context of {}; raise the context",
                       sizes.sequence, sizes.context);
  }
  if (!std::isfinite(architecture.rotary_base) || architecture.rotary_base <= 1) {
    return usage_error("rotary base {} is not above 1; published models take 10000 and more",
                       architecture.rotary_base);
  }
  return {};
}

Status check_encoder(const Architecture& architecture, const InputSizes& sizes) {
  if (architecture.key_value_heads != architecture.heads) {
    return usage_error("an encoder has as many key/value heads as heads ({}), not {}",
                       architecture.heads, architecture.key_value_heads);
  }
  if (sizes.context != 0) return usage_error("an encoder has no context; leave it away");
  if (sizes.sequence > architecture.max_positions) {
    return usage_error("a sequence of {} tokens exceeds the {} positions; raise the positions",
                       sizes.sequence, architecture.max_positions);
  }
  return {};
}

}  // namespace

std::string_view name_of(ModelKind kind) {
  return kind == ModelKind::decoder ? "decoder" : "encoder";
}

Result<Architecture> make_architecture(std::string_view base, const ArchitectureChanges& changes) {
  TRY_AS(architecture, find_base(base));
  const bool from_preset = architecture->hidden_size > 0;
  TRY(check_changes_belong(architecture->kind, changes));
  apply(changes, *architecture);
  if (!from_preset) TRY(complete(*architecture, changes));
  return architecture;
}

InputSizes default_sizes(const Architecture& architecture) {
  if (architecture.kind == ModelKind::decoder) return {.batch = 1, .sequence = 32, .context = 128};
  return {.batch = 1,
          .sequence = std::min<std::int64_t>(128, architecture.max_positions),
          .context = 0};
}

Status validate(const Architecture& architecture, const InputSizes& sizes) {
  if (architecture.name.empty() || printable(architecture.name) != architecture.name) {
    return usage_error("the name \"{}\" is not plain UTF-8 text; take letters and digits",
                       architecture.name);
  }
  TRY(check_ranges(architecture, sizes));
  return architecture.kind == ModelKind::decoder ? check_decoder(architecture, sizes)
                                                 : check_encoder(architecture, sizes);
}

const std::vector<Preset>& presets() {
  constexpr auto decoder = ModelKind::decoder, encoder = ModelKind::encoder;
  // Hidden size, layers, heads, key/value heads, head size, feed-forward size, vocabulary;
  // positions, tied embeddings, query and key norm, rotary base, epsilon of norms.
  static const std::vector<Preset> all{
      {{"amber-7b", decoder, 4096, 32, 32, 32, 128, 11008, 32000},
       "huggingface.co/LLM360/Amber, config.json"},
      {{"qwen3-0.6b", decoder, 1024, 28, 16, 8, 128, 3072, 151936, 0, true, true, 1e6},
       "huggingface.co/Qwen/Qwen3-0.6B, config.json"},
      {{"bert-base", encoder, 768, 12, 12, 12, 64, 3072, 28996, 512, false, false, 10000, 1e-12},
       "huggingface.co/google-bert/bert-base-cased, config.json"}};
  return all;
}

}  // namespace npuscope::npu
