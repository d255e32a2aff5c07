// What `npuscope qpc` prints: each result as text for people and as JSON for programs. Names from
// the file are escaped in both.
#pragma once

#include <string>

#include "formats/qaic/qpc/qpc_contents.hpp"
#include "formats/qaic/qpc/qpc_validation.hpp"

namespace npuscope::report {

std::string qpc_listing_text(const qaic::QpcListing& listing);
std::string qpc_listing_json(const qaic::QpcListing& listing);

std::string qpc_extraction_text(const qaic::QpcExtraction& extraction);
std::string qpc_extraction_json(const qaic::QpcExtraction& extraction);

std::string qpc_validation_text(const qaic::QpcValidation& validation);
std::string qpc_validation_json(const qaic::QpcValidation& validation);

}  // namespace npuscope::report
