// Annotated tables in the forms of older tools.
#include <gmock/gmock.h>
#include <unistd.h>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/files.hpp"

namespace npuscope::torq::older_table_test {
namespace {

namespace fs = std::filesystem;

std::string older(std::string_view log_text, OlderForm form, std::uint64_t& rows) {
  const auto source = source_of(log_text);
  const auto log = read_log(*source);
  EXPECT_TRUE(log) << (log ? "" : log.error().message);
  const auto debug = load_debug_info(fs::path(data("debug_info")));
  const auto annotation = annotate(*log, *debug);
  EXPECT_TRUE(annotation) << (annotation ? "" : annotation.error().message);
  const fs::path path =
      fs::path(::testing::TempDir()) / ("torq_older_" + std::to_string(::getpid()) + ".csv");
  const auto written = write_older_csv(*annotation, *log, form, path);
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  rows = written.value_or(0);
  const std::string text = contents(path.string());
  fs::remove(path);
  return text;
}

constexpr std::string_view host_log =
    "actionIndex, elapsed_time(us), timestamp(us), event, location\n"
    "0,0,100,HOST_COPY_START,\"loc(unknown)\"\n0,5,105,HOST_COPY_END,\"loc(unknown)\"\n"
    "1,6,106,NSS_START,\"loc(\"\"model.mlir\"\":3:10)\"\n"
    "1,7,107,NSS_START_END,\"loc(\"\"model.mlir\"\":3:10)\"\n"
    "2,7,107,NSS_WAIT_START,\"loc(\"\"model.mlir\"\":3:10)\"\n"
    "2,20,120,NSS_WAIT_END,\"loc(\"\"model.mlir\"\":3:10)\"\n"
    "3,20,120,NSS_START,\"loc(unknown)\"\n3,21,121,NSS_START_END,\"loc(unknown)\"\n"
    "4,21,121,NSS_WAIT_START,\"loc(unknown)\"\n4,30,130,NSS_WAIT_END,\"loc(unknown)\"\n"
    "5,31,131,HOST_PROGRAM_START,\"loc(unknown)\"\n5,39,139,HOST_PROGRAM_END,\"loc(unknown)\"\n";

// A wait becomes a row for each operation of the hardware, with the wait's times and the units that
// its program uses; slice 1 still runs when the second program begins.
TEST(OlderTable, OfTheHostHasARowPerOperation) {
  std::uint64_t rows = 0;
  EXPECT_EQ(
      older(host_log, OlderForm::host, rows),
      "action_id;job_id;operation;invocation_name;original_operator;total_time;slice_id;"
      "slice_used_0_in_program;slice_used_1_in_program;dma_in_used_in_program;"
      "dma_out_used_in_program;cdma_used_in_program;css_used_in_program;timestamp_start;"
      "timestamp_end;location\n"
      "0;;torq_hl.host_copy;;;5;;;;;;;;100;105;loc(unknown)\n"
      "1;0;torq_hl.start_program;;tosa.conv2d@L3;1;;;;;;;;106;107;\"loc(\"\"model.mlir\"\":3:10)"
      "\"\n"
      "2;0;torq_hw.dma_in_cfg;;tosa.conv2d@L3;13;;True;True;True;False;False;False;107;120;"
      "\"loc(\"\"model.mlir\"\":3:10)\"\n"
      "2;0;torq_hw.dma_in_start;;tosa.conv2d@L3;13;;True;True;True;False;False;False;107;120;"
      "\"loc(\"\"model.mlir\"\":3:10)\"\n"
      "2;0;torq_hw.dma_in_wait;;tosa.conv2d@L3;13;;True;True;True;False;False;False;107;120;"
      "\"loc(\"\"model.mlir\"\":3:10)\"\n"
      "2;0;torq_hw.slice_start;conv2d_0;tosa.conv2d@L3;13;0.0;True;True;True;False;False;False;107;"
      "120;\"loc(\"\"model.mlir\"\":3:10)\"\n"
      "2;0;torq_hw.slice_start;add_1;tosa.conv2d@L3;13;1.0;True;True;True;False;False;False;107;"
      "120;"
      "\"loc(\"\"model.mlir\"\":3:10)\"\n"
      "2;0;torq_hw.slice_wait;conv2d_0;tosa.conv2d@L3;13;0.0;True;True;True;False;False;False;107;"
      "120;\"loc(\"\"model.mlir\"\":3:10)\"\n"
      "3;1;torq_hl.start_program;;tosa.conv2d@L3 + tosa.add@L4;1;;;;;;;;120;121;loc(unknown)\n"
      "4;1;torq_hw.slice_wait;add_1;tosa.conv2d@L3 + tosa.add@L4;9;1.0;False;True;False;True;False;"
      "False;121;130;loc(unknown)\n"
      "4;1;torq_hw.dma_out_cfg;;tosa.conv2d@L3 + tosa.add@L4;9;;False;True;False;True;False;False;"
      "121;130;loc(unknown)\n"
      "4;1;torq_hw.dma_out_start;;tosa.conv2d@L3 + tosa.add@L4;9;;False;True;False;True;False;"
      "False;121;130;loc(unknown)\n"
      "4;1;torq_hw.dma_out_wait;;tosa.conv2d@L3 + tosa.add@L4;9;;False;True;False;True;False;False;"
      "121;130;loc(unknown)\n"
      "5;;torq_hl.start_program (host);;;8;;;;;;;;131;139;loc(unknown)\n");
  EXPECT_EQ(rows, 14u);
}

// A program begins where the one before ended, as the jobs' times say.
TEST(OlderTable, OfTheNssCountsFromTheFirstStart) {
  std::uint64_t rows = 0;
  const std::string table = older(
      "id;time_since_open;time_since_start;location\n0;1060;18;loc(unknown)\n1;1100;39;loc(unknown)"
      "\n",
      OlderForm::nss, rows);
  EXPECT_EQ(rows, 10u);
  EXPECT_THAT(table, ::testing::StartsWith(
                         "nss_program_index;operation;slice_id;invocation_name;"
                         "nss_program_timestamp_start;nss_program_timestamp_end;"
                         "nss_program_timestamp_total;slice_used_0_in_program;"
                         "slice_used_1_in_program;dma_in_used_in_program;dma_out_used_in_program\n"
                         "0;torq_hw.dma_in_cfg;;;0;18;18;True;True;True;False\n"));
  EXPECT_THAT(table, ::testing::HasSubstr("\n0;torq_hw.slice_start;1.0;add_1;0;18;18;True"));
  EXPECT_THAT(table,
              ::testing::EndsWith("\n1;torq_hw.dma_out_wait;;;18;58;40;False;True;False;True\n"));
}

}  // namespace
}  // namespace npuscope::torq::older_table_test
