#include "datalog/relation.hpp"

namespace planlog {

// --- Index -----------------------------------------------------------------

Index::Index(ColumnMask mask, uint32_t arity, uint32_t object_count, ColumnMask numbers)
    : mask_(mask), arity_(arity) {
    for (uint32_t column = 0; column < arity; ++column)
        if (mask >> column & 1) columns_.push_back(column);
    is_direct_ = columns_.size() <= 1 && (mask & numbers) == 0;
    if (is_direct_) buckets_.resize(columns_.empty() ? 1 : object_count);
}

void Index::copy_key(Row row, const ObjectId* values, ObjectId* key) const {
    const ObjectId* own = values + size_t{row} * arity_;
    for (size_t i = 0; i < columns_.size(); ++i) key[i] = own[columns_[i]];
}

void Index::insert(Row row, const ObjectId* values) {
    if (row >= links_.size()) links_.resize(std::max<size_t>(row + 1, links_.size() * 2));
    ObjectId key[max_arity];
    copy_key(row, values, key);
    uint32_t number = columns_.empty() ? 0 : key[0];
    if (!is_direct_) {
        number = numbers_.find_or_add(hash_of(key, columns_.size()), [&](uint32_t bucket) {
            return has_key(bucket, key, values);
        });
        if (number == buckets_.size()) buckets_.push_back({no_row, row});
    }
    Bucket& bucket = buckets_[number];
    links_[row] = {bucket.first, no_row};
    if (bucket.first != no_row) links_[bucket.first].previous = row;
    bucket.first = row;
}

void Index::erase(Row row, const ObjectId* values) {
    const Link link = links_[row];
    if (link.next != no_row) links_[link.next].previous = link.previous;
    if (link.previous != no_row) {
        links_[link.previous].next = link.next;
    } else {
        ObjectId key[max_arity];
        copy_key(row, values, key);
        buckets_[find_bucket(key, values)].first = link.next;
    }
}

void Index::clear() {
    links_.clear();
    numbers_.clear();
    if (is_direct_)
        std::fill(buckets_.begin(), buckets_.end(), Bucket{});
    else
        buckets_.clear();
}

// --- Relation --------------------------------------------------------------

Relation::Relation(uint32_t arity, uint32_t object_count, ColumnMask numbers)
    : arity_(arity),
      object_count_(object_count),
      number_columns_(numbers),
      is_direct_(arity == 1 && numbers == 0),
      row_of_object_(is_direct_ ? object_count : 0, no_row) {}

Row Relation::intern(const ObjectId* values) {
    const auto next = static_cast<Row>(truth_.size());
    Row row = 0;
    if (is_direct_)
        row = std::min(row_of_object_[values[0]], next);
    else if (arity_ > 0)
        row = numbers_.find_or_add(hash_of(values, arity_),
                                   [&](Row other) { return has_values(other, values); });
    if (row != next) return row;
    if (is_direct_) row_of_object_[values[0]] = row;
    values_.insert(values_.end(), values, values + arity_);
    truth_.push_back(0);
    stamps_.push_back(0);
    return row;
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
    Index& index = indexes_.emplace_back(mask, arity_, object_count_, number_columns_);
    for (Row row = 0; row < truth_.size(); ++row)
        if (is_true(row)) index.insert(row, values_.data());
    return static_cast<uint32_t>(indexes_.size() - 1);
}

size_t Relation::distinct(uint32_t column) const {
    std::vector<bool> seen(object_count_);
    size_t count = 0;
    for (Row row = 0; row < truth_.size(); ++row) {
        if (!is_true(row)) continue;
        const uint32_t value = values(row)[column];
        if (value >= seen.size()) seen.resize(value + 1);  // a number
        if (seen[value]) continue;
        seen[value] = true;
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
    std::fill(row_of_object_.begin(), row_of_object_.end(), no_row);
    numbers_.clear();
    for (Index& index : indexes_) index.clear();
}

}  // namespace planlog
