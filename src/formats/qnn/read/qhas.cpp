#include "formats/qnn/read/qhas.hpp"

#include <fmt/format.h>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "formats/qnn/read/artifact_parts.hpp"
#include "formats/qnn/read/json_text.hpp"

namespace npuscope::qnn {
namespace {

using Value = ondemand::value;

// The core at the end of "dominant_path_htp_1".
std::optional<std::uint32_t> core_after(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  const auto core = parse_number<std::uint32_t>(key.substr(prefix.size()));
  return core && *core < max_cores ? core : std::nullopt;
}

class QhasReader {
 public:
  QhasReader(JsonText& json, Qhas& qhas) : json_(json), qhas_(qhas) {}

  void read() {
    json_.each_member([&](std::string_view key, Value value) {
      if (key == "header") qhas_.version = read_header_version(json_, value);
      if (key == "model_id") qhas_.model_id = json_.text(value, key).value_or("");
      if (key == "data") read_sections(value);
    });
  }

 private:
  void read_sections(Value& value) {
    json_.each_member(value, "data", [&](std::string_view section, Value rows) {
      if (section == "htp_overall_summary") {
        each_row(rows, section, [&](Value& row) { read_core(row); });
      } else if (section == "qnn_op_types") {
        each_row(rows, section, [&](Value& row) { read_sum(row, section, qhas_.qnn_types); });
      } else if (section == "qnn_op_instances_nodes") {
        each_row(rows, section, [&](Value& row) { read_sum(row, section, qhas_.qnn_nodes); });
      } else if (section == "htp_op_types") {
        each_row(rows, section, [&](Value& row) { read_sum(row, section, qhas_.htp_types); });
      } else if (section == "htp_op_instances") {
        each_row(rows, section, [&](Value& row) { read_instance(row); });
      } else if (const auto core = core_after(section, "dominant_path_htp_")) {
        each_row(rows, section, [&](Value& row) { read_segment(row, *core); });
      }
    });
  }

  // A section is {"data": [rows]}.
  template <class Body>
  void each_row(Value& section, std::string_view name, Body&& body) {
    json_.each_member(section, name, [&](std::string_view key, Value rows) {
      if (key == "data") json_.each_element(rows, name, body);
    });
  }

  bool take_traffic(std::string_view key, Value& value, Traffic& traffic) {
    for (std::size_t i = 0; i < Traffic::kinds; ++i) {
      if (key != Traffic::qhas_keys[i]) continue;
      take(key, value, traffic.bytes[i]);
      return true;
    }
    return false;
  }
  void take(std::string_view key, Value& value, std::int64_t& into) {
    if (const auto whole = json_.integer(value, key)) into = *whole;
  }
  void take(std::string_view key, Value& value, double& into) {
    if (const auto real = json_.number(value, key)) into = *real;
  }
  void take(std::string_view key, Value& value, bool& into) {
    if (const auto truth = json_.boolean(value, key)) into = *truth;
  }
  void take(std::string_view key, Value& value, StringId& into) {
    if (const auto text = json_.text(value, key)) into = qhas_.strings.intern(*text);
  }
  void take_id(std::string_view key, Value& value, std::uint64_t& into) {
    const auto text = json_.text(value, key);
    const auto id = text ? parse_id(*text) : std::nullopt;
    if (id) into = *id;
    if (text && !id) {
      json_.losses().add(Severity::warning, json_.offset(), "an op id is not 0x and hexadecimal");
    }
  }

  void read_core(Value& row) {
    if (!json_.has_room("htp_overall_summary")) return;
    QhasCore core;
    json_.each_member(row, "htp_overall_summary", [&](std::string_view key, Value value) {
      if (key == "htp_resources") {
        each_row(value, key, [&](Value& resource) { read_resource(resource, core); });
      }
      if (key == "htp") take(key, value, core.core);
      if (key == "percent_idle") take(key, value, core.percent_idle);
      if (key == "percent_utilization") take(key, value, core.percent_utilization);
      if (key == "time_us") take(key, value, core.time_us);
      if (key == "graph_execute_us") take(key, value, core.graph_execute_us);
      if (key == "inf_per_s") take(key, value, core.inferences_per_second);
      if (key == "timeline_cycles") take(key, value, core.timeline_cycles);
      if (key == "peak_vtcm_alloc") take(key, value, core.peak_vtcm_alloc);
      if (key == "unique_qnn_ops") take(key, value, core.unique_qnn_ops);
      if (key == "qnn_nodes") take(key, value, core.qnn_nodes);
      if (key == "unique_htp_ops") take(key, value, core.unique_htp_ops);
      if (key == "htp_nodes") take(key, value, core.htp_nodes);
      if (key.starts_with("total_")) take_traffic(key.substr(6), value, core.traffic);
    });
    qhas_.cores.push_back(std::move(core));
  }

  void read_resource(Value& row, QhasCore& core) {
    if (!json_.has_room("htp_resources")) return;
    QhasResource resource;
    json_.each_member(row, "htp_resources", [&](std::string_view key, Value value) {
      if (key == "type") take(key, value, resource.type);
      if (key == "tid") take(key, value, resource.tid);
      if (key == "start_cycle") take(key, value, resource.start_cycle);
      if (key == "end_cycle") take(key, value, resource.end_cycle);
      if (key == "timeline_cycles") take(key, value, resource.timeline_cycles);
      if (key == "cycles_used") take(key, value, resource.cycles_used);
      if (key == "utilization") take(key, value, resource.utilization);
      take_traffic(key, value, resource.traffic);
    });
    core.resources.push_back(resource);
  }

  void read_sum(Value& row, std::string_view section, std::vector<QhasSum>& into) {
    constexpr std::string_view dominant = "num_dominant_path_cycles_htp_";
    if (!json_.has_room(section)) return;
    QhasSum sum;
    json_.each_member(row, section, [&](std::string_view key, Value value) {
      if (key == "op" || key == "qnn_op") take(key, value, sum.op);
      if (key == "qnn_op_type") take(key, value, sum.op_type);
      if (key == "cycles") take(key, value, sum.cycles);
      if (key == "percent_active_cycles") take(key, value, sum.percent_active);
      if (key == "percent_dominant_path_cycles_htp_0") take(key, value, sum.percent_dominant);
      if (key == "num_htp_ops" || key == "instances") take(key, value, sum.parts);
      if (const auto core = core_after(key, dominant)) {
        if (sum.dominant_path.size() <= *core) sum.dominant_path.resize(*core + 1, missing);
        take(key, value, sum.dominant_path[*core]);
      }
      take_traffic(key, value, sum.traffic);
    });
    if (sum.op == StringId::empty && sum.cycles == missing) {
      return lose("has neither name nor cycles; left out", section);
    }
    into.push_back(std::move(sum));
  }

  void read_instance(Value& row) {
    if (!json_.has_room("htp_op_instances")) return;
    QhasInstance instance;
    instance.first_input = std::uint32_t(qhas_.inputs.size());
    json_.each_member(row, "htp_op_instances", [&](std::string_view key, Value value) {
      take_instance_field(key, value, instance);
    });
    instance.inputs = std::uint32_t(qhas_.inputs.size()) - instance.first_input;
    if (instance.start_cycle == missing || instance.cycles == missing || instance.cycles < 0) {
      return lose("has no start_cycle or no cycles; left out", "htp_op_instances");
    }
    qhas_.instances.push_back(instance);
  }

  void take_instance_field(std::string_view key, Value& value, QhasInstance& instance) {
    if (key == "htp") return take(key, value, instance.core);
    if (key == "tid") return take(key, value, instance.tid);
    if (key == "op_id") return take_id(key, value, instance.id);
    if (key == "htp_op") return take(key, value, instance.htp_op);
    if (key == "qnn_op") return take(key, value, instance.qnn_op);
    if (key == "qnn_op_type") return take(key, value, instance.qnn_op_type);
    if (key == "dtype") return take(key, value, instance.type);
    if (key == "dims") return take_dims(value, instance);
    if (key == "input_nodes") return take_inputs(value);
    if (key == "start_cycle") return take(key, value, instance.start_cycle);
    if (key == "cycles") return take(key, value, instance.cycles);
    if (key == "num_dominant_path_cycles") return take(key, value, instance.dominant_path);
    if (key == "percent_dominant_path_cycles") return take(key, value, instance.percent_dominant);
    if (key == "cycles_per_packet") return take(key, value, instance.cycles_per_packet);
    if (key == "hmx") return take(key, value, instance.hmx);
    if (key == "hvx") return take(key, value, instance.hvx);
    if (key == "dma_wait") return take(key, value, instance.dma_wait);
    if (key == "dma_set") return take(key, value, instance.dma_set);
    if (key == "dma") return take(key, value, instance.dma);
    if (key == "sync") return take(key, value, instance.sync);
    take_traffic(key, value, instance.traffic);
  }

  void take_dims(Value& value, QhasInstance& instance) {
    dims_.clear();
    json_.each_element(value, "dims", [&](Value& element) {
      if (const auto extent = json_.integer(element, "dims")) {
        dims_.push_back(*extent);
      }
    });
    if (!dims_.empty()) instance.dims = qhas_.shapes.intern(dims_);
  }

  void take_inputs(Value& value) {
    json_.each_element(value, "input_nodes", [&](Value& element) {
      std::uint64_t id = 0;
      take_id("input_nodes", element, id);
      if (id != 0) qhas_.inputs.push_back(id);
    });
  }

  void read_segment(Value& row, std::uint32_t core) {
    if (!json_.has_room("dominant_path_htp")) return;
    QhasSegment segment;
    segment.core = core;
    json_.each_member(row, "dominant_path", [&](std::string_view key, Value value) {
      if (key == "op_id") take_id(key, value, segment.id);
      if (key == "htp_op") segment.idle = json_.text(value, key) == "Accumulated Idle";
      if (key == "start_cycle") take(key, value, segment.start_cycle);
      if (key == "end_cycle") take(key, value, segment.end_cycle);
      if (key == "dp_cycles") take(key, value, segment.dominant_path);
    });
    if (segment.start_cycle == missing || segment.end_cycle == missing) {
      return lose("has no start_cycle or no end_cycle; left out", "dominant_path_htp");
    }
    qhas_.segments.push_back(segment);
  }

  void lose(std::string_view why, std::string_view section) {
    json_.losses().add(Severity::warning, json_.offset(),
                       fmt::format("a row of {} {}", section, why));
  }

  JsonText& json_;
  Qhas& qhas_;
  std::vector<std::int64_t> dims_;
};

}  // namespace

Result<Qhas> read_qhas(ByteSource& source, CountedNotes& losses) {
  TRY_AS(json, JsonText::load(source, losses));
  Qhas qhas;
  QhasReader(*json, qhas).read();
  if (qhas.cores.empty() && qhas.instances.empty() && qhas.qnn_nodes.empty() &&
      qhas.qnn_types.empty() && qhas.htp_types.empty()) {
    return input_error("{}: is a QHAS summary without a single row; decode the log again",
                       source.name());
  }
  return qhas;
}

}  // namespace npuscope::qnn
