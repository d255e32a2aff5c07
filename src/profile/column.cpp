#include "npuscope/profile/profile.hpp"

template class std::vector<std::byte, npuscope::UnwrittenAllocator<std::byte>>;
template class std::vector<std::int64_t, npuscope::UnwrittenAllocator<std::int64_t>>;
template class std::vector<std::uint64_t, npuscope::UnwrittenAllocator<std::uint64_t>>;
template class std::vector<std::uint32_t, npuscope::UnwrittenAllocator<std::uint32_t>>;
template class std::vector<npuscope::UnitId, npuscope::UnwrittenAllocator<npuscope::UnitId>>;
template class std::vector<npuscope::OpId, npuscope::UnwrittenAllocator<npuscope::OpId>>;
template class std::vector<npuscope::SpanKind, npuscope::UnwrittenAllocator<npuscope::SpanKind>>;
