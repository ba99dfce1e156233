#include "model.hpp"

#include <algorithm>
#include <stdexcept>

namespace planlog {

namespace {

constexpr uint32_t links_per_list = 2;  // next, previous

void add_unique(std::vector<uint32_t>& list, uint32_t value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

// --- Construction ------------------------------------------------------------

Model::Model(const Task& task, AtomTable& atoms, Program program)
    : task_(&task), atoms_(&atoms), program_(std::move(program)) {
    const auto object_count = static_cast<uint32_t>(task.objects.size());
    for (const std::string& name : program_.constants()) {
        const auto object = task.object_ids.find(name);
        if (object == task.object_ids.end())
            throw std::invalid_argument("the task has no object '" + name + "'");
        constants_.push_back(object->second);
    }
    const auto& predicates = task.domain->predicates;
    for (uint32_t i = 0; i < predicates.size(); ++i) {
        const PredicateId id{i};
        goals_.emplace_back(static_cast<uint32_t>(predicates[i].parameters.size()), object_count);
        auto& statuses = status_relations_.emplace_back();
        if (predicates[i].kind != PredicateKind::Basic) continue;
        statuses = {program_.find_status(id, Source::AchievedGoal),
                    program_.find_status(id, Source::UnachievedGoal),
                    program_.find_status(id, Source::AchievedNonGoal)};
    }
    for (uint32_t i = 0; i < predicates.size() + task.goal_predicates.size(); ++i)
        state_relations_.push_back(
            program_.find_status(PredicateId(i), Source::State).value_or(RelationId(UINT32_MAX)));
    for (const RelationInfo& info : program_.relations())
        relations_.emplace_back(info.arity, object_count);
    compile();
    load_static();
}

// Which relations can change, who reads them, and where derivations are linked.
void Model::compile() {
    components_ = components(program_);
    work_.resize(components_.size());
    has_work_.resize(components_.size() / 64 + 1);
    ledgers_.resize(relations_.size());
    rules_.resize(program_.rules().size());
    pools_.resize(rules_.size());

    for (uint32_t c = 0; c < components_.size(); ++c) {
        const Component& component = components_[c];
        for (RelationId id : component.relations) {
            const RelationInfo& info = program_.relations()[index(id)];
            ledgers_[index(id)].component = c;
            const bool names_predicate =
                info.source != Source::Type && info.source != Source::Derived;
            ledgers_[index(id)].is_static = info.source == Source::Goal || !names_predicate ||
                                            info.id >= task_->domain->predicates.size() ||
                                            !task_->domain->predicates[info.id].fluent;
        }
        // Derived relations are static unless a rule reads something that is not.
        bool is_static = true;
        for (uint32_t r : component.rules)
            for (const BodyLiteral& literal : program_.rules()[r].body)
                is_static = is_static && ledgers_[index(literal.relation)].is_static;
        if (!component.rules.empty())
            for (RelationId id : component.relations) ledgers_[index(id)].is_static = is_static;
        for (uint32_t r : component.rules) rules_[r].is_static = is_static;
    }
    for (uint32_t r = 0; r < rules_.size(); ++r) {
        RuleData& data = rules_[r];
        const Rule& rule = program_.rules()[r];
        data.query = bind(rule, 0);
        data.head = rule.head;
        data.head_terms = rule.head_terms;
        for (Term& term : data.head_terms)
            if (!term.is_variable) term.value = constants_[term.value];
        Ledger& head = ledgers_[index(rule.head)];
        data.component = head.component;
        data.deriving_position = static_cast<uint32_t>(head.deriving.size());
        head.deriving.push_back(r);

        const bool may_have_gates =
            !components_[data.component].recursive &&
            std::any_of(rule.body.begin(), rule.body.end(),
                        [](const BodyLiteral& literal) { return !literal.terms.empty(); });
        uint32_t stride = 1 + static_cast<uint32_t>(rule.body.size()) + links_per_list;
        for (uint32_t l = 0; l < rule.body.size(); ++l) {
            const BodyLiteral& literal = rule.body[l];
            Ledger& ledger = ledgers_[index(literal.relation)];
            const bool own = ledger.component == data.component;
            if (own) data.own.push_back(l);
            const bool is_gate = may_have_gates && literal.terms.empty() && !ledger.is_static;
            if (is_gate) {
                data.gates.push_back(l);
                add_unique(ledger.gated_rules, r);
            }
            const bool linked = (own || !ledger.is_static) && !is_gate;
            data.link_at.push_back(linked ? stride : 0);
            data.occurrence_position.push_back(static_cast<uint32_t>(ledger.occurrences.size()));
            if (!linked) continue;
            stride += links_per_list;
            ledger.occurrences.push_back({r, l});
            if (!own)
                add_unique(literal.negated ? ledger.negated_readers : ledger.positive_readers,
                           data.component);
        }
        data.triggered.resize(rule.body.size());
        pools_[r].stride = stride;
    }
}

Query Model::bind(const Rule& rule, uint32_t bound_count) const {
    Query query{rule.body, rule.comparisons, rule.variable_count, bound_count};
    const auto bind_term = [&](Term& term) {
        if (!term.is_variable) term.value = constants_[term.value];
    };
    for (BodyLiteral& literal : query.body)
        std::for_each(literal.terms.begin(), literal.terms.end(), bind_term);
    for (Comparison& comparison : query.comparisons) {
        bind_term(comparison.left);
        bind_term(comparison.right);
    }
    return query;
}

// Types, goals and the atoms that no action changes.
void Model::load_static() {
    for (const Literal& literal : task_->goal) {
        if (literal.kind != LiteralKind::Atom || literal.negated ||
            index(literal.predicate) >= goals_.size())
            continue;
        std::vector<ObjectId> values;
        for (Term term : literal.terms) values.push_back(term.value);
        Relation& goals = goals_[index(literal.predicate)];
        const Row row = goals.intern(values.data());
        if (!goals.is_true(row)) goals.set(row, true);
    }
    for (uint32_t i = 0; i < relations_.size(); ++i) {
        const RelationInfo& info = program_.relations()[i];
        if (info.source == Source::Goal && info.id < goals_.size()) {
            const Relation& goals = goals_[info.id];
            for (Row row : goals.true_rows()) set_input(RelationId(i), goals.values(row), true);
        } else if (info.source == Source::Type) {
            const auto& types = program_.type_sets()[info.id];
            for (ObjectId object = 0; object < task_->objects.size(); ++object)
                if (std::any_of(types.begin(), types.end(), [&](TypeId type) {
                        return task_->domain->is_subtype(task_->objects[object].type, type);
                    }))
                    set_input(RelationId(i), &object, true);
        }
    }
    for (uint32_t p = 0; p < goals_.size(); ++p) {
        const auto& unachieved = status_relations_[p].unachieved;
        if (!unachieved || !ledgers_[index(*unachieved)].is_static) continue;
        for (Row row : goals_[p].true_rows()) set_input(*unachieved, goals_[p].values(row), true);
    }
    for (size_t i = 0; i < task_->initial.size(); ++i) {
        const PredicateId predicate = task_->initial.predicates[i];
        if (!task_->domain->predicates[index(predicate)].fluent)
            set_atom(predicate, task_->initial.row(i), true);
    }
}

// --- Plans -------------------------------------------------------------------

// The plans that an evaluation from scratch needs, when all earlier components are done.
void Model::plan_component(uint32_t c) {
    Planner planner(relations_);
    for (uint32_t r : components_[c].rules) {
        RuleData& rule = rules_[r];
        if (rule.own.empty())
            rule.full = planner.plan(rule.query, std::nullopt);
        else
            for (uint32_t l : rule.own) rule.triggered[l] = planner.plan(rule.query, l);
    }
}

void Model::plan_triggers() {
    Planner planner(relations_);
    for (RuleData& rule : rules_)
        for (uint32_t l = 0; l < rule.query.body.size(); ++l)
            if (rule.link_at[l] != 0) rule.triggered[l] = planner.plan(rule.query, l);
    triggers_planned_ = true;
    ++plan_version_;
    remember_sizes();
}

void Model::remember_sizes() {
    planned_sizes_.clear();
    for (const Relation& relation : relations_) planned_sizes_.push_back(relation.size());
}

bool Model::plans_are_stale() const {
    for (size_t i = 0; i < relations_.size(); ++i) {
        const size_t now = relations_[i].size(), then = planned_sizes_[i];
        if (now > 4 * then + 64 || then > 4 * now + 64) return true;
    }
    return false;
}

Plan Model::plan(const Query& query) { return Planner(relations_).plan(query, std::nullopt); }

size_t Model::run(const Query& query, const Plan& plan, const ObjectId* bound,
                  std::vector<uint32_t>& matches) {
    return joiner_.run(relations_, query, plan, bound, matches);
}

// --- Input atoms -------------------------------------------------------------

Row Model::intern(RelationId relation, const ObjectId* values) {
    const Row row = relations_[index(relation)].intern(values);
    Ledger& ledger = ledgers_[index(relation)];
    if (row == ledger.entries.size()) {
        ledger.entries.emplace_back();
        ledger.uses.resize(ledger.uses.size() + ledger.occurrences.size(), no_slot);
        ledger.derivations.resize(ledger.derivations.size() + ledger.deriving.size(), no_slot);
    }
    return row;
}

void Model::set_row(RelationId relation, Row row, bool value) {
    if (relations_[index(relation)].is_true(row) == value) return;
    relations_[index(relation)].set(row, value);
    if (!evaluating_) announce({relation, row});
}

void Model::set_atom(PredicateId predicate, const ObjectId* values, bool value) {
    set_input(state_relation(predicate), values, value);
    set_statuses(predicate, values, value);
}

// The relations for p@ag, p@ug and p@aa follow the atom.
void Model::set_statuses(PredicateId predicate, const ObjectId* values, bool value) {
    const StatusRelations& statuses = status_relations_[index(predicate)];
    if (!statuses.achieved && !statuses.unachieved && !statuses.achieved_nongoal) return;
    if (is_goal_atom(predicate, values)) {
        if (statuses.achieved) set_input(*statuses.achieved, values, value);
        if (statuses.unachieved) set_input(*statuses.unachieved, values, !value);
    } else if (statuses.achieved_nongoal) {
        set_input(*statuses.achieved_nongoal, values, value);
    }
}

bool Model::is_goal_atom(PredicateId predicate, const ObjectId* values) const {
    return goals_[index(predicate)].holds(values);
}

bool Model::holds(const Literal& literal) const {
    if (literal.kind == LiteralKind::Equality)
        return (literal.terms[0] == literal.terms[1]) != literal.negated;
    std::vector<ObjectId> values;
    for (Term term : literal.terms) values.push_back(term.value);
    return state(literal.predicate).holds(values.data()) != literal.negated;
}

// --- From scratch ------------------------------------------------------------

void Model::clear_dynamic() {
    for (size_t i = 0; i < relations_.size(); ++i) {
        Ledger& ledger = ledgers_[i];
        if (ledger.is_static) continue;
        relations_[i].clear();
        ledger.entries.clear();
        ledger.uses.clear();
        ledger.derivations.clear();
    }
    for (size_t r = 0; r < rules_.size(); ++r) {
        if (rules_[r].is_static) continue;
        pools_[r].data.clear();
        pools_[r].free = no_slot;
        pools_[r].live = 0;
        rules_[r].is_open = rules_[r].is_evaluated = false;
        rules_[r].noted.clear();
    }
    for (Work& work : work_) work = {};
    std::fill(has_work_.begin(), has_work_.end(), 0);
}

void Model::evaluate(std::span<const AtomId> state) {
    evaluating_ = true;
    ++evaluations_;
    rederived_.clear();
    clear_dynamic();
    for (uint32_t p = 0; p < goals_.size(); ++p) {
        const auto& unachieved = status_relations_[p].unachieved;
        if (!unachieved || ledgers_[index(*unachieved)].is_static) continue;
        for (Row row : goals_[p].true_rows()) set_input(*unachieved, goals_[p].values(row), true);
    }
    {
        const auto lock = atoms_->lock();
        for (AtomId atom : state) set_atom(atoms_->predicate(atom), atoms_->values(atom), true);
    }
    for (uint32_t c = 0; c < components_.size(); ++c) {
        const auto& rules = components_[c].rules;
        if (rules.empty() || (static_done_ && rules_[rules.front()].is_static)) continue;
        if (!evaluation_planned_) plan_component(c);
        evaluate_component(c);
    }
    if (!evaluation_planned_) remember_sizes();
    evaluation_planned_ = !plans_are_stale();  // else they are chosen anew for the next state
    static_done_ = true;
    evaluating_ = false;
    updates_ = 0;
    next_review_ = 8;
}

void Model::evaluate_component(uint32_t c) {
    queue_.clear();
    for (uint32_t r : components_[c].rules) {
        RuleData& rule = rules_[r];
        rule.is_open = gates_hold(rule);
        // A rule with literals of its own component is started by its own atoms.
        if (rule.is_open && rule.own.empty()) evaluate_rule(r);
    }
    process_queue(c);
}

void Model::evaluate_rule(uint32_t r) {
    RuleData& rule = rules_[r];
    rule.is_evaluated = true;
    matches_.clear();
    const size_t count = joiner_.run(relations_, rule.query, rule.full, nullptr, matches_);
    const size_t width = rule.query.body.size() + rule.query.variable_count;
    for (size_t i = 0; i < count; ++i) insert(r, matches_.data() + i * width);
}

// --- Reading -----------------------------------------------------------------

void Model::derivations(uint32_t rule, std::vector<Row>& heads, std::vector<Row>& bodies) const {
    const Pool& pool = pools_[rule];
    const size_t body_size = rules_[rule].query.body.size();
    if (!rules_[rule].is_open) return;
    for (size_t at = 0; at < pool.data.size(); at += pool.stride) {
        if (pool.data[at] == no_row) continue;
        heads.push_back(pool.data[at]);
        bodies.insert(bodies.end(), pool.data.begin() + at + 1,
                      pool.data.begin() + at + 1 + body_size);
    }
}

}  // namespace planlog
