#include "planning/state_set.hpp"

#include <algorithm>

#include "datalog/relation.hpp"

namespace planlog {

namespace {

constexpr uint32_t empty = UINT32_MAX;

uint64_t hash_of(uint32_t atom) { return mix(0x9e3779b97f4a7c15ULL * (uint64_t{atom} + 1)); }

}  // namespace

uint32_t StateSet::add_atom(PredicateId predicate, const ObjectId* values, size_t arity) {
    const auto atom = static_cast<uint32_t>(atoms_.size());
    atoms_.predicates.push_back(predicate);
    atoms_.arguments.insert(atoms_.arguments.end(), values, values + arity);
    atoms_.offsets.push_back(static_cast<uint32_t>(atoms_.arguments.size()));
    if (atom == width_ * 64) widen();
    return atom;
}

// Doubles the width, so that few atoms make a set move. The hash of a state does not
// depend on the width.
void StateSet::widen() {
    std::vector<uint64_t> wide(size() * width_ * 2);
    for (size_t state = 0; state < size(); ++state)
        std::copy_n(bits_.data() + state * width_, width_, wide.data() + state * width_ * 2);
    bits_ = std::move(wide);
    width_ *= 2;
    draft_.resize(width_);
}

void StateSet::draft() {
    std::fill(draft_.begin(), draft_.end(), 0);
    draft_hash_ = 0;
}

void StateSet::draft(uint32_t number) {
    const uint64_t* words = state(number);
    for (size_t i = 0; i < width_; ++i) draft_[i] = words[i];
    draft_hash_ = hashes_[number];
}

void StateSet::set(uint32_t atom, bool value) {
    uint64_t& word = draft_[atom / 64];
    if ((word >> (atom % 64) & 1) == value) return;
    word ^= uint64_t{1} << (atom % 64);
    draft_hash_ ^= hash_of(atom);
}

uint32_t StateSet::find_draft() {
    if (size() * 2 >= table_.size()) grow_table();
    slot_ = draft_hash_ & (table_.size() - 1);
    for (; table_[slot_] != empty; slot_ = (slot_ + 1) & (table_.size() - 1)) {
        const uint32_t other = table_[slot_];
        if (hashes_[other] != draft_hash_) continue;
        const uint64_t* words = state(other);
        size_t equal = 0;
        while (equal < width_ && words[equal] == draft_[equal]) ++equal;
        if (equal == width_) return other;
    }
    return static_cast<uint32_t>(size());
}

void StateSet::add_draft() {
    table_[slot_] = static_cast<uint32_t>(size());
    bits_.insert(bits_.end(), draft_.begin(), draft_.end());
    hashes_.push_back(draft_hash_);
}

void StateSet::grow_table() {
    table_.assign(std::max<size_t>(64, table_.size() * 2), empty);
    for (uint32_t number = 0; number < size(); ++number) {
        size_t slot = hashes_[number] & (table_.size() - 1);
        while (table_[slot] != empty) slot = (slot + 1) & (table_.size() - 1);
        table_[slot] = number;
    }
}

}  // namespace planlog
