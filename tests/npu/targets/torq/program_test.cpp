#include "npu/targets/torq/program.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "formats/qaic/damage.hpp"
#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::program_test {
namespace {

using testing::HasSubstr;

// Two dispatches: a program that uses every unit; a copy and a host program.
Program sample() {
  ProgramMaker make;
  const std::uint32_t add = make.kernel(20, 21), softmax = make.kernel(8000, 5000, true);
  make.transfer(Unit::dma_in, 100);
  make.task({ProgramMaker::run(Unit::slice, add, 1)});
  make.task({ProgramMaker::wait(Unit::slice, 1)});
  make.transfer(Unit::cdma_lram_to_itcm, 64).transfer(Unit::cdma_lram_to_dtcm, 64);
  make.task({ProgramMaker::run(Unit::css, softmax), ProgramMaker::wait(Unit::css)});
  make.transfer(Unit::cdma_dtcm_to_lram, 64).transfer(Unit::dma_out, 100);
  Program program = make.program;
  program.tasks[3].begins_block = true;
  program.target_toml = sl2610().toml;
  program.dispatches.push_back({"main_dispatch_1_host", 3});
  program.actions.push_back({ActionKind::host_copy, 4096, 16});
  program.actions.push_back({ActionKind::start_host});
  program.actions.push_back({ActionKind::wait_host});
  program.host_programs = {{1000, 5000}};
  return program;
}

std::string problem_of(const Program& program) {
  const auto checked = check_program(program, 2, "p");
  return checked ? "" : checked.error().message;
}

TEST(Program, ComesBackAsItWasWritten) {
  const Program program = sample();
  ASSERT_EQ(problem_of(program), "");
  const auto bytes = write_program(program);
  EXPECT_TRUE(looks_like_program(bytes));
  const auto again = read_program(bytes, "p");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->name, "made");
  EXPECT_EQ(again->target_toml, program.target_toml);
  EXPECT_EQ(again->dispatches[1].name, "main_dispatch_1_host");
  EXPECT_EQ(again->kernels[1].device_cycles, 5000u);
  EXPECT_EQ(write_program(*again), bytes);
}

// What comes back is checked as `run` does, and runs to its end.
TEST(Program, AnyDamageIsAnErrorOrASoundProgram) {
  Program program = sample();
  program.target_toml.clear();
  const auto bytes = write_program(program);
  const auto check = [](ByteSpan damaged, std::size_t) {
    const auto again = read_program(damaged, "p");
    if (again && check_program(*again, 2, "p")) {
      EXPECT_TRUE(run(*again, sl2610(), {}));
    }
  };
  npuscope::test::for_each_truncation(
      bytes, [&](ByteSpan cut, std::size_t) { EXPECT_FALSE(read_program(cut, "p")); });
  npuscope::test::for_each_damaged_byte(bytes, check);
}

// As a forger would: the checksums are right, the tables are not.
TEST(Program, TablesThatDoNotFitAreErrors) {
  struct Case {
    std::function<void(Program&)> forge;
    const char* message;
  };
  const auto step = [](std::size_t index, auto change) {
    return [=](Program& program) { change(program.steps[index]); };
  };
  const std::vector<Case> cases{
      {[](auto& p) { p.dispatches.clear(); }, "p: it has no dispatch; compile the model again"},
      {[](auto& p) { p.dispatches[0].actions = ~0u; }, "do not share its 5 actions"},
      {[](auto& p) { p.dispatches[0].actions = 0, p.dispatches[1].actions = 5; }, "no action"},
      {[](auto& p) { p.dispatches[0].name = "a,b\nc"; }, "the name of a dispatch is not a symbol"},
      {[](auto& p) { p.nss_programs[0].tasks = 3; }, "do not share its 8 tasks"},
      {[](auto& p) { p.tasks[0].steps = ~0u; }, "do not share its 14 steps"},
      {[](auto& p) { std::swap(p.actions[0], p.actions[1]); }, "not waited for behind its start"},
      {[](auto& p) { p.actions[3].kind = ActionKind::start_nss; }, "not waited for behind"},
      {[](auto& p) { p.actions[3] = p.actions[4] = p.actions[2]; }, "0 host programs but has 1"},
      {[](auto& p) { p.actions[2].bytes = ~std::uint64_t{0}; }, "host copies are too large"},
      {[](auto& p) { p.host_programs[0].elements = ~std::uint64_t{0}; }, "programs are too large"},
      {[](auto& p) { p.kernels[0].cycles = ~std::uint64_t{0}; }, "takes more than"},
      {step(2, [](Step& s) { s.slice = 2; }), "it uses slice 2, and the target has 2"},
      {step(2, [](Step& s) { s.kernel = 9; }), "it starts kernel 9 of 2"},
      {step(2, [](Step& s) { s.kernel = 1; }), "on another unit than it is for"},
      {step(3, [](Step& s) { s.slice = 0; }), "a unit is waited for that was not started"},
      {step(3, [](Step& s) { s.starts = true; }), "a unit is started while it runs"},
      {step(13, [](Step& s) { s = {.unit = Unit::slice, .starts = true}; }),
       "ends while a unit runs"},
      {step(0, [](Step& s) { s.bytes = ~std::uint64_t{0}; }), "its transfers are too large"},
  };
  for (const Case& each : cases) {
    Program program = sample();
    each.forge(program);
    EXPECT_THAT(problem_of(program), HasSubstr(each.message));
    const auto again = read_program(write_program(program), "p");
    EXPECT_FALSE(again && run(*again, sl2610(), {}));
  }
}

TEST(Program, AnUnknownKindIsAnError) {
  Program program = sample();
  program.actions[2].kind = ActionKind(77);
  EXPECT_THAT(read_program(write_program(program), "p").error().message,
              HasSubstr("action kind 77 is unknown"));
  program = sample();
  program.steps[0].unit = Unit(200);
  EXPECT_THAT(read_program(write_program(program), "p").error().message,
              HasSubstr("unit 200 is unknown"));
}

}  // namespace
}  // namespace npuscope::npu::torq::program_test
