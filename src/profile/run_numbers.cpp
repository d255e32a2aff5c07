#include "npuscope/profile/run_numbers.hpp"

namespace npuscope {

double OpSamples::total() const {
  double sum = 0;
  for (const Sample& entry : entries) sum += entry.value;
  return sum;
}

}  // namespace npuscope
