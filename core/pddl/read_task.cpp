// Reads a problem against its domain.
//
// Nearly all of a large problem is :init, so its atoms are appended to the task's flat list without
// an allocation for each.

#include <algorithm>

#include "pddl/conditions.hpp"
#include "pddl/features.hpp"
#include "pddl/ground_goals.hpp"
#include "pddl/names.hpp"
#include "pddl/pddl.hpp"
#include "util/intern_table.hpp"

namespace planlog {

namespace {

uint64_t hash_of(uint64_t symbol, const ObjectId* row, size_t arity) {
    uint64_t hash = symbol + 1;
    for (size_t i = 0; i < arity; ++i) {
        hash = (hash ^ row[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

class ProblemReader {
  public:
    ProblemReader(const Domain& domain, Reporter& report);
    std::optional<Task> read(Expr root);

  private:
    void check_domain(Expr section);
    void read_objects(Expr section);
    void read_init(Expr section);
    void read_init_atom(Expr atom, bool positive);
    bool read_init_row(Expr atom, const Predicate& predicate, ObjectId* row);
    uint32_t initial_number(PredicateId predicate, const ObjectId* row, size_t arity,
                            bool positive);
    void read_value(Expr assignment);
    void read_goal(Expr section);
    void read_goal_part(Expr part, GoalGrounder& grounder, ConditionCompiler& compiler);
    void add_goal(Literal literal);
    void read_metric(Expr section);

    const Domain& domain_;
    Task task_;
    Context context_;
    InternTable seen_;   // the atoms of `task_.initial`
    InternTable goals_;  // the literals of `task_.goal`
    Scope no_variables_;
};

ProblemReader::ProblemReader(const Domain& domain, Reporter& report)
    : domain_(domain), context_{report, domain, task_.objects} {
    const auto add_names = [](const auto& declared, Names& names) {
        for (uint32_t i = 0; i < declared.size(); ++i) names.emplace(declared[i].name, i);
    };
    add_names(domain.types, context_.types);
    add_names(domain.functions, context_.functions);
    add_names(domain.constants, context_.object_ids);
    for (uint32_t i = 0; i < domain.predicates.size(); ++i)
        if (domain.predicates[i].kind != PredicateKind::Auxiliary)
            context_.predicates.emplace(domain.predicates[i].name, i);
    task_.domain = &domain;
    task_.objects = domain.constants;
    task_.costs = domain.costs;
    task_.costs.function_values.resize(domain.functions.size());
}

std::optional<Task> ProblemReader::read(Expr root) {
    if (report_unsupported(root, context_)) return {};
    auto sections = context_.read_sections(
        root, "problem", task_.name,
        {":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length"});
    if (!sections) return {};
    for (const std::string_view name : {":domain", ":init", ":goal"})
        if (context_.complete && (*sections)[name].empty())
            context_.error(root.first(), "the problem has no '(" + std::string(name) + " ...)'");
    const auto each = [&](std::string_view name, const auto& read_section) {
        for (const Expr section : (*sections)[name]) read_section(section);
    };
    each(":domain", [&](Expr section) { check_domain(section); });
    each(":requirements", [&](Expr section) { context_.check_requirements(section); });
    each(":objects", [&](Expr section) { read_objects(section); });
    each(":init", [&](Expr section) { read_init(section); });
    each(":goal", [&](Expr section) { read_goal(section); });
    each(":metric", [&](Expr section) { read_metric(section); });
    if (context_.report.failed()) return {};
    for (uint32_t i = 0; i < task_.objects.size(); ++i)
        task_.object_ids.emplace(task_.objects[i].name, i);
    return std::move(task_);
}

void ProblemReader::check_domain(Expr section) {
    if (!context_.has_form(section, 2, "(:domain NAME)")) return;
    const Expr name = section.first().next();
    if (!name.is(domain_.name))
        context_.error(name, "the problem is of domain " + describe(name) +
                                 ", but the domain read is " + quoted(domain_.name));
}

void ProblemReader::read_objects(Expr section) {
    for (const TypedGroup& group : context_.typed_groups(section.first().next(), section.end())) {
        const TypeId type = context_.read_object_type(group);
        for (const Expr name : group.names) {
            const auto known = context_.object_ids.find(name.text());
            const bool constant =
                known != context_.object_ids.end() && known->second < domain_.constants.size();
            if (constant && domain_.constants[known->second].type == type)
                context_.add(Severity::Warning, name,
                             describe(name) + " is a constant of the domain already");
            else if (constant)
                context_.error(name, describe(name) + " is a constant of the domain, of type " +
                                         context_.type_names({task_.objects[known->second].type}));
            else if (context_.declare(context_.object_ids, name, "object", task_.objects.size()))
                task_.objects.push_back({std::string(name.text()), type});
        }
    }
}

void ProblemReader::read_init(Expr section) {
    std::vector<Expr> negated;
    for (Expr item = section.first().next(); item != section.end() && !context_.report.full();
         item = item.next()) {
        const std::string_view head = item.head();
        if (head == "=") {
            read_value(item);
        } else if (head == "not") {
            if (context_.has_form(item, 2, "(not (PREDICATE ...))"))
                negated.push_back(item.first().next());
        } else {
            read_init_atom(item, true);
        }
    }
    // Whatever is not given is false already; these atoms are only checked.
    for (const Expr atom : negated) read_init_atom(atom, false);
}

// Reads the arguments of an atom into `row`. Returns false if something is wrong.
bool ProblemReader::read_init_row(Expr atom, const Predicate& predicate, ObjectId* row) {
    const size_t arity = predicate.parameters.size();
    if (predicate.kind != PredicateKind::Basic) return false;
    size_t count = 0;
    for (Expr item = atom.first().next(); item != atom.end(); item = item.next()) {
        const auto object = context_.object_ids.find(item.text());
        if (count == arity || object == context_.object_ids.end() ||
            !context_.object_fits(object->second, predicate.parameters[count].types))
            return false;
        row[count++] = object->second;
    }
    return count == arity;
}

// The number of the atom in the initial state, to which it is added if it is new; a negated atom is
// not added.
uint32_t ProblemReader::initial_number(PredicateId predicate, const ObjectId* row, size_t arity,
                                       bool positive) {
    AtomList& initial = task_.initial;
    const uint64_t hash = hash_of(index(predicate), row, arity);
    const auto is_same = [&](uint32_t other) {  // equal predicates have equal arities
        return initial.symbols[other] == predicate &&
               std::equal(row, row + arity, initial.row(other));
    };
    if (!positive) return seen_.find(hash, is_same);
    const uint32_t number = seen_.find_or_add(hash, is_same);
    if (number == initial.size()) initial.add(predicate, row, arity);
    return number;
}

void ProblemReader::read_init_atom(Expr atom, bool positive) {
    const auto found = context_.predicates.find(atom.head());
    if (found != context_.predicates.end()) {
        const Predicate& predicate = domain_.predicates[found->second];
        ObjectId row[max_variables];
        if (read_init_row(atom, predicate, row)) {
            const PredicateId id{found->second};
            const uint32_t number = initial_number(id, row, predicate.parameters.size(), positive);
            if (!positive && number != InternTable::none)
                context_.error(atom, "the initial state has this atom and its negation");
            return;
        }
    }
    // Reads it again, slowly, to report what is wrong.
    if (context_.read_atom(atom, no_variables_) &&
        domain_.predicates[found->second].kind == PredicateKind::Derived)
        context_.error(atom, "derived predicate " + describe(atom.first()) +
                                 " cannot be given in (:init ...)");
}

// (= (f a b) 5)
void ProblemReader::read_value(Expr assignment) {
    if (!context_.has_form(assignment, 3, "(= (FUNCTION ...) NUMBER)")) return;
    const Expr term = assignment.first().next(), number = term.next();
    if (term.head() == "total-cost") {
        const auto value = parse_number(number.text());
        if (context_.has_form(term, 1, "(total-cost)") && !(value && value->is_zero()))
            context_.error(number, "expected 0, found " + describe(number));
        return;
    }
    const auto function = context_.find_function(term);
    if (!function) return;
    const auto& parameters = domain_.functions[*function].parameters;
    const auto terms =
        context_.read_terms(term, term.arguments(), "function", parameters, no_variables_);
    const auto value = context_.read_cost(number, task_.costs, "a number that is not negative");
    if (context_.report.failed()) return;
    auto& values = task_.costs.function_values[*function];
    const auto [entry, added] = values.emplace(function_key(object_row(*terms)), *value);
    if (!added && entry->second != *value)
        context_.error(assignment, "second value of the same function term");
}

void ProblemReader::read_goal(Expr section) {
    if (!context_.has_form(section, 2, "(:goal CONDITION)")) return;
    ConditionCompiler compiler(task_.goal_predicates, domain_.predicates.size(), task_.goal_axioms);
    GoalGrounder grounder(context_, [&](PredicateId predicate, const std::vector<ObjectId>& row) {
        return initial_number(predicate, row.data(), row.size(), false) != InternTable::none;
    });
    read_goal_part(section.first().next(), grounder, compiler);
    if (!compiler.charge(0)) context_.error(section, "the goal is too large");
}

// Part by part, so that each one that is no conjunction of literals can be shown as it was written.
void ProblemReader::read_goal_part(Expr part, GoalGrounder& grounder, ConditionCompiler& compiler) {
    if (part.head() == "and") {
        for (const Expr each : part.arguments()) read_goal_part(each, grounder, compiler);
        return;
    }
    Scope scope;
    Condition condition = read_condition(context_, scope, part);
    if (context_.report.failed()) return;
    if (condition.kind == Condition::Kind::Literal) return add_goal(std::move(condition.literal));
    Condition remaining;  // the conjunction of those that are no literals
    for (Condition& conjunct : conjuncts(condition)) {
        if (auto literals = grounder.literals(conjunct, scope))
            for (Literal& literal : *literals) add_goal(std::move(literal));
        else
            remaining.children.push_back(std::move(conjunct));
    }
    if (remaining.children.empty()) return;
    task_.goal_formulas.push_back({std::string(part.written()), predicates_of(remaining)});
    add_goal(compiler.literal(condition, scope, "goal"));
}

// Adds the literal unless it is there already.
void ProblemReader::add_goal(Literal literal) {
    const std::vector<ObjectId> row = object_row(literal.terms);
    const auto is_same = [&](uint32_t number) {
        const Literal& other = task_.goal[number];
        return other.predicate == literal.predicate && other.negated == literal.negated &&
               other.terms == literal.terms;
    };
    const uint64_t symbol = index(literal.predicate) * uint64_t{2} + literal.negated;
    if (goals_.find_or_add(hash_of(symbol, row.data(), row.size()), is_same) == task_.goal.size())
        task_.goal.push_back(std::move(literal));
}

void ProblemReader::read_metric(Expr section) {
    if (!context_.has_form(section, 3, "(:metric minimize (total-cost))")) return;
    const Expr direction = section.first().next(), amount = direction.next();
    task_.minimises_cost = true;
    if (!direction.is("minimize"))
        context_.error(direction, "expected 'minimize', found " + describe(direction));
    else
        context_.has_form(amount, 1, "(total-cost)");
}

}  // namespace

std::optional<Task> read_task(const Domain& domain, std::string_view text,
                              std::vector<Diagnostic>& diagnostics) {
    Reporter report(text, diagnostics);
    Document document(text);
    if (!document.parse(report)) return {};
    return ProblemReader(domain, report).read(Expr(document, 0));
}

}  // namespace planlog
