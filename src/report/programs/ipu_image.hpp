// What `npuscope ipu info` prints of an offline model: the fields of the vendor's show_img_info.py,
// "unknown" where nobody outside knows where the file keeps them, and what the file holds beyond.
//
//   Offline IMG Version                  S3.1.2
//   Offline Model Size                   1,234,567 bytes
//   Offline Model Max Batch Number       unknown
#pragma once

#include <string>

#include "formats/sigmastar/image.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// `chip` as the user named it; empty: not named.
Document make_image_document(const sigmastar::Image& image, const std::string& chip);

}  // namespace npuscope::report
