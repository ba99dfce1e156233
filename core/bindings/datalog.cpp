// Programs, rule by rule.
#include "bindings/bindings.hpp"

namespace planlog {
namespace {

using Terms = std::vector<int32_t>;  // variable v as v, constant c as -1 - c
using LiteralTuple = std::tuple<uint32_t, bool, Terms>;
using ComparisonTuple = std::tuple<int32_t, int32_t, bool>;

Term as_term(int32_t code) {
    return code >= 0 ? Term::variable(static_cast<uint32_t>(code))
                     : Term::object(static_cast<uint32_t>(-1 - code));
}

std::vector<Term> as_terms(const Terms& codes) {
    std::vector<Term> terms;
    for (int32_t code : codes) terms.push_back(as_term(code));
    return terms;
}

Rule as_rule(const Terms& head_terms, const std::vector<LiteralTuple>& body,
             const std::vector<ComparisonTuple>& comparisons, uint32_t variable_count) {
    Rule rule;
    rule.head_terms = as_terms(head_terms);
    for (const auto& [relation, negated, terms] : body)
        rule.body.push_back({RelationId(relation), negated, as_terms(terms)});
    for (const auto& [left, right, equal] : comparisons)
        rule.comparisons.push_back({as_term(left), as_term(right), equal});
    rule.variable_count = variable_count;
    return rule;
}

int32_t as_code(Term term) {
    const auto value = static_cast<int32_t>(term.value);
    return term.is_variable ? value : -1 - value;
}

auto rule_body(const SharedProgram& shared, uint32_t number) {
    std::vector<LiteralTuple> result;
    for (const BodyLiteral& literal : shared.program.rules().at(number).body) {
        Terms terms;
        for (Term term : literal.terms) terms.push_back(as_code(term));
        result.emplace_back(index(literal.relation), literal.negated, terms);
    }
    return result;
}

auto relations_of(const SharedProgram& shared) {
    std::vector<std::tuple<Source, std::string, uint32_t>> result;
    for (const RelationInfo& info : shared.program.relations())
        result.emplace_back(info.source, info.name, info.arity);
    return result;
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
        .def(nb::init<std::shared_ptr<SharedDomain>>(), "domain"_a)
        .def("status",
             [](SharedProgram& p, uint32_t predicate, Source source) {
                 if (source == Source::Type || source == Source::Derived)
                     throw nb::value_error("no predicate of the domain has this source");
                 if (predicate >= p.program.domain().predicates.size())
                     throw nb::value_error("no such predicate");
                 return index(p.changeable().status(PredicateId(predicate), source));
             })
        .def("type",
             [](SharedProgram& p, const std::vector<uint32_t>& types) {
                 std::vector<TypeId> ids;
                 for (uint32_t type : types) ids.push_back(TypeId(type));
                 return index(p.changeable().type(std::move(ids)));
             })
        .def("derived",
             [](SharedProgram& p, std::string name, uint32_t arity) {
                 return index(p.changeable().derived(std::move(name), arity));
             })
        .def("action",
             [](SharedProgram& p, uint32_t action) {
                 return index(p.changeable().action(ActionId(action)));
             })
        .def("constant", [](SharedProgram& p,
                            const std::string& name) { return p.changeable().constant(name); })
        .def("add_rule",
             [](SharedProgram& p, uint32_t head, const Terms& head_terms,
                const std::vector<LiteralTuple>& body,
                const std::vector<ComparisonTuple>& comparisons, uint32_t variable_count) {
                 Rule rule = as_rule(head_terms, body, comparisons, variable_count);
                 rule.head = RelationId(head);
                 return p.changeable().add_rule(std::move(rule));
             })
        .def_prop_ro("relations", &relations_of)
        .def_prop_ro("rule_count", [](const SharedProgram& p) { return p.program.rules().size(); })
        .def("rule_head", [](const SharedProgram& p,
                             uint32_t rule) { return index(p.program.rules().at(rule).head); })
        .def("rule_body", &rule_body)
        .def("action_relation",
             [](const SharedProgram& p, uint32_t action) {
                 const auto relation = p.program.find_action(ActionId(action));
                 return relation ? std::optional(index(*relation)) : std::nullopt;
             })
        .def("check", [](const SharedProgram& p) { components(p.program); });
}

}  // namespace planlog
