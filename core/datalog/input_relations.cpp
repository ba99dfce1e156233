#include "datalog/input_relations.hpp"

namespace planlog {

InputRelations::InputRelations(const Task& task, const Program& program) {
    const auto& predicates = task.domain->predicates;
    for (uint32_t i = 0; i < predicates.size(); ++i) {
        const PredicateId id{i};
        goals_.emplace_back(static_cast<uint32_t>(predicates[i].parameters.size()),
                            static_cast<uint32_t>(task.objects.size()));
        statuses_.emplace_back();
        if (predicates[i].kind == PredicateKind::Basic)
            statuses_.back() = {program.find_status(id, Source::AchievedGoal),
                                program.find_status(id, Source::UnachievedGoal),
                                program.find_status(id, Source::AchievedNonGoal)};
    }
    for (uint32_t i = 0; i < predicates.size() + task.goal_predicates.size(); ++i)
        state_relations_.push_back(
            program.find_status(PredicateId(i), Source::State).value_or(RelationId(UINT32_MAX)));
    for (const Literal& literal : task.goal) {
        if (literal.kind != LiteralKind::Atom || literal.negated ||
            index(literal.predicate) >= goals_.size())
            continue;
        Relation& goals = goals_[index(literal.predicate)];
        const Row row = goals.intern(object_row(literal.terms).data());
        if (!goals.is_true(row)) goals.set(row, true);
    }
}

}  // namespace planlog
