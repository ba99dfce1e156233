// Reads a domain. Sections may come in any order: declarations are read before what uses them.

#include <algorithm>
#include <map>

#include "conditions.hpp"
#include "pddl.hpp"
#include "pddl_actions.hpp"
#include "pddl_names.hpp"
#include "stratification.hpp"

namespace planlog {

namespace {

// Words with a meaning of their own, which no predicate can have as its name.
constexpr std::string_view reserved_words[] = {"and",    "or",     "not",  "imply",
                                               "exists", "forall", "when", "increase"};

class DomainReader {
public:
    explicit DomainReader(Reporter& report)
        : context_{report, domain_, domain_.constants, {}, {}, {}, {}, true, {}},
          compiler_(domain_.predicates, 0, domain_.axioms) {}

    std::optional<Domain> read(Expr root);

private:
    bool read_sections(Expr root);
    void read_types(Expr section);
    void add_with_parents(Expr name);
    void read_constants(Expr section);
    void read_predicates(Expr section);
    void read_functions(Expr section);
    void add_function(Expr declaration);
    void mark_derived(Expr section);
    void read_derived(Expr section);
    void check_stratified();

    Domain domain_;
    Context context_;
    ConditionCompiler compiler_;
    std::map<std::string_view, std::vector<Expr>> sections_;
    std::unordered_map<std::string_view, std::optional<Expr>> parents_;  // of types; none: object
    std::unordered_map<uint32_t, Expr> derived_at_;  // where a derived predicate is defined
};

std::optional<Domain> DomainReader::read(Expr root) {
    domain_.types.push_back({"object", TypeId{0}});
    context_.types.emplace("object", 0);
    if (!read_sections(root)) return {};
    for (const Expr section : sections_[":requirements"]) check_requirements(context_, section);
    for (const Expr section : sections_[":types"]) read_types(section);
    for (const Expr section : sections_[":constants"]) read_constants(section);
    for (const Expr section : sections_[":predicates"]) read_predicates(section);
    for (const Expr section : sections_[":functions"]) read_functions(section);
    for (const Expr section : sections_[":derived"]) mark_derived(section);

    ActionReader actions(context_, domain_, compiler_);
    for (const Expr section : sections_[":action"])
        if (!context_.report.full()) actions.read(section);
    for (const Expr section : sections_[":derived"])
        if (!context_.report.full()) read_derived(section);
    if (!context_.report.failed()) check_stratified();
    if (context_.report.failed()) return {};
    return std::move(domain_);
}

bool DomainReader::read_sections(Expr root) {
    static const std::vector<std::string_view> known = {
        ":requirements", ":types", ":constants", ":predicates", ":functions", ":action", ":derived"};
    static const std::map<std::string_view, std::string> unsupported = {
        {":durative-action", "durative actions are"}, {":process", "processes are"},
        {":event", "events are"},                     {":constraints", "constraints are"},
        {":axiom", "axioms of PDDL 1 are"},           {":method", "methods are"},
        {":task", "hierarchical tasks are"},          {":timeless", "timeless facts are"}};
    const std::optional<Expr> name = read_define(context_, root, "domain");
    if (!name) return false;
    domain_.name = name->text();
    for (Expr section = root.first().next().next(); section != root.end();
         section = section.next()) {
        const std::string_view head = section.head();
        const auto refused = unsupported.find(head);
        if (refused != unsupported.end()) {
            const std::string hint = head == ":axiom" ? "write it as (:derived ...)" : "";
            context_.unsupported(section, refused->second, hint);
        } else if (std::find(known.begin(), known.end(), head) == known.end()) {
            report_unknown_section(context_, section, known);
        } else {
            std::vector<Expr>& same = sections_[head];
            if (!same.empty() && head != ":action" && head != ":derived")
                context_.error(section.first(), "second section " + describe(section.first()),
                               "write all of them in one section");
            same.push_back(section);
        }
    }
    return true;
}

void DomainReader::read_types(Expr section) {
    std::vector<Expr> declared;
    for (const TypedGroup& group :
         context_.typed_groups(section.first().next(), section.end(), false)) {
        std::optional<Expr> parent = group.type;
        if (parent && parent->is_list()) {
            if (parent->head() == "either")
                context_.unsupported(*parent, "'either' as a super-type is",
                                     "give the type one super-type");
            else
                context_.error(*parent, "expected a type, found " + describe(*parent));
            parent.reset();
        } else if (parent && !is_name(parent->text())) {
            context_.error(*parent, "expected a type, found " + describe(*parent));
            parent.reset();
        }
        for (const Expr name : group.names) {
            if (name.is("object")) {
                if (parent && !parent->is("object"))
                    context_.error(name, "'object' is the type of everything and cannot have a "
                                         "super-type");
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
    constexpr size_t max_depth = 64;
    std::vector<std::string_view> chain;  // from the type up to the last one not added yet
    uint32_t parent = 0;
    for (std::optional<Expr> next = name; next;) {
        const std::string_view type = next->text();
        const auto added = context_.types.find(type);
        if (added != context_.types.end()) {
            parent = added->second;
            break;
        }
        const auto again = std::find(chain.begin(), chain.end(), type);
        if (again != chain.end() || chain.size() == max_depth) {
            std::string path;
            for (auto step = again; step != chain.end(); ++step) path += quoted(*step) + " - ";
            if (again != chain.end())
                context_.error(name, "type " + describe(name) + " is among its own super-types: " +
                                         path + quoted(type));
            else
                context_.error(name, "more than " + std::to_string(max_depth) + " super-types");
            break;
        }
        chain.push_back(type);
        const auto declaration = parents_.find(type);
        if (declaration == parents_.end()) {
            Names declared;
            for (const auto& [known, super] : parents_) declared.emplace(known, 0);
            context_.warn(*next, "super-type " + describe(*next) +
                                     " is not declared; it is taken as a type of its own",
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
    for (const TypedGroup& group :
         context_.typed_groups(section.first().next(), section.end(), false)) {
        const TypeId type = context_.read_object_type(group);
        for (const Expr name : group.names) {
            const auto id = static_cast<uint32_t>(domain_.constants.size());
            if (context_.object_ids.emplace(name.text(), id).second)
                domain_.constants.push_back({std::string(name.text()), type});
            else
                context_.error(name, "constant " + describe(name) + " is declared twice");
        }
    }
}

void DomainReader::read_predicates(Expr section) {
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        const std::string_view name = item.head();
        if (name == "=" || std::find(std::begin(reserved_words), std::end(reserved_words), name) !=
                               std::end(reserved_words)) {
            context_.error(item.first(), describe(item.first()) + " is built in",
                           "remove or rename this predicate");
            continue;
        }
        if (!is_name(name)) {
            context_.error(item, "expected '(predicate ...)', found " + describe(item));
            context_.complete = false;
            continue;
        }
        Predicate predicate;
        predicate.name = name;
        predicate.parameters = context_.read_parameters(item.first().next(), item.end(), true);
        predicate.trusted.assign(predicate.parameters.size(), true);
        const auto id = static_cast<uint32_t>(domain_.predicates.size());
        if (context_.predicates.emplace(name, id).second)
            domain_.predicates.push_back(std::move(predicate));
        else
            context_.error(item.first(),
                           "predicate " + describe(item.first()) + " is declared twice");
    }
}

void DomainReader::read_functions(Expr section) {
    for (Expr item = section.first().next(); item != section.end(); item = item.next()) {
        if (!item.is("-")) {
            add_function(item);
            continue;
        }
        const Expr type = item.next();
        if (type == section.end()) {
            context_.error(item, "expected a type after '-'");
            break;
        }
        if (!type.is("number"))
            context_.unsupported(type, "functions that are not numbers (object fluents) are");
        item = type;
    }
}

void DomainReader::add_function(Expr item) {
    const std::string_view name = item.head();
    if (!is_name(name)) {
        context_.error(item, "expected '(function ...)', found " + describe(item));
        context_.complete = false;
        return;
    }
    Function function{std::string(name),
                      context_.read_parameters(item.first().next(), item.end(), true)};
    if (name == "total-cost") {
        if (!function.parameters.empty()) context_.error(item, "'total-cost' takes no arguments");
        return;
    }
    const auto id = static_cast<uint32_t>(domain_.functions.size());
    if (context_.functions.emplace(name, id).second)
        domain_.functions.push_back(std::move(function));
    else
        context_.error(item.first(), "function " + describe(item.first()) + " is declared twice");
}

// Before actions are read, so that none of them changes a derived predicate.
void DomainReader::mark_derived(Expr section) {
    const std::vector<Expr> members = section.members();
    if (members.size() < 2) return;
    const auto found = context_.predicates.find(members[1].head());
    if (found == context_.predicates.end()) return;
    domain_.predicates[found->second].kind = PredicateKind::Derived;
    derived_at_.emplace(found->second, members[1]);
}

void DomainReader::read_derived(Expr section) {
    const std::vector<Expr> members = section.members();
    if (members.size() != 3 || members[1].head().empty()) {
        context_.error(section, "expected '(:derived (PREDICATE VARIABLES) CONDITION)'");
        return;
    }
    const Expr head = members[1];
    const auto found = context_.predicates.find(head.head());
    if (found == context_.predicates.end()) {
        context_.unknown(head.first(), "predicate", head.head(), context_.predicates);
        return;
    }
    std::vector<Parameter> parameters =
        context_.read_parameters(head.first().next(), head.end(), false);
    Predicate& predicate = domain_.predicates[found->second];
    if (parameters.size() != predicate.parameters.size()) {
        context_.error(head, "predicate " + describe(head.first()) + " takes " +
                                 count_of(predicate.parameters.size(), "argument") + ", found " +
                                 std::to_string(parameters.size()));
        return;
    }
    // A variable without a type has the declared one.
    for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].types == std::vector{TypeId{0}})
            parameters[i].types = predicate.parameters[i].types;
    Scope scope;
    const std::vector<uint32_t> variables = scope.open(parameters);
    for (size_t i = 0; i < parameters.size(); ++i) {
        const std::vector<TypeId>& declared = predicate.parameters[i].types;
        const Fit fit = context_.fit(Term::variable(variables[i]), declared, scope);
        if (fit == Fit::Sometimes) predicate.trusted[i] = false;
        if (fit == Fit::Never)
            context_.error(head, "'?" + parameters[i].name + "' is of type " +
                                     context_.type_names(parameters[i].types) +
                                     ", but predicate " + describe(head.first()) + " expects " +
                                     context_.type_names(declared) + " here");
    }
    const Condition condition = read_condition(context_, scope, members[2]);
    if (context_.report.failed()) return;
    const std::string owner = predicate.name;
    compiler_.define(PredicateId{found->second}, variables, condition, scope, owner);
    if (!compiler_.charge(0)) context_.error(section, too_large);
}

void DomainReader::check_stratified() {
    const std::optional<NegativeCycle> cycle = find_negative_cycle(domain_);
    if (!cycle) return;
    const Expr at = derived_at_.at(index(cycle->predicate));
    if (cycle->only_forall)
        context_.unsupported(at, "recursion through 'forall' (" + cycle->path + ") is");
    else
        context_.error(at, "derived predicate depends on its own negation: " + cycle->path,
                       "a derived predicate may only be negated where it is not being defined");
}

}  // namespace

std::optional<Domain> read_domain(std::string_view text, std::vector<Diagnostic>& diagnostics) {
    Reporter report(text, diagnostics);
    Document document(text);
    if (!document.parse(report)) return {};
    return DomainReader(report).read(document.root());
}

}  // namespace planlog
