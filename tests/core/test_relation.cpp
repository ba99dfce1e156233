// Relations and their indexes under random changes, against sets of rows.
#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"
#include "datalog/relation.hpp"

namespace planlog {
namespace {

using testing::Random;
using Values = std::vector<ObjectId>;

Values random_values(Random& random, uint32_t arity, uint32_t objects) {
    Values values(arity);
    for (ObjectId& value : values) value = random.below(objects);
    return values;
}

Values values_of(const Relation& relation, Row row) {
    return {relation.values(row), relation.values(row) + relation.arity()};
}

Values projected(const Values& values, ColumnMask mask) {
    Values key;
    for (uint32_t column = 0; column < values.size(); ++column)
        if (mask >> column & 1) key.push_back(values[column]);
    return key;
}

// The true rows of each bucket of an index, read from the relation.
std::map<Values, std::set<Values>> buckets(const Relation& relation, uint32_t number,
                                           const std::set<Values>& keys) {
    std::map<Values, std::set<Values>> result;
    for (const Values& key : keys) {
        std::set<Values>& bucket = result[key];
        for (Row row = relation.first(number, key.data()); row != no_row;
             row = relation.index(number).next(row)) {
            CHECK(relation.is_true(row));
            CHECK(bucket.insert(values_of(relation, row)).second);  // no row twice
        }
    }
    return result;
}

void check_against(const Relation& relation, const std::set<Values>& expected,
                   const std::vector<std::pair<ColumnMask, uint32_t>>& indexes,
                   const std::set<Values>& seen) {
    CHECK(relation.size() == expected.size());
    std::set<Values> found;
    for (Row row : relation.true_rows()) found.insert(values_of(relation, row));
    CHECK(found == expected);
    for (const Values& values : seen)
        CHECK(relation.holds(values.data()) == expected.contains(values));
    for (uint32_t column = 0; column < relation.arity(); ++column) {
        std::set<ObjectId> distinct;
        for (const Values& values : expected) distinct.insert(values[column]);
        CHECK(relation.distinct(column) == distinct.size());
    }
    for (const auto& [mask, number] : indexes) {
        std::map<Values, std::set<Values>> grouped;
        std::set<Values> keys;
        for (const Values& values : seen) keys.insert(projected(values, mask));
        for (const Values& key : keys) grouped[key];
        for (const Values& values : expected) grouped[projected(values, mask)].insert(values);
        CHECK(buckets(relation, number, keys) == grouped);
    }
}

// Inserts, erases and inserts again; indexes are made at the beginning and on the way.
void change_at_random(uint32_t seed, uint32_t arity, uint32_t objects, size_t steps) {
    Random random(seed);
    Relation relation(arity, objects);
    std::set<Values> expected, seen;
    std::map<Values, Row> row_of;
    std::vector<std::pair<ColumnMask, uint32_t>> indexes;
    for (size_t step = 0; step < steps; ++step) {
        if (step % (steps / 4) == 0) {
            const ColumnMask mask = random.below(1U << arity);
            indexes.emplace_back(mask, relation.index_on(mask));
            CHECK(relation.index_on(mask) == indexes.back().second);
        }
        const Values values = random_values(random, arity, objects);
        const Row row = relation.intern(values.data());
        CHECK(relation.find(values.data()) == row);
        CHECK(row_of.emplace(values, row).first->second == row);  // a row keeps its number
        CHECK(values_of(relation, row) == values);
        seen.insert(values);
        const bool value = !expected.contains(values);
        CHECK(relation.is_true(row) != value);
        relation.set(row, value);
        value ? (void)expected.insert(values) : (void)expected.erase(values);
        if (step % 37 == 0 || step + 1 == steps) check_against(relation, expected, indexes, seen);
        if (step == steps / 2 && seed % 2 == 1) {
            relation.clear();
            expected.clear();
            row_of.clear();
            check_against(relation, expected, indexes, seen);
        }
    }
    CHECK(relation.row_count() == row_of.size());
}

TEST(relations_and_indexes_follow_random_changes) {
    for (uint32_t seed = 0; seed < 4; ++seed) {
        change_at_random(seed, 0, 3, 40);
        change_at_random(seed, 1, 9, 100);
        change_at_random(seed, 2, 6, 300);
        change_at_random(seed, 2, 60, 600);  // the tables grow several times
        change_at_random(seed, 3, 4, 400);
        change_at_random(seed, 4, 12, 600);
    }
}

TEST(unknown_rows_are_not_found) {
    Relation relation(2, 5);
    const ObjectId values[] = {1, 2};
    CHECK(relation.find(values) == no_row);
    CHECK(!relation.holds(values));
    CHECK(relation.first(relation.index_on(3), values) == no_row);
    CHECK(relation.intern(values) == 0);
    CHECK(!relation.holds(values));  // a new row is false
}

}  // namespace
}  // namespace planlog
