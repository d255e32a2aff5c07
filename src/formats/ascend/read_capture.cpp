#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/ascend/database.hpp"
#include "formats/ascend/profile.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::ascend {
namespace {

// Of a task: kernels and parts of collectives have rows of their own that share this number.
using TaskId = std::int64_t;

struct CommunicationTask {
  StringId type{};
  std::int64_t plane = 0;
};

class CaptureReader {
 public:
  CaptureReader(Database database, std::string file)
      : database_(std::move(database)), losses_(file) {
    capture_.events.file = std::move(file);
  }

  Result<Capture> run() {
    read_names();
    read_kernels();
    read_counters_of_kernels();
    read_communication_tasks();
    read_tasks();
    read_collectives();
    read_calls();
    read_steps();
    link();
    read_samples();
    if (capture_.events.slices.size() == 0) {
      return input_error("{}: a database of Ascend's profiler in which nothing ran{}",
                         capture_.events.file, damage_.empty() ? "" : "; " + damage_);
    }
    losses_.append_to(capture_.events.notes);
    capture_.kernels.file = capture_.events.file;
    capture_.kernels.strings = capture_.events.strings;
    return std::move(capture_);
  }

 private:
  void each(std::string_view table, std::initializer_list<std::string_view> columns,
            const std::function<void(const Row&)>& take) {
    const Status read = database_.each(table, columns, take);
    if (read) return;
    damage_ = without_file(read.error().message, capture_.events.file);
    losses_.add(Severity::error, 0, damage_ + "; what was read before it is kept");
  }

  StringId intern(std::string_view text) {
    return capture_.events.strings.intern(valid_utf8(text));
  }
  StringId named(std::optional<std::int64_t> id) const {
    const auto found = id ? names_.find(*id) : names_.end();
    return found == names_.end() ? StringId::empty : found->second;
  }
  std::string_view text(StringId id) const { return capture_.events.strings[id]; }

  void read_names() {
    each("STRING_IDS", {"id", "value"}, [&](const Row& row) {
      if (const auto id = row.integer(0)) names_.try_emplace(*id, intern(row.text(1)));
    });
    each("ENUM_API_TYPE", {"id", "name"}, [&](const Row& row) {
      if (const auto id = row.integer(0)) levels_.try_emplace(*id, row.text(1));
    });
    each("NPU_INFO", {"id", "name"}, [&](const Row& row) {
      if (capture_.device.empty()) capture_.device = valid_utf8(row.text(1));
    });
    each("META_DATA", {"name", "value"}, [&](const Row& row) {
      if (row.text(0) == "SCHEMA_VERSION") capture_.version = valid_utf8(row.text(1));
    });
  }

  void read_kernels() {
    each("COMPUTE_TASK_INFO",
         {"globalTaskId", "name", "opType", "taskType", "blockDim|block_dim|blockNum",
          "inputShapes", "inputDataTypes", "outputShapes", "waitNs"},
         [&](const Row& row) {
           const auto task = row.integer(0);
           if (!task) return;
           Kernel kernel;
           kernel.name = named(row.integer(1));
           kernel.type = stated(named(row.integer(2)));
           kernel.core = stated(named(row.integer(3)));
           kernel.blocks = row.integer(4).value_or(Kernel::none);
           kernel.inputs = unquoted(named(row.integer(5)));
           kernel.input_types = stated(named(row.integer(6)));
           kernel.outputs = unquoted(named(row.integer(7)));
           kernel.wait_ns = row.integer(8).value_or(Kernel::none);
           kernel_of_.try_emplace(*task, kernel);
         });
  }
  StringId stated(StringId id) const { return text(id) == "N/A" ? StringId::empty : id; }
  StringId unquoted(StringId id) {
    std::string plain(text(stated(id)));
    std::erase(plain, '"');
    return capture_.events.strings.intern(plain);
  }

  void read_counters_of_kernels() {
    std::unordered_map<std::int64_t, std::size_t> places;  // by the name's number
    each("TASK_PMU_INFO", {"globalTaskId", "name", "value"}, [&](const Row& row) {
      const auto task = row.integer(0), name = row.integer(1);
      const auto value = row.number(2);
      if (!task || !name || !value) return;
      const auto [place, is_new] = places.try_emplace(*name, no_place);
      if (is_new) {
        if (auto number = kernel_number(text(named(name)))) {
          place->second = capture_.kernels.numbers.size();
          capture_.kernels.numbers.push_back(std::move(*number));
        }
      }
      if (place->second != no_place) counters_[*task].push_back({place->second, *value});
    });
  }

  void read_communication_tasks() {
    each("COMMUNICATION_TASK_INFO", {"globalTaskId", "taskType", "planeId"}, [&](const Row& row) {
      const auto task = row.integer(0);
      if (!task) return;
      communication_.try_emplace(
          *task, CommunicationTask{named(row.integer(1)), row.integer(2).value_or(0)});
    });
  }

  // One that ends before it begins, or at a time that no clock has, is none.
  bool is_time(std::optional<std::int64_t> begin, std::optional<std::int64_t> end) {
    if (begin && end && *begin >= 0 && *end >= *begin) return true;
    losses_.add(Severity::warning, 0,
                "rows without times, or that end before they start; left out");
    return false;
  }

  std::uint32_t add(std::uint32_t thread, StringId name, StringId category, std::int64_t begin,
                    std::int64_t end) {
    chrome::Slices& slices = capture_.events.slices;
    slices.thread.push_back(thread);
    slices.name.push_back(name);
    slices.category.push_back(category);
    slices.start.push_back(begin);
    slices.duration.push_back(end - begin);
    return std::uint32_t(slices.size() - 1);
  }

  std::uint32_t thread(const std::string& process_id, std::string_view process,
                       const std::string& name) {
    const auto [found, is_new] =
        threads_.try_emplace({process_id, name}, std::uint32_t(capture_.events.threads.size()));
    if (is_new) {
      chrome::Thread made;
      made.process_id = intern(process_id);
      made.process_name = intern(process);
      made.thread_id = made.thread_name = intern(name);
      capture_.events.threads.push_back(made);
    }
    return found->second;
  }

  // Connections of which kernels or parts of collectives are known: their other tasks enclose
  // these.
  std::unordered_set<std::int64_t> known_connections() {
    std::unordered_set<std::int64_t> known;
    each("TASK", {"connectionId", "globalTaskId"}, [&](const Row& row) {
      const auto connection = row.integer(0), task = row.integer(1);
      if (!connection || !task) return;
      if (kernel_of_.contains(*task) || communication_.contains(*task)) known.insert(*connection);
    });
    return known;
  }

  void read_tasks() {
    const std::unordered_set<std::int64_t> known = known_connections();
    each("TASK",
         {"startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId"},
         [&](const Row& row) {
           const auto begin = row.integer(0), end = row.integer(1);
           if (!is_time(begin, end)) return;
           const std::int64_t device = row.integer(2).value_or(0);
           const TaskId task = row.integer(4).value_or(-1);
           const auto kernel = kernel_of_.find(task);
           const auto part = communication_.find(task);
           const std::int64_t stream = row.integer(6).value_or(0);
           const bool is_known = kernel != kernel_of_.end() || part != communication_.end();
           if (!is_known && known.contains(row.integer(3).value_or(-1))) return;
           // The stream has a part of a collective a second time.
           const std::uint32_t of = part != communication_.end()
                                        ? thread(fmt::format("HCCL of {}", device), "HCCL",
                                                 fmt::format("Plane {}", part->second.plane))
                                        : thread(fmt::format("NPU {}", device), "Ascend Hardware",
                                                 fmt::format("Stream {}", stream));
           const StringId name = part != communication_.end() ? part->second.type
                                 : kernel != kernel_of_.end() ? kernel->second.name
                                                              : named(row.integer(5));
           const std::uint32_t slice = add(of, name, StringId::empty, *begin, *end);
           const auto connection = row.integer(3);
           if (connection && *connection >= 0 && part == communication_.end()) {
             launched_.push_back({*connection, slice});
           }
           if (kernel != kernel_of_.end() && part == communication_.end()) {
             Kernel ran = kernel->second;
             ran.device = device;
             ran.stream = stream;
             add_kernel(ran, slice, *begin, *end, task);
           }
         });
  }

  void add_kernel(Kernel kernel, std::uint32_t slice, std::int64_t begin, std::int64_t end,
                  TaskId task) {
    kernel.start_ns = begin;
    kernel.duration_ns = end - begin;
    capture_.kernels.kernels.push_back(kernel);
    capture_.rows.push_back(slice);
    const std::size_t count = capture_.kernels.kernels.size();
    for (KernelNumber& number : capture_.kernels.numbers) {
      number.values.resize(count, KernelNumber::missing);
      number.rates.resize(count, std::numeric_limits<double>::quiet_NaN());
    }
    const auto counters = counters_.find(task);
    if (counters == counters_.end()) return;
    for (const auto& [place, value] : counters->second) {
      KernelNumber& number = capture_.kernels.numbers[place];
      constexpr double most = 9e18;
      number.rates.back() = value;
      if (value >= 0 && value < most) number.values.back() = std::llround(value);
    }
  }

  void read_collectives() {
    each("COMMUNICATION_OP",
         {"startNs", "endNs", "connectionId", "opName", "groupName", "opType", "waitNs"},
         [&](const Row& row) {
           const auto begin = row.integer(0), end = row.integer(1);
           if (!is_time(begin, end)) return;
           const StringId group = named(row.integer(4));
           const auto place = groups_.try_emplace(group, groups_.size()).first->second;
           const std::uint32_t slice = add(thread(fmt::format("HCCL of {}", device()), "HCCL",
                                                  fmt::format("Group {} Communication", place)),
                                           named(row.integer(3)), StringId::empty, *begin, *end);
           if (const auto connection = row.integer(2)) launched_.push_back({*connection, slice});
           Kernel kernel;
           kernel.name = named(row.integer(3));
           kernel.type = stated(named(row.integer(5)));
           kernel.is_collective = true;
           kernel.device = device();
           kernel.wait_ns = row.integer(6).value_or(Kernel::none);
           add_kernel(kernel, slice, *begin, *end, -1);
         });
  }
  std::int64_t device() const {
    return capture_.kernels.kernels.empty() ? 0 : capture_.kernels.kernels.front().device;
  }

  // Process and thread in one number.
  static std::string thread_name(std::int64_t global) {
    return fmt::format("Thread {}", std::uint64_t(global) & 0xffffffffu);
  }

  void read_calls() {
    each(
        "PYTORCH_API", {"startNs", "endNs", "globalTid", "connectionId", "name", "type"},
        [&](const Row& row) {
          const auto begin = row.integer(0), end = row.integer(1);
          if (!is_time(begin, end)) return;
          const std::int64_t global = row.integer(2).value_or(0);
          const StringId name = named(row.integer(4));
          const std::uint32_t slice = add(
              thread(fmt::format("{}", std::uint64_t(global) >> 32), "Python", thread_name(global)),
              name, category_of(row.integer(5), text(name)), *begin, *end);
          has_steps_ |= text(name).starts_with("ProfilerStep#");
          if (const auto connection = row.integer(3)) calls_.push_back({*connection, slice});
        });
    each("CANN_API", {"startNs", "endNs", "globalTid", "connectionId", "name", "type"},
         [&](const Row& row) {
           const auto begin = row.integer(0), end = row.integer(1);
           if (!is_time(begin, end)) return;
           const std::int64_t global = row.integer(2).value_or(0);
           const auto level = levels_.find(row.integer(5).value_or(-1));
           const std::string name =
               fmt::format("{}@{}", level == levels_.end() ? "CANN" : level_name(level->second),
                           text(named(row.integer(4))));
           const std::uint32_t slice =
               add(thread(fmt::format("CANN of {}", std::uint64_t(global) >> 32), "CANN",
                          thread_name(global)),
                   intern(name), StringId::empty, *begin, *end);
           if (const auto connection = row.integer(3)) launchers_.try_emplace(*connection, slice);
         });
  }

  // As the trace calls them.
  static std::string level_name(std::string_view level) {
    if (level == "acl") return "AscendCL";
    std::string name(level);
    if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = char(name[0] - 'a' + 'A');
    return name;
  }
  StringId category_of(std::optional<std::int64_t> type, std::string_view name) {
    const auto level = levels_.find(type.value_or(-1));
    const std::string_view is = level == levels_.end() ? "op" : std::string_view(level->second);
    if (is == "queue") return intern(name.starts_with("Dequeue") ? "dequeue" : "enqueue");
    if (is == "trace") return intern("python_function");
    return intern(is == "op" ? "cpu_op" : is);
  }

  void read_steps() {
    if (has_steps_) return;  // among the host's calls
    each("STEP_TIME", {"id", "startNs", "endNs"}, [&](const Row& row) {
      const auto begin = row.integer(1), end = row.integer(2);
      if (!row.integer(0) || !is_time(begin, end)) return;
      add(thread("steps", "Steps", "Steps"),
          intern(fmt::format("ProfilerStep#{}", *row.integer(0))), StringId::empty, *begin, *end);
    });
  }

  struct Connected {
    std::int64_t connection = 0;
    std::uint32_t slice = 0;
  };

  // A connection has one call of CANN, tasks that it launched, and calls of the framework before
  // it; or it leads from one of these to another.
  void link() {
    std::unordered_map<std::int64_t, std::vector<std::uint32_t>> tasks;
    for (const Connected& each : launched_) tasks[each.connection].push_back(each.slice);
    for (const Connected& each : launched_) {
      const auto from = launchers_.find(each.connection);
      if (from != launchers_.end()) add_flow(from->second, each.slice, "HostToDevice");
    }
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> connections;  // of a call's number
    this->each("CONNECTION_IDS", {"id", "connectionId"}, [&](const Row& row) {
      const auto id = row.integer(0), connection = row.integer(1);
      if (id && connection) connections[*id].push_back(*connection);
    });
    std::map<std::int64_t, std::vector<std::uint32_t>> calls;
    for (const Connected& each : calls_) {
      const auto of = connections.find(each.connection);
      if (of == connections.end()) continue;
      for (const std::int64_t connection : of->second) {
        const auto launched = tasks.find(connection);
        if (launched == tasks.end()) {
          if (!may_link()) return;
          calls[connection].push_back(each.slice);
          continue;
        }
        for (const std::uint32_t task : launched->second) {
          if (!may_link()) return;
          add_flow(each.slice, task, "torch_to_npu");
        }
      }
    }
    const auto& start = capture_.events.slices.start;
    for (auto& [connection, slices] : calls) {
      std::ranges::stable_sort(slices, {}, [&](std::uint32_t slice) { return start[slice]; });
      for (std::size_t i = 1; i < slices.size(); ++i) {
        const std::string_view from = text(capture_.events.slices.name[slices[i - 1]]);
        add_flow(slices[i - 1], slices[i],
                 from.starts_with("Enqueue") ? "enqueue_to_dequeue" : "fwdbwd");
      }
    }
  }

  void add_flow(std::uint32_t from, std::uint32_t to, std::string_view name) {
    capture_.flows.push_back({SpanId(from), SpanId(to), EdgeKind::flow, intern(name), {}});
  }

  // Forged connections could relate every call to every task.
  bool may_link() {
    if (++links_ <= 8 * capture_.events.slices.size()) return true;
    losses_.add(Severity::warning, 0, "more arrows than calls and tasks can have; left out");
    return false;
  }

  void read_samples() {
    const auto add = [&](std::string name, const char* unit, std::optional<std::int64_t> time,
                         std::optional<double> value) {
      if (!time || !value || !std::isfinite(*value)) return;
      capture_.samples.push_back({std::move(name), unit, *time, *value});
    };
    each("AICORE_FREQ", {"timestampNs", "freq"},
         [&](const Row& row) { add("AI Core Freq", "MHz", row.integer(0), row.number(1)); });
    each("HBM", {"timestampNs", "bandwidth", "hbmId", "type"}, [&](const Row& row) {
      add(fmt::format("HBM {}/{}", row.integer(2).value_or(0), text(named(row.integer(3)))), "B/s",
          row.integer(0), row.number(1));
    });
    each("LLC", {"timestampNs", "throughput", "llcId", "mode", "hitRate"}, [&](const Row& row) {
      const std::string name =
          fmt::format("LLC {} {}", row.integer(2).value_or(0), text(named(row.integer(3))));
      add(name, "B/s", row.integer(0), row.number(1));
      add(name + "/hit rate", "%", row.integer(0), row.number(4));
    });
    each("NPU_MEM", {"timestampNs", "hbm", "type"}, [&](const Row& row) {
      add(fmt::format("{}/HBM", text(named(row.integer(2)))), "bytes", row.integer(0),
          row.number(1));
    });
    std::ranges::stable_sort(capture_.samples, {}, &Capture::Sample::time_ns);
  }

  static constexpr std::size_t no_place = ~std::size_t{0};
  Database database_;
  CountedNotes losses_;
  Capture capture_;
  std::string damage_;
  std::unordered_map<std::int64_t, StringId> names_;
  std::unordered_map<std::int64_t, std::string> levels_;
  std::unordered_map<TaskId, Kernel> kernel_of_;
  std::unordered_map<TaskId, CommunicationTask> communication_;
  std::unordered_map<TaskId, std::vector<std::pair<std::size_t, double>>> counters_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> threads_;
  std::map<StringId, std::size_t> groups_;
  std::vector<Connected> launched_;                            // tasks and collectives
  std::vector<Connected> calls_;                               // of the framework
  std::unordered_map<std::int64_t, std::uint32_t> launchers_;  // calls of CANN, by connection
  std::size_t links_ = 0;
  bool has_steps_ = false;
};

}  // namespace

bool is_capture(const std::filesystem::path& path) {
  auto database = Database::open(path);
  return database && database->has_table("TASK") && database->has_table("STRING_IDS");
}

Result<Capture> read_capture(const std::filesystem::path& path) {
  TRY_AS(database, Database::open(path));
  auto capture = CaptureReader(std::move(*database), path.string()).run();
  std::error_code failed;
  const auto log_bytes = std::filesystem::file_size(path.string() + "-wal", failed);
  if (capture && !failed && log_bytes > 0) {
    capture->events.notes.push_back(
        {Severity::warning, path.string(), 0,
         "rows that are only in the write-ahead log next to it (-wal) are not read; open the "
         "database with sqlite3 once, which takes them over",
         1});
  }
  return capture;
}

}  // namespace npuscope::ascend
