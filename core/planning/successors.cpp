#include "planning/successors.hpp"

#include <algorithm>
#include <bit>

namespace planlog {

namespace {

constexpr uint32_t no_number = UINT32_MAX;

// The entry for a row, made if need be.
uint32_t& number_of(std::vector<uint32_t>& numbers, Row row) {
    if (row >= numbers.size()) numbers.resize(row + 1, no_number);
    return numbers[row];
}

}  // namespace

// --- Visitor -----------------------------------------------------------------

void Visitor::start(const StateSet& states, uint32_t number) {
    const uint64_t* bits = states.state(number);
    const AtomList& atoms = states.atoms();
    std::vector<AtomId> ids;
    {
        AtomTable& table = walk_.materialization().atoms();
        const auto lock = table.lock();
        for (size_t i = 0; i < atoms.size(); ++i)
            if (bits[i / 64] >> (i % 64) & 1)
                ids.push_back(table.intern(atoms.symbols[i], atoms.row(i)));
    }
    visit(ids);
    at_.assign(bits, bits + states.width());
}

void Visitor::visit(std::span<const AtomId> state) {
    walk_.start(walk_.materialization().atoms().sorted_by_arguments(state));
    at_.clear();
    atoms_.clear();
}

void Visitor::visit(const StateSet& states, uint32_t number) {
    if (number % 64 == 0) interruption_point();
    if (at_.empty()) return start(states, number);
    const AtomList& atoms = states.atoms();
    for (size_t i = atoms_.size(); i < atoms.size(); ++i)
        atoms_.push_back(
            {atoms.symbols[i], walk_.materialization().row(atoms.symbols[i], atoms.row(i)), false});
    at_.resize(states.width());
    const uint64_t* wanted = states.state(number);
    changes_.clear();
    for (size_t word = 0; word < at_.size(); ++word) {
        for (uint64_t left = at_[word] ^ wanted[word]; left != 0; left &= left - 1) {
            const int bit = std::countr_zero(left);
            changes_.push_back(atoms_[word * 64 + static_cast<size_t>(bit)]);
            changes_.back().value = wanted[word] >> bit & 1;
        }
        at_[word] = wanted[word];
    }
    walk_.jump(changes_);
}

void Visitor::count_rules(RuleCounts& counts) const {
    const Materialization& materialization = walk_.materialization();
    counts.states.resize(materialization.program().rules().size());
    counts.derivations.resize(counts.states.size());
    for (uint32_t rule = 0; rule < counts.states.size(); ++rule) {
        const size_t count = materialization.derivations().count(rule);
        counts.states[rule] += count > 0;
        counts.derivations[rule] += count;
    }
}

// --- Successors --------------------------------------------------------------

Successors::Successors(const Task& task, AtomTable& atoms, const Program& program,
                       std::span<const AtomId> start)
    : task_(&task),
      visitor_(std::make_unique<Visitor>(task, atoms, program)),
      atom_numbers_(task.domain->predicates.size()),
      action_numbers_(task.domain->actions.size()) {
    {
        const std::vector<AtomId> ordered = atoms.sorted_by_arguments(start);
        const auto lock = atoms.lock();
        for (AtomId atom : ordered)
            states_.add_atom(atoms.predicate(atom), atoms.values(atom), atoms.arity(atom));
    }
    states_.draft();
    for (uint32_t atom = 0; atom < start.size(); ++atom) states_.set(atom, true);
    states_.add_draft(SIZE_MAX);
    for (uint32_t i = 0; i < task.domain->actions.size(); ++i) {
        is_conditional_.push_back(walk().has_conditional_effects(ActionId(i)));
        has_conditional_cost_.push_back(walk().has_conditional_costs(ActionId(i)));
    }
}

void Successors::release() {
    visitor_.reset();
    atom_numbers_.clear();
    action_numbers_.clear();
}

void Successors::visit(uint32_t state) {
    visitor_->visit(states_, state);
    if (state > 0) return;
    const AtomList& atoms = states_.atoms();  // those of the first state have rows only now
    for (uint32_t i = 0; i < atoms.size(); ++i) {
        const Row row = walk().materialization().row(atoms.symbols[i], atoms.row(i));
        number_of(atom_numbers_[index(atoms.symbols[i])], row) = i;
    }
}

uint32_t Successors::successor(uint32_t state, ActionRow action, size_t limit) {
    const uint32_t number = action_number(action);
    states_.draft(state);
    for (uint32_t i = fixed_offsets_[number]; i < fixed_offsets_[number + 1]; ++i)
        states_.set(fixed_effects_[i] / 2, fixed_effects_[i] % 2);
    if (is_conditional_[index(action.action)]) {
        find_effects(action);
        for (const StateChange& change : changes_) states_.set(atom_number(change), change.value);
    }
    return states_.add_draft(limit);
}

int64_t Successors::cost(ActionRow action) {
    return has_conditional_cost_[index(action.action)] ? find_cost(action)
                                                       : fixed_costs_[action_number(action)];
}

uint32_t Successors::atom_number(const StateChange& change) {
    uint32_t& number = number_of(atom_numbers_[index(change.predicate)], change.row);
    if (number == no_number) {
        const Relation& relation = walk().materialization().state(change.predicate);
        number = states_.add_atom(change.predicate, relation.values(change.row), relation.arity());
    }
    return number;
}

uint32_t Successors::action_number(ActionRow action) {
    uint32_t& number = number_of(action_numbers_[index(action.action)], action.row);
    if (number == no_number) {
        number = static_cast<uint32_t>(actions_.size());
        actions_.add(action.action, walk().arguments(action),
                     task_->domain->actions[index(action.action)].parameters.size());
        if (!is_conditional_[index(action.action)]) {
            find_effects(action);
            for (const StateChange& change : changes_)
                fixed_effects_.push_back(atom_number(change) * 2 + change.value);
        }
        fixed_offsets_.push_back(static_cast<uint32_t>(fixed_effects_.size()));
        if (task_->minimises_cost)
            fixed_costs_.push_back(has_conditional_cost_[index(action.action)] ? 0
                                                                               : find_cost(action));
    }
    return number;
}

void Successors::find_effects(ActionRow action) {
    changes_.clear();
    walk().append_effects(action.action, walk().arguments(action), changes_);
}

int64_t Successors::find_cost(ActionRow action) {
    return walk().cost_of(action.action, walk().arguments(action)).units();
}

}  // namespace planlog
