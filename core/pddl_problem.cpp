// Reads a problem against its domain.
//
// Nearly all of a large problem is :init, so its atoms go straight from the text
// into the flat list of the task, without an allocation of their own.

#include <algorithm>
#include <map>

#include "conditions.hpp"
#include "pddl.hpp"
#include "pddl_names.hpp"

namespace planlog {

namespace {

// The atoms seen so far, by hash, as indices into the list.
class AtomSet {
public:
    explicit AtomSet(const AtomList& atoms) : atoms_(atoms), slots_(1024, empty) {}

    // Whether the last atom of the list is new; it is remembered then.
    bool insert_last() {
        if (2 * (used_ + 1) > slots_.size()) grow();
        const auto last = static_cast<uint32_t>(atoms_.size() - 1);
        uint32_t& slot = find(last);
        if (slot != empty) return false;
        slot = last;
        ++used_;
        return true;
    }

private:
    static constexpr uint32_t empty = UINT32_MAX;

    uint32_t& find(uint32_t atom) {
        const size_t mask = slots_.size() - 1;
        for (size_t i = hash(atom) & mask;; i = (i + 1) & mask)
            if (slots_[i] == empty || equal(slots_[i], atom)) return slots_[i];
    }
    uint64_t hash(uint32_t atom) const {
        uint64_t value = index(atoms_.predicates[atom]) + 1;
        for (size_t i = 0; i < atoms_.arity(atom); ++i) {
            value = (value ^ atoms_.row(atom)[i]) * 0x9e3779b97f4a7c15u;
            value ^= value >> 29;
        }
        return value;
    }
    bool equal(uint32_t a, uint32_t b) const {
        // Equal predicates have equal arities.
        return atoms_.predicates[a] == atoms_.predicates[b] &&
               std::equal(atoms_.row(a), atoms_.row(a) + atoms_.arity(a), atoms_.row(b));
    }
    void grow() {
        std::vector<uint32_t> old(slots_.size() * 2, empty);
        std::swap(old, slots_);
        for (const uint32_t atom : old)
            if (atom != empty) find(atom) = atom;
    }

    const AtomList& atoms_;
    std::vector<uint32_t> slots_;
    size_t used_ = 0;
};

class ProblemReader {
public:
    ProblemReader(const Domain& domain, Reporter& report);
    std::optional<Task> read(Expr root);

private:
    bool read_sections(Expr root);
    void check_domain(Expr root);
    void read_objects(Expr section);
    void read_init(Expr section);
    void read_init_atom(Expr atom, bool positive);
    void read_value(Expr assignment);
    void read_goal(Expr section);
    void read_metric(Expr section);

    const Domain& domain_;
    Task task_;
    Context context_;
    AtomSet seen_;
    Scope no_variables_;
    std::map<std::string_view, Expr> sections_;
};

ProblemReader::ProblemReader(const Domain& domain, Reporter& report)
    : domain_(domain),
      context_{report, domain, task_.objects, {}, {}, {}, {}, true, {}},
      seen_(task_.initial) {
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
    task_.function_values.resize(domain.functions.size());
}

std::optional<Task> ProblemReader::read(Expr root) {
    if (!read_sections(root)) return {};
    check_domain(root);
    const auto visit = [&](std::string_view name, void (ProblemReader::*read_section)(Expr)) {
        const auto found = sections_.find(name);
        if (found != sections_.end()) (this->*read_section)(found->second);
        return found != sections_.end();
    };
    const auto requirements = sections_.find(":requirements");
    if (requirements != sections_.end()) check_requirements(context_, requirements->second);
    visit(":objects", &ProblemReader::read_objects);
    const bool has_init = visit(":init", &ProblemReader::read_init);
    const bool has_goal = visit(":goal", &ProblemReader::read_goal);
    visit(":metric", &ProblemReader::read_metric);
    if (context_.complete && !has_init) context_.error(root.first(), "the problem has no '(:init ...)'");
    if (context_.complete && !has_goal) context_.error(root.first(), "the problem has no '(:goal ...)'");
    if (context_.report.failed()) return {};
    task_.object_ids.reserve(task_.objects.size());
    for (uint32_t i = 0; i < task_.objects.size(); ++i)
        task_.object_ids.emplace(task_.objects[i].name, i);
    return std::move(task_);
}

bool ProblemReader::read_sections(Expr root) {
    static const std::vector<std::string_view> known = {
        ":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length"};
    const std::optional<Expr> name = read_define(context_, root, "problem");
    if (!name) return false;
    task_.name = name->text();
    for (Expr section = root.first().next().next(); section != root.end();
         section = section.next()) {
        const std::string_view head = section.head();
        if (head == ":constraints")
            context_.unsupported(section, "constraints are");
        else if (head == ":situation" || head == ":htn")
            context_.unsupported(section, "section " + describe(section.first()) + " is");
        else if (std::find(known.begin(), known.end(), head) == known.end())
            report_unknown_section(context_, section, known);
        else if (!sections_.emplace(head, section).second)
            context_.error(section.first(), "second section " + describe(section.first()));
    }
    return true;
}

void ProblemReader::check_domain(Expr root) {
    const auto section = sections_.find(":domain");
    if (section == sections_.end()) {
        if (context_.complete)
            context_.error(root.first(), "the problem does not name its domain",
                           "add '(:domain " + domain_.name + ")'");
        return;
    }
    const std::optional<Expr> name = read_name(context_, section->second, ":domain");
    if (name && name->text() != domain_.name)
        context_.error(*name, "the problem is of domain " + describe(*name) +
                                  ", but the domain read is " + quoted(domain_.name));
}

void ProblemReader::read_objects(Expr section) {
    const size_t constants = domain_.constants.size();
    for (const TypedGroup& group :
         context_.typed_groups(section.first().next(), section.end(), false)) {
        const TypeId type = context_.read_object_type(group);
        for (const Expr name : group.names) {
            const auto id = static_cast<uint32_t>(task_.objects.size());
            const auto [entry, added] = context_.object_ids.emplace(name.text(), id);
            if (added) {
                task_.objects.push_back({std::string(name.text()), type});
            } else if (entry->second >= constants) {
                context_.error(name, "object " + describe(name) + " is declared twice");
            } else if (task_.objects[entry->second].type == type) {
                context_.warn(name, "object " + describe(name) + " is a constant of the domain",
                              "it need not be declared again");
            } else {
                const TypeId constant = task_.objects[entry->second].type;
                context_.error(name, describe(name) + " is a constant of the domain, of type " +
                                         context_.type_names({constant}));
            }
        }
    }
}

void ProblemReader::read_init(Expr section) {
    for (Expr item = section.first().next(); item != section.end() && !context_.report.full();
         item = item.next()) {
        const std::string_view head = item.head();
        if (head == "=") {
            read_value(item);
        } else if (head == "not") {
            // Whatever is not given is false already; the atom is only checked.
            const Expr atom = item.first().next();
            if (atom == item.end() || atom.next() != item.end())
                context_.error(item, "'not' takes one atom");
            else
                read_init_atom(atom, false);
        } else {
            read_init_atom(item, true);
        }
    }
}

void ProblemReader::read_init_atom(Expr atom, bool positive) {
    const std::string_view head = atom.head();
    const auto found = head.empty() ? context_.predicates.end() : context_.predicates.find(head);
    AtomList& initial = task_.initial;
    bool good = found != context_.predicates.end();
    if (good) {
        const Predicate& predicate = domain_.predicates[found->second];
        const size_t arity = predicate.parameters.size();
        size_t count = 0;
        for (Expr item = atom.first().next(); item != atom.end(); item = item.next(), ++count) {
            if (item.is_list() || count == arity) {
                good = false;
                break;
            }
            const auto object = context_.object_ids.find(item.text());
            if (object == context_.object_ids.end() ||
                !context_.object_fits(object->second, predicate.parameters[count].types)) {
                good = false;
                break;
            }
            initial.arguments.push_back(object->second);
        }
        good = good && count == arity && predicate.kind == PredicateKind::Basic;
    }
    if (good && positive) {
        initial.predicates.push_back(PredicateId{found->second});
        initial.offsets.push_back(static_cast<uint32_t>(initial.arguments.size()));
        if (seen_.insert_last()) return;
        initial.predicates.pop_back();
        initial.offsets.pop_back();
    }
    initial.arguments.resize(initial.offsets.back());
    if (good) return;

    // The slow way, for what is wrong with it.
    const std::vector<Expr> members = atom.members();
    if (head == "at" && members.size() == 3 && members[2].is_list()) {
        context_.unsupported(atom, "timed initial literals are");
    } else if (head == "and" || head == "or" || head == "oneof" || head == "forall" ||
               head == "unknown" || head == "increase") {
        if (found == context_.predicates.end()) {
            context_.error(atom, "expected an atom, found " + describe(atom),
                           "(:init ...) takes atoms one after the other");
            return;
        }
        context_.read_atom(atom, no_variables_);
    } else if (context_.read_atom(atom, no_variables_)) {
        context_.error(atom, "derived predicate " + describe(atom.first()) +
                                 " cannot be given in (:init ...)");
    }
}

// (= (f a b) 5)
void ProblemReader::read_value(Expr assignment) {
    const std::vector<Expr> members = assignment.members();
    if (members.size() != 3 || !members[1].is_list() || members[2].is_list()) {
        context_.error(assignment, "expected '(= (FUNCTION ARGUMENTS) NUMBER)'");
        return;
    }
    const Expr term = members[1];
    const std::optional<double> value = parse_number(members[2].text());
    if (!value || *value < 0) {
        if (context_.object_ids.contains(members[2].text()))
            context_.unsupported(assignment, "functions that are not numbers (object fluents) are");
        else
            context_.error(members[2], "expected a number that is not negative, found " +
                                           describe(members[2]));
        return;
    }
    if (term.head() == "total-cost") {
        if (term.members().size() != 1)
            context_.error(term, "'total-cost' takes no arguments");
        else if (*value != 0)
            context_.unsupported(members[2], "a '(total-cost)' other than 0 at the start is");
        return;
    }
    const auto function = context_.functions.find(term.head());
    if (function == context_.functions.end()) {
        if (term.head().empty())
            context_.error(term, "expected '(FUNCTION ARGUMENTS)', found " + describe(term));
        else
            context_.unknown(term.first(), "function", term.head(), context_.functions);
        return;
    }
    std::vector<Term> terms;
    const std::vector<Parameter>& parameters = domain_.functions[function->second].parameters;
    if (!context_.read_arguments(term, "function", parameters, no_variables_, terms)) return;
    std::vector<ObjectId> arguments;
    for (const Term argument : terms) arguments.push_back(argument.value);
    const auto [entry, added] =
        task_.function_values[function->second].emplace(function_key(arguments), *value);
    if (!added && entry->second != *value)
        context_.error(assignment, "second value of the same function term");
}

void ProblemReader::read_goal(Expr section) {
    const Expr goal = section.first().next();
    if (goal == section.end() || goal.next() != section.end()) {
        context_.error(section, "expected '(:goal CONDITION)'",
                       goal == section.end() ? "" : "join the conditions with '(and ...)'");
        return;
    }
    Scope scope;
    const Condition condition = read_condition(context_, scope, goal);
    if (context_.report.failed()) return;
    ConditionCompiler compiler(task_.goal_predicates,
                               static_cast<uint32_t>(domain_.predicates.size()),
                               task_.goal_axioms);
    task_.goal = compiler.literals(condition, scope, "goal");
    if (!compiler.charge(0)) context_.error(section, "the goal is too large");
}

void ProblemReader::read_metric(Expr section) {
    const std::vector<Expr> members = section.members();
    if (members.size() != 3) {
        context_.error(section, "expected '(:metric minimize (total-cost))'");
    } else if (members[1].is("maximize")) {
        context_.unsupported(members[1], "the metric 'maximize' is");
    } else if (!members[1].is("minimize")) {
        context_.error(members[1], "expected 'minimize', found " + describe(members[1]),
                       did_you_mean(members[1].text(), std::vector<std::string_view>{"minimize"}));
    } else if (members[2].head() != "total-cost" || members[2].members().size() != 1) {
        if (members[2].is_list() && members[2].head() != "total-cost")
            context_.unsupported(members[2], "the metric " + describe(members[2]) + " is",
                                 "only '(total-cost)' can be minimised");
        else
            context_.error(members[2], "expected '(total-cost)', found " + describe(members[2]));
    } else {
        task_.minimises_cost = true;
    }
}

}  // namespace

std::optional<Task> read_task(const Domain& domain, std::string_view text,
                              std::vector<Diagnostic>& diagnostics) {
    Reporter report(text, diagnostics);
    Document document(text);
    if (!document.parse(report)) return {};
    return ProblemReader(domain, report).read(document.root());
}

}  // namespace planlog
