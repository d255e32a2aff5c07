// A validation as a document: figures, traffic line by line, rooflines, predictions.
#pragma once

#include "npuscope/report/document.hpp"
#include "report/jobs/validation.hpp"

namespace npuscope::report {

Document make_validation_document(const Validation& validation, const npu::Target& target);

}  // namespace npuscope::report
