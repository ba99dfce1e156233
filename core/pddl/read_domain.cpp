// Reads a domain. Sections may come in any order: declarations are read before what uses them.

#include <algorithm>

#include "pddl/actions.hpp"
#include "pddl/conditions.hpp"
#include "pddl/features.hpp"
#include "pddl/names.hpp"
#include "pddl/pddl.hpp"
#include "util/graph.hpp"

namespace planlog {

namespace {

// A literal in the condition of a derived predicate, which needs another one.
struct Need {
    uint32_t from, to;
    bool negated;
    bool through_negation;  // also if there are two negations, as for `forall`
};
using Needs = std::vector<std::vector<Need>>;  // by the predicate that needs

// A shortest cycle that begins with this need, which is on one.
std::vector<Need> cycle_through(const Needs& needs, Need first) {
    std::vector<std::optional<Need>> reached_by(needs.size());
    std::vector<uint32_t> queue = {first.to};
    reached_by[first.to] = first;
    for (size_t i = 0; i < queue.size() && queue[i] != first.from; ++i) {
        for (const Need need : needs[queue[i]]) {
            if (reached_by[need.to]) continue;
            reached_by[need.to] = need;
            queue.push_back(need.to);
        }
    }
    std::vector<Need> cycle;
    for (uint32_t at = first.from; cycle.empty() || at != first.from; at = cycle.back().from)
        cycle.push_back(*reached_by[at]);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

class DomainReader {
  public:
    explicit DomainReader(Reporter& report)
        : context_{report, domain_, domain_.constants},
          compiler_(domain_.predicates, 0, domain_.axioms) {}

    std::optional<Domain> read(Expr root);

  private:
    void read_types(Expr section);
    void add_with_parents(Expr name, std::vector<Expr>& below);
    void read_constants(Expr section);
    void read_predicates(Expr section);
    template <class Declaration>
    bool is_new(Expr item, const std::string& kind, Names& names,
                const std::vector<Declaration>& declared, const std::vector<Parameter>& parameters);
    void read_functions(Expr section);
    void mark_derived(Expr section);
    void read_derived(Expr section);
    void check_stratified();  // no recursion of derived predicates goes through a negation
    Needs needs_of_derived() const;
    std::string path_of(const std::vector<Need>& cycle) const;

    Domain domain_;
    Context context_;
    ConditionCompiler compiler_;
    std::unordered_map<std::string_view, std::vector<Expr>> parents_;  // of types, as declared
    std::unordered_map<uint32_t, Expr> derived_at_;  // where a derived predicate is defined
};

std::optional<Domain> DomainReader::read(Expr root) {
    if (report_unsupported(root, context_)) return {};
    domain_.types.push_back({"object", {}, {TypeId{0}}});
    context_.types.emplace("object", 0);
    auto sections = context_.read_sections(root, "domain", domain_.name,
                                           {":requirements", ":types", ":constants", ":predicates",
                                            ":functions", ":action", ":derived"});
    if (!sections) return {};
    const auto each = [&](std::string_view name, const auto& read_section) {
        for (const Expr section : (*sections)[name])
            if (!context_.report.full()) read_section(section);
    };
    ActionReader actions(context_, domain_, compiler_);
    each(":requirements", [&](Expr section) { context_.check_requirements(section); });
    each(":types", [&](Expr section) { read_types(section); });
    each(":constants", [&](Expr section) { read_constants(section); });
    each(":predicates", [&](Expr section) { read_predicates(section); });
    each(":functions", [&](Expr section) { read_functions(section); });
    each(":derived", [&](Expr section) { mark_derived(section); });
    each(":action", [&](Expr section) { actions.read(section); });
    each(":derived", [&](Expr section) { read_derived(section); });
    if (!context_.report.failed()) check_stratified();
    if (context_.report.failed()) return {};
    return std::move(domain_);
}

void DomainReader::read_types(Expr section) {
    std::vector<Expr> declared;
    for (const TypedGroup& group : context_.typed_groups(section.first().next(), section.end())) {
        const std::optional<Expr> parent = group.type;
        if (parent && (parent->is_list() || !is_name(parent->text()))) {
            context_.error(*parent, "expected a type, found " + describe(*parent));
            continue;
        }
        for (const Expr name : group.names) {
            if (name.is("number")) context_.error(name, "'number' is not a type of objects");
            if (name.is("object")) {
                if (parent && !parent->is("object"))
                    context_.error(name, "'object' cannot have a super-type");
                continue;
            }
            // A type that is declared again has another super-type.
            const auto [entry, added] = parents_.try_emplace(name.text());
            if (added) declared.push_back(name);
            if (parent && !parent->is("object")) entry->second.push_back(*parent);
        }
    }
    std::vector<Expr> below;
    for (const Expr name : declared) add_with_parents(name, below);
}

// Adds a type after its super-types. `below` are the types that wait for it, lowest first.
void DomainReader::add_with_parents(Expr name, std::vector<Expr>& below) {
    constexpr size_t max_super_types = 64;  // bounds the time of each check
    const std::string_view word = name.text();
    if (context_.types.contains(word) || context_.report.full()) return;
    const auto again = std::ranges::find(below, word, &Expr::text);
    if (again != below.end()) {
        std::string path;
        for (auto step = again; step != below.end(); ++step) path += quoted(step->text()) + " - ";
        context_.error(*again, "a type is its own super-type: " + path + quoted(word));
        return;
    }
    const auto error = [&] {
        context_.error(name, "more than " + std::to_string(max_super_types) + " super-types");
    };
    if (below.size() > max_super_types) return error();
    Type type{std::string(word), {}, {TypeId{0}}};
    const auto declaration = parents_.find(word);
    if (declaration == parents_.end()) {
        Names declared;
        for (const auto& [known, super] : parents_) declared.emplace(known, 0);
        context_.warning(name, "super-type " + describe(name) + " is not declared",
                         did_you_mean(word, declared));
    } else {
        below.push_back(name);
        for (const Expr parent : declaration->second) {
            add_with_parents(parent, below);
            const auto found = context_.types.find(parent.text());
            if (found == context_.types.end()) continue;  // reported
            const TypeId id{found->second};
            const std::vector<TypeId>& above = domain_.types[index(id)].above;
            if (std::ranges::count(type.parents, id) == 0) type.parents.push_back(id);
            type.above.insert(type.above.end(), above.begin(), above.end());
        }
        below.pop_back();
    }
    const auto id = static_cast<uint32_t>(domain_.types.size());
    type.above.push_back(TypeId{id});
    std::ranges::sort(type.above);
    type.above.erase(std::ranges::unique(type.above).begin(), type.above.end());
    if (type.above.size() > max_super_types + 1) return error();
    if (type.parents.empty()) type.parents.push_back(TypeId{0});
    if (type.parents.size() > 1) domain_.has_multiple_inheritance = true;
    context_.types.emplace(word, id);
    domain_.types.push_back(std::move(type));
}

void DomainReader::read_constants(Expr section) {
    for (const TypedGroup& group : context_.typed_groups(section.first().next(), section.end())) {
        const TypeId type = context_.read_object_type(group);
        for (const Expr name : group.names)
            if (context_.declare(context_.object_ids, name, "constant", domain_.constants.size()))
                domain_.constants.push_back({std::string(name.text()), type});
    }
}

// Returns whether a predicate or function is declared for the first time. It may be declared again
// with parameters of the same types.
template <class Declaration>
bool DomainReader::is_new(Expr item, const std::string& kind, Names& names,
                          const std::vector<Declaration>& declared,
                          const std::vector<Parameter>& parameters) {
    const auto [entry, added] = names.emplace(item.head(), static_cast<uint32_t>(declared.size()));
    if (added) return true;
    const std::string again = kind + " " + describe(item.first()) + " is declared twice";
    if (std::ranges::equal(declared[entry->second].parameters, parameters, {}, &Parameter::types,
                           &Parameter::types))
        context_.warning(item.first(), again);
    else
        context_.error(item.first(), again + ", with other parameters");
    return false;
}

void DomainReader::read_predicates(Expr section) {
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        const std::string_view name = item.head();
        if (!is_name(name)) {
            context_.error(item, "expected '(PREDICATE VARIABLES)', found " + describe(item));
            context_.complete = false;
            continue;
        }
        auto parameters = context_.read_parameters(item.first().next(), item.end(), true);
        if (name == "=" && parameters.size() == 2) {
            context_.warning(item, "'=' is built in; this declaration is ignored");
        } else if (is_built_in(name)) {
            context_.error(item.first(), describe(item.first()) + " is built in",
                           "remove or rename this predicate");
        } else if (is_new(item, "predicate", context_.predicates, domain_.predicates, parameters)) {
            const std::vector<bool> trusted(parameters.size(), true);
            domain_.predicates.push_back(
                {std::string(name), std::move(parameters), PredicateKind::Basic, false, trusted});
        }
    }
}

void DomainReader::read_functions(Expr section) {
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        if (item.is("-") && item.next() != section.end()) {
            item = item.next();  // `number`
        } else if (!is_name(item.head())) {
            context_.error(item, "expected '(FUNCTION VARIABLES)', found " + describe(item));
            context_.complete = false;
        } else if (item.head() == "total-cost") {
            context_.has_form(item, 1, "(total-cost)");
        } else {
            auto parameters = context_.read_parameters(item.first().next(), item.end(), true);
            if (is_new(item, "function", context_.functions, domain_.functions, parameters))
                domain_.functions.push_back({std::string(item.head()), std::move(parameters)});
        }
    }
}

// Before actions are read, so that none of them changes a derived predicate.
void DomainReader::mark_derived(Expr section) {
    const Expr head = section.first().next();
    const auto found = context_.predicates.find(head == section.end() ? "" : head.head());
    if (found == context_.predicates.end()) return;
    domain_.predicates[found->second].kind = PredicateKind::Derived;
    derived_at_.emplace(found->second, head);
}

void DomainReader::read_derived(Expr section) {
    if (!context_.has_form(section, 3, "(:derived (PREDICATE VARIABLES) CONDITION)")) return;
    const Expr head = section.first().next();
    const auto found = context_.predicates.find(head.head());
    if (found == context_.predicates.end()) {
        if (head.head().empty())
            context_.error(head, "expected '(PREDICATE VARIABLES)', found " + describe(head));
        else
            context_.unknown(head.first(), "predicate", context_.predicates);
        return;
    }
    Predicate& predicate = domain_.predicates[found->second];
    bool is_type = false;
    for (const Expr item : head.arguments()) {
        const bool is_object = !is_type && context_.object_ids.contains(item.text());
        is_type = item.is("-");
        if (!is_object) continue;
        context_.error(item, "object " + describe(item) + " in the head of a ':derived'",
                       "use a variable, and compare it in the condition: (= ?x " +
                           std::string(item.text()) + ")");
        return;
    }
    const auto parameters = context_.read_parameters(head.first().next(), head.end());
    Scope scope;
    const std::vector<uint32_t> variables = scope.open(parameters);
    std::vector<Expr> names = head.members();
    std::erase_if(names, [](Expr item) { return !item.text().starts_with('?'); });
    if (names.size() != parameters.size()) return;  // one of them is no variable, as reported
    const auto terms = context_.read_terms(head, names, "predicate", predicate.parameters, scope);
    for (size_t i = 0; terms && i < terms->size(); ++i)
        if (context_.fit((*terms)[i], predicate.parameters[i].types, scope) != Fit::Always)
            predicate.trusted[i] = false;
    const Condition condition = read_condition(context_, scope, section.first().next().next());
    if (context_.report.failed()) return;
    const std::string owner = predicate.name;  // the predicates move while some are added
    compiler_.define(PredicateId{found->second}, variables, condition, scope, owner);
    if (!compiler_.charge(0)) context_.error(section, "the condition is too large");
}

// The needs of derived predicates, through the auxiliary predicates of their conditions.
Needs DomainReader::needs_of_derived() const {
    Needs direct(domain_.predicates.size()), needs(domain_.predicates.size());
    for (const Axiom& axiom : domain_.axioms)
        for (const Literal& literal : axiom.body)
            if (literal.kind == LiteralKind::Atom)
                direct[index(axiom.head)].push_back({index(axiom.head), index(literal.predicate),
                                                     literal.negated, literal.negated});
    const auto kind = [&](uint32_t predicate) { return domain_.predicates[predicate].kind; };
    for (uint32_t from = 0; from < direct.size(); ++from) {
        if (kind(from) != PredicateKind::Derived) continue;
        std::vector<Need> open = direct[from];
        while (!open.empty()) {
            const Need need = open.back();
            open.pop_back();
            if (kind(need.to) == PredicateKind::Derived) needs[from].push_back(need);
            if (kind(need.to) != PredicateKind::Auxiliary) continue;
            for (const Need next : direct[need.to])
                if (next.to != need.to)  // the axiom of a false condition
                    open.push_back({from, next.to, need.negated != next.negated,
                                    need.through_negation || next.negated});
        }
    }
    return needs;
}

void DomainReader::check_stratified() {
    const Needs needs = needs_of_derived();
    std::vector<uint32_t> offsets{0}, targets;
    for (const std::vector<Need>& of_one : needs) {
        for (const Need need : of_one) targets.push_back(need.to);
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
    const std::vector<uint32_t> component = strong_components({offsets, targets, needs.size()});
    std::optional<Need> through_forall;
    for (const std::vector<Need>& of_one : needs) {
        for (const Need need : of_one) {
            if (component[need.from] != component[need.to]) continue;
            if (need.negated) {
                context_.error(derived_at_.at(need.from),
                               "derived predicate depends on its own negation: " +
                                   path_of(cycle_through(needs, need)));
                return;
            }
            // `forall` is compiled to two negations: correct PDDL, but not stratified.
            if (need.through_negation && !through_forall) through_forall = need;
        }
    }
    if (through_forall)
        context_.unsupported(derived_at_.at(through_forall->from),
                             "recursion through 'forall' (" +
                                 path_of(cycle_through(needs, *through_forall)) + ") is");
}

// "'a' -> not 'b' -> 'a'"
std::string DomainReader::path_of(const std::vector<Need>& cycle) const {
    const auto name = [&](uint32_t id) { return "'" + domain_.predicates[id].name + "'"; };
    std::string path = name(cycle[0].from);
    for (const Need need : cycle) path += (need.negated ? " -> not " : " -> ") + name(need.to);
    return path;
}

}  // namespace

std::optional<Domain> read_domain(std::string_view text, std::vector<Diagnostic>& diagnostics) {
    Reporter report(text, diagnostics);
    Document document(text);
    if (!document.parse(report)) return {};
    return DomainReader(report).read(Expr(document, 0));
}

}  // namespace planlog
