#include "formats/qnn/read/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

constexpr std::string_view list_key = "\"traceEvents\"";

struct Step {
  std::string_view prefix;
  EstimateStep step;
  std::string_view kind;  // of an op that does nothing else
};
constexpr std::array<Step, 7> steps{
    {{"default_dma (", EstimateStep::transfer, {}},
     {"default_dma_start (", EstimateStep::start, "DMA start"},
     {"default_dma_sync (", EstimateStep::sync, "DMA sync"},
     {"default_hvx_spawn (", EstimateStep::spawn, "HVX spawn"},
     {"default_hvx_validate (", EstimateStep::validate, "HVX validate"},
     // Where matrix work has a thread of its own: HTP v81.
     {"default_hmx_spawn (", EstimateStep::spawn, "HMX spawn"},
     {"default_hmx_validate (", EstimateStep::validate, "HMX validate"}}};

// "default_dma (q::*InputSlice)" is the transfer of q::*InputSlice.
std::pair<EstimateStep, std::string_view> step_of(std::string_view name) {
  for (const Step& each : steps) {
    if (!name.starts_with(each.prefix) || !name.ends_with(')')) continue;
    if (!each.kind.empty()) return {each.step, each.kind};
    return {each.step, name.substr(each.prefix.size(), name.size() - each.prefix.size() - 1)};
  }
  return {EstimateStep::work, name};
}

Engine engine_of_lane(std::string_view name) {
  if (name.starts_with("HVX_DMA") || name.starts_with("DMA")) return Engine::dma;
  if (name.starts_with("HVX")) return Engine::hvx;
  if (name.starts_with("FG") || name.starts_with("HMX")) return Engine::hmx;
  return Engine::other;
}

class EstimateReader {
 public:
  EstimateReader(Estimate& estimate, CountedNotes& losses)
      : estimate_(estimate), events_(estimate.events), losses_(losses) {}

  void read() {
    read_configuration();
    make_lanes();
    for (std::uint32_t row = 0; row < events_.slices.size(); ++row) take(row);
  }

 private:
  std::string_view text(StringId id) const { return events_.strings[id]; }
  ArgumentColumn column(std::string_view key) const {
    return ArgumentColumn(events_.slices.arguments, events_.strings, key);
  }

  void each_field(std::string_view name, auto&& body) {
    const std::string_view json = events_.field(name);
    if (json.empty()) return;
    auto source = open_byte_source(json, std::string(name));
    if (!source) return;
    auto fields = JsonText::load(**source, losses_);
    if (fields)
      fields->each_member(
          [&](std::string_view key, ondemand::value value) { body(*fields, key, value); });
  }

  void read_configuration() {
    each_field("Trace Provenance", [&](JsonText& json, std::string_view key, auto& value) {
      if (key == "Version") estimate_.version = json.text(value, key).value_or("");
    });
    double megahertz = 0, width = 0, channels = 0, efficiency = 1;
    const auto number = [](JsonText& json, std::string_view key, auto& value) {
      const double known = json.number(value, key).value_or(0);
      return known > 0 && known < 1e15 ? known : 0;
    };
    each_field("Hextimate Configuration", [&](JsonText& json, std::string_view key, auto& value) {
      if (key == "soc_type") estimate_.soc = printable(json.text(value, key).value_or(""));
      if (key == "sim_core_freq") estimate_.core_megahertz = number(json, key, value);
      if (key == "vtcm_size_in_bytes") {
        estimate_.vtcm_bytes = std::int64_t(number(json, key, value));
      }
      if (key == "hvx_threads") estimate_.hvx_threads = std::int64_t(number(json, key, value));
      if (key == "sim_ddr_freq") megahertz = number(json, key, value);
      if (key == "sim_ddr_width") width = number(json, key, value);
      if (key == "sim_ddr_channels") channels = number(json, key, value);
      if (key == "sim_ddr_efficiency") efficiency = number(json, key, value);
    });
    // Two transfers a clock: with that, its longer transfers take what their bytes ask for.
    estimate_.ddr_bytes_per_second = 2e6 * megahertz * width * channels * efficiency;
  }

  void make_lanes() {
    for (const chrome::Thread& thread : events_.threads) {
      EstimateLane lane;
      std::string_view process = text(thread.process_id), id = text(thread.thread_id);
      lane.core = std::min(take_number<std::uint32_t>(process).value_or(0), max_cores - 1);
      lane.tid = take_number<std::int64_t>(id).value_or(0);
      lane.process_id = thread.process_id;
      lane.thread_id = thread.thread_id;
      std::string_view name = text(thread.thread_name);
      if (name.ends_with(':')) name.remove_suffix(1);
      lane.engine = engine_of_lane(name);
      lane.name = events_.strings.intern(name);
      estimate_.core_of_thread.push_back(lane.core);
      estimate_.lanes.push_back(lane);
    }
  }

  void take(std::uint32_t row) {
    const std::int64_t start = events_.slices.start[row] / 1000,
                       cycles = events_.slices.duration[row] / 1000;
    if (cycles < 0) {
      return losses_.add(Severity::warning, 0, "events with a negative dur; left out");
    }
    const auto id = parse_id(text(id_.text(row)));
    if (!id) return losses_.add(Severity::warning, 0, "events without an id of an op; left out");
    const bool is_first = estimate_.rows.empty();
    estimate_.first = is_first ? start : std::min(estimate_.first, start);
    const std::int64_t end = saturating_add(start, cycles);
    estimate_.last = is_first ? end : std::max(estimate_.last, end);
    const auto [step, kind] = step_of(text(events_.slices.name[row]));
    const std::uint32_t lane = events_.slices.thread[row];
    const std::uint32_t op = op_of(*id, estimate_.lanes[lane].core);
    describe(estimate_.ops[op], row, lane, step, kind);
    estimate_.rows.push_back(row);
    estimate_.lane.push_back(lane);
    estimate_.op.push_back(op);
    estimate_.steps.push_back(step);
  }

  std::uint32_t op_of(std::uint64_t id, std::uint32_t core) {
    auto& of_core = op_of_[core];
    const auto [place, is_new] = of_core.try_emplace(id, std::uint32_t(estimate_.ops.size()));
    if (is_new) {
      EstimateOp& op = estimate_.ops.emplace_back();
      op.id = id;
      op.core = core;
    }
    return place->second;
  }

  // What moves and computes says what the op is; else a checkpoint's only event does.
  void describe(EstimateOp& op, std::uint32_t row, std::uint32_t lane, EstimateStep step,
                std::string_view kind) {
    const bool works = step == EstimateStep::work || step == EstimateStep::transfer;
    if (op.works || (!works && op.kind != StringId::empty)) return;
    op.works = works;
    op.kind = events_.strings.intern(kind);
    op.engine = engine_of(row, lane);
    if (!works) return;
    read_traffic(text(bytes_.json(row)), op.traffic);
    read_dims(text(dims_.json(row)), op.dims);
  }

  Engine engine_of(std::uint32_t row, std::uint32_t lane) const {
    const std::string_view flags = text(flags_.json(row));
    if (flags.find("uses_hmx") != flags.npos) return Engine::hmx;
    if (flags.find("for_hmx") != flags.npos) return Engine::hmx;
    if (flags.find("for_hvx") != flags.npos) return Engine::hvx;
    if (flags.find("for_dma") != flags.npos) return Engine::dma;
    if (flags.find("scalar") != flags.npos) return Engine::other;
    return estimate_.lanes[lane].engine;
  }

  // {"dram_read": 100352 , "dram_write": 0 , …}: flat and small, and one for each event.
  static void read_traffic(std::string_view json, Traffic& traffic) {
    for (std::size_t kind = 0; kind < Traffic::kinds; ++kind) {
      const std::size_t at = json.find(Traffic::qhas_keys[kind]);
      if (at == json.npos) continue;
      std::string_view rest = json.substr(at + Traffic::qhas_keys[kind].size());
      rest.remove_prefix(std::min(rest.find_first_not_of("\": \t"), rest.size()));
      const auto bytes = take_number<std::int64_t>(rest);
      constexpr std::int64_t max = std::int64_t{1} << 50;
      if (bytes && *bytes >= 0 && *bytes < max) traffic.bytes[kind] = *bytes;
    }
  }

  // The first shape of [[1, 8, 56, 64], …].
  static void read_dims(std::string_view json, std::vector<std::int64_t>& dims) {
    constexpr std::size_t max_rank = 16;
    while (!json.empty() && dims.size() < max_rank) {
      if (json.front() == ']') return;
      if (const auto extent = take_number<std::int64_t>(json)) {
        dims.push_back(*extent);
      } else {
        json.remove_prefix(1);
      }
    }
  }

  Estimate& estimate_;
  chrome::Events& events_;
  CountedNotes& losses_;
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, max_cores> op_of_;
  ArgumentColumn id_ = column("id"), flags_ = column("flags"), bytes_ = column("bw_info"),
                 dims_ = column("dims");
};

// Behind the bracket that closes the first one; npos where none does.
std::size_t end_of_object(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    at = text.find_first_of("\"{}", at);
    if (at == text.npos) break;
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (text[at] == '{') {
      ++depth;
    } else if (--depth == 0) {
      return at + 1;
    }
  }
  return text.npos;
}

// What stands before the date on which it was made.
std::string_view events_of(std::string_view json) {
  return json.substr(0, json.find("\"Trace Provenance\""));
}

}  // namespace

bool is_estimate(std::string_view head) {
  return has_text(head, "\"runlist_idx\"") && has_text(head, "\"bw_info\"");
}

bool is_log_with_estimate(std::string_view head) {
  if (!is_estimate(head)) return false;
  const std::size_t list = head.find(list_key);
  return list != head.npos && head.substr(0, list).find('\0') != head.npos;
}

std::vector<EmbeddedTrace> traces_in(std::string_view log) {
  constexpr std::size_t max_before_list = 256, max_name = 512, max_traces = 256;
  std::vector<EmbeddedTrace> traces;
  std::size_t from = 0;
  for (auto list = log.find(list_key); list != log.npos; list = log.find(list_key, from)) {
    from = list + list_key.size();
    const std::size_t before = std::min(list, max_before_list);
    const std::size_t brace = log.substr(list - before, before).rfind('{');
    if (brace == log.npos) continue;
    const std::size_t begin = list - before + brace;
    EmbeddedTrace trace;
    const std::size_t length = end_of_object(log.substr(begin));
    if (length != log.npos && begin + length <= list) continue;  // another object's
    trace.json = log.substr(begin, length);
    if (length != log.npos) {
      from = begin + length;
      const std::string_view behind = log.substr(from, max_name);
      const auto is_control = [](char c) { return std::uint8_t(c) < ' '; };
      const auto end =
          std::find_if(behind.begin() + (behind.empty() ? 0 : 1), behind.end(), is_control);
      if (behind.starts_with('\n') && end != behind.end()) {
        trace.graph = printable(behind.substr(1, std::size_t(end - behind.begin()) - 1));
      }
    }
    const bool is_known = !traces.empty() && traces.back().graph == trace.graph &&
                          events_of(traces.back().json) == events_of(trace.json);
    if (!is_known) traces.push_back(std::move(trace));
    if (length == log.npos || traces.size() == max_traces) break;
  }
  return traces;
}

Result<Estimate> read_estimate(chrome::Events&& events, CountedNotes& losses) {
  Estimate estimate;
  estimate.events = std::move(events);
  EstimateReader(estimate, losses).read();
  if (estimate.rows.empty()) {
    return input_error("{}: is an estimate without an op; prepare the model again", losses.file());
  }
  return estimate;
}

}  // namespace npuscope::qnn
