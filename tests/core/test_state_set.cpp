// Sets of states under random insertions, against sets of sets of atoms.
#include <map>
#include <set>

#include "check.hpp"
#include "planning/state_set.hpp"

namespace planlog {
namespace {

using State = std::set<uint32_t>;

State atoms_of(const StateSet& states, uint32_t number) {
    State state;
    for (uint32_t atom = 0; atom < states.atoms().size(); ++atom)
        if (states.state(number)[atom / 64] >> (atom % 64) & 1) state.insert(atom);
    return state;
}

TEST(equal_states_have_one_number) {
    testing::Random random(7);
    StateSet states;
    std::map<State, uint32_t> numbers;
    for (int i = 0; i < 3000; ++i) {
        if (i % 15 == 0) {  // so that states get wider on the way
            const ObjectId value = states.atoms().size();
            states.add_atom(PredicateId(0), &value, 1);
        }
        State state;
        states.draft();
        if (!numbers.empty() && random.chance(80)) {
            const uint32_t from = random.below(static_cast<uint32_t>(states.size()));
            states.draft(from);
            state = atoms_of(states, from);
        }
        for (uint32_t k = 0; k < 1 + random.below(3); ++k) {
            const uint32_t atom = random.below(static_cast<uint32_t>(states.atoms().size()));
            const bool value = random.chance(50);
            states.set(atom, value);
            value ? (void)state.insert(atom) : (void)state.erase(atom);
        }
        const auto known = numbers.find(state);
        const auto next = static_cast<uint32_t>(states.size());
        const bool is_known = known != numbers.end();
        CHECK(states.add_draft(next) == (is_known ? known->second : StateSet::none));  // is full
        CHECK(states.add_draft(next + 1) == (is_known ? known->second : next));
        if (!is_known) numbers.emplace(state, next);
    }
    CHECK(states.size() == numbers.size() && states.width() == 4);
    for (const auto& [state, number] : numbers) CHECK(atoms_of(states, number) == state);
}

}  // namespace
}  // namespace planlog
