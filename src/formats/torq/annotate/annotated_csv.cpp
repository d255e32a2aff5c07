// The annotated table as the vendor's annotation writes it through pandas: ";" between fields,
// quotes where needed, whole microseconds as "25.0".
#include <charconv>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/annotated_table.hpp"
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
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    line_.append(digits, end);
    line_ += ".0";
  }

  const Annotation& annotation_;
  AtomicFile& file_;
  std::string line_;
};

}  // namespace

Status write_annotated_csv(const Annotation& annotation, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  Writer(annotation, *file).run();
  return file->commit();
}

}  // namespace npuscope::torq
