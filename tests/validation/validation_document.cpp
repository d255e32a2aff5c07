#include "validation/validation_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/programs/judged_runs.hpp"

namespace npuscope::validation {

using namespace report;

namespace {

std::string amount(ValidationFigure::Unit unit, double value) {
  switch (unit) {
    case ValidationFigure::Unit::seconds: return fmt::format("{:.2f} ms", value * 1e3);
    case ValidationFigure::Unit::share: return fmt::format("{:.2f} %", value * 100);
    case ValidationFigure::Unit::kilobytes: return fmt::format("{:.0f} KB", value);
  }
  return {};
}

std::string difference_text(const ValidationFigure& figure) {
  const bool points = figure.unit == ValidationFigure::Unit::share;
  return fmt::format("{:+.2f} {}", figure.difference() * 100, points ? "points" : "%");
}

std::string tolerance_text(const ValidationFigure& figure) {
  const bool points = figure.unit == ValidationFigure::Unit::share;
  return fmt::format("{:g} {}", figure.tolerance * 100, points ? "points" : "%");
}

Section figures_section(const Validation& validation) {
  Section section{.key = "figures", .title = "Real runs"};
  section.table.fields = {{"run", "run"},
                          {"figure", "figure"},
                          {"real", ""},
                          {"ours", ""},
                          {"real_text", "real card"},
                          {"ours_text", "npuscope"},
                          {"difference", "difference"},
                          {"tolerance", "tolerance"},
                          {"met", "met", Format::truth},
                          {"source", "source"}};
  section.table.fields[2].format = section.table.fields[3].format = Format::number;
  for (const ValidationFigure& figure : validation.figures) {
    section.table.rows.push_back({figure.run, figure.what, figure.real, figure.ours,
                                  amount(figure.unit, figure.real),
                                  amount(figure.unit, figure.ours), difference_text(figure),
                                  tolerance_text(figure), figure.met(), figure.source});
  }
  const auto missed = std::count_if(validation.figures.begin(), validation.figures.end(),
                                    [](const ValidationFigure& figure) { return !figure.met(); });
  section.remarks.push_back(
      missed == 0
          ? fmt::format("All {} figures are within their tolerance.", validation.figures.size())
          : fmt::format("{} of {} figures are beyond their tolerance.", missed,
                        validation.figures.size()));
  section.remarks.push_back(
      "One set of parameters for all runs; each has its source beside it in the target's file. "
      "Those marked BERT or AMBER there were taken from these very runs, so agreement in device "
      "time and utilisation shows that the parts add up, not that they were foreseen. Traffic "
      "follows from the model and the tiling alone.");
  return section;
}

Section traffic_section(const Validation& validation) {
  Section section{.key = "traffic", .title = "Traffic line by line"};
  section.remarks.push_back(
      "The notebook calls \"DDR traffic read\" minus \"constant only\" an estimate of spill, and "
      "advises against compiling with statistics when traffic is looked at. With the purposes "
      "apart, neither is needed.");
  section.table.fields = {{"run", "run"},
                          {"line", "line"},
                          {"real_kilobytes", ""},
                          {"our_kilobytes", ""},
                          {"real_text", "real card, KB"},
                          {"our_text", "npuscope, KB"},
                          {"explanation", "what it is"}};
  section.table.fields[2].format = section.table.fields[3].format = Format::number;
  for (const TrafficLine& line : validation.traffic) {
    section.table.rows.push_back({line.run, line.what, line.real_kilobytes, line.our_kilobytes,
                                  fmt::format("{:.0f}", line.real_kilobytes),
                                  fmt::format("{:.0f}", line.our_kilobytes), line.explanation});
  }
  return section;
}

Section rooflines_section(std::string key, std::string title,
                          const std::vector<ValidationOutcome>& outcomes) {
  Section section{.key = std::move(key), .title = std::move(title)};
  section.table.fields = {{"run", "run"},
                          {"cores", "cores", Format::count},
                          {"ddr_s", "DDR at least", Format::seconds},
                          {"hmx_s", "HMX at least", Format::seconds},
                          {"hvx_s", "HVX at least", Format::seconds},
                          {"bound", "bound by"},
                          {"device_s", "npuscope", Format::seconds},
                          {"of_floor", "of the longest"},
                          {"hmx_utilization", "HMX", Format::share},
                          {"hvx_utilization", "HVX", Format::share},
                          {"spill_bytes", "spill", Format::bytes}};
  for (const ValidationOutcome& outcome : outcomes) {
    const Roofline& floor = outcome.by_hand;
    const bool ran = outcome.device_s > 0;
    section.table.rows.push_back(
        {outcome.run.name, outcome.run.cores, floor.ddr_s, floor.hmx_s, floor.hvx_s, floor.bound(),
         ran ? Value(outcome.device_s) : Value(),
         ran ? Value(fmt::format("{:.2f} x", outcome.device_s / floor.longest())) : Value(),
         ran ? Value(outcome.hmx_utilization) : Value(),
         ran ? Value(outcome.hvx_utilization) : Value(), outcome.compiled.spill_bytes});
  }
  return section;
}

Section published_section(const std::vector<PredictedThroughput>& outcomes) {
  Section section{.key = "published", .title = "Predictions: throughput that was published"};
  section.table.fields = {{"run", "run"},
                          {"compiled", "compiled as"},
                          {"published", "", Format::number},
                          {"ours", "", Format::number},
                          {"published_text", "one card, samples/s"},
                          {"first_text", "npuscope before tuning"},
                          {"ours_text", "npuscope"},
                          {"difference", "difference"},
                          {"source", "source"}};
  const auto rate = [](double samples) {
    return samples < 100 ? fmt::format("{:.2f}", samples) : fmt::format("{:.0f}", samples);
  };
  std::array<std::size_t, 2> within{};
  for (const PredictedThroughput& outcome : outcomes) {
    const PublishedThroughput& run = outcome.run;
    within[0] += std::abs(outcome.difference()) <= 0.10;
    within[1] += std::abs(outcome.difference()) <= 0.25;
    section.table.rows.push_back({run.name, run.compiled, run.published, outcome.samples_per_s,
                                  rate(run.published), rate(run.first), rate(outcome.samples_per_s),
                                  fmt::format("{:+.1f} %", outcome.difference() * 100),
                                  run.source});
  }
  section.remarks.push_back(
      fmt::format("{} of {} within 10 %, {} within 25 %.", within[0], outcomes.size(), within[1]));
  section.remarks.push_back(
      "Samples are images, questions or tokens. Images and questions: MLPerf Inference, closed "
      "division, cards of 75 W, networks compiled as the submissions compiled them; several "
      "questions share an input of 384 tokens, 2.23 in the mean of SQuAD 1.1; heads of the SSDs "
      "are joined as those submissions read them. No figure of the "
      "target was taken from these runs. \"Before tuning\" is what npuscope gave before anything "
      "was "
      "compared. What its compiler lacked then: depth first through images that VTCM cannot hold, "
      "queues of transfers that fetch first what is needed first, HVX at work on one part of a "
      "product while the HMX makes the next, and few channels with strides gathered. Sums of 8 bit "
      "and depthwise convolutions took guesses; they take now what the vendor's host estimate of "
      "an "
      "HTP, which has the same vector units, takes.");
  section.remarks.push_back(
      "How far the clock falls was taken from a float16 run. Products of integers take less "
      "power (targets/aic100.toml says what, from the energy of the operations, not from these "
      "runs); while they counted as those of float16, npuscope said 16,907 images/s of ResNet-50, "
      "400 of SSD-ResNet34 and 591 questions of BERT-Large. Of ResNet-50 the cores now run at 1.36 "
      "GHz; five cards under the full load of a submission ran at 1.21 to 1.45, 1.29 in the mean "
      "(krai/ck-qaic, notebook of 2021).");
  section.remarks.push_back(
      "SSD-ResNet34 was told to go depth first (-aic-force-depth-first), SSD-MobileNet was not, "
      "and is compiled here with --layer-by-layer: 16 activations then move 20 MB each for a "
      "batch, which is all that the DDR sustains. Depth first npuscope would predict 31,170 "
      "images/s, 61 % too many. A card may be held back there by its cores as well: of five cards "
      "that v2.0 ran at less power on the same host (5x QAIC100, EE), SSD-MobileNet kept 86 % "
      "of its throughput, as did ResNet-50 (85 %), SSD-ResNet34 (87 %) and BERT (87 %). "
      "ResNet-50 was cut in two stages of 4 cores each (-aic-cluster-sizes=4,4), which npuscope's "
      "compiler cannot: 8 cores work on every layer, and waits for the weights of the last stage, "
      "which the two activations want at the same time, take 0.05 ms of a batch. Compiled for 4 "
      "cores, 4 activations would answer 20,417 images/s. What -ols and -mos do is npuscope's own "
      "reading of the vendor's words; without -mos=4 it would predict 351 questions of BERT-Large "
      "in float16.");
  section.remarks.push_back(
      "Weights in MXFP6: 6.25 bits a value in DDR, made float16 by HVX on the way. How long that "
      "takes is from a public profile of an AI 100 Ultra (targets/aic100.toml), not from these "
      "runs; the state stays float16. OPT is predicted too fast with such weights, and less so "
      "without: a card gains 80 % (2.7B), npuscope 94 %, so unpacking hides less behind transfers "
      "there than here, or takes longer than on the Ultra.");
  return section;
}

Section method_section(const npu::nsp::Target& target) {
  Section section{.key = "method", .title = "How it is computed"};
  section.remarks = {
      fmt::format("Target {}. Every run goes the way of a user: generated model, compiler, "
                  "reference NPU, statistics buffer, opstats summary. Times and utilisation are of "
                  "one warm inference: the device clock of a cold one has not settled.",
                  target.name),
      fmt::format("The rooflines are closed forms of the models' sizes; neither compiler nor "
                  "simulator has a part in them. DDR: weights once, state once in and once out, at "
                  "{:.1f} GB/s sustained or {:.1f} GB/s for each core, whichever is less. HMX: "
                  "multiply-accumulates with rows padded to {}, at the peak of {:.0f} a cycle and "
                  "{:.2f} GHz. HVX: softmax with scaling and mask, and the activation function of "
                  "the feed-forward layer, at the cost of their kernels in the target's file.",
                  target.ddr_bytes_per_s * target.ddr_efficiency * 1e-9,
                  target.ddr_bytes_per_s_per_core * 1e-9, target.hmx_alignment,
                  target.hmx_macs_per_cycle_fp16, target.core_hz * 1e-9),
      "A run that spills is further above its roofline: the VTCM of one core cannot hold what a "
      "layer of the encoder needs with batch 8. Tiles of a product go through the elementwise "
      "operators behind it before they leave for DDR, and convolutions go depth first, but two "
      "products of matrices are not tiled together: the second reads what the first has made back "
      "from there, once for each part of its weights that VTCM can hold. Expect a card to be "
      "faster "
      "there.",
      "What is not in the model: the runner's own time between inferences (the card's runner "
      "waited 103 ms for each decode input while it made random ones and wrote files), refresh and "
      "page conflicts of the DDR beyond its sustained rate, and contention on the way between "
      "cores. State lies spread over the cores; the card kept all of it on core 0.",
      "The first inference of a run is cold in two ways: its device sets itself up before it (the "
      "threads, 228 us on the card of the BERT run, and the constants that are to stay in VTCM), "
      "and its clock has not settled. Public figures show no more: of the ten inferences of the "
      "Amber run none took more than 0.11 % longer than their mean."};
  return section;
}

constexpr const char* table_head =
    "# What the reference NPU was compared with, run by run. docs/validation.md is made of it; "
    "tune "
    "and\n"
    "# conversation say by it how far their times are judged. Keys: "
    "src/report/programs/judged_runs.hpp.\n"
    "\n"
    "runs = [\n"
    "  # Cards, written by NPUSCOPE_WRITE_VALIDATION=1 ./dev test release validation.\n";

}  // namespace

std::string judged_runs_text(const Validation& validation, const npu::nsp::Target& target) {
  std::vector<JudgedRun> runs;
  for (const ValidationFigure& figure : validation.figures) {
    if (figure.unit != ValidationFigure::Unit::seconds) continue;
    const auto outcome = std::ranges::find_if(
        validation.real, [&](const auto& each) { return each.run.name == figure.run; });
    runs.push_back({target.name, Judge::card, figure.run, figure.what, outcome->run.family, "fp16",
                    true, true, figure.real, figure.ours});
  }
  for (const PredictedThroughput& outcome : validation.published) {
    const PublishedThroughput& run = outcome.run;
    const char* precision = run.mxfp6 ? "mxfp6" : run.int8 ? "int8" : "fp16";
    runs.push_back({target.name, Judge::publication, run.name, "throughput", run.family, precision,
                    true, false, run.published, outcome.samples_per_s});
  }
  return table_head + judged_runs_toml(runs);
}

Document make_validation_document(const Validation& validation, const npu::nsp::Target& target) {
  Document document;
  document.sections = {
      figures_section(validation),
      traffic_section(validation),
      rooflines_section("rooflines", "Rooflines of the real runs", validation.real),
      rooflines_section("predictions", "Predictions: runs that calibration did not use",
                        validation.predicted),
      published_section(validation.published),
      method_section(target)};
  return document;
}

}  // namespace npuscope::validation
