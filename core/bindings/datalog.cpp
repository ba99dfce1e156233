// Bindings of programs: Python adds relations and rules one by one.
#include "bindings/bindings.hpp"

namespace planlog {
namespace {

using LiteralTuple = std::tuple<uint32_t, bool, TermCodes>;
using ComparisonTuple = std::tuple<int32_t, int32_t, bool>;
using PartTuple = std::tuple<Expression::Kind, int64_t>;  // a number, or that of a variable
using ConstraintTuple =
    std::tuple<std::vector<PartTuple>, Constraint::Relation, std::vector<PartTuple>>;

Term as_term(int32_t code) {
    return code >= 0 ? Term::variable(static_cast<uint32_t>(code))
                     : Term::object(static_cast<uint32_t>(-1 - code));
}

std::vector<Term> as_terms(const TermCodes& codes) {
    std::vector<Term> terms;
    for (int32_t code : codes) terms.push_back(as_term(code));
    return terms;
}

Expression as_expression(const std::vector<PartTuple>& parts) {
    Expression expression;
    for (const auto& [kind, value] : parts) {
        Expression::Part part{kind, value};
        if (kind == Expression::Kind::Variable) {
            if (value < 0 || value > UINT32_MAX) throw nb::value_error("no such variable");
            part.variable = static_cast<uint32_t>(value);
        }
        expression.parts.push_back(part);
    }
    return expression;
}

uint32_t add_rule(SharedProgram& shared, uint32_t head, const TermCodes& head_terms,
                  const std::vector<LiteralTuple>& body,
                  const std::vector<ComparisonTuple>& comparisons, uint32_t variable_count,
                  const std::vector<ConstraintTuple>& constraints, std::string place,
                  std::string text) {
    Rule rule{RelationId(head), as_terms(head_terms), {}, {}, {}, variable_count,
              std::move(place), std::move(text)};
    for (const auto& [relation, negated, terms] : body)
        rule.body.push_back({RelationId(relation), negated, as_terms(terms)});
    for (const auto& [left, right, equal] : comparisons)
        rule.comparisons.push_back({as_term(left), as_term(right), equal});
    for (const auto& [left, relation, right] : constraints)
        rule.constraints.push_back({as_expression(left), relation, as_expression(right)});
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
        .value("NEGATIVE_GOAL", Source::NegativeGoal)
        .value("UNWANTED", Source::Unwanted)
        .value("TYPE", Source::Type)
        .value("FUNCTION", Source::Function)
        .value("DERIVED", Source::Derived)
        .value("AGGREGATE", Source::Aggregate);
    nb::enum_<Aggregate::Kind>(m, "Aggregate")
        .value("COUNT", Aggregate::Kind::Count)
        .value("SUM", Aggregate::Kind::Sum)
        .value("MIN", Aggregate::Kind::Min)
        .value("MAX", Aggregate::Kind::Max)
        .value("FIRST", Aggregate::Kind::First);
    nb::enum_<Expression::Kind>(m, "ExpressionPart")
        .value("NUMBER", Expression::Kind::Number)
        .value("VARIABLE", Expression::Kind::Variable)
        .value("ADD", Expression::Kind::Add)
        .value("SUBTRACT", Expression::Kind::Subtract)
        .value("MULTIPLY", Expression::Kind::Multiply);
    nb::enum_<Constraint::Relation>(m, "ConstraintRelation")
        .value("EQUAL", Constraint::Relation::Equal)
        .value("UNEQUAL", Constraint::Relation::Unequal)
        .value("LESS", Constraint::Relation::Less)
        .value("LESS_OR_EQUAL", Constraint::Relation::LessOrEqual);
    nb::exception<NumberError>(m, "NumberError",
                               nb::module_::import_("planlog.errors").attr("PlanlogError").ptr());
    nb::class_<SharedProgram>(m, "Program")
        .def(nb::init<std::shared_ptr<Domain>>(), "domain"_a)
        .def(
            "status",
            [](SharedProgram& p, uint32_t number, Source source) {
                if (source == Source::Type || source == Source::Function ||
                    source == Source::Derived || source == Source::Aggregate)
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
            [](SharedProgram& p, std::string name, uint32_t arity, ColumnMask numbers,
               std::optional<uint32_t> least) {
                return index(p.changeable().derived(std::move(name), arity, numbers, least));
            },
            "name"_a, "arity"_a, "numbers"_a = 0, "least"_a.none() = nb::none())
        .def(
            "function",
            [](SharedProgram& p, uint32_t function) {
                if (function >= p.program.domain().functions.size())
                    throw nb::value_error("no such function");
                return index(p.changeable().function(function));
            },
            "function"_a)
        .def(
            "aggregate",
            [](SharedProgram& p, std::string name, Aggregate::Kind kind, uint32_t elements,
               std::optional<uint32_t> groups, uint32_t group_size) {
                const size_t count = p.program.relations().size();
                if (elements >= count || (groups && *groups >= count))
                    throw nb::value_error("no such relation");
                Aggregate aggregate{kind, RelationId(elements), {}, group_size};
                if (groups) aggregate.groups = RelationId(*groups);
                return index(p.changeable().aggregate(std::move(name), aggregate));
            },
            "name"_a, "kind"_a, "elements"_a, "groups"_a.none(), "group_size"_a)
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
             "variable_count"_a, "constraints"_a = nb::list(), "place"_a = "", "text"_a = "")
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
