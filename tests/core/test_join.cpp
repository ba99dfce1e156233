// Joins of random queries over random relations, against nested loops over all substitutions.
#include <algorithm>
#include <set>

#include "check.hpp"
#include "datalog/join.hpp"

namespace planlog {
namespace {

using testing::Random;
using Binding = std::vector<ObjectId>;

constexpr uint32_t object_count = 4;

struct World {
    std::vector<Relation> relations;

    explicit World(Random& random) {
        for (uint32_t arity : {1U, 2U, 2U, 3U}) {
            Relation& relation = relations.emplace_back(arity, object_count);
            for (int i = 0; i < 12; ++i) {
                const Row row = random_row(random, relation);
                if (!relation.is_true(row) && random.chance(70)) relation.set(row, true);
            }
        }
    }
    static Row random_row(Random& random, Relation& relation) {
        Binding values(relation.arity());
        for (ObjectId& value : values) value = random.below(object_count);
        return relation.intern(values.data());
    }
};

Term random_term(Random& random, uint32_t variables) {
    return random.chance(85) ? Term::variable(random.below(variables))
                             : Term::object(random.below(object_count));
}

// A safe query: every variable is bound by the caller or occurs in a positive literal.
Query random_query(Random& random, const World& world) {
    Query query;
    query.variable_count = 1 + random.below(4);
    query.bound_count = random.below(query.variable_count + 1);
    const auto add_literal = [&](bool negated) {
        const uint32_t relation = random.below(static_cast<uint32_t>(world.relations.size()));
        BodyLiteral& literal = query.body.emplace_back();
        literal.relation = RelationId(relation);
        literal.negated = negated;
        for (uint32_t i = 0; i < world.relations[relation].arity(); ++i)
            literal.terms.push_back(random_term(random, query.variable_count));
    };
    for (uint32_t i = 0; i < 1 + random.below(3); ++i) add_literal(false);
    for (uint32_t variable = query.bound_count; variable < query.variable_count; ++variable)
        query.body.push_back({RelationId(0), false, {Term::variable(variable)}});
    if (random.chance(50)) add_literal(true);
    for (uint32_t i = 0; i < random.below(3); ++i)
        query.comparisons.push_back({random_term(random, query.variable_count),
                                     random_term(random, query.variable_count), random.chance(30)});
    return query;
}

Binding values_of(const std::vector<Term>& terms, const Binding& binding) {
    Binding values;
    for (Term term : terms) values.push_back(term.is_variable ? binding[term.value] : term.value);
    return values;
}

bool is_answer(const World& world, const Query& query, const Binding& binding) {
    return std::all_of(query.body.begin(), query.body.end(),
                       [&](const BodyLiteral& literal) {
                           const Binding values = values_of(literal.terms, binding);
                           return world.relations[index(literal.relation)].holds(values.data()) !=
                                  literal.negated;
                       }) &&
           std::all_of(query.comparisons.begin(), query.comparisons.end(),
                       [&](const Comparison& comparison) {
                           const Binding values =
                               values_of({comparison.left, comparison.right}, binding);
                           return (values[0] == values[1]) == comparison.equal;
                       });
}

// All answers that agree with the bound variables.
std::set<Binding> answers(const World& world, const Query& query, const Binding& bound) {
    std::set<Binding> result;
    Binding binding(query.variable_count);
    for (;;) {
        if (std::equal(bound.begin(), bound.end(), binding.begin()) &&
            is_answer(world, query, binding))
            result.insert(binding);
        size_t i = 0;
        while (i < binding.size() && ++binding[i] == object_count) binding[i++] = 0;
        if (i == binding.size()) return result;
    }
}

// The substitutions of the matches, whose body rows are checked; none may come twice.
std::set<Binding> substitutions(const World& world, const Query& query,
                                const std::vector<uint32_t>& matches, size_t count) {
    const size_t width = query.body.size() + query.variable_count;
    CHECK(matches.size() == count * width);
    std::set<Binding> result;
    for (size_t m = 0; m < count; ++m) {
        const uint32_t* match = matches.data() + m * width;
        const Binding binding(match + query.body.size(), match + width);
        CHECK(result.insert(binding).second);
        for (size_t l = 0; l < query.body.size(); ++l) {
            const BodyLiteral& literal = query.body[l];
            if (literal.negated) continue;
            const Relation& relation = world.relations[index(literal.relation)];
            CHECK(relation.find(values_of(literal.terms, binding).data()) == match[l]);
        }
    }
    return result;
}

TEST(joins_agree_with_nested_loops) {
    for (uint32_t seed = 0; seed < 400; ++seed) {
        Random random(seed);
        World world(random);
        const Query query = random_query(random, world);
        const JoinPlan plan = JoinPlanner(world.relations).plan(query, std::nullopt);
        Binding bound(query.bound_count);
        for (ObjectId& value : bound) value = random.below(object_count);
        JoinExecutor executor;
        NumberTable numbers;
        std::vector<uint32_t> matches;
        const size_t count =
            executor.run(world.relations, numbers, query, plan, bound.data(), matches);
        CHECK(substitutions(world, query, matches, count) == answers(world, query, bound));
    }
}

// After several atoms have changed, the joins that they trigger find every new answer once.
TEST(triggers_find_each_new_answer_once) {
    size_t found_in_all = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
        Random random(seed);
        World world(random);
        Query query = random_query(random, world);
        query.bound_count = 0;
        for (uint32_t v = 0; v < query.variable_count; ++v)
            query.body.push_back({RelationId(0), false, {Term::variable(v)}});
        const std::set<Binding> before = answers(world, query, {});

        std::set<std::pair<uint32_t, Row>> changed;
        for (uint32_t i = 0; i < 1 + random.below(6); ++i) {
            const uint32_t relation = random.below(static_cast<uint32_t>(world.relations.size()));
            changed.emplace(relation, World::random_row(random, world.relations[relation]));
        }
        uint64_t stamp = 0;
        for (const auto& [relation, row] : changed) {
            world.relations[relation].set(row, !world.relations[relation].is_true(row));
            world.relations[relation].set_stamp(row, ++stamp);
        }
        std::set<Binding> expected;
        for (const Binding& answer : answers(world, query, {}))
            if (!before.contains(answer)) expected.insert(answer);

        JoinPlanner planner(world.relations);
        JoinExecutor executor;
        NumberTable numbers;
        std::vector<uint32_t> matches;
        size_t count = 0;
        for (const auto& [relation, row] : changed) {
            for (uint32_t l = 0; l < query.body.size(); ++l) {
                const bool starts = query.body[l].negated != world.relations[relation].is_true(row);
                if (index(query.body[l].relation) != relation || !starts) continue;
                count += executor.run_triggered(world.relations, numbers, query,
                                                planner.plan(query, l), row, matches);
            }
        }
        CHECK(substitutions(world, query, matches, count) == expected);
        found_in_all += count;
    }
    CHECK(found_in_all > 100);  // the random worlds do test something
}

}  // namespace
}  // namespace planlog
