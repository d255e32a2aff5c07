// The files of a set that fits a page, whole; the identities that QHAS obeys, on random sets; what
// is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/qnn/write/write_dominant_path.hpp"
#include "formats/qnn/write_fixture.hpp"

namespace npuscope::qnn::optrace::write_test {
namespace {

using nlohmann::json;

std::string header(const std::string& type, int minor) {
  return R"({
  "header": {
    "header_version": {
      "major": 1,
      "minor": 0,
      "patch": 0
    },
    "version": {
      "major": 1,
      "minor": )" +
         std::to_string(minor) + R"(,
      "patch": 0
    },
    "artifact_type": ")" +
         type + R"("
  },
"traceEvents": [
)";
}

// Start and duration of the second slice are its own; its arguments repeat the first.
TEST(WriteOpTrace, IsAsTheViewerWritesIt) {
  const std::string input =
      R"~("ID": "0x0000100000000002","HTP Op Type": "q::*InputSlice","Dims": [1,1,2,64],"Data Type": "QUInt8","Rank": 4,"Step Size": 0.00787402,"Zero Offset": 128,"Flags": ["dma"],"Cycles per Packet": 2.5,"QNN Op Type": "Input","QNN Op Name": "Input","Start Cycle": 8000000000000,"Duration (cycles)": 30,"Dominant Path Cycles": 30} })~";
  const std::string wait =
      R"~("ID": "0x0000100400000002","HTP Op Type": "q::*InputSlice","Description": "Waits for a previously started DMA to complete before proceeding","Data Type": "","Rank": 0,"Step Size": 0,"Zero Offset": 0,"Flags": ["dma_wait"],"Cycles per Packet": 3.33333,"QNN Op Type": "Input","QNN Op Name": "Input","Start Cycle": 8000000000040,"Duration (cycles)": 10,"Dominant Path Cycles": 10} })~";
  const std::string product =
      R"~("ID": "0x0000100200000012","HTP Op Type": "q::ForceFormat_Flat","Description": "Flat","Dims": [1,1,2,64],"Data Type": "Float16","Rank": 4,"Step Size": 0,"Zero Offset": 0,"Inputs Ops": ["0x0000100100000012"],"Flags": ["uses_hmx"],"Cycles per Packet": 0,"QNN Op Type": "Softmax","QNN Op Name": "soft\"max\"","Start Cycle": 8000000000084,"Duration (cycles)": 16,"Dominant Path Cycles": 16} })~";
  const std::string softmax =
      R"~("ID": "0x0000100100000012","HTP Op Type": "q::Softmax","Dims": [1,1,2,64],"Data Type": "QUInt8","Rank": 4,"Step Size": 0.5,"Zero Offset": 0,"Inputs Ops": ["0x0000100000000002","0x0000100300000012"],"Flags": ["uses_hvx"],"Cycles per Packet": 2.5,"QNN Op Type": "Softmax","QNN Op Name": "soft\"max\"","Start Cycle": 8000000000060,"Duration (cycles)": 20,"Dominant Path Cycles": 20} })~";
  std::string expected = header("OP_TRACE", 1);
  const auto event = [&](const std::string& name, int tid, int pid, int ts, int dur,
                         const std::string& arguments) {
    expected += fmt::format(
        R"({{ "name": "{}", "ph": "X", "tid": {}, "pid": {}, "ts": {}, "dur": {}, "args": {{ {},)",
        name, tid, pid, ts, dur, arguments);
    expected += '\n';
  };
  const auto lane = [&](int pid, int tid, const std::string& name) {
    expected += fmt::format(
        R"({{ "cat": "__metadata", "pid": {}, "tid": {}, "ph": "M", "name": "thread_name", "args": {{"name": "{}"}}}},)",
        pid, tid, name);
    expected += '\n';
  };
  event("q::*InputSlice", 256, 0, 0, 30, input);
  lane(0, 256, "Type: HMX");
  event("q::*InputSlice", 256, 2, 0, 30, input);
  lane(2, 256, "Core:0 Type: HMX Tid: 256");
  event("q::*InputSlice", 256, 0, 40, 10, wait);
  event("q::*InputSlice", 256, 2, 40, 10, wait);
  event("q::ForceFormat_Flat", 256, 0, 84, 16, product);
  event("q::ForceFormat_Flat", 256, 3, 84, 16, product);
  lane(3, 256, "Core:0 Type: HMX Tid: 256");
  event("q::Softmax", 512, 0, 60, 20, softmax);
  lane(0, 512, "Type: HVX");
  event("q::Softmax", 512, 3, 60, 20, softmax);
  lane(3, 512, "Core:0 Type: HVX Tid: 512");
  event("q::Softmax", 513, 0, 62, 24, softmax);
  lane(0, 513, "Type: HVX");
  event("q::Softmax", 513, 3, 62, 24, softmax);
  lane(3, 513, "Core:0 Type: HVX Tid: 513");
  expected +=
      R"({ "cat": "input_output", "name": "InputOutputFlowEvents", "tid": 256, "pid": 0, "ts": 30, "ph": "s", "id": 0},
{ "cat": "input_output", "name": "InputOutputFlowEvents", "tid": 512, "pid": 0, "ts": 60, "ph": "f", "pb": "e", "id": 0},
{ "cat": "input_output", "name": "InputOutputFlowEvents", "tid": 512, "pid": 0, "ts": 80, "ph": "s", "id": 1},
{ "cat": "input_output", "name": "InputOutputFlowEvents", "tid": 256, "pid": 0, "ts": 84, "ph": "f", "pb": "e", "id": 1},
{ "name": "$Const", "ph": "X", "tid": 1, "pid": 0, "ts": 50, "dur": 5, "args": { "ID": "0x0000100300000012","HTP Op Type": "$Const","Data Type": "Int32","Rank": 0,"Step Size": 0,"Zero Offset": 0} },
{ "cat": "input_output", "name": "InputOutputFlowEvents", "tid": 1, "pid": 0, "ts": 55, "ph": "s", "id": 2},
{ "cat": "input_output", "name": "InputOutputFlowEvents", "tid": 512, "pid": 0, "ts": 60, "ph": "f", "pb": "e", "id": 2},
{ "cat": "sequencer", "name": "SequencerFlowEvents", "tid": 256, "pid": 0, "ts": 50, "ph": "s", "id": 3},
{ "cat": "sequencer", "name": "SequencerFlowEvents", "tid": 512, "pid": 0, "ts": 60, "ph": "f", "pb": "e", "id": 3},
{ "cat": "sequencer", "name": "SequencerFlowEvents", "tid": 512, "pid": 0, "ts": 80, "ph": "s", "id": 4},
{ "cat": "sequencer", "name": "SequencerFlowEvents", "tid": 256, "pid": 0, "ts": 84, "ph": "f", "pb": "e", "id": 4},
{ "cat": "__metadata", "pid": 0, "tid": 1, "ph": "M", "name": "thread_name", "args": {"name": "Non Executed Tensors"}},
{ "cat": "__metadata", "pid": 2, "ph": "M", "name": "process_name", "args": {"name": "QNN::Input", "opid": "0x0000000000000002"}},
{ "cat": "__metadata", "pid": 2, "ph": "M", "name": "process_sort_index", "args": {"sort_index": 2}},
{ "cat": "__metadata", "pid": 3, "ph": "M", "name": "process_name", "args": {"name": "QNN::soft\"max\"", "opid": "0x0000000000000012"}},
{ "cat": "__metadata", "pid": 3, "ph": "M", "name": "process_sort_index", "args": {"sort_index": 18}},
{ "name": "VTCM alloc", "ph": "C", "tid":0, "pid":0, "ts":0, "args": {"": 128}},
{ "name": "VTCM alloc", "ph": "C", "tid":0, "pid":0, "ts":60, "args": {"": 256}},
{ "name": "VTCM alloc", "ph": "C", "tid":0, "pid":0, "ts":100, "args": {"": 0}},
)";
  const auto in_flight = [&](int ts, int vtcm_read, int vtcm_write, int dram_read) {
    const std::pair<const char*, int> values[] = {{"VTCM read", vtcm_read},
                                                  {"VTCM write", vtcm_write},
                                                  {"DRAM read", dram_read},
                                                  {"DRAM write", 0}};
    for (const auto& [name, bytes] : values) {
      expected += fmt::format(
          R"({{ "name": "{}", "ph": "C", "tid":0, "pid":0, "ts":{}, "args": {{"": {}}}}},)", name,
          ts, bytes);
      expected += '\n';
    }
  };
  in_flight(0, 0, 128, 128);
  in_flight(30, 0, 0, 0);
  in_flight(60, 64, 64, 0);
  in_flight(62, 128, 128, 0);
  in_flight(80, 64, 64, 0);
  in_flight(84, 192, 64, 0);
  in_flight(86, 128, 0, 0);
  in_flight(100, 0, 0, 0);
  expected +=
      R"({ "cat": "__metadata", "pid": 0, "ph": "M", "name": "process_name", "args": {"name": "Core 0 Overview"}},
{ "cat": "__metadata", "pid": 0, "ph": "M", "name": "process_sort_index", "args": {"sort_index": 1}}
]}
)";
  EXPECT_EQ(text_of(write_op_trace, page_set()), expected);
}

TEST(WriteRunTrace, IsAsTheViewerWritesIt) {
  const std::string phase =
      R"({{ "name": "{}", "ph": "X", "tid": 0, "pid": 0, "ts": {}, "dur": {}, "args": {{"graph_name": "page", "stat_start_ticks": {}, "stat_end_ticks": {}, "stat_start_cycles": {}, "stat_end_cycles": {}, "summary_htp_frequency_ghz": {}, "summary_inf/s": {}, "summary_time_us": {}}} }},
)";
  const std::string names =
      R"({ "cat": "__metadata", "pid": 0, "tid": 0, "ph": "M", "name": "thread_name", "args": {"name": "Core 0 Execs"}},
{ "cat": "__metadata", "pid": 0, "ph": "M", "name": "process_name", "args": {"name": "page Runtraces"}})";
  const auto line = [&](auto... values) { return fmt::format(fmt::runtime(phase), values...); };
  EXPECT_EQ(text_of(write_run_trace, page_set()),
            header("RUN_TRACE", 1) +
                line("QNN DSP Execute", 0, 192, 1000, 1192, 7999999999500, 8000000000900, "0.14",
                     "100000", "10") +
                line("Graph Execute", 96, 62, 1096, 1158, 7999999999990, 8000000000120, "0.0402581",
                     "309677", "3.22917") +
                names + ",\n" +
                line("QNN DSP Execute", 1000, 48, 2000, 2048, 8000000005000, 8000000009800, "1.92",
                     "400000", "2.5") +
                line("Graph Execute", 1010, 30, 2010, 2040, 8000000006000, 8000000009000, "1.92",
                     "640000", "1.5625") +
                names + "\n]}\n");
}

// Ticks are said to be microseconds; the service's cycles count nowhere.
TEST(WriteViewerText, IsAsTheViewerPrintsIt) {
  EXPECT_EQ(text_of(write_viewer_text, page_set_with_calls()),
            R"(Input Log File Location: page
Log File Created: Thu Jan  1 00:00:00 1970
Time Scale: 1e-06
Epoch Timestamp: 0 Steady Clock Timestamp: 0
Generated using: 
qnn-profile-viewer: v2.45.0.npuscope
qnn-net-run: v2.45.0.npuscope
Backend: v2.45.0.npuscope

Qnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics:
------------------------------------------------------------
Init Stats:
-----------
    NetRun: 24 us
    Backend (RPC (load binary) time): 12 us
    Backend (QNN accelerator (load binary) time): 11 us
    Backend (Accelerator (load binary) time): 10 us
    Backend (QNN (load binary) time): 24 us

Compose Graphs Stats:
--------------
    NetRun: 0 us

De-Init Stats:
--------------
    NetRun: 4 us
    Backend (RPC (deinit) time): 3 us
    Backend (QNN Accelerator (deinit) time): 2 us
    Backend (Accelerator (deinit) time): 1 us
    Backend (QNN (deinit) time): 4 us


Printing All Data Received From Back End

Create From Binary Stats:
RPC (load binary) time : 12  us
QNN accelerator (load binary) time : 11  us
Accelerator (load binary) time : 10  us
QNN (load binary) time : 24  us


Execute Stats: 

Execute Stat 1

Number of HVX threads used : 2  count
RPC (execute) time : 300  us
QNN accelerator (execute) time : 20  us
Num times yield occured : 0  count
Accelerator (execute) time (cycles) : 100  cycles
    Input OpId_2 (cycles) : 40  cycles
    soft"max":OpId_18 (cycles) : 60  cycles
    Output OpId_3 (cycles) : 0  cycles
Accelerator (execute) time : 10  us
Accelerator (execute excluding wait) time : 3  us
Unknown event type :   object
QNN (execute) time : 400  us

Execute Stat 2

Number of HVX threads used : 2  count
RPC (execute) time : 30  us
QNN accelerator (execute) time : 20  us
Num times yield occured : 0  count
Time for initial VTCM acquire : 4  us
Time for HVX + HMX power on and acquire : 2  us
Accelerator (execute) time (cycles) : 17  cycles
    Input OpId_2 (cycles) : 4  cycles
    soft"max":OpId_18 (cycles) : 6  cycles
    Output OpId_3 (cycles) : 7  cycles
Accelerator (execute) time : 2  us
Accelerator (execute excluding wait) time : 1  us
Unknown event type :   object
QNN (execute) time : 40  us

)");
}

TEST(WriteHtpGraph, HasTensorsAndTheirMakersById) {
  const std::string text = text_of(write_htp_graph, page_set());
  EXPECT_THAT(text, testing::HasSubstr(R"(      "0x0000100300000012": {
        "id": 3,
        "type": 4,
        "data_type": 50,
        "dims": [1]

      }
    },
    "nodes": {
      "0x0000100000000002": {
        "type": "q::*InputSlice", 
        "grouping": "Input", 
        "tensor_params": {},
        "scalar_params": {
            "output_step_size": {
              "562": 0.00787402
             },
            "output_zero_offset": {
              "50": 128
             },
            "output_rank": {
              "50": 4
             },
            "qnn_op_type": {
              "1544": "Input"
             },
            "qnn_op_name": {
              "1544": "Input"
             },
            "mem_dram_read": {
              "100": 128
             },
            "mem_dram_write": {
              "100": 0
             },
            "mem_vtcm_read": {
              "100": 0
             },
            "mem_vtcm_write": {
              "100": 128
             },
            "cycles_start": {
              "100": 8000000000000
             },
            "cycles_duration": {
              "100": 30
             },
            "cycles_dominant": {
              "100": 30
             },
            "cycles_per_packet": {
              "100": 2.5
             },
            "op_flags": {
              "1544": "dma"
             }
        },
        "input_names": [],
        "output_names": ["0x0000100000000002"]
      },
)"));
  EXPECT_THAT(text, testing::EndsWith(R"(        "input_names": [
          "0x0000100100000012"
        ],
        "output_names": ["0x0000100200000012"]
      }
    }
  },
  "op_types": [
    "q::*InputSlice",
    "q::ForceFormat_Flat",
    "q::Softmax"
  ]
}
)"));
  const json graph = json::parse(text)["graph"];
  EXPECT_EQ(graph["tensors"].size(), 4u);
  EXPECT_EQ(graph["nodes"].size(), 3u);
}

TEST(WriteQhas, HasOneRowPerSliceAndTheTrueCyclesOfEach) {
  const std::string text = text_of(write_qhas, page_set());
  EXPECT_THAT(text, testing::HasSubstr(R"(                {
                    "htp": 0,
                    "tid": 513,
                    "op_id": "0x100100000012",
                    "htp_op": "q::Softmax",
                    "qnn_op": "soft\"max\"",
                    "qnn_op_type": "Softmax",
                    "dtype": "QUInt8",
                    "rank": 4,
                    "step_size": 0.5,
                    "zero_offset": 0,
                    "dims": [
                        1,
                        1,
                        2,
                        64
                    ],
                    "input_nodes": [
                        "0x100000000002",
                        "0x100300000012"
                    ],
                    "start_cycle": 8000000000062,
                    "cycles": 24,
                    "num_dominant_path_cycles": 4,
                    "percent_dominant_path_cycles": 5.0,
                    "cycles_per_packet": 3.0,
                    "fmt_change": false,
                    "ref_op": false,
                    "hmx": false,
                    "hvx": true,
                    "dma_wait": false,
                    "dma_set": false,
                    "dma": false,
                    "sync": false,
                    "dram_read": 0,
                    "dram_write": 0,
                    "vtcm_read": 64,
                    "vtcm_write": 64
                },
)"));
  const json data = json::parse(text)["data"];
  const json& path = data["dominant_path_htp_0"]["data"];
  ASSERT_EQ(path.size(), 7u);
  EXPECT_EQ(path[3]["dp_cycles"], 4);  // the second slice, until the product takes over
  EXPECT_EQ(path[3]["partial"], true);
  EXPECT_EQ(path[5]["htp_op"], "Accumulated Idle");
  const json& summary = data["htp_overall_summary"]["data"][0];
  EXPECT_EQ(summary["time_us"], 10);
  EXPECT_EQ(summary["graph_execute_us"], 3);
  EXPECT_EQ(summary["peak_vtcm_alloc"], 256);
  // A float32, widened.
  EXPECT_THAT(text, testing::HasSubstr("\"step_size\": 0.007874015718698502,\n"));
}

TEST(WriteQhas, KeepsItsIdentities) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const OptraceSet set = random_set(seed);
    ASSERT_TRUE(check_optrace_set(set)) << check_optrace_set(set).error().message;
    const json data = json::parse(text_of(write_qhas, set))["data"];
    const json& summary = data["htp_overall_summary"]["data"][0];
    const auto sum = [](const json& rows, const char* key) {
      std::int64_t total = 0;
      for (const json& row : rows) total += row[key].get<std::int64_t>();
      return total;
    };
    const json& rows = data["htp_op_instances"]["data"];
    const std::int64_t cycles = sum(rows, "cycles");
    for (const char* table : {"qnn_op_types", "qnn_op_instances_nodes", "htp_op_types"}) {
      EXPECT_EQ(sum(data[table]["data"], "cycles"), cycles) << table;
      for (const char* bytes : {"dram_read", "dram_write", "vtcm_read", "vtcm_write"}) {
        EXPECT_EQ(sum(data[table]["data"], bytes), summary[std::string("total_") + bytes]);
      }
    }
    EXPECT_EQ(sum(summary["htp_resources"]["data"], "cycles_used"), cycles);
    std::int64_t idle = 0, owned = 0;
    for (const json& segment : data["dominant_path_htp_0"]["data"]) {
      (segment["op_id"] == "0x0" ? idle : owned) += segment["dp_cycles"].get<std::int64_t>();
    }
    EXPECT_EQ(owned, sum(rows, "num_dominant_path_cycles"));
    EXPECT_EQ(owned + idle, summary["timeline_cycles"]);
    EXPECT_EQ(summary["htp_nodes"], rows.size());
    EXPECT_EQ(summary["unique_htp_ops"], data["htp_op_types"]["data"].size());
    EXPECT_EQ(summary["unique_qnn_ops"], data["qnn_op_types"]["data"].size());
    EXPECT_EQ(summary["qnn_nodes"], data["qnn_op_instances_nodes"]["data"].size());
  }
}

// Every instance is in the overview once and in its owner's process once, with its own times.
// 96 ticks of 19.2 MHz are 5 us, however many times over.
TEST(WriteQhas, RoundsWholeMicrosecondsDownToThemselves) {
  OptraceSet set = page_set();
  for (std::uint64_t times = 1; times < 300; ++times) {
    Phase& call = set.executes[0][0];
    call.end_ticks = call.start_ticks + 96 * times;
    const auto qhas = json::parse(text_of(write_qhas, set));
    EXPECT_EQ(qhas["data"]["htp_overall_summary"]["data"][0]["time_us"], 5 * times);
  }
}

TEST(WriteOpTrace, HasEveryInstanceTwice) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const OptraceSet set = random_set(seed);
    const json trace = json::parse(text_of(write_op_trace, set));
    using Place = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // tid, ts, dur
    std::multiset<Place> overview, copies, instances;
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), shown_first = first;
    for (const Instance& run : set.instances) {
      first = std::min(first, std::int64_t(run.start_cycle));
    }
    std::set<std::int64_t> flow_starts, flow_ends;
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "s") flow_starts.insert(event["id"].get<std::int64_t>());
      if (event["ph"] == "f") flow_ends.insert(event["id"].get<std::int64_t>());
      if (event["ph"] != "X") continue;
      EXPECT_GE(event["ts"], 0);
      if (event["tid"] == 1) continue;
      (event["pid"] == 0 ? overview : copies).emplace(event["tid"], event["ts"], event["dur"]);
      shown_first = std::min(shown_first, event["ts"].get<std::int64_t>());
    }
    for (const Instance& run : set.instances) {
      instances.emplace(run.tid, std::int64_t(run.start_cycle) - first + shown_first, run.cycles);
    }
    EXPECT_EQ(overview, instances);
    EXPECT_EQ(copies, instances);
    EXPECT_EQ(flow_starts, flow_ends);
  }
}

// At every cycle the best of those that run, looked for one cycle after the other.
TEST(DominantPathOfASet, IsWhatTheRuleSaysCycleByCycle) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const OptraceSet set = random_set(seed);
    const DominantPath path = dominant_path_of(set);
    std::vector<std::uint64_t> owned(set.instances.size());
    std::uint64_t idle = 0;
    for (std::uint64_t cycle = path.start_cycle; cycle < path.end_cycle; ++cycle) {
      const Instance* best = nullptr;
      const auto rank = [&](const Instance& run) {
        const OpFlag flag = set.ops[run.op].flag;
        return std::tuple(flag == OpFlag::uses_hmx   ? 0
                          : flag == OpFlag::uses_hvx ? 1
                                                     : 2,
                          run.tid, run.start_cycle);
      };
      for (const Instance& run : set.instances) {
        if (cycle < run.start_cycle || cycle >= run.start_cycle + run.cycles) continue;
        if (best == nullptr || rank(run) < rank(*best)) best = &run;
      }
      if (best == nullptr) {
        ++idle;
      } else {
        ++owned[std::size_t(best - set.instances.data())];
      }
    }
    EXPECT_EQ(path.owned, owned);
    EXPECT_EQ(path.total_idle, idle);
  }
}

TEST(CheckOptraceSet, NamesWhatContradictsItself) {
  const auto problem = [](auto change) {
    OptraceSet set = page_set();
    change(set);
    const Status status = check_optrace_set(set);
    return status ? std::string("none") : status.error().message;
  };
  EXPECT_EQ(problem([](OptraceSet&) {}), "none");
  EXPECT_EQ(problem([](OptraceSet& set) { set.ops[1].id = set.ops[0].id; }),
            "optrace: two ops have the id 0x0000100000000002");
  EXPECT_EQ(problem([](OptraceSet& set) { set.ops[1].inputs.push_back(5); }),
            "optrace op 1: its input 5 is not in the set");
  EXPECT_EQ(problem([](OptraceSet& set) { set.ops[2].owner = 9; }),
            "optrace op 2: its type 3 or owner 9 is not in the set");
  EXPECT_EQ(problem([](OptraceSet& set) { set.instances[0].op = 3; }),
            "optrace instance 0: op 3 is not one that executes");
  EXPECT_EQ(problem([](OptraceSet& set) { set.instances[2].tid = 600; }),
            "optrace instance 2: no lane has tid 600");
  EXPECT_EQ(problem([](OptraceSet& set) { set.instances[1].start_cycle = 8'000'000'000'000; }),
            "optrace: two instances start at cycle 8000000000000 on tid 256");
  EXPECT_EQ(problem([](OptraceSet& set) { set.instances.clear(); }), "optrace: no op was executed");
  EXPECT_EQ(problem([](OptraceSet& set) { set.executes[0].pop_back(); }),
            "optrace: the first execute has no phase Graph Execute");
  EXPECT_EQ(problem([](OptraceSet& set) { set.executes[1][0].end_ticks = 0; }),
            "optrace execute 1: QNN DSP Execute ends before it starts");
}

TEST(CheckOptraceSet, HoldsCallsAgainstExecutesAndInstances) {
  const auto problem = [](auto change) {
    OptraceSet set = page_set_with_calls();
    change(set);
    const Status status = check_optrace_set(set);
    return status ? std::string("none") : status.error().message;
  };
  EXPECT_EQ(problem([](OptraceSet&) {}), "none");
  EXPECT_EQ(problem([](OptraceSet& set) { set.calls.clear(); }), "none");
  EXPECT_EQ(problem([](OptraceSet& set) { set.calls.pop_back(); }),
            "optrace: 1 calls of 2 executes");
  EXPECT_EQ(problem([](OptraceSet& set) { set.calls[1].op_cycles.pop_back(); }),
            "optrace call 1: cycles of 3 ops, the graph has 4");
  EXPECT_EQ(problem([](OptraceSet& set) { ++set.calls[0].op_cycles[1]; }),
            "optrace call 0: 41 cycles of op Input, its instances have 40");
  EXPECT_EQ(problem([](OptraceSet& set) { ++set.calls[1].op_cycles[1]; }), "none");
}

TEST(OptraceFiles, HaveATextOnlyWhenTheSetHasCalls) {
  EXPECT_EQ(optrace_files(page_set(), "x").size(), 4u);
  EXPECT_EQ(optrace_files(page_set_with_calls(), "x").back(), "x_profile.txt");
}

TEST(WriteOptraceSet, EscapesWhatNamesMayContain) {
  OptraceSet set = page_set();
  set.graph_name = "a\"b\\c\n\x01\xff\xc3\xa9";
  for (const auto write : {write_op_trace, write_htp_graph, write_run_trace, write_qhas}) {
    set.graph_ops[1].name = set.graph_name;
    EXPECT_TRUE(json::accept(text_of(write, set)));
  }
  EXPECT_EQ(json::parse(text_of(write_qhas, set))["model_id"], "a\"b\\c\n\x01\xEF\xBF\xBD\xc3\xa9");
}

}  // namespace
}  // namespace npuscope::qnn::optrace::write_test
