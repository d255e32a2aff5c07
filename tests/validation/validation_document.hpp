// A validation as a document: figures, traffic line by line, rooflines, predictions.
#pragma once

#include "report/document/document.hpp"
#include "validation/validation.hpp"

namespace npuscope::validation {

report::Document make_validation_document(const Validation& validation,
                                          const npu::nsp::Target& target);

// Those of it that judge a model's times: the beginning of docs/validation.toml.
std::string judged_runs_text(const Validation& validation, const npu::nsp::Target& target);

}  // namespace npuscope::validation
