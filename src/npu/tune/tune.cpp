#include "npu/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "base/try.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/tune/trial.hpp"

namespace npuscope::npu {
namespace {

constexpr std::uint32_t max_batch = 64, max_queued = 10;
constexpr double gain = 1.01;  // of throughput, for which a longer queue is worth its latency
// A run may have so much more throughput than its bound; and so much less latency is none.
constexpr double margin = 1.03, as_fast = 1.01;

// A model whose batch is open is looked at with a batch of 1.
Result<ModelFacts> look_at(const TuneRequest& request) {
  ImportOptions import = request.import;
  import.batch = 0;
  auto graph = import_onnx_file(request.model, import);
  if (!graph) {
    import.batch = request.batches.empty() ? 1 : request.batches.front();
    auto with_batch = import_onnx_file(request.model, import);
    if (!with_batch) return tl::unexpected(graph.error());
    graph = std::move(with_batch);
  }
  return facts_of(*graph);
}

bool beats(const TunePoint& a, double latency_s, double samples_per_second) {
  return a.latency_s <= latency_s && a.samples_per_second >= samples_per_second;
}

std::vector<TunePoint> front_of(std::vector<TunePoint> points) {
  std::ranges::stable_sort(points, [](const TunePoint& a, const TunePoint& b) {
    return a.latency_s != b.latency_s ? a.latency_s < b.latency_s
                                      : a.samples_per_second > b.samples_per_second;
  });
  std::vector<TunePoint> front;
  for (TunePoint& point : points) {
    if (front.empty() || point.samples_per_second > front.back().samples_per_second) {
      front.push_back(std::move(point));
    }
  }
  return front;
}

// What messages that differ in numbers alone have in common.
std::string kind_of(const std::string& message) {
  std::string kind;
  for (const char c : message) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) kind += c;
  }
  return kind;
}

class Search {
 public:
  Search(const TuneRequest& request, const ModelFacts& facts) : request_(request), facts_(facts) {}

  Result<TuneResult> run() {
    for (const std::string& target : request_.targets) TRY(search(target));
    if (points_.empty()) return tl::unexpected(*first_refusal_);
    result_.front = front_of(std::move(points_));
    result_.family = facts_.family;
    result_.is_quantized = facts_.is_quantized;
    result_.is_float32 = facts_.is_float32;
    choose();
    return std::move(result_);
  }

 private:
  // Of a target at a precision.
  struct Field {
    TuneConfiguration configuration;
    TrialSpace space;
    std::vector<std::uint32_t> asked_cores = {};
    std::uint32_t own_batch = 0;  // of the model; 0: it has none
    std::size_t first_point = 0;
  };

  Status search(const std::string& target) {
    TRY_AS(space, trial_space(target));
    Field field{.configuration = {.target = target, .architecture = space->architecture},
                .space = *space};
    field.asked_cores = asked_cores(field);
    if (field.asked_cores.empty() && !request_.cores.empty()) return {};
    field.configuration.cores = request_.cores.empty() ? space->cores : field.asked_cores.front();
    if (!request_.batches.empty()) field.configuration.batch = request_.batches.front();
    choose_precision(field);
    field.first_point = points_.size();
    const auto batches = batches_of(field);
    for (const auto& [samples, asked] : batches) {
      const BatchOutcome outcome = search_batch(field, asked);
      const bool may_stop = request_.batches.empty() && samples >= field.own_batch;
      if (outcome == BatchOutcome::better || !may_stop) continue;
      const auto more = std::size_t(std::distance(batches.upper_bound(samples), batches.end()));
      const bool is_refused = outcome == BatchOutcome::refused;
      leave_out(more, "batches",
                fmt::format("{}: a batch of {} {}", target, samples,
                            is_refused ? "is refused" : "brings nothing"));
      break;
    }
    return {};
  }

  void leave_out(std::uint64_t more, const char* what, const std::string& reason) {
    if (more == 0) return;
    const auto found = std::ranges::find(result_.left_out, reason, &TuneRemainder::reason);
    found == result_.left_out.end() ? result_.left_out.push_back({more, what, reason})
                                    : void(found->count += more);
  }

  // Compiled, and run as one activation with nothing queued.
  struct Candidate {
    TuneConfiguration configuration;
    Result<std::unique_ptr<Trial>> trial;
    Result<Served> alone;
  };

  static Candidate made(const TuneRequest& request, const TuneConfiguration& configuration) {
    Candidate candidate{configuration, compile_trial(request, configuration), {}};
    if (candidate.trial) candidate.alone = (*candidate.trial)->serve(1, 1);
    return candidate;
  }

  // Whether it can be tried; counts it.
  bool is_usable(const Candidate& candidate) {
    if (!candidate.trial) {
      refuse("programs", candidate.trial.error());
      return false;
    }
    ++result_.compiled;
    if (!candidate.alone) refuse("runs", candidate.alone.error());
    return candidate.alone.has_value();
  }

  void refuse(const char* what, const Error& error) {
    if (!first_refusal_) first_refusal_ = error;
    const auto same = [&](const TuneRemainder& known) {
      return kind_of(known.reason) == kind_of(error.message);
    };
    const auto found = std::ranges::find_if(result_.refused, same);
    found == result_.refused.end() ? result_.refused.push_back({1, what, error.message})
                                   : void(++found->count);
  }

  // Tries one program of each, which says how large the model's own batch is, too.
  void choose_precision(Field& field) {
    using enum TunePrecision;
    const bool both = field.space.converts_to_fp16 && facts_.has_wide_floats && !request_.precision;
    field.configuration.precision = both ? fp16
                                    : field.space.converts_to_fp16
                                        ? request_.precision.value_or(as_given)
                                        : as_given;
    const Candidate first = made(request_, field.configuration);
    if (!is_usable(first)) return;
    field.own_batch = (*first.trial)->batch;
    if (!both) return;
    TuneConfiguration other = field.configuration;
    other.precision = as_given;
    const Candidate second = made(request_, other);
    if (!is_usable(second)) return;
    const double halved = first.alone->latency_s, whole = second.alone->latency_s;
    if (whole < halved) field.configuration.precision = as_given;
    leave_out(1, "precisions",
              fmt::format("{}: {} takes {:.2f} times as long", field.configuration.target,
                          field.configuration.precision == fp16 ? "float32" : "-convert-to-fp16",
                          std::max(whole, halved) / std::min(whole, halved)));
  }

  // What they are, and what is asked for to have them: 0 for the model's own.
  std::map<std::uint32_t, std::uint32_t> batches_of(const Field& field) const {
    std::map<std::uint32_t, std::uint32_t> batches;
    if (request_.batches.empty()) {
      if (field.own_batch > 0) batches[field.own_batch] = 0;
      for (std::uint32_t batch = 1; field.space.takes_batches && batch <= max_batch; batch *= 2) {
        batches.emplace(batch, batch);
      }
      if (batches.empty()) batches[1] = 0;
    }
    for (const std::uint32_t batch : request_.batches) batches.emplace(batch, batch);
    return batches;
  }

  // Those of --cores that the target has, the most first.
  std::vector<std::uint32_t> asked_cores(const Field& field) {
    std::vector<std::uint32_t> counts = request_.cores;
    std::ranges::sort(counts, std::greater());
    const std::uint32_t all = std::max(1u, field.space.cores);
    std::erase_if(counts, [&](std::uint32_t cores) {
      if (cores <= all) return false;
      refuse("programs",
             {ErrorKind::usage, fmt::format("--cores {}: {} has {} core{}; give no more", cores,
                                            field.configuration.target, all, all > 1 ? "s" : "")});
      return true;
    });
    return counts;
  }

  // As many as go to each activation of one, two, three … of them: fewer leave cores without work.
  std::vector<std::uint32_t> cores_of(const Field& field) {
    if (!request_.cores.empty()) return field.asked_cores;
    const std::uint32_t all = field.space.cores;
    std::vector<std::uint32_t> counts;
    if (all == 0) return {0};
    for (std::uint32_t activations = 1; activations <= all; ++activations) {
      if (counts.empty() || counts.back() != all / activations) counts.push_back(all / activations);
    }
    leave_out(all - counts.size(), "programs", "as many activations have more cores each");
    return counts;
  }

  enum class BatchOutcome : std::uint8_t { refused, no_better, better };

  BatchOutcome search_batch(const Field& field, std::uint32_t batch) {
    TuneConfiguration configuration = field.configuration;
    configuration.batch = batch;
    const std::size_t before = points_.size();
    const std::vector<std::uint32_t> counts = cores_of(field);
    std::vector<std::optional<Candidate>> candidates(counts.size());
    parallel_for(counts.size(), [&](std::size_t i) {
      TuneConfiguration own = configuration;
      own.cores = counts[i];
      candidates[i].emplace(made(request_, own));
    });
    bool any_compiled = false;
    for (const auto& candidate : candidates) {
      if (!is_usable(*candidate)) continue;
      any_compiled = true;
      const Trial& trial = **candidate->trial;
      if (trial.cores < candidate->configuration.cores && request_.cores.empty()) {
        leave_out(1, "programs", "the compiler leaves cores without work");
      } else {
        run_activations(candidate->configuration, trial, *candidate->alone);
      }
    }
    const std::vector<TunePoint> known(points_.begin() + std::ptrdiff_t(field.first_point),
                                       points_.begin() + std::ptrdiff_t(before));
    const bool any_better = std::any_of(
        points_.begin() + std::ptrdiff_t(before), points_.end(), [&](const TunePoint& point) {
          return std::ranges::none_of(known, [&](const TunePoint& old) {
            return beats(old, point.latency_s, point.samples_per_second);
          });
        });
    return !any_compiled ? BatchOutcome::refused
           : any_better  ? BatchOutcome::better
                         : BatchOutcome::no_better;
  }

  // All first: where they do not slow each other down, fewer are no better.
  static std::vector<std::uint32_t> up_to(std::uint32_t max) {
    std::vector<std::uint32_t> counts{max};
    for (std::uint32_t count = std::bit_floor(max); count > 0; count /= 2) {
      if (count < max) counts.push_back(count);
    }
    return counts;
  }

  void run_activations(TuneConfiguration configuration, const Trial& trial, const Served& alone) {
    const auto wanted =
        request_.activations.empty() ? up_to(trial.max_activations) : request_.activations;
    for (const std::uint32_t activations : wanted) {
      if (activations > trial.max_activations) {
        refuse("runs",
               {ErrorKind::usage,
                fmt::format("--activations {} on {} core{} each: {} runs {} at most", activations,
                            std::max(1u, configuration.cores), configuration.cores > 1 ? "s" : "",
                            configuration.target, trial.max_activations)});
        continue;
      }
      configuration.activations = activations;
      run_queues(configuration, trial, alone);
    }
  }

  void run_queues(TuneConfiguration configuration, const Trial& trial, const Served& alone) {
    const bool given = !request_.queued.empty();
    std::vector<std::uint32_t> lengths = given ? request_.queued : std::vector<std::uint32_t>{};
    for (std::uint32_t length = 1; !given && length <= (trial.has_queue ? max_queued : 1);
         ++length) {
      lengths.push_back(length);
    }
    double reached = 0;
    for (const std::uint32_t queued : lengths) {
      if (queued > 1 && !trial.has_queue) {
        refuse("runs",
               {ErrorKind::usage, fmt::format("--queued {}: {} runs one inference after the other",
                                              queued, configuration.target)});
        continue;
      }
      configuration.queued = queued;
      const double least = as_fast * std::max(alone.latency_s, queued * alone.least_device_s);
      const double most = margin * configuration.activations * trial.batch / alone.least_device_s;
      if (std::ranges::any_of(points_, [&](const TunePoint& p) { return beats(p, least, most); })) {
        leave_out(given ? 1 : lengths.size() - queued + 1, "runs",
                  "another configuration is better than their bounds");
        if (given) continue;
        return;
      }
      const bool is_alone = configuration.activations == 1 && queued == 1;
      const Result<Served> served =
          is_alone ? alone : trial.serve(configuration.activations, queued);
      if (!served) return refuse("runs", served.error());
      ++result_.run;
      points_.push_back({configuration, trial.batch, served->latency_s, served->latency_99_s,
                         served->samples_per_second});
      if (!given && served->samples_per_second < gain * reached) {
        return leave_out(lengths.size() - queued, "runs",
                         "a longer queue brings less than 1 % more throughput");
      }
      reached = served->samples_per_second;
    }
  }

  void choose() {
    const auto& front = result_.front;
    const bool wants_rate = request_.samples_per_second.has_value();
    if (!request_.latency_s && !wants_rate && !request_.most_throughput) return;
    const double limit = request_.latency_s.value_or(std::numeric_limits<double>::infinity());
    const double least = request_.samples_per_second.value_or(0);
    const auto beyond = std::ranges::find_if(
        front, [&](const TunePoint& point) { return point.latency_s > limit; });
    const auto enough = std::ranges::find_if(
        front, [&](const TunePoint& point) { return point.samples_per_second >= least; });
    const auto index = [&](auto at) { return std::size_t(at - front.begin()); };
    result_.is_reached = beyond != front.begin() && enough != front.end() && enough < beyond;
    if (beyond == front.begin()) {
      result_.chosen = 0;
    } else if (!result_.is_reached || request_.latency_s || request_.most_throughput) {
      result_.chosen = index(beyond) - 1;
    } else {
      result_.chosen = index(enough);
    }
  }

  const TuneRequest& request_;
  const ModelFacts& facts_;
  std::vector<TunePoint> points_;
  std::optional<Error> first_refusal_;
  TuneResult result_;
};

}  // namespace

Result<TuneResult> tune(const TuneRequest& request) {
  for (const std::string& target : request.targets) TRY(find_target_file(target));
  if (request.targets.empty()) return usage_error("no target is named; name one (--target)");
  TRY_AS(facts, look_at(request));
  return Search(request, *facts).run();
}

}  // namespace npuscope::npu
