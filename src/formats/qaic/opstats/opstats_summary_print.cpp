// The summary's text. Its printf formats reproduce the vendor's own output byte for byte
// (docs/formats/opstats.md).
#include <cstdio>

#include "base/text.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::string_view header =
    "core  ucycles  ucycles(%)     pcycles  pcycles(%)  count      out KB  ucycles/KB  pcycles/KB"
    "  stddev(pc/KB)  opdetails\n";

// printf's own rounding, which the vendor's figures show.
std::string printed(const char* format, double value) {
  char text[400];
  const int length = std::snprintf(text, sizeof text, format, value);
  return {text, std::size_t(length)};
}
std::string hundredths(std::optional<double> value) {
  return value ? printed("%.2f", *value) : "N/A";
}
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "N/A" : printed("%.2f%%", 100.0 * double(part) / double(whole));
}

void print_row(std::string& out, const OpstatsRow& row, const OpstatsCore& core) {
  const bool op = row.type == OpstatsRow::Type::op;
  const auto only_op = [&](std::string text) { return op ? std::move(text) : std::string("N/A"); };
  const bool has_output = op && row.output_kilobytes > 0;
  out += fmt::format(
      "{:<4} {:>8}  {:>10}  {:>10}  {:>10}  {:>5}  {:>10}  {:>10}  {:>10}  {:>13}  {}\n",
      fmt::format("c{}", core.core), row.ucycles, percent(row.ucycles, core.ucycles()),
      only_op(fmt::format("{}", row.pcycles)), only_op(percent(row.pcycles, core.pcycles())),
      row.count, only_op(hundredths(row.output_kilobytes)), hundredths(row.ucycles_per_kilobyte()),
      hundredths(row.pcycles_per_kilobyte()),
      has_output ? hundredths(row.stddev_per_kilobyte) : "N/A", printable(row.details()));
}

void print_thread(std::string& out, const OpstatsThread& thread, std::uint32_t core) {
  out += fmt::format("{:<5} t{} {:<8}{:>16} ucycles [{}, {}]{:>16} pcycles{:>8} utilization\n",
                     fmt::format("c{}", core), thread.thread, printable(thread.group),
                     thread.ucycles, thread.begin, thread.end, thread.pcycles,
                     thread.utilization ? printed("%.2f%%", *thread.utilization) : "N/A");
}

void print_core(std::string& out, const OpstatsCore& core, Hertz utimer) {
  out += '\n';
  out += header;
  for (const OpstatsRow& row : core.rows) print_row(out, row, core);
  out += fmt::format("\nc{} total:{:>16} ucycles{:>16} pcycles (thread max)\n", core.core,
                     core.ucycles(), core.pcycles());
  for (const OpstatsThread& thread : core.threads) print_thread(out, thread, core.core);
  out += "\n\n";
  for (const OpstatsBatch& batch : core.batches) {
    out += fmt::format("c{:02}t{} batch ucycles:{:>17} [{},{}]    pcycles:{:>16} \n", core.core,
                       batch.thread, batch.ucycles, batch.begin, batch.end, batch.pcycles);
  }
  out += fmt::format("c{}: Total inference pcycle is {}\n", core.core, core.inference_pcycles);
  out += fmt::format("c{}: Effective frequency is {}MHz\n", core.core,
                     printed("%.6g", core.effective_megahertz(utimer)));
  for (const OpstatsPort& port : core.ports) {
    out += fmt::format("c{:02}t{}p{} Host_IO_Port ucycles: {:>16}\n", core.core, port.thread,
                       port.port, port.ucycles);
  }
  for (const OpstatsActivation& activation : core.activations) {
    out += fmt::format("c{:02}t{} activate ucycles:{:>18}\n", core.core, activation.thread,
                       activation.ucycles);
  }
  for (const OpstatsPmu& pmu : core.pmu) {
    const PmuEventInfo* const event = find_pmu_event(pmu.event);
    out +=
        fmt::format("c{:02}t{} pmu 0x{:x}:{:>20}{}\n", core.core, pmu.thread, pmu.event, pmu.count,
                    event != nullptr ? fmt::format("  {} ({})", event->name, event->unit) : "");
  }
  for (const OpstatsPmuUse& use : core.pmu_use()) {
    out +=
        fmt::format("c{:02} KernelUtil {}:{:>14} of {} pcycles\n", core.core,
                    find_pmu_event(use.event)->name, percent(use.count, use.pcycles), use.pcycles);
  }
  if (core.ddr) {
    out += fmt::format("c{:02} ddr read bytes:{:>20}\n", core.core, core.ddr->read_bytes);
    out += fmt::format("c{:02} ddr write bytes:{:>19}\n", core.core, core.ddr->write_bytes);
  }
}

}  // namespace

std::string print_summary(const OpstatsSummary& summary) {
  std::string out;
  for (const OpstatsCore& core : summary.cores) print_core(out, core, summary.utimer);
  out += fmt::format("total batch ucycles:{:>17} [{}, {}]\n", summary.ucycles(), summary.begin(),
                     summary.end());
  const std::string network = printable(summary.network);
  const std::string seconds = printed("%.6g", summary.seconds());
  out += fmt::format("[{}] Device instance batch/s: (1/{}): {}\n", network, seconds,
                     printed("%.6g", summary.batches_per_second()));
  out += fmt::format("[{}] Device instance inf/s: ({}/{}): {}\n", network, summary.batch_size,
                     seconds, printed("%.6g", summary.inferences_per_second()));
  if (const auto wait = summary.longest_wait(host_input_port)) {
    out += fmt::format("max input wait ucycles:{:>18}\n", *wait);
  }
  if (const auto wait = summary.longest_wait(host_output_port)) {
    out += fmt::format("max output wait ucycles:{:>17}\n", *wait);
  }
  for (const HostTime& time : summary.host) {
    out +=
        fmt::format("host us {}:{:>{}}\n", printable(time.name), printed("%.3f", time.microseconds),
                    40 - std::min<std::size_t>(39, time.name.size()));
  }
  return out;
}

}  // namespace npuscope::qaic
