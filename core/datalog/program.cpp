#include "datalog/program.hpp"

#include <algorithm>
#include <stdexcept>

#include "util/graph.hpp"

namespace planlog {

Program::Program(const Domain& domain) : domain_(&domain) {
    for (const Object& constant : domain.constants) constants_.push_back(constant.name);
    action_relations_.resize(domain.actions.size());
    for (const Axiom& axiom : domain.axioms) add_axiom(axiom);
}

const Predicate& Program::predicate(PredicateId id) const {
    const size_t declared = domain_->predicates.size();
    return index(id) < declared ? domain_->predicates[index(id)]
                                : goal_predicates_[index(id) - declared];
}

RelationId Program::add_relation(RelationInfo info) {
    if (info.arity > 32) throw std::invalid_argument("relations have at most 32 columns");
    relations_.push_back(std::move(info));
    return RelationId(relations_.size() - 1);
}

std::optional<RelationId> Program::find(Source source, uint32_t id) const {
    for (size_t i = 0; i < relations_.size(); ++i)
        if (relations_[i].source == source && relations_[i].id == id) return RelationId(i);
    return std::nullopt;
}

RelationId Program::state(PredicateId id) { return status(id, Source::State); }

RelationId Program::status(PredicateId id, Source source) {
    if (auto found = find_status(id, source)) return *found;
    const Predicate& of = predicate(id);
    const auto arity = static_cast<uint32_t>(of.parameters.size());
    RelationId relation = add_relation({source, index(id), arity, of.name});
    const bool is_given =
        source == Source::State || source == Source::Goal || source == Source::NegativeGoal;
    if (of.kind == PredicateKind::Basic || is_given) return relation;
    // The statuses of a derived predicate are derived as well.
    Rule rule;
    rule.head = relation;
    rule.variable_count = arity;
    for (uint32_t i = 0; i < arity; ++i) rule.head_terms.push_back(Term::variable(i));
    rule.body.push_back({state(id), source == Source::UnachievedGoal, rule.head_terms});
    const Source goal = source == Source::Unwanted ? Source::NegativeGoal : Source::Goal;
    rule.body.push_back({status(id, goal), source == Source::AchievedNonGoal, rule.head_terms});
    rules_.push_back(std::move(rule));
    return relation;
}

RelationId Program::type(std::vector<TypeId> types) {
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    const auto known = std::find(type_sets_.begin(), type_sets_.end(), types);
    const auto set = static_cast<uint32_t>(known - type_sets_.begin());
    if (const auto relation = find(Source::Type, set)) return *relation;
    std::string name;
    for (TypeId type : types) name += (name.empty() ? "" : "|") + domain_->types[index(type)].name;
    type_sets_.push_back(std::move(types));
    return add_relation({Source::Type, set, 1, std::move(name)});
}

RelationId Program::derived(std::string name, uint32_t arity, ColumnMask numbers,
                            std::optional<uint32_t> least) {
    if (least && (*least >= arity || !(numbers >> *least & 1)))
        throw std::invalid_argument("a least value is a number in a column");
    return add_relation({Source::Derived, 0, arity, std::move(name), numbers, least});
}

RelationId Program::function(uint32_t function) {
    if (const auto relation = find(Source::Function, function)) return *relation;
    const Function& of = domain_->functions.at(function);
    const auto arity = static_cast<uint32_t>(of.parameters.size());
    return add_relation({Source::Function, function, arity + 1, of.name, ColumnMask{1} << arity});
}

RelationId Program::aggregate(std::string name, Aggregate aggregate) {
    const RelationInfo& elements = relations_.at(index(aggregate.elements));
    const uint32_t size = aggregate.group_size;
    const bool has_values = aggregate.kind != Aggregate::Kind::Count;
    const ColumnMask group = (ColumnMask{1} << size) - 1;
    if (elements.arity < size + has_values ||
        (has_values && (elements.numbers >> size & 1) == aggregate.has_objects()))
        throw std::invalid_argument("the elements lack the columns of an aggregate");
    if (aggregate.groups &&
        (relations_.at(index(*aggregate.groups)).arity != size ||
         relations_[index(*aggregate.groups)].numbers != (elements.numbers & group)))
        throw std::invalid_argument("the groups lack the columns of an aggregate");
    const ColumnMask value = aggregate.has_objects() ? 0 : ColumnMask{1} << size;
    const ColumnMask numbers = (elements.numbers & group) | value;
    aggregates_.push_back(aggregate);
    const auto number = static_cast<uint32_t>(aggregates_.size() - 1);
    return add_relation({Source::Aggregate, number, size + 1, std::move(name), numbers});
}

RelationId Program::action(ActionId action) {
    auto& relation = action_relations_[index(action)];
    if (!relation) {
        const Action& schema = domain_->actions[index(action)];
        relation = derived(schema.name, static_cast<uint32_t>(schema.parameters.size()));
    }
    return *relation;
}

uint32_t Program::constant(const std::string& name) {
    const auto known = std::find(constants_.begin(), constants_.end(), name);
    if (known == constants_.end()) return constants_.push_back(name), constants_.size() - 1;
    return static_cast<uint32_t>(known - constants_.begin());
}

// Returns whether a literal only holds for objects of the given types at the variable.
bool Program::implies_type(const BodyLiteral& literal, Term variable,
                           const std::vector<TypeId>& types) const {
    const RelationInfo& info = relations_[index(literal.relation)];
    if (literal.negated) return false;
    // Every object has the first type.
    if (index(types[0]) == 0) return std::ranges::count(literal.terms, variable) > 0;
    const auto within = [&](const std::vector<TypeId>& some) {
        return std::all_of(some.begin(), some.end(),
                           [&](TypeId type) { return domain_->is_subtype_of_any(type, types); });
    };
    for (size_t column = 0; column < literal.terms.size(); ++column) {
        if (literal.terms[column] != variable) continue;
        if (info.source == Source::Type) return within(type_sets_[info.id]);
        const Predicate& of = predicate(PredicateId(info.id));
        const bool trusted = column < of.trusted.size() && of.trusted[column];
        if (trusted && within(of.parameters[column].types)) return true;
    }
    return false;
}

Query Program::query(const std::vector<Literal>& condition, uint32_t bound_count,
                     const std::vector<Parameter>& quantified) {
    Query query{{}, {}, {}, bound_count, bound_count};
    for (const Literal& literal : condition) {
        if (literal.kind == LiteralKind::Equality)
            query.comparisons.push_back({literal.terms[0], literal.terms[1], !literal.negated});
        else
            query.body.push_back({state(literal.predicate), literal.negated, literal.terms});
    }
    // Types are added only where the body does not imply them already.
    for (const Parameter& parameter : quantified) {
        const Term variable = Term::variable(query.variable_count++);
        const bool any = std::ranges::count(parameter.types, TypeId(0)) > 0;
        const auto types = any ? std::vector{TypeId(0)} : parameter.types;
        if (std::ranges::none_of(query.body, [&](const BodyLiteral& literal) {
                return implies_type(literal, variable, types);
            }))
            query.body.push_back({type(types), false, {variable}});
    }
    return query;
}

uint32_t Program::add_rule(Rule rule) {
    const auto check = [](bool holds, const char* message) {
        if (!holds) throw std::invalid_argument(message);
    };
    std::vector<bool> bound(rule.variable_count);
    const auto check_term = [&](Term term) {
        check(term.value < (term.is_variable ? bound.size() : constants_.size()),
              "a term is no variable of the rule and no constant of the program");
    };
    const auto check_atom = [&](RelationId relation, const std::vector<Term>& terms) {
        check(index(relation) < relations_.size(), "no such relation");
        check(terms.size() == relations_[index(relation)].arity, "wrong number of arguments");
        std::for_each(terms.begin(), terms.end(), check_term);
    };
    check_atom(rule.head, rule.head_terms);
    const Source head = relations_[index(rule.head)].source;
    check(head == Source::Derived || head == Source::State || head == Source::AchievedGoal ||
              head == Source::UnachievedGoal || head == Source::AchievedNonGoal,
          "no rule defines this relation");
    for (const BodyLiteral& literal : rule.body) {
        check_atom(literal.relation, literal.terms);
        for (Term term : literal.terms)
            if (term.is_variable && !literal.negated) bound[term.value] = true;
    }
    for (const Comparison& comparison : rule.comparisons) {
        check_term(comparison.left);
        check_term(comparison.right);
    }
    for (const Constraint& constraint : rule.constraints)
        for (const Expression& side : {constraint.left, constraint.right})
            check(side.is_valid(rule.variable_count), "an expression is not valid");
    bind_by_equations(rule.constraints, bound);
    check(std::find(bound.begin(), bound.end(), false) == bound.end(),
          "a variable occurs in no positive literal of the body");
    rules_.push_back(std::move(rule));
    return static_cast<uint32_t>(rules_.size() - 1);
}

void Program::add_axiom(const Axiom& axiom) {
    const RelationId head = state(axiom.head);
    Query body = query(axiom.body, 0, axiom.variables);
    add_rule({head,
              axiom.terms,
              std::move(body.body),
              std::move(body.comparisons),
              {},
              body.variable_count});
}

Program Program::for_task(const Task& task) const {
    Program program = *this;
    program.goal_predicates_ = task.goal_predicates;
    // A goal that can never hold has no axiom, but it has a relation.
    const size_t count = domain_->predicates.size() + task.goal_predicates.size();
    for (uint32_t i = 0; i < count; ++i) program.state(PredicateId(i));
    // Goal conditions name the task's objects, which the program knows only as constants.
    const auto bind = [&](Term& term) {
        if (!term.is_variable) term.value = program.constant(task.objects[term.value].name);
    };
    for (Axiom axiom : task.goal_axioms) {
        for (Term& term : axiom.terms) bind(term);
        for (Literal& literal : axiom.body)
            for (Term& term : literal.terms) bind(term);
        program.add_axiom(axiom);
    }
    return program;
}

void bind_by_equations(const std::vector<Constraint>& constraints, std::vector<bool>& bound) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const Constraint& constraint : constraints)
            if (const auto variable = constraint.assigned(bound)) bound[*variable] = changed = true;
    }
}

// --- Components --------------------------------------------------------------

std::vector<Component> components(const Program& program) {
    const auto& rules = program.rules();
    const size_t size = program.relations().size();
    std::vector<std::vector<uint32_t>> reads(size);  // relation -> relations its rules read
    for (const Rule& rule : rules)
        for (const BodyLiteral& literal : rule.body)
            reads[index(rule.head)].push_back(index(literal.relation));
    for (size_t i = 0; i < size; ++i) {
        const RelationInfo& info = program.relations()[i];
        if (info.source != Source::Aggregate) continue;
        const Aggregate& aggregate = program.aggregates()[info.id];
        reads[i].push_back(index(aggregate.elements));
        if (aggregate.groups) reads[i].push_back(index(*aggregate.groups));
    }
    std::vector<uint32_t> offsets{0}, targets;
    for (const auto& read : reads) {
        targets.insert(targets.end(), read.begin(), read.end());
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
    // A relation comes after those it reads.
    const std::vector<uint32_t> component_of = strong_components({offsets, targets, size});

    std::vector<Component> result;
    for (uint32_t relation = 0; relation < size; ++relation) {
        if (component_of[relation] >= result.size()) result.resize(component_of[relation] + 1);
        Component& component = result[component_of[relation]];
        component.relations.push_back(RelationId(relation));
        const RelationInfo& info = program.relations()[relation];
        if (info.source == Source::Aggregate) component.aggregate = info.id;
        component.least = component.least || info.least;
    }
    for (Component& component : result) {
        const auto fail = [&](const char* message) {
            const RelationId first = component.relations.front();
            throw std::invalid_argument("'" + program.relations()[index(first)].name + "' " +
                                        message);
        };
        if (component.aggregate && component.relations.size() > 1)
            fail("depends on an aggregate of itself");
        if (component.least && std::ranges::any_of(component.relations, [&](RelationId id) {
                return !program.relations()[index(id)].least;
            }))
            fail("depends on least values that depend on it");
        // Their supports have ranks, as in recursion.
        component.recursive = component.least;
    }
    for (uint32_t r = 0; r < rules.size(); ++r) {
        const uint32_t head = component_of[index(rules[r].head)];
        result[head].rules.push_back(r);
        for (const BodyLiteral& literal : rules[r].body) {
            if (component_of[index(literal.relation)] != head) continue;
            result[head].recursive = true;
            if (literal.negated)
                throw std::invalid_argument("'" + program.relations()[index(rules[r].head)].name +
                                            "' depends on its own negation");
        }
    }
    return result;
}

}  // namespace planlog
