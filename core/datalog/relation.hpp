// A relation: the ground atoms of one predicate as rows of object ids, each
// true or false, with hash indexes over the true ones.
//
// Rows are never removed. An atom that becomes false keeps its row, so a row
// number names an atom for as long as the relation lives: derivations can point
// at atoms (true or, under negation, false ones), and an index can compare keys
// through any row that was ever in the bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "pddl/domain.hpp"

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

// The true rows, in buckets of equal values in the columns of the mask. Rows of
// a bucket form a doubly linked list, so that an atom comes and goes in O(1).
class Index {
  public:
    Index(ColumnMask mask, uint32_t arity, uint32_t object_count);

    ColumnMask mask() const { return mask_; }
    // First row of the bucket whose key is `key` (values of the mask's columns, in order).
    Row first(const ObjectId* key, const ObjectId* values) const {
        if (columns_.size() > 1) return first_hashed(key, values);
        return buckets_[columns_.empty() ? 0 : key[0]].first;
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

    Row first_hashed(const ObjectId* key, const ObjectId* values) const;
    bool is_direct() const { return columns_.size() <= 1; }
    uint64_t hash_of_key(const ObjectId* key) const;
    uint64_t hash_of_row(const ObjectId* row_values) const;
    uint32_t bucket_of(Row row, const ObjectId* values) const;
    uint32_t bucket_for(Row row, const ObjectId* values);
    void grow(const ObjectId* values);

    ColumnMask mask_;
    uint32_t arity_;
    std::vector<uint32_t> columns_;
    // With at most one column a bucket's number is the object; otherwise `slots_` is an
    // open-addressing table of bucket numbers.
    std::vector<Bucket> buckets_;
    std::vector<uint32_t> slots_;
    std::vector<Link> links_;
};

class Relation {
  public:
    Relation(uint32_t arity, uint32_t object_count);

    uint32_t arity() const { return arity_; }
    size_t row_count() const { return truth_.size(); }  // true and false rows
    size_t size() const { return size_; }               // true rows

    const ObjectId* values(Row row) const { return values_.data() + size_t{row} * arity_; }
    bool is_true(Row row) const { return truth_[row] != 0; }
    // When the row last changed, for joins that run while others wait (see join.hpp).
    uint64_t stamp(Row row) const { return stamps_[row]; }
    void set_stamp(Row row, uint64_t stamp) { stamps_[row] = stamp; }
    bool holds(const ObjectId* values) const {
        Row row = find(values);
        return row != no_row && is_true(row);
    }

    // no_row if there is no such row yet
    Row find(const ObjectId* values) const {
        if (arity_ == 1) return table_[values[0]];
        if (arity_ == 0) return truth_.empty() ? no_row : 0;
        return find_hashed(values);
    }
    Row intern(const ObjectId* values);  // a new row is false
    void set(Row row, bool value);       // must change the row's truth value

    // Number of the index on these columns, built if need be.
    uint32_t index_on(ColumnMask mask);
    const Index& index(uint32_t number) const { return indexes_[number]; }
    Row first(uint32_t number, const ObjectId* key) const {
        return indexes_[number].first(key, values_.data());
    }

    // How many different objects a column's true rows have.
    size_t distinct(uint32_t column) const;
    std::vector<Row> true_rows() const;  // in the order of their numbers
    void clear();                        // forgets the rows, keeps the indexes

  private:
    Row find_hashed(const ObjectId* values) const;
    uint64_t hash(const ObjectId* values) const;
    void grow_table();

    uint32_t arity_;
    uint32_t object_count_;
    size_t size_ = 0;
    std::vector<ObjectId> values_;
    std::vector<uint8_t> truth_;
    std::vector<uint64_t> stamps_;
    // For one column `table_` maps an object to its row; otherwise it is an
    // open-addressing table of rows.
    std::vector<Row> table_;
    std::vector<Index> indexes_;
};

}  // namespace planlog
