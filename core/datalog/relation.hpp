// A relation: the ground atoms of one predicate as rows of object ids, each true or false, with
// hash indexes over the true ones.
//
// Rows are never removed. An atom that becomes false keeps its row, so a row number identifies an
// atom until the relation is cleared: derivations can refer to atoms (true or, under negation,
// false ones), and an index can compare keys through any row that was ever in the bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pddl/domain.hpp"
#include "util/intern_table.hpp"

namespace planlog {

using Row = uint32_t;
constexpr Row no_row = UINT32_MAX;
using ColumnMask = uint32_t;  // bit i stands for column i
constexpr uint32_t max_arity = 32;

inline uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x;
}

inline uint64_t hash_of(const ObjectId* values, size_t count) {
    uint64_t hash = 0;
    for (size_t i = 0; i < count; ++i) hash = (hash ^ values[i]) * 0x9e3779b97f4a7c15ULL;
    return mix(hash);
}

// A hash index: the true rows in buckets of equal values in the columns of the mask. The rows of a
// bucket form a doubly linked list, so an atom is inserted and erased in O(1).
class Index {
  public:
    Index(ColumnMask mask, uint32_t arity, uint32_t object_count, ColumnMask numbers);

    ColumnMask mask() const { return mask_; }
    // First row of the bucket whose key is `key` (values of the mask's columns, in order).
    Row first(const ObjectId* key, const ObjectId* values) const {
        const uint32_t bucket = find_bucket(key, values);
        return bucket == InternTable::none ? no_row : buckets_[bucket].first;
    }
    Row next(Row row) const { return links_[row].next; }

    void insert(Row row, const ObjectId* values);
    void erase(Row row, const ObjectId* values);
    void clear();

  private:
    struct Bucket {
        Row first = no_row;
        Row representative = no_row;  // some row with this key, to compare keys with
    };
    struct Link {
        Row next = no_row;
        Row previous = no_row;
    };

    // The number of the bucket with a key, or InternTable::none.
    uint32_t find_bucket(const ObjectId* key, const ObjectId* values) const {
        if (is_direct_) return columns_.empty() ? 0 : key[0];
        return numbers_.find(hash_of(key, columns_.size()),
                             [&](uint32_t bucket) { return has_key(bucket, key, values); });
    }
    bool has_key(uint32_t bucket, const ObjectId* key, const ObjectId* values) const {
        const ObjectId* other = values + size_t{buckets_[bucket].representative} * arity_;
        for (size_t i = 0; i < columns_.size(); ++i)
            if (other[columns_[i]] != key[i]) return false;
        return true;
    }
    void copy_key(Row row, const ObjectId* values, ObjectId* key) const;

    ColumnMask mask_;
    uint32_t arity_;
    std::vector<uint32_t> columns_;
    // With one column of objects, the number of a bucket is the object; else `numbers_` gives it.
    bool is_direct_;
    std::vector<Bucket> buckets_;
    InternTable numbers_;
    std::vector<Link> links_;
};

class Relation {
  public:
    // The columns in `numbers` hold numbers (see arithmetic.hpp), the others objects.
    Relation(uint32_t arity, uint32_t object_count, ColumnMask numbers = 0);

    uint32_t arity() const { return arity_; }
    size_t row_count() const { return truth_.size(); }  // true and false rows
    size_t size() const { return size_; }               // true rows

    const ObjectId* values(Row row) const { return values_.data() + size_t{row} * arity_; }
    bool is_true(Row row) const { return truth_[row] != 0; }
    // The time of the row's last change, for triggered joins (see join.hpp).
    uint64_t stamp(Row row) const { return stamps_[row]; }
    void set_stamp(Row row, uint64_t stamp) { stamps_[row] = stamp; }
    bool holds(const ObjectId* values) const {
        Row row = find(values);
        return row != no_row && is_true(row);
    }

    // no_row if there is no such row yet
    Row find(const ObjectId* values) const {
        if (is_direct_) return row_of_object_[values[0]];
        if (arity_ == 0) return truth_.empty() ? no_row : 0;
        return numbers_.find(hash_of(values, arity_),
                             [&](Row row) { return has_values(row, values); });
    }
    Row intern(const ObjectId* values);  // a new row is false
    void set(Row row, bool value);       // must change the row's truth value

    // The number of the index on these columns, which is built if there is none.
    uint32_t index_on(ColumnMask mask);
    const Index& index(uint32_t number) const { return indexes_[number]; }
    Row first(uint32_t number, const ObjectId* key) const {
        return indexes_[number].first(key, values_.data());
    }

    // The number of distinct values in a column of the true rows.
    size_t distinct(uint32_t column) const;
    std::vector<Row> true_rows() const;  // in the order of their numbers
    void clear();                        // forgets the rows, keeps the indexes

  private:
    bool has_values(Row row, const ObjectId* values) const {
        return std::equal(values, values + arity_, this->values(row));
    }

    uint32_t arity_;
    uint32_t object_count_;
    ColumnMask number_columns_;
    bool is_direct_;  // one column of objects
    size_t size_ = 0;
    std::vector<ObjectId> values_;
    std::vector<uint8_t> truth_;
    std::vector<uint64_t> stamps_;
    std::vector<Row> row_of_object_;  // if the relation is direct
    InternTable numbers_;             // of the rows, for other columns
    std::vector<Index> indexes_;
};

}  // namespace planlog
