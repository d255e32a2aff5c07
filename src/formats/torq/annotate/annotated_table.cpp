// The annotated table as the vendor's annotation writes it through pandas: ";" between fields,
// quotes where needed, whole microseconds as "25.0".
#include "formats/torq/annotate/annotated_table.hpp"

#include <fmt/ranges.h>
#include <map>

#include "base/numbers.hpp"
#include "base/print_text.hpp"
#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "formats/torq/fields.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::torq {
namespace {

constexpr std::string_view header =
    "action_id;job_id;operation;invocation_names;original_operators;total_time;"
    "slice_used_0_in_program;slice_used_1_in_program;dma_in_used_in_program;"
    "dma_out_used_in_program;cdma_used_in_program;css_used_in_program;timestamp_start;"
    "timestamp_end;location\n";

// A row's texts before the total, between it and the times, and behind them.
struct RowText {
  std::string before, between, behind;
};

RowText text_of(const ActionRow& row, bool fractional_jobs) {
  RowText text;
  const std::string job = !row.job          ? ""
                          : fractional_jobs ? fmt::format("{}.0", *row.job)
                                            : fmt::format("{}", *row.job);
  text.before =
      fmt::format("{};{};{};{};{};", row.action, job, table_field(row.operation),
                  table_field(joined(row.kernels, ",")), table_field(joined(row.operators, " ")));
  text.between = ";";
  for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
    if (row.uses) text.between += (*row.uses)[unit] ? "True" : "False";
    text.between += ';';
  }
  text.behind = fmt::format(";{}\n", table_field(row.location));
  return text;
}

class Writer {
 public:
  Writer(const Annotation& annotation, AtomicFile& file) : annotation_(annotation), file_(file) {}

  void run() {
    file_.write(header);
    const bool fractional_jobs = some_have_no_job(annotation_);
    std::vector<std::vector<RowText>> texts(annotation_.rows.size());
    for (std::size_t i = 0; i < annotation_.rows.size(); ++i) {
      for (const ActionRow& row : annotation_.rows[i]) {
        texts[i].push_back(text_of(row, fractional_jobs));
      }
    }
    for (const AnnotatedInvocation& invocation : annotation_.invocations) {
      const auto& rows = texts[invocation.dispatch];
      for (std::size_t i = 0; i < rows.size(); ++i) {
        add(rows[i], annotation_.begin_us[invocation.first + i],
            annotation_.end_us[invocation.first + i]);
      }
    }
    for (const HalCall& call : annotation_.hal) {
      const RowText text{fmt::format("-1;;{}.{};;;", annotation_.strings[call.dispatch],
                                     annotation_.strings[call.type]),
                         ";;;;;;;",
                         fmt::format(";{}\n", table_field(location_of(annotation_, call)))};
      add(text, call.begin_us, call.end_us);
    }
    file_.write(line_);
  }

 private:
  void add(const RowText& text, std::int64_t begin_us, std::int64_t end_us) {
    line_ += text.before;
    std::int64_t total = 0;
    if (begin_us != no_time && end_us != no_time && end_us >= begin_us &&
        !__builtin_sub_overflow(end_us, begin_us, &total)) {
      add_number(total);
    }
    line_ += text.between;
    if (begin_us != no_time) add_number(begin_us);
    line_ += ';';
    if (end_us != no_time) add_number(end_us);
    line_ += text.behind;
    constexpr std::size_t block_bytes = 1 << 16;
    if (line_.size() < block_bytes) return;
    file_.write(line_);
    line_.clear();
  }

  void add_number(std::int64_t value) {
    char digits[max_number_size];
    line_.append(digits, print_integer(digits, value));
    line_ += ".0";
  }

  const Annotation& annotation_;
  AtomicFile& file_;
  std::string line_;
};

}  // namespace

Status write_annotated_csv(const Annotation& annotation, const std::filesystem::path& path) {
  TRY_AS(file, AtomicFile::create(path));
  Writer(annotation, *file).run();
  return file->commit();
}

namespace {

// Annotated tables as the vendor's tools wrote them until 2026-02: host profile and NSS profile.

constexpr std::string_view host_header =
    "action_id;job_id;operation;invocation_name;original_operator;total_time;slice_id;"
    "slice_used_0_in_program;slice_used_1_in_program;dma_in_used_in_program;"
    "dma_out_used_in_program;cdma_used_in_program;css_used_in_program;timestamp_start;"
    "timestamp_end;location\n";
constexpr std::string_view nss_header =
    "nss_program_index;operation;slice_id;invocation_name;nss_program_timestamp_start;"
    "nss_program_timestamp_end;nss_program_timestamp_total;slice_used_0_in_program;"
    "slice_used_1_in_program;dma_in_used_in_program;dma_out_used_in_program\n";

std::string flags_of(const UnitUse& uses, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += uses[i] ? ";True" : ";False";
  return text;
}

// A column with gaps is one of fractions to the vendor's tools, and some operation is of no slice.
std::string slice_of(const TaskOperation& operation) {
  return operation.slice < 0 ? "" : fmt::format("{}.0", operation.slice);
}

std::string number(std::int64_t value) { return value == no_time ? "" : fmt::format("{}", value); }

class OlderWriter {
 public:
  OlderWriter(const Annotation& annotation, const RuntimeLog& log, AtomicFile& file)
      : annotation_(annotation), log_(log), file_(file) {}

  std::uint64_t run(OlderForm form) {
    if (form == OlderForm::host) find_locations();
    file_.write(form == OlderForm::host ? host_header : nss_header);
    for (const AnnotatedInvocation& invocation : annotation_.invocations) {
      if (!ran(invocation)) continue;
      form == OlderForm::host ? host_rows(invocation) : nss_rows(invocation);
    }
    return rows_;
  }

 private:
  const DispatchInfo& dispatch_of(const AnnotatedInvocation& invocation) const {
    return annotation_.debug->dispatches[invocation.dispatch];
  }
  std::int64_t begin(const AnnotatedInvocation& invocation, std::size_t action) const {
    return annotation_.begin_us[invocation.first + action];
  }
  std::int64_t end(const AnnotatedInvocation& invocation, std::size_t action) const {
    return annotation_.end_us[invocation.first + action];
  }
  bool ran(const AnnotatedInvocation& invocation) const {
    for (std::size_t i = 0; i < dispatch_of(invocation).actions.size(); ++i) {
      if (begin(invocation, i) != no_time || end(invocation, i) != no_time) return true;
    }
    return false;
  }

  void find_locations();
  std::string location_of(const AnnotatedInvocation& invocation, std::size_t action) const;
  std::string operators_of(const DispatchInfo& dispatch, const Action& action) const;
  void host_rows(const AnnotatedInvocation& invocation);
  void nss_rows(const AnnotatedInvocation& invocation);
  void write(const std::string& row) {
    file_.write(row);
    ++rows_;
  }

  const Annotation& annotation_;
  const RuntimeLog& log_;
  AtomicFile& file_;
  std::uint64_t rows_ = 0;
  std::map<std::int32_t, StringId> locations_;  // of the log, by action
};

// Only the older logs have them.
void OlderWriter::find_locations() {
  for (const LogEvent& event : log_.events) {
    if (event.action == no_action || log_.kind != LogKind::host) continue;
    locations_.try_emplace(event.action, event.location);
  }
}

std::string OlderWriter::location_of(const AnnotatedInvocation& invocation,
                                     std::size_t index) const {
  const DispatchInfo& dispatch = dispatch_of(invocation);
  const Action& action = dispatch.actions[index];
  const auto found = locations_.find(action.id);
  return found != locations_.end() ? std::string(log_.strings[found->second])
                                   : dispatch.locations.brief(action.location);
}

// By line, "tosa.add@L3 + tosa.clamp@L4".
std::string OlderWriter::operators_of(const DispatchInfo& dispatch, const Action& action) const {
  std::vector<std::string> names = annotation_.debug->operators_of(dispatch, action.location);
  const auto line_of = [](const std::string& name) {
    const std::size_t mark = name.rfind("@L");
    std::string_view line = name;
    line.remove_prefix(mark == name.npos ? name.size() : mark + 2);
    return take_number<std::int64_t>(line).value_or(0);
  };
  sort_rows(names.begin(), names.end(),
            [&](const std::string& a, const std::string& b) { return line_of(a) < line_of(b); });
  return fmt::format("{}", fmt::join(names, " + "));
}

void OlderWriter::host_rows(const AnnotatedInvocation& invocation) {
  const DispatchInfo& dispatch = dispatch_of(invocation);
  for (std::size_t i = 0; i < dispatch.actions.size(); ++i) {
    const Action& action = dispatch.actions[i];
    const ProgramRun* program =
        action.program == no_program ? nullptr : &dispatch.programs[action.program];
    const bool of_host = program != nullptr && program->executor == Executor::host;
    if (of_host && action.kind == ActionKind::wait) continue;  // the start has the time of all
    const auto time = time_of(annotation_, invocation, i);
    const std::string job =
        program != nullptr && program->job ? fmt::format("{}", *program->job) : "";
    const std::string behind =
        fmt::format(";{};{};{}\n", number(begin(invocation, i)), number(end(invocation, i)),
                    table_field(location_of(invocation, i)));
    const std::string operators = table_field(operators_of(dispatch, action));
    const std::string total = time ? fmt::format("{}", length_of(*time)) : "";
    if (program == nullptr || of_host || action.kind != ActionKind::wait) {
      write(fmt::format("{};{};{}{};;{};{};;;;;;;{}", action.id, job, table_field(action.operation),
                        of_host ? " (host)" : "", operators, total, behind));
      continue;
    }
    const std::string flags = flags_of(program->uses, npu_unit_count);
    for (std::uint32_t k = 0; k < program->operation_count; ++k) {
      const TaskOperation& operation = dispatch.operations[program->first_operation + k];
      write(fmt::format("{};{};{};{};{};{};{}{}{}", action.id, job, operation.name,
                        table_field(operation.kernel), operators, total, slice_of(operation), flags,
                        behind));
    }
  }
}

// A program begins where the one before ended; times are from the first begin on.
void OlderWriter::nss_rows(const AnnotatedInvocation& invocation) {
  const DispatchInfo& dispatch = dispatch_of(invocation);
  constexpr std::size_t units = 4;  // slices and DMA: the form knows no others
  std::int64_t origin = no_time, before = no_time;
  std::size_t index = 0;
  for (const ProgramRun& program : dispatch.programs) {
    if (program.executor != Executor::nss) continue;
    const auto time = time_of(annotation_, invocation, program);
    if (time && origin == no_time) origin = before = time->begin;
    const std::string times = time ? fmt::format("{};{};{}", saturating_subtract(before, origin),
                                                 saturating_subtract(time->end, origin),
                                                 saturating_subtract(time->end, before))
                                   : ";;";
    for (std::uint32_t k = 0; k < program.operation_count; ++k) {
      const TaskOperation& operation = dispatch.operations[program.first_operation + k];
      write(fmt::format("{};{};{};{};{}{}\n", index, operation.name, slice_of(operation),
                        table_field(operation.kernel), times, flags_of(program.uses, units)));
    }
    if (time) before = time->end;
    ++index;
  }
}

}  // namespace

Result<std::uint64_t> write_older_csv(const Annotation& annotation, const RuntimeLog& log,
                                      OlderForm form, const std::filesystem::path& path) {
  TRY_AS(file, AtomicFile::create(path));
  const std::uint64_t rows = OlderWriter(annotation, log, *file).run(form);
  TRY(file->commit());
  return rows;
}

}  // namespace npuscope::torq
