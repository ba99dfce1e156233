#include "planning/batch.hpp"

namespace planlog {

Batch::Batch(const Materialization& materialization)
    : relations(materialization.program().relations().size()),
      rules(materialization.program().rules().size()),
      numbers_(relations.size()) {
    for (size_t i = 0; i < relations.size(); ++i) {
        relations[i].arity = materialization.program().relations()[i].arity;
        relations[i].numbers = materialization.program().relations()[i].numbers;
        relations[i].is_static = materialization.is_static(RelationId(i));
    }
    for (size_t r = 0; r < rules.size(); ++r) {
        const Rule& rule = materialization.program().rules()[r];
        rules[r].is_static = relations[index(rule.head)].is_static;
        for (const BodyLiteral& literal : rule.body) rules[r].width += !literal.negated;
    }
}

void Batch::append(const Materialization& materialization) {
    for (size_t i = 0; i < relations.size(); ++i) {
        AtomArray& array = relations[i];
        if (array.is_static && static_done_) continue;
        const Relation& relation = materialization.relation(RelationId(i));
        numbers_[i].assign(relation.row_count(), no_row);
        uint32_t next = array.offsets.back();
        for (Row row : relation.true_rows()) {
            numbers_[i][row] = next++;
            array.values.insert(array.values.end(), relation.values(row),
                                relation.values(row) + relation.arity());
        }
        array.offsets.push_back(next);
    }
    for (uint32_t r = 0; r < rules.size(); ++r) {
        DerivationArray& array = rules[r];
        if (array.is_static && static_done_) continue;
        const Rule& rule = materialization.program().rules()[r];
        materialization.derivations().derivations_by(r, [&](Row head, const Row* body) {
            const uint32_t number = numbers_[index(rule.head)][head];
            if (number == no_row) return;  // another number is the least
            array.heads.push_back(number);
            for (size_t l = 0; l < rule.body.size(); ++l)
                if (!rule.body[l].negated)
                    array.bodies.push_back(numbers_[index(rule.body[l].relation)][body[l]]);
        });
        array.offsets.push_back(static_cast<uint32_t>(array.heads.size()));
    }
    static_done_ = true;
}

}  // namespace planlog
