// Reads a domain. Sections may come in any order: declarations are read before what uses them.

#include <algorithm>

#include "pddl/actions.hpp"
#include "pddl/conditions.hpp"
#include "pddl/names.hpp"
#include "pddl/pddl.hpp"
#include "util/graph.hpp"

namespace planlog {

namespace {

// A literal in the body of an axiom: the predicate that is defined needs another one.
struct Need {
    uint32_t from, to;
    bool negated;
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
    void add_with_parents(Expr name);
    void read_constants(Expr section);
    void read_predicates(Expr section);
    void read_functions(Expr section);
    void mark_derived(Expr section);
    void read_derived(Expr section);
    void check_stratified();  // no recursion of derived predicates goes through a negation
    void report_cycle(std::vector<Need> cycle);

    Domain domain_;
    Context context_;
    ConditionCompiler compiler_;
    std::unordered_map<std::string_view, std::optional<Expr>> parents_;  // of types; none: object
    std::unordered_map<uint32_t, Expr> derived_at_;  // where a derived predicate is defined
};

std::optional<Domain> DomainReader::read(Expr root) {
    domain_.types.push_back({"object", TypeId{0}});
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
        std::optional<Expr> parent = group.type;
        if (parent && (parent->is_list() || !is_name(parent->text()))) {
            if (parent->head() == "either")
                context_.unsupported(*parent, "'either' as a super-type is");
            else
                context_.error(*parent, "expected a type, found " + describe(*parent));
            parent.reset();
        }
        for (const Expr name : group.names) {
            if (name.is("object")) {
                if (parent && !parent->is("object"))
                    context_.error(name, "'object' cannot have a super-type");
            } else if (parents_.emplace(name.text(), parent).second) {
                declared.push_back(name);
            } else {
                context_.error(name, "type " + describe(name) + " is declared twice");
            }
        }
    }
    for (const Expr name : declared) add_with_parents(name);
}

// Adds a type after its super-types, so that parents precede their children.
void DomainReader::add_with_parents(Expr name) {
    constexpr size_t max_depth = 64;      // bounds the time of each check
    std::vector<std::string_view> chain;  // from the type up to the last one not added yet
    uint32_t parent = 0;
    for (std::optional<Expr> next = name; next;) {
        const std::string_view type = next->text();
        if (const auto added = context_.types.find(type); added != context_.types.end()) {
            parent = added->second;
            break;
        }
        if (const auto again = std::find(chain.begin(), chain.end(), type); again != chain.end()) {
            std::string path = quoted(type);
            for (auto step = again + 1; step != chain.end(); ++step) path += " - " + quoted(*step);
            context_.error(name, "a type is its own super-type: " + path + " - " + quoted(type));
            break;
        }
        if (chain.size() == max_depth) {
            context_.error(name, "more than " + std::to_string(max_depth) + " super-types");
            break;
        }
        chain.push_back(type);
        const auto declaration = parents_.find(type);
        if (declaration == parents_.end()) {
            Names declared;
            for (const auto& [known, super] : parents_) declared.emplace(known, 0);
            context_.add(Severity::Warning, *next,
                         "super-type " + describe(*next) + " is not declared",
                         did_you_mean(type, declared));
            break;
        }
        next = declaration->second;
    }
    for (auto type = chain.rbegin(); type != chain.rend(); ++type) {
        const auto id = static_cast<uint32_t>(domain_.types.size());
        context_.types.emplace(*type, id);
        domain_.types.push_back({std::string(*type), TypeId{parent}});
        parent = id;
    }
}

void DomainReader::read_constants(Expr section) {
    for (const TypedGroup& group : context_.typed_groups(section.first().next(), section.end())) {
        const TypeId type = context_.read_object_type(group);
        for (const Expr name : group.names)
            if (context_.declare(context_.object_ids, name, "constant", domain_.constants.size()))
                domain_.constants.push_back({std::string(name.text()), type});
    }
}

void DomainReader::read_predicates(Expr section) {
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        const std::string_view name = item.head();
        if (is_built_in(name)) {
            context_.error(item.first(), describe(item.first()) + " is built in",
                           "remove or rename this predicate");
        } else if (!is_name(name)) {
            context_.error(item, "expected '(PREDICATE VARIABLES)', found " + describe(item));
            context_.complete = false;
        } else if (context_.declare(context_.predicates, item.first(), "predicate",
                                    domain_.predicates.size())) {
            Predicate predicate;
            predicate.name = name;
            predicate.parameters = context_.read_parameters(item.first().next(), item.end(), true);
            predicate.trusted.assign(predicate.parameters.size(), true);
            domain_.predicates.push_back(std::move(predicate));
        }
    }
}

void DomainReader::read_functions(Expr section) {
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        if (item.is("-") && item.next() != section.end()) {
            item = item.next();
            if (!item.is("number"))
                context_.unsupported(item, "functions that are not numbers (object fluents) are");
        } else if (!is_name(item.head())) {
            context_.error(item, "expected '(FUNCTION VARIABLES)', found " + describe(item));
            context_.complete = false;
        } else if (item.head() == "total-cost") {
            context_.has_form(item, 1, "(total-cost)");
        } else if (context_.declare(context_.functions, item.first(), "function",
                                    domain_.functions.size())) {
            auto parameters = context_.read_parameters(item.first().next(), item.end(), true);
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
    auto parameters = context_.read_parameters(head.first().next(), head.end());
    // A variable without a type has the declared one.
    for (size_t i = 0; i < std::min(parameters.size(), predicate.parameters.size()); ++i)
        if (parameters[i].types == std::vector{TypeId{0}})
            parameters[i].types = predicate.parameters[i].types;
    Scope scope;
    const std::vector<uint32_t> variables = scope.open(parameters);
    std::vector<Expr> names = head.members();
    std::erase_if(names, [](Expr item) { return !item.text().starts_with('?'); });
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

void DomainReader::check_stratified() {
    Needs needs(domain_.predicates.size());
    for (const Axiom& axiom : domain_.axioms)
        for (const Literal& literal : axiom.body)
            if (literal.kind == LiteralKind::Atom)
                needs[index(axiom.head)].push_back(
                    {index(axiom.head), index(literal.predicate), literal.negated});
    std::vector<uint32_t> offsets{0}, targets;
    for (const std::vector<Need>& of_one : needs) {
        for (const Need need : of_one) targets.push_back(need.to);
        offsets.push_back(static_cast<uint32_t>(targets.size()));
    }
    const std::vector<uint32_t> component = strong_components({offsets, targets, needs.size()});
    for (const std::vector<Need>& of_one : needs)
        for (const Need need : of_one)
            if (need.negated && component[need.from] == component[need.to])
                return report_cycle(cycle_through(needs, need));
}

// Reports the cycle in the user's terms: "'a' -> not 'b' -> 'a'". It skips auxiliary predicates,
// and a step is negated if the number of negations on the skipped way is odd.
void DomainReader::report_cycle(std::vector<Need> cycle) {
    const auto declared = [&](Need need) {
        return domain_.predicates[need.to].kind == PredicateKind::Derived;
    };
    // Auxiliary predicates only need parts of their condition, so a declared one is on the cycle.
    std::rotate(cycle.begin(), std::find_if(cycle.begin(), cycle.end(), declared) + 1, cycle.end());
    const auto name = [&](uint32_t id) { return "'" + domain_.predicates[id].name + "'"; };
    std::string path = name(cycle[0].from);
    // All negations come in pairs, from `forall`: correct PDDL, but not stratified.
    bool only_forall = true;
    bool negated = false;
    for (const Need need : cycle) {
        negated = negated != need.negated;
        if (!declared(need)) continue;
        path += (negated ? " -> not " : " -> ") + name(need.to);
        only_forall = only_forall && !negated;
        negated = false;
    }
    const Expr at = derived_at_.at(cycle[0].from);
    if (only_forall)
        context_.unsupported(at, "recursion through 'forall' (" + path + ") is");
    else
        context_.error(at, "derived predicate depends on its own negation: " + path);
}

}  // namespace

std::optional<Domain> read_domain(std::string_view text, std::vector<Diagnostic>& diagnostics) {
    Reporter report(text, diagnostics);
    Document document(text);
    if (!document.parse(report)) return {};
    return DomainReader(report).read(Expr(document, 0));
}

}  // namespace planlog
