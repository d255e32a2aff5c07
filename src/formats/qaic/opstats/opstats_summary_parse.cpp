// Reads a summary's text back, a line at a time. Each line's form is recognised by its own words;
// figures that follow from others (percentages, totals, rates) are skipped.
#include <cmath>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"

namespace npuscope::qaic {
namespace {

// Takes a line apart from the left. Once a step fails, all later ones do.
class LineScanner {
 public:
  explicit LineScanner(std::string_view line) : rest_(line) {}

  LineScanner& blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return *this;
  }
  LineScanner& text(std::string_view expected) {
    ok_ = ok_ && rest_.starts_with(expected);
    if (ok_) rest_.remove_prefix(expected.size());
    return *this;
  }
  template <class Number>
  LineScanner& number(Number& value, int base = 10) {
    const auto taken = ok_ ? take_number<Number>(rest_, base) : std::nullopt;
    ok_ = taken.has_value();
    value = taken.value_or(value);
    return *this;
  }
  LineScanner& real(double& value) {
    number(value);
    ok_ = ok_ && std::isfinite(value);
    return *this;
  }
  LineScanner& real_or_none(std::optional<double>& value) {
    if (rest_.starts_with("N/A")) return text("N/A");
    return real(value.emplace());
  }
  LineScanner& number_or_none(std::optional<std::uint64_t>& value) {
    if (rest_.starts_with("N/A")) return text("N/A");
    return number(value.emplace());
  }
  LineScanner& word(std::string& value) {
    const auto length = std::min(rest_.find(' '), rest_.size());
    value = std::string(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return *this;
  }
  // "  HMX_ACTIVE_CYCLES (cycles)", or nothing: what a PMU event's code says already.
  LineScanner& name_and_unit() {
    if (rest_.starts_with("  ") && rest_.ends_with(')')) rest_ = {};
    return *this;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// "kind group memory (types)"; kind may end with a blank of its own, types may be empty.
bool parse_details(std::string_view text, OpstatsRow& row) {
  std::string_view rest = text;
  if (rest.ends_with(')')) {
    const auto types = rest.rfind(" (");
    if (types == std::string_view::npos) return false;
    row.types = std::string(rest.substr(types + 2, rest.size() - types - 3));
    rest = rest.substr(0, types);
  } else if (rest.ends_with(' ')) {
    rest.remove_suffix(1);
  }
  const auto memory = rest.rfind(' ');
  if (memory == std::string_view::npos) return false;
  row.memory = std::string(rest.substr(memory + 1));
  rest = rest.substr(0, memory);
  const auto group = rest.rfind(' ');
  if (group == std::string_view::npos) return false;
  row.group = std::string(rest.substr(group + 1));
  rest = rest.substr(0, group);
  row.kind = std::string(without_trailing_blanks(rest));
  return true;
}

class SummaryParser {
 public:
  SummaryParser(std::string_view name, std::vector<Note>* broken) : name_(name), broken_(broken) {}

  Result<OpstatsSummary> run(std::string_view text) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      line_number_ += 1;
      TRY(take(text.substr(0, end)));
      offset_ += std::min(end + 1, text.size());
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (summary_.cores.empty()) {
      return input_error("{}: has no table of operators; it is not a statistics summary", name_);
    }
    return std::move(summary_);
  }

 private:
  Status take(std::string_view line) {
    if (line.empty()) return {};
    if (line.starts_with("core  ucycles")) {
      summary_.cores.emplace_back();
      core_is_known_ = false;
      return {};
    }
    if (take_totals(line)) return {};
    if (line.starts_with('c') && !summary_.cores.empty()) return take_core_line(line);
    summary_.unread.emplace_back(line);
    return {};
  }

  // The lines after the last core; of these only the network and batch size are not derived.
  bool take_totals(std::string_view line) {
    if (line.starts_with("total batch ucycles:") || line.starts_with("max input wait ucycles:") ||
        line.starts_with("max output wait ucycles:")) {
      return true;
    }
    if (line.starts_with("host us ")) return take_host(line);
    const auto inferences = line.find("] Device instance inf/s: (");
    if (line.starts_with('[') && inferences != std::string_view::npos) {
      summary_.network = std::string(line.substr(1, inferences - 1));
      return LineScanner(line.substr(inferences))
          .text("] Device instance inf/s: (")
          .number(summary_.batch_size)
          .text("/")
          .ok();
    }
    return line.starts_with('[') && line.find("] Device instance batch/s: (") != line.npos;
  }

  // host us enqueue:   2.215
  bool take_host(std::string_view line) {
    HostTime time;
    LineScanner scanner(line);
    const auto colon = line.find(':');
    scanner.text("host us ");
    if (colon == line.npos || colon < line.size() - scanner.rest().size()) return false;
    time.name =
        std::string(scanner.rest().substr(0, colon - (line.size() - scanner.rest().size())));
    if (!scanner.text(time.name).text(":").blanks().real(time.microseconds).done()) return false;
    summary_.host.push_back(std::move(time));
    return true;
  }

  Status take_core_line(std::string_view line) {
    std::uint32_t core = 0;
    LineScanner scanner(line);
    if (!scanner.text("c").number(core).ok()) {
      summary_.unread.emplace_back(line);
      return {};
    }
    if (core_is_known_ && core != summary_.cores.back().core) return check(false, line);
    summary_.cores.back().core = core;
    core_is_known_ = true;
    const std::string_view rest = scanner.rest();
    if (rest.starts_with(": ") || rest.starts_with(" total:")) {
      return check(take_core_figure(rest), line);
    }
    if (rest.starts_with(" ddr ")) return check(take_ddr(rest), line);
    if (rest.starts_with(" KernelUtil ")) return {};  // follows from counts and cycles
    if (rest.starts_with('t')) return check(take_thread_line(rest), line);
    if (LineScanner(rest).blanks().rest().starts_with('t')) return check(take_thread(rest), line);
    return check(take_row(rest), line);
  }

  bool take_core_figure(std::string_view rest) {
    if (rest.starts_with(": Total")) {
      return LineScanner(rest)
          .text(": Total inference pcycle is ")
          .number(summary_.cores.back().inference_pcycles)
          .done();
    }
    return rest.starts_with(" total:") || rest.starts_with(": Effective frequency is ");
  }

  bool take_ddr(std::string_view rest) {
    auto& ddr = summary_.cores.back().ddr;
    if (!ddr) ddr.emplace();
    return LineScanner(rest).text(" ddr read bytes:").blanks().number(ddr->read_bytes).done() ||
           LineScanner(rest).text(" ddr write bytes:").blanks().number(ddr->write_bytes).done();
  }

  // c00t0 batch …, c00t0p100 Host_IO_Port …, c00t0 activate …, c00t0 pmu …
  bool take_thread_line(std::string_view rest) {
    OpstatsCore& core = summary_.cores.back();
    OpstatsBatch batch;
    OpstatsPort port;
    OpstatsActivation activation;
    OpstatsPmu pmu;
    std::uint32_t thread = 0;
    LineScanner scanner(rest);
    scanner.text("t").number(thread);
    batch.thread = port.thread = activation.thread = pmu.thread = thread;
    if (LineScanner(scanner)
            .text(" batch ucycles:")
            .blanks()
            .number(batch.ucycles)
            .text(" [")
            .number(batch.begin)
            .text(",")
            .number(batch.end)
            .text("]")
            .blanks()
            .text("pcycles:")
            .blanks()
            .number(batch.pcycles)
            .blanks()
            .done() &&
        batch.begin <= batch.end) {
      core.batches.push_back(batch);
    } else if (LineScanner(scanner)
                   .text("p")
                   .number(port.port)
                   .text(" Host_IO_Port ucycles:")
                   .blanks()
                   .number(port.ucycles)
                   .done()) {
      core.ports.push_back(port);
    } else if (LineScanner(scanner)
                   .text(" activate ucycles:")
                   .blanks()
                   .number(activation.ucycles)
                   .done()) {
      core.activations.push_back(activation);
    } else if (LineScanner(scanner)
                   .text(" pmu 0x")
                   .number(pmu.event, 16)
                   .text(":")
                   .blanks()
                   .number(pmu.count)
                   .name_and_unit()
                   .done()) {
      core.pmu.push_back(pmu);
    } else {
      return false;
    }
    return true;
  }

  // c0    t0 HVX               444602 ucycles [begin, end]        28554461 pcycles  59.72%
  // utilization
  bool take_thread(std::string_view rest) {
    OpstatsThread thread;
    LineScanner scanner(rest);
    scanner.blanks()
        .text("t")
        .number(thread.thread)
        .text(" ")
        .word(thread.group)
        .blanks()
        .number(thread.ucycles)
        .text(" ucycles [")
        .number(thread.begin)
        .text(", ")
        .number(thread.end)
        .text("]")
        .blanks()
        .number(thread.pcycles)
        .text(" pcycles")
        .blanks()
        .real_or_none(thread.utilization);
    if (thread.utilization) scanner.text("%");
    if (!scanner.text(" utilization").done() || thread.begin > thread.end) return false;
    summary_.cores.back().threads.push_back(std::move(thread));
    return true;
  }

  bool take_row(std::string_view rest) {
    OpstatsRow row;
    std::optional<std::uint64_t> pcycles;
    std::optional<double> kilobytes, stddev, derived;
    LineScanner scanner(rest);
    const auto percent = [&] {
      derived.reset();
      scanner.blanks().real_or_none(derived);
      if (derived) scanner.text("%");
    };
    scanner.blanks().number(row.ucycles);
    percent();
    scanner.blanks().number_or_none(pcycles);
    percent();
    scanner.blanks().number(row.count).blanks().real_or_none(kilobytes);
    scanner.blanks().real_or_none(derived).blanks().real_or_none(derived);
    scanner.blanks().real_or_none(stddev).text("  ");
    if (!scanner.ok()) return false;
    const std::string_view details = scanner.rest();
    if (details.starts_with("sync ") && !pcycles) {
      row.type = OpstatsRow::Type::sync;
      row.group = std::string(details.substr(5));
    } else if (details.starts_with("barrier ") && !pcycles) {
      row.type = OpstatsRow::Type::barrier;
      row.group = std::string(details.substr(8));
    } else if (!pcycles || !parse_details(details, row)) {
      return false;
    } else {
      row.pcycles = *pcycles;
      row.output_kilobytes = kilobytes.value_or(0);
      row.stddev_per_kilobyte = stddev.value_or(0);
    }
    summary_.cores.back().rows.push_back(std::move(row));
    return true;
  }

  Status check(bool understood, std::string_view line) {
    if (understood) return {};
    if (broken_ != nullptr) {
      broken_->push_back({Severity::error, name_, offset_,
                          fmt::format("line {} is broken and was left out", line_number_), 1});
      return {};
    }
    return input_error("{}: line {} is broken: '{}'; print the summary again", name_, line_number_,
                       line.substr(0, 120));
  }

  std::string name_;
  std::vector<Note>* broken_;
  std::size_t line_number_ = 0;
  std::uint64_t offset_ = 0;    // of the line
  bool core_is_known_ = false;  // the number of the core whose block this is
  OpstatsSummary summary_;
};

}  // namespace

Result<OpstatsSummary> parse_summary(std::string_view text, std::string_view name,
                                     std::vector<Note>* broken) {
  return SummaryParser(name, broken).run(text);
}

}  // namespace npuscope::qaic
