#include "base/counted.hpp"
#include "base/try.hpp"
#include "npu/targets/ipu/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/log.hpp"
#include "npuscope/npu/ipu/run.hpp"

namespace npuscope::npu::ipu {
namespace {

using sigmastar::LogInterval;
using sigmastar::LogMark;
using sigmastar::LogWriter;

struct Record {
  std::int64_t cycles = 0;
  LogMark mark = LogMark::begin;
  const LogInterval* of = nullptr;
};

// At the same time ends come before begins.
std::vector<Record> records_of(const CoreRun& run) {
  std::vector<Record> records;
  records.reserve(2 * (run.layers.size() + run.intervals.size()));
  for (const auto* list : {&run.layers, &run.intervals}) {
    for (const LogInterval& each : *list) {
      records.push_back({each.begin, LogMark::begin, &each});
      records.push_back({each.end, LogMark::end, &each});
    }
  }
  sort_rows(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return std::tuple(a.cycles, a.mark == LogMark::begin) <
           std::tuple(b.cycles, b.mark == LogMark::begin);
  });
  return records;
}

// Once the buffer is full the rest is only counted.
template <class WriteOne>
void repeat(LogWriter& log, const Repetition& repetition, std::size_t records,
            const WriteOne& write_one) {
  for (std::uint64_t i = 0; i < repetition.count; ++i) {
    if (log.overflowed()) return log.lose((repetition.count - i) * records);
    write_one(i, i * std::uint64_t(repetition.period));  // a log's clock wraps too
  }
}

}  // namespace

Logs write_logs(const Inference& inference, const Repetition& repetition,
                const sigmastar::LogLayout& layout, std::uint64_t buffer_bytes) {
  Logs logs{{}, LogWriter(layout, buffer_bytes)};
  repeat(logs.control, repetition, 2, [&](std::uint64_t number, std::uint64_t start) {
    const auto inference_number = std::uint32_t(number);
    logs.control.write(sigmastar::LogEngine::run, LogMark::begin, inference_number, start);
    logs.control.write(sigmastar::LogEngine::run, LogMark::end, inference_number,
                       start + std::uint64_t(inference.cycles));
  });
  for (const CoreRun& run : inference.cores) {
    const auto records = records_of(run);
    LogWriter& log = logs.cores.emplace_back(layout, buffer_bytes);
    repeat(log, repetition, records.size(), [&](std::uint64_t, std::uint64_t start) {
      for (const Record& each : records) {
        const LogInterval& of = *each.of;
        log.write({of.engine, each.mark, of.layer, start + std::uint64_t(each.cycles), of.tile,
                   of.bytes});
      }
    });
  }
  return logs;
}

namespace {

using sigmastar::Image;
using sigmastar::LogWriter;

static_assert(default_log_bytes == sigmastar::default_log_bytes);

constexpr const char* layout_name = "ipu-muffin";
// A log that ends closer than that to its buffer's end may have lost records, for all a reader
// knows.
constexpr std::uint64_t beyond_suspicion = 32;

Result<Image> open_image(const std::filesystem::path& path) {
  TRY_AS(file, MappedFile::open(path));
  if (sigmastar::looks_like_model(as_text(file->bytes()))) {
    return input_error(
        "{}: a SigmaStar fixed model, which holds operators but no program; run the offline model "
        "that `npuscope compile` wrote with it (sgsimg.img)",
        path.string());
  }
  TRY_AS(image, sigmastar::read_image(file->bytes(), path.string()));
  if (image->own && image->problems.empty()) return image;
  const bool is_vendors = image->problems.empty();
  return input_error("{}: {}; only offline images of `npuscope compile` run on the reference NPU",
                     path.string(),
                     is_vendors ? "it has no program for it" : image->problems.front());
}

// Records further apart than half the range of the log's clock are read as if they lay nearer.
bool clock_can_tell(const Inference& inference, std::int64_t period,
                    const sigmastar::LogLayout& layout) {
  const std::int64_t half = std::int64_t{1} << std::min(62u, layout.time.bits - 1);
  std::int64_t longest = period;
  for (const CoreRun& core : inference.cores) {
    for (const auto& each : core.intervals) longest = std::max(longest, each.end - each.begin);
  }
  return longest < half && inference.cycles < half;
}

class Runner {
 public:
  explicit Runner(const RunRequest& request) : request_(request) {}

  Result<RunOutcome> run() {
    if (!request_.log_folder.empty()) TRY(check_writable_folder(request_.log_folder));
    TRY_AS(image, open_image(request_.image));
    TRY_AS(target, parse_target(image->own->program.target,
                                fmt::format("{}: its target", request_.image.string())));
    target_ = std::move(*target);
    image_ = std::move(*image);
    outcome_.is_logged = !request_.log_folder.empty();
    outcome_.inferences = request_.inferences;
    inference_ = simulate(program(), target_, outcome_.is_logged);
    outcome_.clock_hz = target_.clock_hz;
    outcome_.ipu_s = double(inference_.cycles) / target_.clock_hz;
    outcome_.invoke_s = invoke_seconds(inference_, image_, target_);
    if (outcome_.is_logged) TRY(write_logs());
    outcome_.image = std::make_shared<const Image>(std::move(image_));
    outcome_.inference = std::make_shared<const Inference>(std::move(inference_));
    return std::move(outcome_);
  }

 private:
  const sigmastar::Program& program() const { return image_.own->program; }

  Status write_logs() {
    TRY_AS(layout, sigmastar::layout_of_chip(layout_name));
    const auto period = std::int64_t(std::llround(outcome_.invoke_s * target_.clock_hz));
    const Logs logs =
        ipu::write_logs(inference_, {request_.inferences, period}, *layout, request_.log_bytes);
    if (!clock_can_tell(inference_, request_.inferences > 1 ? period : 0, *layout)) {
      outcome_.warnings.push_back(
          "records lie further apart than the log's clock can tell: its times are wrong");
    }
    for (std::size_t core = 0; core < logs.cores.size(); ++core) {
      TRY(write_log(fmt::format("core{}", core), logs.cores[core], *layout));
    }
    return write_log("corectrl0", logs.control, *layout);
  }

  Status write_log(std::string name, const LogWriter& log, const sigmastar::LogLayout& layout) {
    LogFile file;
    file.path = request_.log_folder /
                fmt::format("{}_log_{}.bin", request_.image.filename().string(), name);
    file.bytes = log.bytes().size();
    file.lost_records = log.lost();
    file.needed_bytes = file.bytes + file.lost_records * layout.record_bytes;
    TRY(write_file_atomically(file.path, as_byte_span(log.bytes())));
    if (log.overflowed()) {
      outcome_.warnings.push_back(
          fmt::format("{}: the log's buffer of {} bytes is full: {} lost and the log "
                      "is incomplete; run again with --ipu_log_size={} or more",
                      file.path.string(), request_.log_bytes,
                      counted(file.lost_records, "record is", "records are"),
                      file.needed_bytes + beyond_suspicion));
    }
    file.log = std::move(name);
    outcome_.logs.push_back(std::move(file));
    return {};
  }

  const RunRequest& request_;
  Target target_;
  Image image_;
  Inference inference_;
  RunOutcome outcome_;
};

}  // namespace

double invoke_seconds(const Inference& inference, const Image& image, const Target& target) {
  double bytes = 0;
  for (const auto& output : image.outputs) bytes += output.bytes;
  return double(inference.cycles) / target.clock_hz + target.invoke_s +
         bytes / target.sync_bytes_per_s;
}

Result<RunOutcome> run(const RunRequest& request) { return Runner(request).run(); }

}  // namespace npuscope::npu::ipu
