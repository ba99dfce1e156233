// Hash consing: equal values get equal numbers, 0, 1, 2, ... in the order in which they were first
// seen. A table with open addressing keeps numbers and hashes; its owner keeps the values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace planlog {

class InternTable {
  public:
    uint32_t size() const { return static_cast<uint32_t>(hashes_.size()); }

    // Returns the number of the value for which `is_same(number)` holds, or the next number if
    // there is none.
    template <class IsSame>
    uint32_t find_or_add(uint64_t hash, IsSame is_same) {
        if (hashes_.size() * 2 >= slots_.size()) grow();
        size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1))
            if (hashes_[slots_[slot]] == hash && is_same(slots_[slot])) return slots_[slot];
        slots_[slot] = size();
        hashes_.push_back(hash);
        return slots_[slot];
    }

    void clear() {
        hashes_.clear();
        slots_.clear();
    }

  private:
    static constexpr uint32_t none = UINT32_MAX;

    void grow() {
        slots_.assign(std::max<size_t>(64, slots_.size() * 2), none);
        for (uint32_t i = 0; i < size(); ++i) {
            size_t slot = hashes_[i] & (slots_.size() - 1);
            while (slots_[slot] != none) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = i;
        }
    }

    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;
};

}  // namespace planlog
