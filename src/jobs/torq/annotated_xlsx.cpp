#include "jobs/torq/annotated_xlsx.hpp"

#include <xlsxwriter.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file_identity.hpp"
#include "base/loaded_library.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/torq/annotate/annotated_table.hpp"
#include "formats/torq/fields.hpp"
#include "jobs/export/file_by_name.hpp"
#include "jobs/torq/whole_workbook.hpp"

namespace npuscope::jobs {
namespace {

using namespace torq;

constexpr std::array headings{"Action ID",
                              "Job ID",
                              "Action in program",
                              "Slice Invocation Names (if applicable)",
                              "Original Operators",
                              "Total Time [us]",
                              "Slice 0 Used in NSS Program",
                              "Slice 1 Used in NSS Program",
                              "DMA In Used in NSS Program",
                              "DMA Out Used in NSS Program",
                              "CDMA Used in CSS Program",
                              "CSS Used in CSS Program",
                              "Timestamp Start [us]",
                              "Timestamp End [us]",
                              "Location"};
constexpr std::size_t max_rows = 1'048'575;     // of a sheet, below its heading
constexpr std::size_t max_cell_bytes = 32'000;  // the format's limit is 32,767 characters
constexpr std::size_t widest_column = 255;

// The functions of libxlsxwriter that are called. It needs libcrypto, whose relocations took a
// quarter of the start of every command that was linked with it.
struct Writer {
  decltype(&workbook_new_opt) new_book = nullptr;
  decltype(&workbook_set_properties) set_properties = nullptr;
  decltype(&workbook_add_worksheet) add_sheet = nullptr;
  decltype(&workbook_close) close_book = nullptr;
  decltype(&worksheet_set_column) set_column = nullptr;
  decltype(&worksheet_write_string) write_string = nullptr;
  decltype(&worksheet_write_number) write_number = nullptr;
  decltype(&worksheet_write_boolean) write_boolean = nullptr;
  decltype(&lxw_worksheet_write_single_row) write_single_row = nullptr;
  decltype(&lxw_strerror) text_of_error = nullptr;
  bool is_loaded = false;

  static const Writer& get() {
    static const Writer writer;
    return writer;
  }

 private:
  // A wheel's programs have it already, by another name.
  Writer() {
    for (const char* name :
         {static_cast<const char*>(nullptr), "libxlsxwriter.so." LXW_SOVERSION}) {
      LoadedLibrary library = LoadedLibrary::open(name);
      is_loaded = library && library.find("workbook_new_opt", new_book) &&
                  library.find("workbook_set_properties", set_properties) &&
                  library.find("workbook_add_worksheet", add_sheet) &&
                  library.find("workbook_close", close_book) &&
                  library.find("worksheet_set_column", set_column) &&
                  library.find("worksheet_write_string", write_string) &&
                  library.find("worksheet_write_number", write_number) &&
                  library.find("worksheet_write_boolean", write_boolean) &&
                  library.find("lxw_worksheet_write_single_row", write_single_row) &&
                  library.find("lxw_strerror", text_of_error);
      if (!is_loaded) continue;
      library.keep();
      return;
    }
  }
};

// What a row says, whoever it is of.
struct Row {
  const ActionRow& action;
  std::int64_t begin_us = no_time, end_us = no_time;
};

// The same rows in the same order for widths and for cells.
template <class Take>
void for_each_row(const Annotation& annotation, const Take& take) {
  for (const AnnotatedInvocation& invocation : annotation.invocations) {
    const auto& rows = annotation.rows[invocation.dispatch];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      take(Row{rows[i], annotation.begin_us[invocation.first + i],
               annotation.end_us[invocation.first + i]});
    }
  }
  for (const HalCall& call : annotation.hal) {
    ActionRow row{.action = -1};
    row.operation =
        fmt::format("{}.{}", annotation.strings[call.dispatch], annotation.strings[call.type]);
    row.location = std::string(location_of(annotation, call));
    take(Row{row, call.begin_us, call.end_us});
  }
}

std::size_t row_count(const Annotation& annotation) {
  return annotation.begin_us.size() + annotation.hal.size();
}

class Sheet {
 public:
  Sheet(const Writer& writer, lxw_workbook* book, const Annotation& annotation)
      : writer_(writer),
        sheet_(writer.add_sheet(book, "Detailed Performance Data")),
        annotation_(annotation) {}

  // The first error of the library.
  lxw_error write() {
    if (sheet_ == nullptr) return LXW_ERROR_MEMORY_MALLOC_FAILED;
    for (std::size_t i = 0; i < headings.size(); ++i) {
      widths_[i] = std::string_view(headings[i]).size();
    }
    for_each_row(annotation_, [&](const Row& row) { cells(row, true); });
    for (std::size_t i = 0; i < headings.size(); ++i) {
      const auto column = lxw_col_t(i);
      const double width = double(std::min(widths_[i] + 2, widest_column));
      note(writer_.set_column(sheet_, column, column, width, nullptr));
    }
    for (std::size_t i = 0; i < headings.size(); ++i) {
      note(writer_.write_string(sheet_, 0, lxw_col_t(i), headings[i], nullptr));
    }
    row_ = 1;
    for_each_row(annotation_, [&](const Row& row) {
      if (failed_ != LXW_NO_ERROR) return;
      cells(row, false);
      ++row_;
    });
    if (failed_ == LXW_NO_ERROR) measure_rows();
    return failed_;
  }

  // Of all rows as XML, once they are written.
  std::uint64_t bytes_of_rows() const { return bytes_of_rows_; }

 private:
  // Measures the cells, or writes them.
  void cells(const Row& row, bool measure) {
    const ActionRow& action = row.action;
    measure_ = measure;
    number(0, action.action);
    if (action.job) number(1, double(*action.job));
    text(2, action.operation);
    text(3, joined(action.kernels, ","));
    text(4, joined(action.operators, " "));
    if (row.begin_us != no_time && row.end_us != no_time && row.end_us >= row.begin_us) {
      number(5, double(row.end_us) - double(row.begin_us));
    }
    for (std::size_t unit = 0; unit < npu_unit_count && action.uses; ++unit) {
      truth(lxw_col_t(6 + unit), (*action.uses)[unit]);
    }
    if (row.begin_us != no_time) number(12, double(row.begin_us));
    if (row.end_us != no_time) number(13, double(row.end_us));
    text(14, action.location);
  }

  // They are in a file of the library's by now, but for the last one.
  void measure_rows() {
    writer_.write_single_row(sheet_);
    const bool is_written =
        std::fflush(sheet_->optimize_tmpfile) == 0 && std::ferror(sheet_->optimize_tmpfile) == 0;
    const long size = std::ftell(sheet_->optimize_tmpfile);
    note(is_written && size >= 0 ? LXW_NO_ERROR : LXW_ERROR_CREATING_TMPFILE);
    bytes_of_rows_ = std::uint64_t(std::max(size, 0L));
  }

  void note(lxw_error error) {
    if (failed_ == LXW_NO_ERROR) failed_ = error;
  }
  void widen(lxw_col_t column, std::size_t width) {
    widths_[column] = std::max(widths_[column], width);
  }
  void number(lxw_col_t column, double value) {
    if (measure_) return widen(column, fmt::format("{}", value).size());
    note(writer_.write_number(sheet_, row_, column, value, nullptr));
  }
  void truth(lxw_col_t column, bool value) {
    if (measure_) return widen(column, value ? 4 : 5);
    note(writer_.write_boolean(sheet_, row_, column, value, nullptr));
  }
  void text(lxw_col_t column, std::string_view value) {
    if (value.empty()) return;
    if (measure_) return widen(column, characters_in(value));
    // As text whatever it begins with: the library makes no formula of it.
    const std::string valid = printable(value.substr(0, max_cell_bytes));
    const std::string cell = valid.substr(0, max_cell_bytes);
    note(writer_.write_string(sheet_, row_, column, cell.c_str(), nullptr));
  }

  const Writer& writer_;
  lxw_worksheet* sheet_;
  const Annotation& annotation_;
  std::array<std::size_t, headings.size()> widths_{};
  lxw_row_t row_ = 0;
  bool measure_ = false;
  std::uint64_t bytes_of_rows_ = 0;
  lxw_error failed_ = LXW_NO_ERROR;
};

lxw_error write_book(const Annotation& annotation, const std::string& name) {
  const Writer& writer = Writer::get();
  lxw_workbook_options options{};
  options.constant_memory = LXW_TRUE;
  lxw_workbook* book = writer.new_book(name.c_str(), &options);
  if (book == nullptr) return LXW_ERROR_MEMORY_MALLOC_FAILED;
  lxw_doc_properties properties{};
  properties.created = 1;  // of every file the same, or none would equal another
  lxw_error failed = writer.set_properties(book, &properties);
  Sheet sheet(writer, book, annotation);
  if (const lxw_error wrote = sheet.write(); failed == LXW_NO_ERROR) failed = wrote;
  if (const lxw_error closed = writer.close_book(book); failed == LXW_NO_ERROR) failed = closed;
  if (failed != LXW_NO_ERROR) return failed;
  const auto written = MappedFile::open(name);
  const bool is_whole = written && is_whole_workbook(written->bytes(), sheet.bytes_of_rows());
  return is_whole ? LXW_NO_ERROR : LXW_ERROR_CREATING_TMPFILE;
}

// Where the library has its temporary files.
std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

// Where an allocation fails, the library crashes, or says so on standard error and goes on without
// a part of the file: in a process of its own neither is a spreadsheet that looks whole.
Status write_book_apart(const Annotation& annotation, const std::string& name,
                        const std::string& path) {
  const ApartResult result = run_apart([&] {
    // The file as it is, without its name: the library would make it anew where a caller that a
    // signal ends has removed it.
    std::FILE* file = std::fopen(name.c_str(), "r+b");
    if (file == nullptr) return int(LXW_ERROR_CREATING_XLSX_FILE);
    return int(write_book(annotation, path_of_open(file)));
  });
  if (result.failure != 0) {
    return output_error("{}: cannot be written: {}", path, std::strerror(result.failure));
  }
  if (result.status == LXW_ERROR_CREATING_TMPFILE) {
    return output_error(
        "{}: temporary files cannot be written to {}; make room there or name another folder in "
        "TMPDIR",
        path, temporary_folder());
  }
  if (result.status && *result.status != LXW_NO_ERROR) {
    return output_error("{}: cannot be written: {}", path,
                        Writer::get().text_of_error(lxw_error(*result.status)));
  }
  if (!result.status || !result.said.empty()) {
    return output_error(
        "{}: the spreadsheet's writer failed, probably for want of memory; .csv "
        "takes less",
        path);
  }
  return {};
}

}  // namespace

Status write_annotated_xlsx(const Annotation& annotation, const std::filesystem::path& path) {
  if (row_count(annotation) > max_rows) {
    return output_error("{}: {} rows are more than the {} that a sheet holds; write .csv instead",
                        path.string(), thousands(row_count(annotation)), thousands(max_rows));
  }
  if (!Writer::get().is_loaded) {
    return output_error("{}: needs libxlsxwriter; install the package libxlsxwriter" LXW_SOVERSION
                        ", or write .csv",
                        path.string());
  }
  TRY_AS(file, FileByName::create(path, "spreadsheet"));
  const std::string name = file->path().string();
  if (Status written = write_book_apart(annotation, name, path.string()); !written) return written;
  TRY(file->commit());
  return {};
}

}  // namespace npuscope::jobs
