// Hash consing: equal values get equal numbers, 0, 1, 2, ... in the order in which they were first
// seen. A table with open addressing keeps numbers and hashes; its owner keeps the values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace planlog {

class InternTable {
  public:
    static constexpr uint32_t none = UINT32_MAX;

    uint32_t size() const { return static_cast<uint32_t>(hashes_.size()); }
    uint64_t hash(uint32_t number) const { return hashes_[number]; }
    size_t memory() const {  // in bytes
        return hashes_.capacity() * sizeof(uint64_t) + slots_.capacity() * sizeof(Slot);
    }

    // Returns the number of the value for which `is_same(number)` holds, or none.
    template <class IsSame>
    uint32_t find(uint64_t hash, IsSame is_same) const {
        return slots_.empty() ? none : slots_[slot_of(hash, is_same)].number;
    }
    // The same, but a new value is added with the next number.
    template <class IsSame>
    uint32_t find_or_add(uint64_t hash, IsSame is_same) {
        if (hashes_.size() * 2 >= slots_.size()) grow();
        Slot& slot = slots_[slot_of(hash, is_same)];
        if (slot.number == none) {
            slot = {size(), tag_of(hash)};
            hashes_.push_back(hash);
        }
        return slot.number;
    }
    void clear() {
        hashes_.clear();
        std::fill(slots_.begin(), slots_.end(), Slot{});
    }

  private:
    struct Slot {
        uint32_t number = none;
        uint32_t tag = 0;  // a part of the hash, so that most other values need no look
    };

    static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
    // The slot of the value, or the free slot where it belongs.
    template <class IsSame>
    size_t slot_of(uint64_t hash, IsSame is_same) const {
        const size_t last = slots_.size() - 1;
        size_t slot = hash & last;
        const uint32_t tag = tag_of(hash);
        while (slots_[slot].number != none &&
               !(slots_[slot].tag == tag && is_same(slots_[slot].number)))
            slot = (slot + 1) & last;
        return slot;
    }
    void grow() {
        slots_.assign(std::max<size_t>(64, slots_.size() * 2), {});
        for (uint32_t i = 0; i < size(); ++i)
            slots_[slot_of(hashes_[i], [](uint32_t) { return false; })] = {i, tag_of(hashes_[i])};
    }

    std::vector<uint64_t> hashes_;
    std::vector<Slot> slots_;
};

}  // namespace planlog
