#include "datalog/compiled_program.hpp"

#include <algorithm>
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
      rules(program.rules().size()) {
    for (const std::string& name : program.constants()) {
        const auto object = task.object_ids.find(name);
        if (object == task.object_ids.end())
            throw std::invalid_argument("the task has no object '" + name + "'");
        constants_.push_back(object->second);
    }
    find_static_relations(task, program);
    for (uint32_t r = 0; r < rules.size(); ++r) compile_rule(r, program.rules()[r]);
}

void CompiledProgram::find_static_relations(const Task& task, const Program& program) {
    const auto& predicates = task.domain->predicates;
    for (uint32_t c = 0; c < components.size(); ++c) {
        const Component& component = components[c];
        for (RelationId id : component.relations) {
            const RelationInfo& info = program.relations()[index(id)];
            const bool names_predicate =
                info.source != Source::Type && info.source != Source::Derived;
            relations[index(id)].component = c;
            relations[index(id)].is_static = info.source == Source::Goal || !names_predicate ||
                                             info.id >= predicates.size() ||
                                             !predicates[info.id].fluent;
        }
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

void CompiledProgram::compile_rule(uint32_t number, const Rule& rule) {
    CompiledRule& compiled = rules[number];
    RelationDependencies& head = relations[index(rule.head)];
    compiled.query = bind(rule, 0);
    compiled.head = rule.head;
    compiled.head_terms = rule.head_terms;
    for (Term& term : compiled.head_terms) bind(term);
    compiled.component = head.component;
    compiled.deriving_position = static_cast<uint32_t>(head.deriving.size());
    head.deriving.push_back(number);

    // In a recursive component, ranks must follow each change at once, so no literal is a gate.
    const bool may_have_gates =
        !components[compiled.component].recursive &&
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

Query CompiledProgram::bind(const Rule& rule, uint32_t bound_count) const {
    Query query{rule.body, rule.comparisons, rule.variable_count, bound_count};
    for (BodyLiteral& literal : query.body)
        for (Term& term : literal.terms) bind(term);
    for (Comparison& comparison : query.comparisons) {
        bind(comparison.left);
        bind(comparison.right);
    }
    return query;
}

}  // namespace planlog
