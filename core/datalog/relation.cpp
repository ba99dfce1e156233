#include "datalog/relation.hpp"

#include <algorithm>
#include <cstring>

namespace planlog {

namespace {

constexpr uint32_t empty_slot = UINT32_MAX;

uint64_t combine(uint64_t hash, ObjectId value) { return (hash ^ value) * 0x9e3779b97f4a7c15ULL; }

}  // namespace

// --- Index -----------------------------------------------------------------

Index::Index(ColumnMask mask, uint32_t arity, uint32_t object_count) : mask_(mask), arity_(arity) {
    for (uint32_t column = 0; column < arity; ++column)
        if (mask >> column & 1) columns_.push_back(column);
    if (columns_.empty())
        buckets_.resize(1);
    else if (columns_.size() == 1)
        buckets_.resize(object_count);
    else
        slots_.assign(16, empty_slot);
}

uint64_t Index::hash_of_key(const ObjectId* key) const {
    uint64_t hash = 0;
    for (size_t i = 0; i < columns_.size(); ++i) hash = combine(hash, key[i]);
    return mix(hash);
}

uint64_t Index::hash_of_row(const ObjectId* row_values) const {
    uint64_t hash = 0;
    for (uint32_t column : columns_) hash = combine(hash, row_values[column]);
    return mix(hash);
}

Row Index::first_hashed(const ObjectId* key, const ObjectId* values) const {
    const size_t last = slots_.size() - 1;
    for (size_t slot = hash_of_key(key) & last; slots_[slot] != empty_slot;
         slot = (slot + 1) & last) {
        const Bucket& bucket = buckets_[slots_[slot]];
        const ObjectId* other = values + size_t{bucket.representative} * arity_;
        bool equal = true;
        for (size_t i = 0; i < columns_.size() && equal; ++i) equal = other[columns_[i]] == key[i];
        if (equal) return bucket.first;
    }
    return no_row;
}

// The bucket of a row's key, or empty_slot if there is none.
uint32_t Index::bucket_of(Row row, const ObjectId* values) const {
    const ObjectId* own = values + size_t{row} * arity_;
    if (columns_.empty()) return 0;
    if (columns_.size() == 1) return own[columns_[0]];
    const size_t last = slots_.size() - 1;
    for (size_t slot = hash_of_row(own) & last; slots_[slot] != empty_slot;
         slot = (slot + 1) & last) {
        const ObjectId* other = values + size_t{buckets_[slots_[slot]].representative} * arity_;
        if (std::all_of(columns_.begin(), columns_.end(),
                        [&](uint32_t column) { return own[column] == other[column]; }))
            return slots_[slot];
    }
    return empty_slot;
}

uint32_t Index::bucket_for(Row row, const ObjectId* values) {
    uint32_t found = bucket_of(row, values);
    if (found != empty_slot) return found;
    if (buckets_.size() * 2 >= slots_.size()) grow(values);
    const size_t last = slots_.size() - 1;
    size_t slot = hash_of_row(values + size_t{row} * arity_) & last;
    while (slots_[slot] != empty_slot) slot = (slot + 1) & last;
    slots_[slot] = static_cast<uint32_t>(buckets_.size());
    buckets_.push_back({no_row, row});
    return slots_[slot];
}

void Index::grow(const ObjectId* values) {
    slots_.assign(slots_.size() * 2, empty_slot);
    const size_t last = slots_.size() - 1;
    for (uint32_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        size_t slot = hash_of_row(values + size_t{buckets_[bucket].representative} * arity_) & last;
        while (slots_[slot] != empty_slot) slot = (slot + 1) & last;
        slots_[slot] = bucket;
    }
}

void Index::insert(Row row, const ObjectId* values) {
    if (row >= links_.size()) links_.resize(std::max<size_t>(row + 1, links_.size() * 2));
    Bucket& bucket = buckets_[bucket_for(row, values)];
    links_[row] = {bucket.first, no_row};
    if (bucket.first != no_row) links_[bucket.first].previous = row;
    bucket.first = row;
}

void Index::erase(Row row, const ObjectId* values) {
    const Link link = links_[row];
    if (link.next != no_row) links_[link.next].previous = link.previous;
    if (link.previous != no_row)
        links_[link.previous].next = link.next;
    else
        buckets_[bucket_of(row, values)].first = link.next;
}

void Index::clear() {
    links_.clear();
    if (is_direct()) {
        std::fill(buckets_.begin(), buckets_.end(), Bucket{});
    } else {
        buckets_.clear();
        std::fill(slots_.begin(), slots_.end(), empty_slot);
    }
}

// --- Relation --------------------------------------------------------------

Relation::Relation(uint32_t arity, uint32_t object_count)
    : arity_(arity), object_count_(object_count), table_(arity == 1 ? object_count : 16, no_row) {}

uint64_t Relation::hash(const ObjectId* values) const {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < arity_; ++i) hash = combine(hash, values[i]);
    return mix(hash);
}

Row Relation::find_hashed(const ObjectId* values) const {
    const size_t last = table_.size() - 1;
    for (size_t slot = hash(values) & last; table_[slot] != no_row; slot = (slot + 1) & last)
        if (std::equal(values, values + arity_, this->values(table_[slot]))) return table_[slot];
    return no_row;
}

Row Relation::intern(const ObjectId* values) {
    Row row = find(values);
    if (row != no_row) return row;
    row = static_cast<Row>(truth_.size());
    values_.insert(values_.end(), values, values + arity_);
    truth_.push_back(0);
    stamps_.push_back(0);
    if (arity_ == 1) {
        table_[values[0]] = row;
    } else if (arity_ > 1) {
        if (truth_.size() * 2 >= table_.size()) {
            grow_table();
        } else {
            const size_t last = table_.size() - 1;
            size_t slot = hash(this->values(row)) & last;
            while (table_[slot] != no_row) slot = (slot + 1) & last;
            table_[slot] = row;
        }
    }
    return row;
}

void Relation::grow_table() {
    table_.assign(table_.size() * 2, no_row);
    const size_t last = table_.size() - 1;
    for (Row row = 0; row < truth_.size(); ++row) {
        size_t slot = hash(values(row)) & last;
        while (table_[slot] != no_row) slot = (slot + 1) & last;
        table_[slot] = row;
    }
}

void Relation::set(Row row, bool value) {
    truth_[row] = value;
    if (value) {
        ++size_;
        for (Index& index : indexes_) index.insert(row, values_.data());
    } else {
        --size_;
        for (Index& index : indexes_) index.erase(row, values_.data());
    }
}

uint32_t Relation::index_on(ColumnMask mask) {
    for (uint32_t number = 0; number < indexes_.size(); ++number)
        if (indexes_[number].mask() == mask) return number;
    Index& index = indexes_.emplace_back(mask, arity_, object_count_);
    for (Row row = 0; row < truth_.size(); ++row)
        if (is_true(row)) index.insert(row, values_.data());
    return static_cast<uint32_t>(indexes_.size() - 1);
}

size_t Relation::distinct(uint32_t column) const {
    std::vector<bool> seen(object_count_);
    size_t count = 0;
    for (Row row = 0; row < truth_.size(); ++row) {
        if (!is_true(row) || seen[values(row)[column]]) continue;
        seen[values(row)[column]] = true;
        ++count;
    }
    return count;
}

std::vector<Row> Relation::true_rows() const {
    std::vector<Row> rows;
    rows.reserve(size_);
    for (Row row = 0; row < truth_.size(); ++row)
        if (is_true(row)) rows.push_back(row);
    return rows;
}

void Relation::clear() {
    values_.clear();
    truth_.clear();
    stamps_.clear();
    size_ = 0;
    std::fill(table_.begin(), table_.end(), no_row);
    for (Index& index : indexes_) index.clear();
}

}  // namespace planlog
