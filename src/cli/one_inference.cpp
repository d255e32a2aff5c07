#include "cli/one_inference.hpp"

#include "npuscope/report/timeline_part.hpp"

namespace npuscope::cli {

void OneInference::add_option(CLI::App& command) {
  command.add_option("--inference", inference_, "only this inference; default: all of them")
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max() - 1));
}

Result<report::Document> OneInference::document_of(const Profile& whole,
                                                   const DocumentOptions& options,
                                                   const MakeDocument& make) {
  report::TimelinePartText text;
  text.inference = inference_;
  auto part = report::select_timeline(whole, text);
  if (!part) return tl::unexpected(part.error());
  if (!part->part) return make(whole);
  auto document = make(parts_.emplace_back(std::move(*part->part)));
  if (!document) return document;
  const std::string selected = selection_text(options.selection);
  document->selection =
      fmt::format("{}{}inference {}", selected, selected.empty() ? "" : ", ", *inference_);
  return document;
}

ExitStatus OneInference::print(const DocumentOptions& options, const MakeDocument& make) {
  if (!inference_) return print_documents(options, make);
  return print_documents(options,
                         [&](const Profile& whole) { return document_of(whole, options, make); });
}

}  // namespace npuscope::cli
