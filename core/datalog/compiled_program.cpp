#include "datalog/compiled_program.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

namespace planlog {

namespace {

void add_unique(std::vector<uint32_t>& list, uint32_t value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

CompiledProgram::CompiledProgram(const Task& task, const Program& program)
    : components(planlog::components(program)),
      relations(program.relations().size()),
      rules(program.rules().size()),
      aggregates(program.aggregates()),
      infos(program.relations()) {
    std::vector<ObjectId> constants;  // of the program, as objects of the task
    for (const std::string& name : program.constants()) {
        const auto object = task.object_ids.find(name);
        if (object == task.object_ids.end())
            throw std::invalid_argument("the task has no object '" + name + "'");
        constants.push_back(object->second);
    }
    find_goals(task, program);
    find_given_atoms(task, program);
    find_static_relations(task, program);
    for (uint32_t r = 0; r < rules.size(); ++r) compile_rule(r, program.rules()[r], constants);
}

void CompiledProgram::find_goals(const Task& task, const Program& program) {
    const auto& predicates = task.domain->predicates;
    for (uint32_t i = 0; i < predicates.size() + task.goal_predicates.size(); ++i)
        state_relations.push_back(program.find_status(PredicateId(i), Source::State).value());
    for (uint32_t i = 0; i < predicates.size(); ++i) {
        const PredicateId id{i};
        for (std::vector<Relation>* goals : {&goals_, &negative_goals_})
            goals->emplace_back(static_cast<uint32_t>(predicates[i].parameters.size()),
                                static_cast<uint32_t>(task.objects.size()));
        statuses_.emplace_back();
        if (predicates[i].kind == PredicateKind::Basic)
            statuses_.back() = {program.find_status(id, Source::AchievedGoal),
                                program.find_status(id, Source::UnachievedGoal),
                                program.find_status(id, Source::AchievedNonGoal),
                                program.find_status(id, Source::Unwanted)};
    }
    for (const Literal& literal : task.goal) {
        if (index(literal.predicate) >= predicates.size()) continue;
        Relation& goals = (literal.negated ? negative_goals_ : goals_)[index(literal.predicate)];
        goals.set(goals.intern(object_row(literal.terms).data()), true);
    }
}

void CompiledProgram::find_given_atoms(const Task& task, const Program& program) {
    const auto add_goals = [&](RelationId relation, const Relation& goals) {
        for (Row row : goals.true_rows()) given.add(relation, goals.values(row), goals.arity());
    };
    for (uint32_t i = 0; i < program.relations().size(); ++i) {
        const RelationInfo& info = program.relations()[i];
        if (info.source == Source::Goal) add_goals(RelationId(i), goals_[info.id]);
        if (info.source == Source::Function) add_function_values(task, RelationId(i), info);
        if (info.source == Source::NegativeGoal) add_goals(RelationId(i), negative_goals_[info.id]);
        if (info.source != Source::Type) continue;
        const std::vector<TypeId>& types = program.type_sets()[info.id];
        for (ObjectId object = 0; object < task.objects.size(); ++object)
            if (task.domain->is_subtype_of_any(task.objects[object].type, types))
                given.add(RelationId(i), &object, 1);
    }
    for (size_t p = 0; p < goals_.size(); ++p)
        if (const auto& unachieved = statuses_[p].unachieved) add_goals(*unachieved, goals_[p]);
}

void CompiledProgram::add_function_values(const Task& task, RelationId relation,
                                          const RelationInfo& info) {
    int64_t unit = 1;
    for (uint32_t i = 0; i < task.costs.decimals; ++i) unit *= 10;
    // Sorted, so that the order of rows does not depend on that of a hash table.
    const auto& values = task.costs.function_values[info.id];
    const std::map<std::string, Cost> ordered(values.begin(), values.end());
    for (const auto& [key, cost] : ordered) {
        if (cost.units() % unit != 0)
            throw NumberError("a value of the function '" + info.name +
                              "' is not a whole number, so rules cannot read it");
        std::vector<ObjectId> row(key.size() / sizeof(ObjectId));
        std::memcpy(row.data(), key.data(), key.size());
        row.push_back(numbers.intern(cost.units() / unit));
        given.add(relation, row.data(), row.size());
    }
}

void CompiledProgram::find_static_relations(const Task& task, const Program& program) {
    const auto& predicates = task.domain->predicates;
    for (uint32_t c = 0; c < components.size(); ++c) {
        const Component& component = components[c];
        for (RelationId id : component.relations) {
            const RelationInfo& info = infos[index(id)];
            const bool depends_on_state =
                info.source != Source::Goal && info.source != Source::NegativeGoal &&
                info.source != Source::Type && info.source != Source::Function &&
                info.source != Source::Derived && info.source != Source::Aggregate &&
                info.id < predicates.size();
            relations[index(id)].component = c;
            relations[index(id)].is_static = !depends_on_state || !predicates[info.id].fluent;
        }
        if (component.aggregate) find_readers(component, c);
        if (component.rules.empty()) continue;
        // A derived relation is static if its rules read static relations only.
        bool is_static = true;
        for (uint32_t r : component.rules)
            for (const BodyLiteral& literal : program.rules()[r].body)
                is_static = is_static && relations[index(literal.relation)].is_static;
        for (RelationId id : component.relations) relations[index(id)].is_static = is_static;
        for (uint32_t r : component.rules) rules[r].is_static = is_static;
    }
}

// An aggregate reads its elements and groups, true or false.
void CompiledProgram::find_readers(const Component& component, uint32_t number) {
    const Aggregate& aggregate = aggregates[*component.aggregate];
    bool is_static = true;
    for (const std::optional<RelationId> read :
         {std::optional(aggregate.elements), aggregate.groups}) {
        if (!read) continue;
        RelationDependencies& relation = relations[index(*read)];
        if (relation.is_static) continue;
        is_static = false;
        add_unique(relation.positive_readers, number);
        add_unique(relation.negated_readers, number);
    }
    relations[index(component.relations.front())].is_static = is_static;
}

void CompiledProgram::compile_rule(uint32_t number, const Rule& rule,
                                   const std::vector<ObjectId>& constants) {
    CompiledRule& compiled = rules[number];
    RelationDependencies& head = relations[index(rule.head)];
    const auto bind = [&](Term& term) {
        if (!term.is_variable) term.value = constants[term.value];
    };
    compiled.query = {rule.body, rule.comparisons, rule.constraints, rule.variable_count, 0};
    compiled.head = rule.head;
    compiled.head_terms = rule.head_terms;
    std::ranges::for_each(compiled.head_terms, bind);
    for (BodyLiteral& literal : compiled.query.body) std::ranges::for_each(literal.terms, bind);
    for (Comparison& comparison : compiled.query.comparisons) {
        bind(comparison.left);
        bind(comparison.right);
    }
    compiled.component = head.component;
    compiled.is_recursive = components[head.component].recursive;
    compiled.is_least = components[head.component].least;
    compiled.deriving_position = static_cast<uint32_t>(head.deriving.size());
    head.deriving.push_back(number);

    // In a recursive component, ranks must follow each change at once, so no literal is a gate.
    const bool may_have_gates =
        !compiled.is_recursive &&
        std::any_of(rule.body.begin(), rule.body.end(),
                    [](const BodyLiteral& literal) { return !literal.terms.empty(); });
    for (uint32_t l = 0; l < rule.body.size(); ++l) {
        const BodyLiteral& literal = rule.body[l];
        RelationDependencies& read = relations[index(literal.relation)];
        const bool is_own = read.component == compiled.component;
        const bool is_gate = may_have_gates && literal.terms.empty() && !read.is_static;
        const bool is_linked = (is_own || !read.is_static) && !is_gate;
        if (is_own) compiled.own.push_back(l);
        if (is_gate) {
            compiled.gates.push_back(l);
            add_unique(read.gated_rules, number);
        }
        compiled.occurrences.push_back(is_linked ? static_cast<uint32_t>(read.occurrences.size())
                                                 : CompiledRule::unlinked);
        if (!is_linked) continue;
        if (literal.negated) compiled.negated.push_back(l);
        read.occurrences.push_back({number, l});
        if (!is_own)
            add_unique(literal.negated ? read.negated_readers : read.positive_readers,
                       compiled.component);
    }
}

}  // namespace planlog
