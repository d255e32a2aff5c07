#include "formats/ascend/capture_files.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>

namespace npuscope::ascend {
namespace {

constexpr std::int64_t epoch = 1'736'408'883'704'643'212;  // beyond what a double holds

struct Kind {
  const char *name, *type, *core;
};
constexpr std::array<Kind, 5> kinds{{{"trans_TransData_0", "TransData", "AI_VECTOR_CORE"},
                                     {"Conv2D1", "Conv2D", "AI_CORE"},
                                     {"aclnnMul_MulAiCore_Mul", "Mul", "AI_VECTOR_CORE"},
                                     {"aclnnMm_MatMulCommon_MatMulV2", "MatMulV2", "AI_CORE"},
                                     {"aclnnTopk_TopkV2_TopKV2", "TopKV2", "MIX_AIV"}}};

// "1736408883704643.212", and a tab where the profiler has one.
std::string us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::ofstream open(const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path());
  return std::ofstream(file, std::ios::binary);
}

// Every ns of a step marked by who works in it.
void count_step(TrueCapture& capture, int step) {
  std::int64_t begin = std::int64_t{1} << 62, end = 0;
  const auto of_step = [&](const auto& all, const auto& take) {
    for (const auto& each : all) {
      if (each.step == step) take(each);
    }
  };
  const auto widen = [&](const auto& each) {
    begin = std::min(begin, each.start);
    end = std::max(end, each.start + each.duration);
  };
  of_step(capture.kernels, widen);
  of_step(capture.collectives, widen);
  std::vector<std::uint8_t> marks(std::size_t(end - begin), 0);
  const auto mark = [&](std::uint8_t bit) {
    return [&marks, begin, bit](const auto& each) {
      for (std::int64_t at = 0; at < each.duration; ++at) {
        marks[std::size_t(each.start - begin + at)] |= bit;
      }
    };
  };
  of_step(capture.kernels, mark(1));
  of_step(capture.collectives, mark(2));
  const auto count = [&](auto is_it) { return std::ranges::count_if(marks, is_it); };
  capture.computing_ns.push_back(count([](auto m) { return (m & 1) != 0; }));
  capture.communication_ns.push_back(count([](auto m) { return (m & 2) != 0; }));
  capture.exposed_ns.push_back(count([](auto m) { return m == 2; }));
}

}  // namespace

TrueCapture generate(const CaptureOptions& options) {
  TrueCapture capture;
  capture.steps = options.steps;
  capture.first_step = options.first_step;
  std::mt19937 random(options.seed);
  const auto one_of = [&](int count) { return int(random() % unsigned(count)); };
  std::int64_t now = epoch;
  int number = 0;
  for (int step = 0; step < options.steps; ++step) {
    const std::int64_t begin = now;
    for (int i = 0; i < options.kernels; ++i) {
      const Kind& kind = kinds[std::size_t(one_of(int(kinds.size())))];
      TrueKernel kernel;
      kernel.name = kind.name;
      kernel.type = kind.type;
      kernel.core = kind.core;
      kernel.shape = fmt::format("32,{}", 8 * (1 + one_of(3)));
      kernel.wait = i == 0 ? 0 : one_of(9000);
      kernel.start = now + kernel.wait;
      kernel.duration = 20 + one_of(20'000);
      kernel.step = options.first_step + step;
      kernel.stream = one_of(5) == 0 ? 3 : 2;
      kernel.blocks = 1 + one_of(32);
      kernel.core_time = kernel.duration * 9 / 10;
      kernel.cycles = kernel.core_time * kernel.blocks * 9 / 5;  // 1.8 GHz
      now = kernel.start + kernel.duration;
      capture.kernels.push_back(std::move(kernel));
    }
    for (int i = 0; i < options.collectives; ++i) {
      TrueCollective collective;
      collective.name = fmt::format("hcom_allReduce__586_{}_1", number++);
      collective.start = begin + (now - begin) * (2 * i + 1) / (2 * options.collectives);
      collective.duration = 1000 + one_of(int((now - begin) / (2 * options.collectives)));
      collective.transit = collective.duration / 10;
      collective.step = options.first_step + step;
      capture.collectives.push_back(std::move(collective));
    }
    for (const TrueCollective& each : capture.collectives) {
      now = std::max(now, each.start + each.duration);
    }
    now += 50'000;
    count_step(capture, options.first_step + step);
  }
  return capture;
}

void write_kernels(const TrueCapture& capture, Level level, const std::filesystem::path& path) {
  auto file = open(path);
  const bool is_level0 = level == Level::level0;
  switch (level) {
    case Level::level0:
      file << "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block "
              "Dim\n";
      break;
    case Level::level1:
      file << "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start "
              "Time(us),Duration(us),Wait Time(us),Block Dim";
      break;
    case Level::newer:
      file << "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator "
              "Core,Start Time(us),Duration(us),Wait Time(us),Block Num";
      break;
    case Level::op_summary:
      file << "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "
              "Time(us),Task Duration(us),Task Wait Time(us),Block Dim";
      break;
  }
  if (!is_level0) {
    file << ",Input Shapes,Input Data Types,Output Shapes,aicore_time(us),aic_total_cycles,"
            "aic_mac_ratio,aiv_time(us),aiv_total_cycles,cube_utilization(%)\n";
  }
  struct Row {
    std::int64_t start;
    std::string text;
  };
  std::vector<Row> rows;
  const auto add = [&](int step, const std::string& stream, const std::string& name,
                       const std::string& type, const std::string& core, std::int64_t start,
                       std::int64_t duration, std::int64_t wait, int blocks,
                       const std::string& rest) {
    const std::string times =
        fmt::format("{}\t,{},{},{}", us(start), us(duration), us(wait), blocks);
    std::string row;
    switch (level) {
      case Level::level0:
        row = fmt::format("{},{},N/A,{},{}\n", step, name, core == "HCCL" ? core : "N/A", times);
        break;
      case Level::level1:
        row = fmt::format("{},4294967295,N/A,{},{},{},dynamic,{},{},{}\n", step, stream, name, type,
                          core, times, rest);
        break;
      case Level::newer:
        row = fmt::format("{},0,4294967295,N/A,{},{},{},dynamic,{},{},{}\n", step, stream, name,
                          type, core == "HCCL" ? "COMMUNICATION" : core, times, rest);
        break;
      case Level::op_summary:
        row = fmt::format("0,4294967295,N/A,{},{},{},dynamic,{},{},{}\n", stream, name, type, core,
                          times, rest);
        break;
    }
    rows.push_back({start, std::move(row)});
  };
  for (const TrueKernel& kernel : capture.kernels) {
    const bool is_vector = kernel.core != "AI_CORE";
    const std::string none = "0.0,0",
                      worked = fmt::format("{},{}", us(kernel.core_time), kernel.cycles);
    const std::string rest =
        fmt::format(R"("""{}""",FLOAT;FLOAT,"""{}""",{},0.5,{},{})", kernel.shape, kernel.shape,
                    is_vector ? none : worked, is_vector ? worked : none, is_vector ? 0 : 66);
    add(kernel.step, fmt::format("{}", kernel.stream), kernel.name, kernel.type, kernel.core,
        kernel.start, kernel.duration, kernel.wait, kernel.blocks, rest);
  }
  for (const TrueCollective& each : capture.collectives) {
    add(each.step, "N/A", each.name, "hcom_allReduce_", "HCCL", each.start, each.duration, 0, 0,
        "N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A");
  }
  std::ranges::stable_sort(rows, {}, &Row::start);
  for (const Row& row : rows) file << row.text;
}

void write_sums(const TrueCapture& capture, const std::filesystem::path& folder) {
  auto ops = open(folder / "op_statistic.csv");
  ops << "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
         "Time(us),Ratio(%)\n";
  std::map<std::pair<std::string, std::string>, std::pair<int, std::int64_t>> sums;
  for (const TrueKernel& kernel : capture.kernels) {
    auto& [count, ns] = sums[{kernel.type, kernel.core}];
    count += 1;
    ns += kernel.duration;
  }
  for (const auto& [kind, sum] : sums) {
    ops << fmt::format("{},{},{},{},0,0,0,0\n", kind.first, kind.second, sum.first, us(sum.second));
  }
  auto steps = open(folder / "step_trace_time.csv");
  steps << "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage\n";
  for (int i = 0; i < capture.steps; ++i) {
    const auto at = std::size_t(i);
    steps << fmt::format("{},{},{},{},{},0,0\n", capture.first_step + i,
                         us(capture.computing_ns[at]), us(capture.exposed_ns[at]),
                         us(capture.communication_ns[at] - capture.exposed_ns[at]),
                         us(capture.communication_ns[at]));
  }
  auto collectives = open(folder / "communication.json");
  collectives << R"({"step": {"p2p": {}, "collective": {)";
  for (const TrueCollective& each : capture.collectives) {
    collectives << fmt::format(
        R"js("{}@1752": {{"Communication Time Info": {{"Elapse Time(ms)": {:.6f}, "Transit Time(ms)": {:.6f}, "Wait Time(ms)": 0}}, "Communication Bandwidth Info": {{"HCCS": {{"Transit Size(MB)": 2.5}}, "SDMA": {{"Transit Size(MB)": 2.5}}}}}}, )js",
        each.name, double(each.duration) * 1e-6, double(each.transit) * 1e-6);
  }
  collectives << R"js("Total Op Info": {"Communication Time Info": {"Elapse Time(ms)": 9}}}}})js";
}

void write_trace(const TrueCapture& capture, const std::filesystem::path& path) {
  auto file = open(path);
  file << R"([{"ph":"M","name":"process_name","pid":1,"args":{"name":"Python"}},
{"ph":"M","name":"process_name","pid":2,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"process_name","pid":3,"args":{"name":"HCCL"}},
{"ph":"M","name":"thread_name","pid":3,"tid":0,"args":{"name":"Group 0 Communication"}},
{"ph":"M","name":"thread_name","pid":2,"tid":2,"args":{"name":"Stream 2"}},
{"ph":"M","name":"thread_name","pid":2,"tid":3,"args":{"name":"Stream 3"}},
{"ph":"M","name":"process_name","pid":4,"args":{"name":"Overlap Analysis"}})";
  const auto add = [&](std::string_view name, int process, int thread, std::int64_t start,
                       std::int64_t duration) {
    file << fmt::format(
        ",\n{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":\"{}\",\"dur\":{}}}", name,
        process, thread, us(start), us(duration));
  };
  for (int i = 0; i < capture.steps; ++i) {
    const int step = capture.first_step + i;
    std::int64_t begin = std::int64_t{1} << 62, end = 0;
    for (const TrueKernel& kernel : capture.kernels) {
      if (kernel.step != step) continue;
      begin = std::min(begin, kernel.start - 1000);
      end = std::max(end, kernel.start + kernel.duration + 20'000);
    }
    add(fmt::format("ProfilerStep#{}", step), 1, 1, begin, end - begin);
  }
  for (const TrueKernel& kernel : capture.kernels) {
    add(kernel.name, 2, kernel.stream, kernel.start, kernel.duration);
    add("Computing", 4, 0, kernel.start, kernel.duration);
  }
  for (const TrueCollective& each : capture.collectives) {
    add(each.name, 3, 0, each.start + 1, each.duration - 1);  // as the profiler, 1 ns apart
  }
  file << "]\n";
}

void write_sql(const std::string& sql, const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  char* error = nullptr;
  const bool is_written =
      sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
      sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error) == SQLITE_OK;
  const std::string why = error != nullptr ? error : "";
  sqlite3_free(error);
  sqlite3_close(database);
  if (!is_written) throw std::runtime_error("no database: " + why);
}

void write_database(const TrueCapture& capture, const std::filesystem::path& path) {
  std::map<std::string, int> ids;
  const auto id = [&](const std::string& text) {
    return ids.try_emplace(text, int(ids.size())).first->second;
  };
  std::string rows;
  int task = 0, connection = 100;
  const auto add_call = [&](const std::string& name, std::int64_t start) {
    rows += fmt::format("INSERT INTO CANN_API VALUES({},{},20000,{},{},{});\n", start - 3000,
                        start - 2000, (std::int64_t{77} << 32) + 78, connection, id(name));
  };
  for (const TrueKernel& kernel : capture.kernels) {
    rows += fmt::format(
        "INSERT INTO TASK VALUES({},{},0,{},{},77,{},4294967295,{},9,4294967295);\n", kernel.start,
        kernel.start + kernel.duration, connection, task, id("KERNEL_AICORE"), kernel.stream);
    if (kernel.core == "MIX_AIV") {  // what encloses it
      rows +=
          fmt::format("INSERT INTO TASK VALUES({},{},0,{},{},77,{},4294967295,{},9,4294967295);\n",
                      kernel.start - 1, kernel.start + kernel.duration + 1, connection,
                      100'000 + task, id("AI_CORE"), kernel.stream);
    }
    rows += fmt::format(
        "INSERT INTO COMPUTE_TASK_INFO VALUES({},{},{},0,{},{},{},{},{},{},{},{},{});\n",
        id(kernel.name), task, kernel.blocks, id(kernel.core), id(kernel.type), id("ND"),
        id("FLOAT;FLOAT"), id("\"" + kernel.shape + "\""), id("ND"), id("FLOAT"),
        id("\"" + kernel.shape + "\""), kernel.wait);
    const std::string core = kernel.core == "AI_CORE" ? "aic" : "aiv";
    for (const auto& [counter, value] : {std::pair{core + "_total_time", kernel.core_time},
                                         std::pair{core + "_total_cycles", kernel.cycles}}) {
      rows +=
          fmt::format("INSERT INTO TASK_PMU_INFO VALUES({},{},{});\n", task, id(counter), value);
    }
    add_call("launch", kernel.start);
    ++task;
    ++connection;
  }
  for (const TrueCollective& each : capture.collectives) {
    rows += fmt::format("INSERT INTO COMMUNICATION_OP VALUES({},{},{},{},{},0,{},0);\n",
                        id(each.name), each.start, each.start + each.duration, connection,
                        id("group"), id("hcom_allReduce_"));
    add_call("hcom_allReduce_", each.start);
    for (int plane = 0; plane < 2; ++plane) {  // waits for other ranks, then a copy
      const std::int64_t turn = each.start + each.duration - each.transit;
      for (const auto& [type, begin, end] :
           {std::tuple{"Notify_Wait", each.start, turn},
            std::tuple{"Memcpy", turn, each.start + each.duration}}) {
        rows += fmt::format(
            "INSERT INTO TASK VALUES({},{},0,{},{},77,{},{},4,9,4294967295);\n"
            "INSERT INTO COMMUNICATION_TASK_INFO VALUES({},{},{},{});\n",
            begin, end, connection, task, id(type), task, id(each.name), task, id(type), plane);
        ++task;
      }
    }
    ++connection;
  }
  for (int i = 0; i < capture.steps; ++i) {
    std::int64_t begin = std::int64_t{1} << 62, end = 0;
    for (const TrueKernel& kernel : capture.kernels) {
      if (kernel.step != capture.first_step + i) continue;
      begin = std::min(begin, kernel.start - 5000);
      end = std::max(end, kernel.start + kernel.duration + 30'000);
    }
    rows += fmt::format("INSERT INTO STEP_TIME VALUES({},{},{});\n", capture.first_step + i, begin,
                        end);
  }
  std::string names;
  for (const auto& [text, number] : ids) {
    names += fmt::format("INSERT INTO STRING_IDS VALUES({},'{}');\n", number, text);
  }
  write_sql(
      "PRAGMA page_size=512; BEGIN;"
      "CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);"
      "CREATE TABLE NPU_INFO(id INTEGER, name TEXT);"
      "CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, "
      "globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId "
      "INTEGER, taskId INTEGER, modelId INTEGER);"
      "CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim "
      "INTEGER, mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER, "
      "inputDataTypes INTEGER, inputShapes INTEGER, outputFormats INTEGER, outputDataTypes "
      "INTEGER, outputShapes INTEGER, waitNs INTEGER);"
      "CREATE TABLE TASK_PMU_INFO(globalTaskId INTEGER, name INTEGER, value NUMERIC);"
      "CREATE TABLE COMMUNICATION_OP(opName INTEGER, startNs INTEGER, endNs INTEGER, "
      "connectionId INTEGER, groupName INTEGER, opId INTEGER, opType INTEGER, waitNs INTEGER);"
      "CREATE TABLE COMMUNICATION_TASK_INFO(name INTEGER, globalTaskId INTEGER, taskType INTEGER, "
      "planeId INTEGER);"
      "CREATE TABLE CANN_API(startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, "
      "connectionId INTEGER PRIMARY KEY, name INTEGER);"
      "CREATE TABLE STEP_TIME(id INTEGER, startNs INTEGER, endNs INTEGER);"
      "CREATE TABLE AICORE_FREQ(deviceId INTEGER, timestampNs NUMERIC, freq INTEGER);"
      "INSERT INTO ENUM_API_TYPE VALUES(20000,'acl'); INSERT INTO NPU_INFO VALUES(0,'Ascend910B');"
      "INSERT INTO AICORE_FREQ VALUES(0,1736408883704643212,1800);" +
          rows + names + "COMMIT;",
      path);
}

}  // namespace npuscope::ascend
