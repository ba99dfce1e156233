#include "planning/state_set.hpp"

#include <algorithm>

#include "datalog/relation.hpp"

namespace planlog {

namespace {

uint64_t hash_of(uint32_t atom) { return mix(0x9e3779b97f4a7c15ULL * (uint64_t{atom} + 1)); }

}  // namespace

uint32_t StateSet::add_atom(PredicateId predicate, const ObjectId* values, size_t arity) {
    const auto atom = static_cast<uint32_t>(atoms_.size());
    atoms_.add(predicate, values, arity);
    if (atom == width_ * 64) widen();
    return atom;
}

// Doubles the width, so that the states are seldom copied. Hashes do not depend on the width.
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
    std::copy_n(state(number), width_, draft_.begin());
    draft_hash_ = numbers_.hash(number);
}

void StateSet::set(uint32_t atom, bool value) {
    uint64_t& word = draft_[atom / 64];
    if ((word >> (atom % 64) & 1) == value) return;
    word ^= uint64_t{1} << (atom % 64);
    draft_hash_ ^= hash_of(atom);
}

uint32_t StateSet::add_draft(size_t limit) {
    const auto is_draft = [&](uint32_t number) {
        return std::equal(draft_.begin(), draft_.end(), state(number));
    };
    const size_t count = size();
    if (count >= limit) return numbers_.find(draft_hash_, is_draft);
    const uint32_t number = numbers_.find_or_add(draft_hash_, is_draft);
    if (number == count) bits_.insert(bits_.end(), draft_.begin(), draft_.end());
    return number;
}

}  // namespace planlog
