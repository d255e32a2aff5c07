#include "formats/qnn/host_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace npuscope::qnn::test {
namespace {

std::string dims_text(const std::vector<std::int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::string event_text(const HostOp& op, const std::string& name, int tid, std::int64_t start,
                       std::int64_t cycles, const char* flag) {
  return fmt::format(
      R"({{"name":"{}","ph":"X","tid":{},"pid":0,"ts":{},"dur":{},"args":{{"id":"0x{:x}",)"
      R"("runlist_idx":0,"func":"made_up","opcode":"","flags":["{}"],"input_dims":[],)"
      R"("dims":[{}],"dmawr":0,"dmabytes":0,"addr":0,"bw_info":{{"dram_read": {} , )"
      R"("dram_write": {} , "vtcm_read": {} , "vtcm_write": {}, "is_dma": {}}}}}}},)"
      "\n",
      name, tid, start, cycles, op.id, flag, dims_text(op.dims), op.ddr_read, op.ddr_write,
      op.vtcm_read, op.vtcm_write, op.work == HostWork::dma ? 1 : 0);
}

std::string events_of(const HostOp& op) {
  if (op.work == HostWork::hmx) {
    return event_text(op, op.kind, 0, op.start, op.cycles, "uses_hmx");
  }
  if (op.work == HostWork::dma) {
    return event_text(op, fmt::format("default_dma_start ({})", op.kind), 0, op.start - 6, 5,
                      "scalar") +
           event_text(op, fmt::format("default_dma ({})", op.kind), 5, op.start, op.cycles,
                      "for_dma");
  }
  const char* const unit = op.work == HostWork::hvx ? "hvx" : "hmx";
  const auto control = [&](const char* step, std::int64_t time) {
    return event_text(op, fmt::format("default_{}_{} ({})", unit, step, op.kind), 0, time, 0,
                      "scalar");
  };
  return control("spawn", op.start) +
         event_text(op, op.kind, op.tid, op.start, op.cycles,
                    op.work == HostWork::hvx ? "for_hvx" : "for_hmx") +
         (op.work == HostWork::hvx ? "" : control("validate", op.start + op.cycles));
}

std::string counter_text(const std::string& name, std::int64_t time, std::int64_t bytes) {
  return fmt::format(R"({{"name":"{}","ph":"C","pid":0,"ts":{},"args":{{"Bytes":{}}}}},)"
                     "\n",
                     name, time, bytes);
}

std::string name_text(const char* what, int tid, const std::string& name) {
  return fmt::format(R"({{"name":"{}","ph":"M","tid":{},"pid":0,"args":{{"name":"{}"}}}},)"
                     "\n",
                     what, tid, name);
}

}  // namespace

std::int64_t HostRun::cycles() const {
  std::int64_t first = 1'000'000'000, last = 0;
  for (const HostOp& op : ops) {
    first = std::min(first, op.work == HostWork::dma ? op.start - 6 : op.start);
    last = std::max(last, op.start + op.cycles);
  }
  return last - first;
}

std::int64_t HostRun::ddr_read() const {
  std::int64_t sum = 0;
  for (const HostOp& op : ops) sum += op.ddr_read;
  return sum;
}

std::int64_t HostRun::ddr_write() const {
  std::int64_t sum = 0;
  for (const HostOp& op : ops) sum += op.ddr_write;
  return sum;
}

HostRun small_host_run() {
  HostRun run;
  run.nodes = {{0x11, "Transpose_token_16", "Transpose", {"Transpose_token_16"}},
               {0x17, "conv0_token_1", "Conv2d", {"DequantizeLinear_token_2", "conv0_token_1"}}};
  run.ops = {
      {0x418b00000002,
       "q::*InputSlice",
       HostWork::dma,
       5,
       6,
       300,
       8192,
       0,
       0,
       8192,
       {1, 8, 8, 32},
       {},
       0,
       1},
      {0x43bd00000011,
       "q::ForceFormat_Crouton",
       HostWork::hvx,
       1,
       400,
       600,
       0,
       0,
       8192,
       8192,
       {1, 8, 8, 32},
       {0x418b00000002},
       1,
       2},
      {0x42e600000017,
       "q::ConvLayer.opt.weights_to_vtcm",
       HostWork::dma,
       5,
       320,
       100,
       2048,
       0,
       0,
       2048,
       {1, 1, 32, 64},
       {},
       0,
       2},
      {0x439200000017,
       "q::ConvLayer_s1.opt",
       HostWork::hmx,
       0,
       1010,
       200,
       0,
       0,
       10240,
       4096,
       {1, 4, 8, 64},
       {0x43bd00000011, 0x42e600000017},
       2,
       3},
      {0x439500000017,
       "q::ConvLayer_s1.opt",
       HostWork::hmx,
       0,
       1210,
       210,
       0,
       0,
       10240,
       4096,
       {1, 4, 8, 64},
       {0x43bd00000011, 0x42e600000017},
       2,
       3},
      {0x43c000000003,
       "q::*OutputSlice",
       HostWork::dma,
       5,
       1430,
       120,
       0,
       8192,
       8192,
       0,
       {1, 8, 8, 64},
       {0x439200000017, 0x439500000017},
       3,
       0},
  };
  run.on_host = {{"hardmax0", "Hardmax"}};
  return run;
}

std::string estimate_json_of(const HostRun& run) {
  std::string text = "{\n  \"traceEvents\": [\n";
  for (const HostOp& op : run.ops) text += events_of(op);
  for (const auto& [time, bytes] : run.vtcm_usage) {
    text += counter_text("TCM usage", time, bytes);
    text += counter_text("TCM allocated", time, 2048);
  }
  text += name_text("process_name", 0, "NSP 0");
  text += name_text("thread_name", 0, "FG:");
  for (int hvx = 1; hvx <= 4; ++hvx) {
    text += name_text("thread_name", hvx, fmt::format("HVX {}:", hvx));
  }
  text += name_text("thread_name", 5, "DMA:");
  if (std::ranges::count(run.ops, HostWork::hmx_thread, &HostOp::work) > 0) {
    text += name_text("thread_name", 6, "HMX 1:");
  }
  text.resize(text.size() - 2);
  return text + fmt::format(R"(
  ],
  "Trace Provenance": {{"Version":"1.1.0","Generation Date":"Sun Nov 29 11:58:47 2026"}},
  "DMA/L2 Access Statistics": {{"min_num_dma_write_bytes":18446744073709551615}},
  "Hextimate Configuration": {{"soc_type":"SA8255","vtcm_size_in_bytes":{},"num_nsps":1,
    "hvx_threads":4,"sim_core_freq":{},"sim_ddr_freq":3196.8,"sim_ddr_width":2,
    "sim_ddr_channels":4,"sim_ddr_efficiency":0.9}}
}})",
                            run.vtcm_bytes, run.megahertz);
}

std::string log_of(const std::vector<HostRun>& runs) {
  std::string text("x \x06\x00\x0c\x00\x00\x00", 8);
  for (const HostRun& run : runs) {
    text += run.graph + std::string("\x00\x00\x19\x00", 4) + estimate_json_of(run) + "\n" +
            run.graph + std::string("\x19\x00\x00\x00QNN Trace Hextimate Event\x00", 30);
  }
  return text + std::string(64, '\0');
}

std::string schematic_of(const HostRun& run) {
  std::string text =
      "# python_pprint_graph_summary, truegraph = 1, inorder=0\n"
      "graph_before_optimization = { # :::BEGIN:graph_before_optimization:::\n"
      "\t0x0000000000000002: {\n\t\t'operation':'q::Input',\n\t\t'inputs' : [],\n\t},\n"
      "\t0x0000000000000003: {\n\t\t'operation':'q::Output',\n\t\t'inputs' : [],\n\t},\n";
  for (const QnnNode& node : run.nodes) {
    std::string inputs;
    for (const std::uint32_t input : node.inputs) inputs += fmt::format("(0x{:x},0),", input);
    text +=
        fmt::format("\t0x{:016x}: {{\n\t\t'operation':'q::QNN_{}',\n\t\t'inputs' : [{}],\n\t}},\n",
                    node.id, node.type, inputs);
  }
  text +=
      "}\ntile_groups = {\n} # tile_groups \n"
      "graph_after_optimization = { # :::BEGIN:graph_after_optimization:::\n"
      "\t0x0000400200000000: {\n\t\t'operation':'$Const',\n# VALUES: 0.000000, \n"
      "\t\t'data': \"00000000\",\n\t\t'inputs' : [],\n\t\t'outputs' : [\t{\n"
      "\t\t\t'dtype': 'Int32', 'rank': 0,\n\t\t\t\t'zero_offset': 0, 'stepsize': 1.0,\n"
      "\t\t\t\t'dims': [],\n\t\t\t},\n\t\t],\n\t},\n";
  for (const HostOp& op : run.ops) {
    std::string inputs;
    for (const std::uint64_t id : op.inputs) inputs += fmt::format("\t\t\t(0x{:x},0),\n", id);
    text += fmt::format(
        "\t0x{:016x}: {{\n\t\t'operation':'{}',\n\t\t'splithist' : [ 0x17, 1, ((1,8,0),)],\n"
        "\t\t'inputs' : [\n{}\t\t],\n\t\t'outputs' : [\t{{\n\t\t\t'dtype': 'QUInt8', 'rank': 4,\n"
        "\t\t\t\t'zero_offset': 126, 'stepsize': 0.0365723446,\n\t\t\t\t'dims': [{}],\n\t\t\t}},\n"
        "\t\t],\n\t}},\n",
        op.id, op.kind, inputs, fmt::join(op.dims, ","));
  }
  text +=
      "}\n# :::END:graph_after_optimization:::\n"
      "for k,v in concrete_ops_info.items():\n    concrete_ops_info[k] = key[v]\n"
      "bandwidth_information = [\n";
  for (const HostOp& op : run.ops) {
    text += fmt::format(
        "{{\"opid\" : 0x{:016x} , \"dram_read\": {} , \"dram_write\": {} , "
        "\"vtcm_read\": {} , \"vtcm_write\": {}, \"is_dma\": {}}},\n",
        op.id, op.ddr_read, op.ddr_write, op.vtcm_read, op.vtcm_write,
        op.work == HostWork::dma ? 1 : 0);
  }
  text += "]\ngraph_res_flags0 = { # :::BEGIN:graph_flag0:::\n\t'graph': {\n";
  for (const HostOp& op : run.ops) {
    text += fmt::format("\t\t0x{:x}: {{\n\t\t\t'flags': ('uses_{}',),\n\t\t}},\n", op.id,
                        op.work == HostWork::dma   ? "dma"
                        : op.work == HostWork::hvx ? "hvx"
                                                   : "hmx");
  }
  text += "\t}\n}\ncheckpoints = []\ncheckpoints.append({\n";
  for (const HostOp& op : run.ops) {
    text += fmt::format("  0x{:x} : [ {} , {} ],\t# Gate cnt = 0\n", op.id, op.waits_for,
                        op.counts_for > 0 ? op.counts_for : -1);
  }
  text += "  # vector list\n})\nqnn_name_translations = {\n";
  for (const QnnNode& node : run.nodes)
    text += fmt::format("0x{:016x}: '{}',\n", node.id, node.name);
  text += fmt::format("}}\nqnn_graph_name = \"{}\"\n", run.graph);
  text +=
      "memgroup_map = { #Number of groups = 1\n 'mg00001': memgroup(bytes=8192, is_tcm=True, "
      "gen_op = '#1',\n      connected_ops = ('#11',),\n          blocks = "
      "interval_set(1,[0x1C]),\n  ),\n}\nopdesc_map ={\n"
      "  '#1': opdesc( 0x443500000002, \"@Sync\", ptr=0x558ad32f0990, runlist_pos = 0,\n"
      "      flags=('any_tcm',),  n_out=1,\n  ),\n"
      "  '#2': opdesc( 0x40270000002b, \"q::Flatten\", ptr=0x558ad32f7990,\n"
      "      category='dummy', flags=('is_dummy_op',), n_out=1,\n  ),\n} # end of opdesc\n"
      "tcm_block_info = {\n    28: (0x1000, 0x2000),\n    29: (0x8000, 0x400),\n"
      "} # end of block_info\n\n#####  End of OpInfoRegisry dump\n";
  return text;
}

std::string csv_of(const HostRun& run, int emulated_executes) {
  const std::int64_t cycles = run.cycles() + 6;
  const auto row = [](const std::string& message, std::int64_t value, const std::string& unit,
                      const std::string& level, const std::string& label) {
    return fmt::format("0,{},{},{},BACKEND,{},{},\n", message, value, unit, level, label);
  };
  std::string text =
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,"
      "Event Identifier,ONNX Source Ops\n";
  text += row("FINALIZE", 168173, "US", "ROOT", "QNN (finalize) time");
  text += row("BACKEND", 0, "US", "ROOT", "Performance Estimates");
  text += row("BACKEND", 0, "US", "SUB-EVENT", "Mode");
  text += row("BACKEND", cycles, "CYCLES", "SUB-EVENT", "Simulated (Accelerator exec cycles)");
  text += row("BACKEND", cycles - 100, "CYCLES", "SUB-EVENT",
              "Simulated (Accelerator exec cycles (lower estimate))");
  text += row("BACKEND", cycles + 250, "CYCLES", "SUB-EVENT",
              "Simulated (Accelerator exec cycles (upper estimate))");
  text += row("BACKEND", std::int64_t(std::floor(double(cycles) / run.megahertz)), "US",
              "SUB-EVENT", "Simulated (Accelerator exec time us)");
  text += row("BACKEND", 0, "US", "SUB-EVENT", "Bandwidth Stats");
  std::int64_t fetched = 0;
  for (const HostOp& op : run.ops) fetched += op.work == HostWork::dma ? op.ddr_read : 0;
  text += row("BACKEND", fetched, "BYTES", "SUB-EVENT", "Input Fill");
  text += row("BACKEND", 0, "BYTES", "SUB-EVENT", "Intermediate Fill");
  text += row("BACKEND", 0, "BYTES", "SUB-EVENT", "Intermediate Spill");
  text += row("BACKEND", run.ddr_write(), "BYTES", "SUB-EVENT", "Output Spill");
  text +=
      row("BACKEND", 0, "US", "SUB-EVENT", "Missing Ops (Number of Ops with no Costs associated)");
  for (int execute = 0; execute < emulated_executes; ++execute) {
    text += row("BACKEND", 0, "COUNT", "ROOT", "Number of HVX threads used");
    text += row("BACKEND", 202435320, "CYCLES", "ROOT", "Accelerator (execute) time (cycles)");
    for (const QnnNode& node : run.nodes) {
      text += row("NODE", 234986 + execute, "CYCLES", "SUB-EVENT",
                  fmt::format("{}:OpId_{} (cycles)", node.name, node.id));
    }
    text += row("BACKEND", 1397055, "US", "ROOT", "Accelerator (execute) time");
    text += row("EXECUTE", 1397350, "US", "ROOT", "QNN (execute) time");
  }
  return text;
}

std::string framework_trace_of(const std::vector<HostRun>& runs) {
  std::string graphs, left_out;
  std::size_t nodes = 0;
  for (const HostRun& run : runs) {
    std::string ops;
    for (const QnnNode& node : run.nodes) {
      std::string sources;
      for (const std::string& source : node.sources) {
        sources +=
            fmt::format(R"({}{{"name": "{}", "type": "OP"}})", sources.empty() ? "" : ", ", source);
        ++nodes;
      }
      ops += fmt::format(R"({}{{"dst_name": "{}", "dst_qnn_op_type": "{}", "sources": [{}]}})",
                         ops.empty() ? "" : ", ", node.name, node.type, sources);
    }
    graphs += fmt::format(R"({}{{"graph_name": "{}", "op_mappings": [{}]}})",
                          graphs.empty() ? "" : ", ", run.graph, ops);
    for (const auto& [name, type] : run.on_host) {
      left_out += fmt::format(
          R"({}{{"node_index": 2, "node_name": "{}", "op_type": "{}", )"
          R"("reason": "Operators of type `{}` are not supported by QNN EP.{} is left out."}})",
          left_out.empty() ? "" : ", ", name, type, type, name);
      ++nodes;
    }
  }
  return fmt::format(
      R"({{"backend_type": "htp", "model_name": "small.onnx", "schema_version": 2, )"
      R"("soc_traces": [], "subgraph_traces": [{}], "summary": {{"total_onnx_nodes": {}, )"
      R"("supported_nodes": {}}}, "unsupported_nodes": [{}]}})",
      graphs, nodes, nodes - 1, left_out);
}

}  // namespace npuscope::qnn::test
