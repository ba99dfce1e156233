// Items with costs, the cheapest first: a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990).
//
// No cost that is pushed may be lower than the last one popped, until the heap is empty. An entry
// is in the bucket of the highest bit in which its cost differs from that one, so it moves to a
// lower bucket 64 times at most. A few different costs take hardly more time than the queue of a
// breadth-first search.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace planlog {

template <class Item>
class RadixHeap {
  public:
    struct Entry {
        int64_t cost;
        Item item;
    };

    void push(int64_t cost, Item item) { buckets_[bucket_of(cost)].push_back({cost, item}); }
    std::optional<Entry> pop() {
        if (buckets_[0].empty() && !refill()) return std::nullopt;
        const Entry entry = buckets_[0].back();
        buckets_[0].pop_back();
        return entry;
    }
    void clear() {
        for (auto& bucket : buckets_) bucket.clear();
        last_ = INT64_MIN;
    }

  private:
    size_t bucket_of(int64_t cost) const {
        return static_cast<size_t>(std::bit_width(ordered(cost) ^ ordered(last_)));
    }
    // Unsigned numbers in the order of the costs.
    static uint64_t ordered(int64_t cost) {
        return static_cast<uint64_t>(cost) ^ (uint64_t{1} << 63);
    }
    // Moves the entries of the lowest bucket, among them the cheapest ones. False if there is none.
    bool refill() {
        const auto lowest =
            std::ranges::find_if(buckets_, [](const auto& bucket) { return !bucket.empty(); });
        if (lowest == buckets_.end()) {
            last_ = INT64_MIN;
            return false;
        }
        last_ = std::ranges::min(*lowest, {}, &Entry::cost).cost;
        for (const Entry entry : *lowest) push(entry.cost, entry.item);
        lowest->clear();
        return true;
    }

    std::array<std::vector<Entry>, 65> buckets_;
    int64_t last_ = INT64_MIN;
};

}  // namespace planlog
