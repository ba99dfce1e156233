// Bindings of domains and tasks: reading PDDL text, and descriptions of what was read.
#include "pddl/pddl.hpp"

#include "bindings/bindings.hpp"

namespace planlog {
namespace {

using DiagnosticTuple =
    std::tuple<Severity, uint32_t, uint32_t, uint32_t, std::string, std::string>;

std::vector<DiagnosticTuple> as_tuples(const std::vector<Diagnostic>& diagnostics) {
    std::vector<DiagnosticTuple> result;
    for (const Diagnostic& d : diagnostics)
        result.emplace_back(d.severity, d.line, d.column, d.length, d.message, d.hint);
    return result;
}

// Returns the value that was read, or None, with the diagnostics.
template <class Shared>
using ReadResult = std::pair<std::optional<std::shared_ptr<Shared>>, std::vector<DiagnosticTuple>>;

ReadResult<Domain> read_domain_text(nb::bytes text) {
    std::vector<Diagnostic> diagnostics;
    auto domain = read_domain({text.c_str(), text.size()}, diagnostics);
    ReadResult<Domain> result{{}, as_tuples(diagnostics)};
    if (domain) result.first = std::make_shared<Domain>(std::move(*domain));
    return result;
}

ReadResult<SharedTask> read_task_text(std::shared_ptr<Domain> domain, nb::bytes text) {
    std::vector<Diagnostic> diagnostics;
    std::optional<Task> task;
    const std::string_view view(text.c_str(), text.size());
    {
        nb::gil_scoped_release unlocked;
        task = read_task(*domain, view, diagnostics);
    }
    ReadResult<SharedTask> result{{}, as_tuples(diagnostics)};
    if (task) result.first = std::make_shared<SharedTask>(std::move(domain), std::move(*task));
    return result;
}

std::vector<uint32_t> as_numbers(const std::vector<TypeId>& types) {
    std::vector<uint32_t> numbers;
    for (TypeId type : types) numbers.push_back(index(type));
    return numbers;
}

using ParameterTuple = std::pair<std::string, std::vector<uint32_t>>;

std::vector<ParameterTuple> as_tuples(const std::vector<Parameter>& parameters) {
    std::vector<ParameterTuple> result;
    for (const Parameter& parameter : parameters)
        result.emplace_back(parameter.name, as_numbers(parameter.types));
    return result;
}

auto types_of(const Domain& domain) {
    std::vector<std::pair<std::string, std::vector<uint32_t>>> result;
    for (const Type& type : domain.types) result.emplace_back(type.name, as_numbers(type.parents));
    return result;
}

auto with_types(const std::vector<Object>& objects) {
    std::vector<std::pair<std::string, uint32_t>> result;
    for (const Object& object : objects) result.emplace_back(object.name, index(object.type));
    return result;
}

auto predicates_of(const Domain& domain) {
    std::vector<std::tuple<std::string, std::vector<ParameterTuple>, PredicateKind, bool,
                           std::vector<bool>>>
        result;
    for (const Predicate& p : domain.predicates)
        result.emplace_back(p.name, as_tuples(p.parameters), p.kind, p.fluent, p.trusted);
    return result;
}

TermCodes as_codes(const std::vector<Term>& terms) {
    TermCodes codes;
    for (Term term : terms) {
        const auto value = static_cast<int32_t>(term.value);
        codes.push_back(term.is_variable ? value : -1 - value);
    }
    return codes;
}

// Predicate (none: an equality), negated, terms.
using LiteralTuple = std::tuple<std::optional<uint32_t>, bool, TermCodes>;

std::vector<LiteralTuple> as_tuples(const std::vector<Literal>& literals) {
    std::vector<LiteralTuple> result;
    for (const Literal& literal : literals) {
        std::optional<uint32_t> predicate;
        if (literal.kind == LiteralKind::Atom) predicate = index(literal.predicate);
        result.emplace_back(predicate, literal.negated, as_codes(literal.terms));
    }
    return result;
}

auto actions_of(const Domain& domain) {
    std::vector<std::tuple<std::string, std::vector<ParameterTuple>, std::vector<LiteralTuple>>>
        result;
    for (const Action& action : domain.actions)
        result.emplace_back(action.name, as_tuples(action.parameters),
                            as_tuples(action.precondition));
    return result;
}

auto axioms_of(const Domain& domain) {
    std::vector<
        std::tuple<uint32_t, TermCodes, std::vector<ParameterTuple>, std::vector<LiteralTuple>>>
        result;
    for (const Axiom& axiom : domain.axioms)
        result.emplace_back(index(axiom.head), as_codes(axiom.terms), as_tuples(axiom.variables),
                            as_tuples(axiom.body));
    return result;
}

// Literals in normal form, and other conditions as they are written in the problem.
std::vector<std::string> goal_texts(const SharedTask& shared) {
    std::vector<std::string> result;
    const auto& predicates = shared.task.domain->predicates;
    auto formula = shared.task.goal_formulas.begin();
    for (const Literal& literal : shared.task.goal) {
        if (index(literal.predicate) >= predicates.size()) {
            result.push_back(formula++->text);
            continue;
        }
        std::string atom = "(" + predicates[index(literal.predicate)].name;
        for (Term term : literal.terms) atom += " " + shared.task.objects[term.value].name;
        result.push_back(literal.negated ? "(not " + atom + "))" : atom + ")");
    }
    return result;
}

// The parts of the goal that are no conjunctions of literals, each with predicates that occur in
// it.
auto goal_formulas(const SharedTask& shared) {
    std::vector<std::pair<std::string, std::vector<uint32_t>>> result;
    for (const GoalFormula& formula : shared.task.goal_formulas) {
        auto& [text, predicates] = result.emplace_back(formula.text, std::vector<uint32_t>());
        for (const PredicateId id : formula.predicates) predicates.push_back(index(id));
    }
    return result;
}

// An atom: the numbers of its predicate and of its objects.
using AtomTuple = nb::typed<nb::tuple, uint32_t, nb::typed<nb::tuple, uint32_t, nb::ellipsis>>;

nb::typed<nb::list, AtomTuple> as_tuples(const AtomList& atoms) {
    nb::list result;
    for (size_t i = 0; i < atoms.size(); ++i) {
        const std::vector<ObjectId> values(atoms.row(i), atoms.row(i) + atoms.arity(i));
        result.append(nb::make_tuple(index(atoms.symbols[i]), nb::tuple(nb::cast(values))));
    }
    return result;
}

auto static_atoms(const SharedTask& shared) {
    AtomList found;
    const AtomList& initial = shared.task.initial;
    for (size_t i = 0; i < initial.size(); ++i)
        if (!shared.task.domain->predicates[index(initial.symbols[i])].fluent)
            found.add(initial.symbols[i], initial.row(i), initial.arity(i));
    return as_tuples(found);
}

auto atoms_of(SharedTask& shared, IdArray ids) {
    // Creating Python objects may run other Python code, which must not meet a held lock.
    AtomList found;
    const auto atoms = checked_atoms(shared, ids);
    {
        const auto lock = shared.atoms.lock();
        for (AtomId atom : atoms)
            found.add(shared.atoms.predicate(atom), shared.atoms.values(atom),
                      shared.atoms.arity(atom));
    }
    return as_tuples(found);
}

}  // namespace

void bind_tasks(nb::module_& m) {
    nb::enum_<PredicateKind>(m, "PredicateKind")
        .value("BASIC", PredicateKind::Basic)
        .value("DERIVED", PredicateKind::Derived)
        .value("AUXILIARY", PredicateKind::Auxiliary);
    nb::enum_<Severity>(m, "Severity")
        .value("ERROR", Severity::Error)
        .value("UNSUPPORTED", Severity::Unsupported)
        .value("WARNING", Severity::Warning);
    nb::class_<Domain>(m, "Domain")
        .def_ro("name", &Domain::name)
        .def_prop_ro("types", &types_of)
        .def_prop_ro("predicates", &predicates_of)
        .def_prop_ro("actions", &actions_of)
        .def_prop_ro("axioms", &axioms_of)
        .def_prop_ro("functions",
                     [](const Domain& d) {  // with the number of arguments
                         std::vector<std::pair<std::string, size_t>> result;
                         for (const Function& function : d.functions)
                             result.emplace_back(function.name, function.parameters.size());
                         return result;
                     })
        .def_prop_ro("constants", [](const Domain& d) { return with_types(d.constants); });
    m.def("read_domain", &read_domain_text, "text"_a);

    nb::class_<SharedTask>(m, "Task")
        .def_prop_ro("name", [](const SharedTask& t) { return t.task.name; })
        .def_prop_ro("objects", [](const SharedTask& t) { return with_types(t.task.objects); })
        .def_prop_ro("goals", &goal_texts)
        .def_prop_ro("goal_formulas", &goal_formulas)
        .def_prop_ro("static_atoms", &static_atoms)
        .def_prop_ro("minimises_cost", [](const SharedTask& t) { return t.task.minimises_cost; })
        .def_prop_ro(
            "cost_decimals",
            [](const SharedTask& t) { return t.task.minimises_cost ? t.task.costs.decimals : 0; })
        .def("initial",
             [](SharedTask& t) {
                 const auto lock = t.atoms.lock();
                 return as_array(initial_state(t.task, t.atoms));
             })
        .def("atoms", &atoms_of, "ids"_a)
        .def(
            "intern",
            [](SharedTask& t, uint32_t predicate, const std::vector<uint32_t>& values) {
                check_ground(t.task, t.task.domain->predicates, predicate, values, "no such atom");
                const auto lock = t.atoms.lock();
                return t.atoms.intern(PredicateId(predicate), values.data());
            },
            "predicate"_a, "values"_a);
    m.def("read_task", &read_task_text, "domain"_a, "text"_a);
}

}  // namespace planlog
