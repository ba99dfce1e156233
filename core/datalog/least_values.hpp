// Candidates for the true rows of a relation of least values: the rows that have derivations.
//
// Of each key, the values of the other columns, the candidate with the least number is true. The
// other candidates stay, since they are next when this one loses its derivations.
#pragma once

#include <vector>

#include "datalog/arithmetic.hpp"
#include "datalog/program.hpp"
#include "datalog/relation.hpp"

namespace planlog {

class LeastValues {
  public:
    using Key = uint32_t;

    explicit LeastValues(const RelationInfo& info);

    // The key of an atom with these values.
    Key key(const uint32_t* values);
    Key key(Row row) const { return links_[row].key; }  // the row has been inserted before
    int64_t value(const uint32_t* values, const NumberTable& numbers) const {
        return numbers[values[column_]];
    }

    // The true row of a key, or no_row.
    Row true_row(Key key) const { return keys_[key].true_row; }
    void set_true_row(Key key, Row row) { keys_[key].true_row = row; }

    // The last candidate that was inserted, or no_row.
    Row last(Key key) const { return keys_[key].last; }
    void insert(Key key, Row row);
    void erase(Row row);
    // Some candidate with the least number, or no_row.
    Row best(const Relation& relation, Key key, const NumberTable& numbers) const;
    void clear();

  private:
    struct KeyRows {
        Row true_row = no_row;
        Row last = no_row;
    };
    // In the doubly linked list of the candidates of a key.
    struct Link {
        Key key = 0;
        Row next = no_row;
        Row previous = no_row;
    };

    uint32_t column_;
    uint32_t key_size_;
    InternTable numbers_;           // of the keys
    std::vector<uint32_t> values_;  // of the keys, `key_size_` each
    std::vector<KeyRows> keys_;
    std::vector<Link> links_;  // per row
};

}  // namespace planlog
