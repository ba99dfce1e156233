// Incremental maintenance of random programs under random changes, against evaluation from scratch.
#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"
#include "datalog/materialization.hpp"
#include "pddl/pddl.hpp"

namespace planlog {
namespace {

using testing::Random;
using Values = std::vector<ObjectId>;

constexpr uint32_t object_count = 4;

// edge/2 and mark/1 and gate/0 are changed by an action; fixed/1 is static.
Domain read_test_domain() {
    std::vector<Diagnostic> diagnostics;
    return read_domain(
               "(define (domain d) (:predicates (edge ?x ?y) (mark ?x) (gate) (fixed ?x))"
               " (:action a :parameters (?x ?y) :effect (and (edge ?x ?y) (mark ?x) (gate))))",
               diagnostics)
        .value();
}

Task read_test_task(const Domain& domain) {
    std::vector<Diagnostic> diagnostics;
    return read_task(domain,
                     "(define (problem p) (:domain d) (:objects a b c d)"
                     " (:init (fixed a) (fixed c)) (:goal (and (edge a b) (mark c) (forall (?x) "
                     "(not (edge ?x c))))))",
                     diagnostics)
        .value();
}

struct TestWorld {
    Domain domain = read_test_domain();
    Task task = read_test_task(domain);
    AtomTable atoms{task};
};

using StateAtom = std::pair<PredicateId, Values>;

// An atom of the model with the bodies of its derivations, each the rule and the values of its
// positive literals.
struct Model {
    std::map<std::pair<uint32_t, Values>, std::multiset<std::vector<Values>>> atoms;
    bool operator==(const Model&) const = default;
};

Values values_of(const Relation& relation, Row row) {
    return {relation.values(row), relation.values(row) + relation.arity()};
}

// The true atoms with their derivations, as the lists of rows and as the lists of rules give them.
Model read_model(const Materialization& materialization) {
    Model model;
    const auto& rules = materialization.program().rules();
    const auto body_of = [&](uint32_t rule, const Row* rows) {
        std::vector<Values> body{{rule}};
        for (size_t l = 0; l < rules[rule].body.size(); ++l) {
            const BodyLiteral& literal = rules[rule].body[l];
            const Relation& relation = materialization.relation(literal.relation);
            if (literal.negated) continue;
            CHECK(relation.is_true(rows[l]));
            body.push_back(values_of(relation, rows[l]));
        }
        return body;
    };
    for (uint32_t i = 0; i < materialization.program().relations().size(); ++i) {
        const Relation& relation = materialization.relation(RelationId(i));
        for (Row row = 0; row < relation.row_count(); ++row) {
            size_t count = 0;
            materialization.derivations().derivations_of(
                {RelationId(i), row}, [&](uint32_t rule, const Row* body) {
                    ++count;
                    model.atoms[{i, values_of(relation, row)}].insert(body_of(rule, body));
                });
            CHECK(materialization.derivations().support({RelationId(i), row}).count == count);
            if (relation.is_true(row))
                model.atoms[{i, values_of(relation, row)}];
            else
                CHECK(count == 0);
        }
    }
    Model by_rule;
    for (uint32_t r = 0; r < rules.size(); ++r) {
        const Relation& relation = materialization.relation(rules[r].head);
        size_t count = 0;
        materialization.derivations().derivations_by(r, [&](Row head, const Row* body) {
            ++count;
            by_rule.atoms[{index(rules[r].head), values_of(relation, head)}].insert(
                body_of(r, body));
        });
        CHECK(count == materialization.derivations().count(r));
    }
    for (const auto& [atom, derivations] : by_rule.atoms)
        CHECK(model.atoms.at(atom) == derivations);
    return model;
}

// The model of a state, evaluated from scratch by an evaluator of its own.
Model model_of(TestWorld& world, const Program& program, const std::set<StateAtom>& state) {
    Materialization materialization(world.task, world.atoms, program);
    std::vector<AtomId> ids;
    for (const auto& [predicate, values] : state)
        ids.push_back(world.atoms.intern(predicate, values.data()));
    materialization.evaluate(ids);
    return read_model(materialization);
}

// Rules with recursion inside three strata; negated literals are of lower strata or of the state.
Program random_program(Random& random, const Domain& domain) {
    Program program(domain);
    std::vector<std::pair<RelationId, uint32_t>> readable = {
        {program.state(PredicateId(0)), 2},
        {program.state(PredicateId(1)), 1},
        {program.state(PredicateId(2)), 0},
        {program.state(PredicateId(3)), 1},
        {program.status(PredicateId(0), Source::UnachievedGoal), 2},
        {program.status(PredicateId(1), Source::AchievedGoal), 1},
        {program.status(PredicateId(0), Source::Unwanted), 2},
        {program.type({TypeId(0)}), 1}};
    const size_t object_type = readable.size() - 1;
    for (uint32_t stratum = 0; stratum < 3; ++stratum) {
        const size_t lower = readable.size();
        for (uint32_t arity : {1U, 2U, 0U})
            if (arity > 0 || random.chance(50))
                readable.emplace_back(program.derived("d" + std::to_string(readable.size()), arity),
                                      arity);
        for (uint32_t r = 0; r < 4 + random.below(4); ++r) {
            Rule rule;
            rule.variable_count = 1 + random.below(3);
            const auto term = [&] {
                return random.chance(90) ? Term::variable(random.below(rule.variable_count))
                                         : Term::object(program.constant("a"));
            };
            const auto add_literal = [&](size_t number, bool negated) {
                const auto [relation, arity] = readable[number];
                BodyLiteral literal{relation, negated, {}};
                for (uint32_t i = 0; i < arity; ++i) literal.terms.push_back(term());
                rule.body.push_back(std::move(literal));
            };
            for (uint32_t i = 0; i < 1 + random.below(3); ++i)
                add_literal(random.below(static_cast<uint32_t>(readable.size())), false);
            if (random.chance(40)) add_literal(random.below(static_cast<uint32_t>(lower)), true);
            for (uint32_t v = 0; v < rule.variable_count; ++v)
                rule.body.push_back({readable[object_type].first, false, {Term::variable(v)}});
            const size_t head =
                lower + random.below(static_cast<uint32_t>(readable.size() - lower));
            rule.head = readable[head].first;
            for (uint32_t i = 0; i < readable[head].second; ++i) rule.head_terms.push_back(term());
            program.add_rule(std::move(rule));
        }
    }
    return program;
}

StateAtom random_atom(Random& random) {
    const uint32_t predicate = random.below(3);
    Values values(2 - predicate);
    for (ObjectId& value : values) value = random.below(object_count);
    return {PredicateId(predicate), values};
}

void flip(Materialization& materialization, std::set<StateAtom>& state, const StateAtom& atom) {
    const bool value = !state.contains(atom);
    value ? (void)state.insert(atom) : (void)state.erase(atom);
    materialization.change(atom.first, materialization.row(atom.first, atom.second.data()), value);
}

// Atoms that have other derivations, or another truth value, in one model than in the other.
std::set<std::pair<uint32_t, Values>> differences(const Model& one, const Model& other) {
    std::set<std::pair<uint32_t, Values>> result;
    for (const auto& [a, b] : {std::pair(&one, &other), std::pair(&other, &one)})
        for (const auto& [atom, derivations] : a->atoms) {
            const auto found = b->atoms.find(atom);
            if (found == b->atoms.end() || found->second != derivations) result.insert(atom);
        }
    return result;
}

TEST(maintained_models_equal_those_from_scratch) {
    TestWorld world;
    size_t derived_atoms = 0, changed_atoms = 0;
    for (uint32_t seed = 0; seed < 60; ++seed) {
        Random random(seed);
        const Program program = random_program(random, world.domain).for_task(world.task);
        Materialization materialization(world.task, world.atoms, program);
        materialization.track_derivations();
        materialization.evaluate({});
        std::set<StateAtom> state;
        std::vector<std::pair<Model, std::set<StateAtom>>> history{
            {read_model(materialization), state}};
        std::vector<AtomRef> rederived;
        materialization.take_rederived(rederived);
        for (int step = 0; step < 25; ++step) {
            std::set<StateAtom> flipped;
            for (uint32_t i = 0; i < 1 + random.below(5); ++i) flipped.insert(random_atom(random));
            for (const StateAtom& atom : flipped) flip(materialization, state, atom);
            materialization.finish();
            const Model model = read_model(materialization);
            CHECK(model == model_of(world, program, state));
            // Every derived atom whose derivations have changed is reported.
            std::set<std::pair<uint32_t, Values>> reported;
            materialization.take_rederived(rederived);
            for (const AtomRef atom : rederived)
                reported.emplace(index(atom.relation),
                                 values_of(materialization.relation(atom.relation), atom.row));
            for (const auto& atom : differences(model, history.back().first)) {
                const bool derived = program.relations()[atom.first].source == Source::Derived;
                if (derived) CHECK(reported.contains(atom));
                changed_atoms += derived;
            }
            history.emplace_back(model, state);
            derived_atoms += model.atoms.size();
        }
        // Back through the same states, as an undo does.
        for (auto past = history.rbegin() + 1; past != history.rend(); ++past) {
            std::set<StateAtom> flipped;
            std::set_symmetric_difference(state.begin(), state.end(), past->second.begin(),
                                          past->second.end(),
                                          std::inserter(flipped, flipped.end()));
            for (const StateAtom& atom : flipped) flip(materialization, state, atom);
            materialization.finish();
            CHECK(read_model(materialization) == past->first);
        }
    }
    CHECK(derived_atoms > 10'000 && changed_atoms > 1'000);  // the programs do derive something
}

// Atoms of a cycle must not support each other when the cycle has lost its last support.
TEST(cycles_have_no_support_of_their_own) {
    TestWorld world;
    Program base(world.domain);
    const RelationId edge = base.state(PredicateId(0)), mark = base.state(PredicateId(1));
    const RelationId reached = base.derived("reached", 1);
    const Term x = Term::variable(0), y = Term::variable(1);
    base.add_rule({reached, {x}, {{mark, false, {x}}}, {}, {}, 1});
    base.add_rule({reached, {y}, {{reached, false, {x}}, {edge, false, {x, y}}}, {}, {}, 2});
    const Program program = base.for_task(world.task);
    Materialization materialization(world.task, world.atoms, program);
    materialization.evaluate({});
    std::set<StateAtom> state;
    const auto change = [&](const std::vector<StateAtom>& atoms) {
        for (const StateAtom& atom : atoms) flip(materialization, state, atom);
        materialization.finish();
        CHECK(read_model(materialization) == model_of(world, program, state));
        return materialization.relation(reached).size();
    };
    const StateAtom start{PredicateId(1), {0}};
    const std::vector<StateAtom> cycle = {{PredicateId(0), {0, 1}},
                                          {PredicateId(0), {1, 2}},
                                          {PredicateId(0), {2, 1}},
                                          {PredicateId(0), {2, 0}}};
    CHECK(change({start, cycle[0], cycle[1], cycle[2], cycle[3]}) == 3);
    CHECK(change({start}) == 0);
    CHECK(change({start}) == 3);
    CHECK(change({cycle[0]}) == 1);  // 1 and 2 support each other, but nothing supports them
    CHECK(change({cycle[0], start, {PredicateId(1), {2}}}) == 3);
}

}  // namespace
}  // namespace planlog
