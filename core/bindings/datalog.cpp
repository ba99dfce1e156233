// Bindings of programs: Python adds relations and rules one by one.
#include "bindings/bindings.hpp"

namespace planlog {
namespace {

using LiteralTuple = std::tuple<uint32_t, bool, TermCodes>;
using ComparisonTuple = std::tuple<int32_t, int32_t, bool>;

Term as_term(int32_t code) {
    return code >= 0 ? Term::variable(static_cast<uint32_t>(code))
                     : Term::object(static_cast<uint32_t>(-1 - code));
}

std::vector<Term> as_terms(const TermCodes& codes) {
    std::vector<Term> terms;
    for (int32_t code : codes) terms.push_back(as_term(code));
    return terms;
}

uint32_t add_rule(SharedProgram& shared, uint32_t head, const TermCodes& head_terms,
                  const std::vector<LiteralTuple>& body,
                  const std::vector<ComparisonTuple>& comparisons, uint32_t variable_count) {
    Rule rule{RelationId(head), as_terms(head_terms), {}, {}, variable_count};
    for (const auto& [relation, negated, terms] : body)
        rule.body.push_back({RelationId(relation), negated, as_terms(terms)});
    for (const auto& [left, right, equal] : comparisons)
        rule.comparisons.push_back({as_term(left), as_term(right), equal});
    return shared.changeable().add_rule(std::move(rule));
}

// The relations of a rule's head and of the positive literals of its body.
auto rule_of(const SharedProgram& shared, uint32_t number) {
    const Rule& rule = shared.program.rules().at(number);
    std::vector<uint32_t> body;
    for (const BodyLiteral& literal : rule.body)
        if (!literal.negated) body.push_back(index(literal.relation));
    return std::pair(index(rule.head), body);
}

auto relations_of(const SharedProgram& shared) {
    std::vector<std::tuple<Source, std::string, uint32_t>> result;
    for (const RelationInfo& info : shared.program.relations())
        result.emplace_back(info.source, info.name, info.arity);
    return result;
}

ActionId action_id(const SharedProgram& shared, uint32_t number) {
    return checked<ActionId>(number, shared.program.domain().actions, "no such action");
}

}  // namespace

void bind_rules(nb::module_& m) {
    nb::enum_<Source>(m, "Source")
        .value("STATE", Source::State)
        .value("GOAL", Source::Goal)
        .value("ACHIEVED_GOAL", Source::AchievedGoal)
        .value("UNACHIEVED_GOAL", Source::UnachievedGoal)
        .value("ACHIEVED_NONGOAL", Source::AchievedNonGoal)
        .value("TYPE", Source::Type)
        .value("DERIVED", Source::Derived);
    nb::class_<SharedProgram>(m, "Program")
        .def(nb::init<std::shared_ptr<Domain>>(), "domain"_a)
        .def(
            "status",
            [](SharedProgram& p, uint32_t number, Source source) {
                if (source == Source::Type || source == Source::Derived)
                    throw nb::value_error("no predicate of the domain has this source");
                const auto& predicates = p.program.domain().predicates;
                return index(p.changeable().status(
                    checked<PredicateId>(number, predicates, "no such predicate"), source));
            },
            "predicate"_a, "source"_a)
        .def(
            "type",
            [](SharedProgram& p, const std::vector<uint32_t>& types) {
                std::vector<TypeId> ids;
                for (uint32_t type : types)
                    ids.push_back(checked<TypeId>(type, p.program.domain().types, "no such type"));
                return index(p.changeable().type(std::move(ids)));
            },
            "types"_a)
        .def(
            "derived",
            [](SharedProgram& p, std::string name, uint32_t arity) {
                return index(p.changeable().derived(std::move(name), arity));
            },
            "name"_a, "arity"_a)
        .def(
            "action",
            [](SharedProgram& p, uint32_t action) {
                return index(p.changeable().action(action_id(p, action)));
            },
            "action"_a)
        .def(
            "constant",
            [](SharedProgram& p, const std::string& name) { return p.changeable().constant(name); },
            "name"_a)
        .def("add_rule", &add_rule, "head"_a, "head_terms"_a, "body"_a, "comparisons"_a,
             "variable_count"_a)
        .def_prop_ro("relations", &relations_of)
        .def_prop_ro("rule_count", [](const SharedProgram& p) { return p.program.rules().size(); })
        .def("rule", &rule_of, "number"_a)
        .def(
            "action_relation",
            [](const SharedProgram& p, uint32_t action) {
                const auto relation = p.program.find_action(action_id(p, action));
                return relation ? std::optional(index(*relation)) : std::nullopt;
            },
            "action"_a)
        .def("check", [](const SharedProgram& p) { components(p.program); });
}

}  // namespace planlog
