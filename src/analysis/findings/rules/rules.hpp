// All rules, one in each file of this folder.
#pragma once

#include "analysis/findings/rule.hpp"

namespace npuscope::analysis {

extern const Rule aggregate_read_as_wall_rule;
extern const Rule all_zero_rule;
extern const Rule boundary_tax_rule;
extern const Rule cold_inference_rule;
extern const Rule dispatch_bound_rule;
extern const Rule dma_issue_rule;
extern const Rule exposed_communication_rule;
extern const Rule exposed_dma_rule;
extern const Rule false_dependency_rule;
extern const Rule first_calls_rule;
extern const Rule host_bound_rule;
extern const Rule host_fallback_rule;
extern const Rule host_overhead_rule;
extern const Rule idle_between_rule;
extern const Rule imbalance_rule;
extern const Rule memory_bound_rule;
extern const Rule mostly_empty_rule;
extern const Rule no_unit_busy_rule;
extern const Rule one_core_rule;
extern const Rule one_thread_rule;
extern const Rule overrun_rule;
extern const Rule serialised_rule;
extern const Rule slow_packets_rule;
extern const Rule slower_than_estimated_rule;
extern const Rule softmax_rule;
extern const Rule spill_rule;
extern const Rule system_throughput_rule;
extern const Rule throttled_clock_rule;
extern const Rule tiny_dma_rule;
extern const Rule transpose_rule;
extern const Rule uncounted_waits_rule;
extern const Rule uneven_threads_rule;
extern const Rule vector_bound_rule;

}  // namespace npuscope::analysis
