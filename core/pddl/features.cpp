#include "pddl/features.hpp"

#include <algorithm>

namespace planlog {

namespace {

struct Feature {
    std::string_view word, name;
};

constexpr std::string_view temporal = "durative actions are", timed = "timed initial literals are",
                           hierarchical = "hierarchical tasks are",
                           nondeterministic = "nondeterministic effects are",
                           incomplete = "incomplete initial states are",
                           observations = "observations are",
                           numeric_conditions = "numeric conditions are",
                           numeric_effects = "numeric effects are",
                           trajectory = "trajectory constraints are", safety = "safety rules are",
                           utilities = "goal utilities are", agents = "several agents are";

constexpr Feature sections[] = {{":durative-action", temporal},
                                {":process", "processes are"},
                                {":event", "events are"},
                                {":constraints", "constraints are"},
                                {":axiom", "axioms of PDDL 1 (now ':derived') are"},
                                {":task", hierarchical},
                                {":method", hierarchical},
                                {":htn", hierarchical},
                                {":goal-utilities", utilities},
                                {":utility", utilities},
                                {":bound", "bounds on the plan cost are"},
                                {":use-cost-metric", "bounds on the plan cost are"},
                                {":goal-reward", "rewards are"},
                                {":observation", observations},
                                {":sensor", observations},
                                {":agents", agents},
                                {":private", agents},
                                {":timeless", "timeless facts are"},
                                {":safety", safety},
                                {":domain-variables", "domain variables are"},
                                {":situation", "named situations are"},
                                {":extends", "domains that extend others are"}};

constexpr Feature action_words[] = {{":vars", "':vars' (use 'exists') is"},
                                    {":duration", temporal},
                                    {":condition", temporal},
                                    {":observe", observations},
                                    {":sense", observations},
                                    {":agent", agents},
                                    {":expansion", hierarchical},
                                    {":only-in-expansions", hierarchical},
                                    {":maintain", "maintenance conditions are"}};

constexpr Feature formula_words[] = {{"over", temporal},
                                     {"preference", "preferences are"},
                                     {"<", numeric_conditions},
                                     {">", numeric_conditions},
                                     {"<=", numeric_conditions},
                                     {">=", numeric_conditions},
                                     {"assign", numeric_effects},
                                     {"decrease", numeric_effects},
                                     {"scale-up", numeric_effects},
                                     {"scale-down", numeric_effects},
                                     {"change", numeric_effects},
                                     {"oneof", nondeterministic},
                                     {"probabilistic", nondeterministic},
                                     {"unknown", incomplete},
                                     {"always", trajectory},
                                     {"sometime", trajectory},
                                     {"within", trajectory},
                                     {"at-most-once", trajectory},
                                     {"sometime-after", trajectory},
                                     {"sometime-before", trajectory},
                                     {"always-within", trajectory},
                                     {"hold-during", trajectory},
                                     {"hold-after", trajectory}};

constexpr std::string_view refused_requirements[] = {":object-fluents",
                                                     ":durative-actions",
                                                     ":duration-inequalities",
                                                     ":continuous-effects",
                                                     ":timed-initial-literals",
                                                     ":timed-initial-fluents",
                                                     ":timed-effects",
                                                     ":time",
                                                     ":preferences",
                                                     ":constraints",
                                                     ":processes",
                                                     ":events",
                                                     ":probabilistic-effects",
                                                     ":non-deterministic",
                                                     ":nondeterministic",
                                                     ":rewards",
                                                     ":mdp",
                                                     ":multi-agent",
                                                     ":unfactored-privacy",
                                                     ":factored-privacy",
                                                     ":hierarchy",
                                                     ":hierachie",
                                                     ":htn",
                                                     ":method-preconditions",
                                                     ":domain-axioms",
                                                     ":open-world",
                                                     ":ucpop",
                                                     ":goal-utilities",
                                                     ":partial-observability",
                                                     ":contingent",
                                                     ":action-expansions",
                                                     ":foreach-expansions",
                                                     ":dag-expansions",
                                                     ":subgoal-through-axioms",
                                                     ":safety-constraints",
                                                     ":expression-evaluation",
                                                     ":true-negation"};

bool has_nested_list(Expr list) {
    for (Expr item = list.first(); item != list.end(); item = item.next())
        if (item.is_list()) return true;
    return false;
}

class Search {
  public:
    explicit Search(Context& context)
        : context_(context), predicates_(context.predicates), functions_(context.functions) {
        functions_.emplace("total-cost", 0);
    }

    void search(Expr root);
    bool found() const { return found_; }

  private:
    void declare(Expr section, Names& names) const;
    void search_section(Expr section);
    void search_action(Expr section);
    void search_formula(Expr list, size_t variables);
    void search_initial(Expr fact);
    void search_increase(const std::vector<Expr>& members);
    size_t count_variables(Expr list, size_t outer);
    void report(Expr at, std::string_view feature, std::string hint = "");
    template <size_t size>
    bool report_word(Expr at, std::string_view word, const Feature (&features)[size]);

    Context& context_;
    Names predicates_, functions_;
    std::string_view plain_;  // the last predicate of an initial atom, other than `at`
    bool found_ = false;
};

void Search::report(Expr at, std::string_view feature, std::string hint) {
    found_ = true;
    context_.unsupported(at, std::string(feature), std::move(hint));
}

template <size_t size>
bool Search::report_word(Expr at, std::string_view word, const Feature (&features)[size]) {
    const auto is_word = [&](const Feature& feature) { return feature.word == word; };
    const auto feature = std::find_if(std::begin(features), std::end(features), is_word);
    if (feature == std::end(features)) return false;
    report(at, feature->name);
    return true;
}

void Search::declare(Expr section, Names& names) const {
    for (Expr item = section.first().next(); item != section.end(); item = item.next())
        if (!item.head().empty()) names.emplace(item.head(), 0);
}

void Search::search(Expr root) {
    if (root.head() != "define") return;
    const std::vector<Expr> members = root.members();
    for (const Expr section : members) {
        if (section.head() == ":predicates") declare(section, predicates_);
        if (section.head() == ":functions") declare(section, functions_);
    }
    for (const Expr section : members) search_section(section);
}

// The number of variables after those of the list, of which there may be too many.
size_t Search::count_variables(Expr list, size_t outer) {
    size_t count = outer;
    for (const Expr item : list.members()) {
        if (!item.text().starts_with('?') || ++count != max_variables + 1) continue;
        report(item, "more than " + std::to_string(max_variables) + " variables are");
    }
    return count;
}

void Search::search_section(Expr section) {
    const std::string_view head = section.head();
    if (report_word(section, head, sections)) return;
    if (head == ":action") return search_action(section);
    const std::vector<Expr> items = head == ":init" ? std::vector<Expr>{} : section.arguments();
    if (head == ":requirements") {
        for (const Expr item : items)
            if (std::ranges::count(refused_requirements, item.text()) > 0)
                report(item, "requirement " + describe(item) + " is");
    } else if (head == ":types") {
        for (const Expr item : items)
            if (item.head() == "either") report(item, "'either' as a super-type is");
    } else if (head == ":constants" || head == ":objects") {
        for (const Expr item : items)
            if (item.head() == "either")
                report(item, "objects of several types ('either') are",
                       "declare a common super-type in (:types ...)");
    } else if (head == ":predicates" || head == ":functions") {
        for (size_t i = 0; i < items.size(); ++i) {
            count_variables(items[i], 0);
            if (head == ":functions" && items[i].is("-") && i + 1 < items.size() &&
                !items[i + 1].is("number"))
                report(items[i + 1], "functions that are not numbers (object fluents) are");
        }
    } else if (head == ":derived") {
        const size_t variables = items.empty() ? 0 : count_variables(items[0], 0);
        for (size_t i = 1; i < items.size(); ++i) search_formula(items[i], variables);
    } else if (head == ":goal") {
        for (const Expr item : items) search_formula(item, 0);
    } else if (head == ":metric") {
        if ((!items.empty() && items[0].is("maximize")) ||
            (items.size() == 2 && items[1].is_list() && items[1].head() != "total-cost"))
            report(section, "metrics other than 'minimize (total-cost)' are");
    } else if (head == ":init") {
        for (Expr fact = section.first().next(); fact != section.end() && !context_.report.full();
             fact = fact.next())
            search_initial(fact);
    }
}

void Search::search_action(Expr section) {
    const std::vector<Expr> members = section.members();
    size_t variables = 0;
    for (size_t i = 2; i + 1 < members.size(); ++i)
        if (members[i].is(":parameters")) variables = count_variables(members[i + 1], 0);
    for (size_t i = 2; i < members.size(); ++i) {
        if (members[i].is_list())
            search_formula(members[i], variables);
        else
            report_word(members[i], members[i].text(), action_words);
    }
}

void Search::search_initial(Expr fact) {
    const std::string_view head = fact.head();
    // Most facts have the predicate of the fact before them.
    if (head == plain_ && !head.empty() && !has_nested_list(fact)) return;
    if (head != "at" && predicates_.contains(head)) plain_ = head;
    if (head == "=") {
        const std::vector<Expr> members = fact.members();
        if (members.size() != 3 || members[1].head() != "total-cost") return;
        const auto value = parse_number(members[2].text());
        if (value && !value->is_zero())
            report(members[2], "'(total-cost)' other than 0 at the start is");
        return;
    }
    if ((head == "or" || head == "oneof") && !predicates_.contains(head))
        report(fact, incomplete);
    else
        search_formula(fact, 0);
}

void Search::search_formula(Expr list, size_t variables) {
    if (!list.is_list() || context_.report.full()) return;
    const std::string_view head = list.head();
    const bool is_predicate = predicates_.contains(head);
    if (head == "at") {
        const std::vector<Expr> members = list.members();
        if (members.size() == 3 && members[2].is_list())
            return report(list, members[1].is("start") || members[1].is("end") ? temporal : timed);
    }
    if (!is_predicate && !functions_.contains(head) && report_word(list, head, formula_words))
        return;
    if (head == "increase") return search_increase(list.members());
    if (head == "forall" || head == "exists") {
        const Expr declared = list.first().next();
        if (declared != list.end()) variables = count_variables(declared, variables);
    }
    for (Expr item = list.first(); item != list.end(); item = item.next()) {
        if (!item.is_list()) continue;
        if (head == "=")
            return report(list, "numbers and functions in '=' (numeric conditions) are");
        if (is_predicate && functions_.contains(item.head()))
            report(item, "functions as arguments are");
        else
            search_formula(item, variables);
    }
}

void Search::search_increase(const std::vector<Expr>& members) {
    static constexpr std::string_view operators[] = {"+", "-", "*", "/", "total-cost"};
    if (members.size() < 2) return;
    if (members[1].head() != "total-cost")
        return report(members[1], "numeric effects other than on '(total-cost)' are");
    if (members.size() < 3) return;
    const std::string_view amount = members[2].head();
    const bool declared = amount != "total-cost" && functions_.contains(amount);
    if (std::ranges::count(operators, amount) > 0 && !declared)
        report(members[2], "costs other than a number or a function are");
}

}  // namespace

bool report_unsupported(Expr root, Context& context) {
    Search search(context);
    search.search(root);
    return search.found();
}

}  // namespace planlog
