// What one would work out on paper: bytes that must come from DDR, products, the dearest functions.
#include <algorithm>

#include "npu/models/summary.hpp"
#include "validation/validation.hpp"

namespace npuscope::validation {
namespace {

constexpr double element_bytes = 2;  // float16

double cost_per_kib(const npu::nsp::Target& target, std::initializer_list<const char*> kernels) {
  double cycles = 0;
  for (const char* kernel : kernels) {
    const auto found = target.kernels.find(kernel);
    cycles +=
        (found != target.kernels.end() ? found->second : target.default_kernel).cycles_per_kib;
  }
  return cycles;
}

// Of the tables that are gathered from, few rows are read; a decoder's last product has its own.
double weight_bytes(const npu::Architecture& architecture, const npu::ModelSummary& summary) {
  const bool decoder = architecture.kind == npu::ModelKind::decoder;
  const std::int64_t tables =
      decoder ? (architecture.tied_embeddings ? 0 : architecture.vocabulary_size)
              : architecture.vocabulary_size + architecture.max_positions;
  return double(summary.weight_bytes_float16) -
         element_bytes * double(tables) * double(architecture.hidden_size);
}

}  // namespace

double Roofline::longest() const { return std::max({ddr_s, hmx_s, hvx_s}); }

std::string Roofline::bound() const {
  return longest() == ddr_s ? "memory" : longest() == hmx_s ? "HMX" : "HVX";
}

Roofline roofline_by_hand(const ValidationCase& run, const npu::Architecture& architecture,
                          const npu::nsp::Target& target) {
  Roofline roofline;
  const auto summary = npu::summarize(architecture, run.sizes);
  if (!summary) return roofline;
  const double cores = double(run.cores);
  const bool decoder = architecture.kind == npu::ModelKind::decoder;
  roofline.ddr_bytes =
      weight_bytes(architecture, *summary) + 2 * double(summary->retained_bytes_float16);
  roofline.ddr_s = roofline.ddr_bytes / std::min(target.ddr_bytes_per_s * target.ddr_efficiency,
                                                 target.ddr_bytes_per_s_per_core * cores);
  const double cycles_per_s = target.core_hz * cores;
  roofline.hmx_s = double(summary->padded_multiply_accumulates) /
                   (target.hmx_macs_per_cycle_fp16 * cycles_per_s);
  const double tokens = double(run.sizes.batch) * double(run.sizes.sequence);
  const double seen = double(decoder ? run.sizes.context : run.sizes.sequence);
  const double scores = tokens * double(architecture.heads) * seen * element_bytes / 1024;
  const double inner = tokens * double(architecture.feed_forward_size) * element_bytes / 1024;
  const double of_scores = cost_per_kib(target, {"aicsoftmax", "aicmulsplat", "aicbroadcastadd"});
  const double of_inner = decoder
                              ? cost_per_kib(target, {"elementsigmoid", "elementmul", "elementmul"})
                              : cost_per_kib(target, {"aicmulsplat", "elementerf", "aicaddsplat",
                                                      "elementmul", "aicmulsplat"});
  roofline.hvx_s =
      double(architecture.layers) * (scores * of_scores + inner * of_inner) / cycles_per_s;
  return roofline;
}

}  // namespace npuscope::validation
