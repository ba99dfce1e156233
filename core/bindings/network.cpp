// Circuits, fed with states of tasks.
#include "bindings/bindings.hpp"
#include "bindings/space.hpp"
#include "network/circuit.hpp"

namespace planlog {
namespace {

struct SharedCircuit {
    std::shared_ptr<SharedProgram> program;
    Circuit circuit;
    const void* fed_by = nullptr;  // whose state was added last

    SharedCircuit(std::shared_ptr<SharedProgram> of, std::vector<uint32_t> rules, int sharing)
        : program(std::move(of)),
          circuit(program->program, std::move(rules), Circuit::Sharing(sharing)) {}
};

// Adds states of one task to a circuit.
class CircuitFeed : public Guarded {
  public:
    CircuitFeed(std::shared_ptr<SharedCircuit> circuit, std::shared_ptr<SharedTask> task)
        : circuit_(std::move(circuit)), task_(std::move(task)) {
        check_same_domain(*task_, *circuit_->program);
        visitor_.emplace(task_->task, task_->atoms, circuit_->program->program);
        visitor_->walk().materialization().poll() = [this] { watch_(); };
    }
    void set_features(const std::vector<std::tuple<uint32_t, IdArray, IdArray>>& features) {
        const auto& relations = circuit_->program->program.relations();
        std::vector<std::optional<Circuit::Features>> per_relation(relations.size());
        const auto objects = static_cast<uint32_t>(task_->task.objects.size());
        for (const auto& [relation, values, numbers] : features) {
            const uint32_t arity = relations.at(relation).arity;
            if (values.size() != numbers.size() * arity)
                throw nb::value_error("a row of objects is needed for each number");
            Circuit::Features& table =
                per_relation[relation].emplace(Circuit::Features{Relation(arity, objects), {}});
            for (size_t i = 0; i < numbers.size(); ++i) {
                for (size_t k = 0; k < arity; ++k)
                    if (values(i * arity + k) >= objects) throw nb::value_error("no such object");
                if (table.atoms.intern(values.data() + i * arity) != table.numbers.size())
                    throw nb::value_error("an atom has two feature vectors");
                table.numbers.push_back(numbers(i));
            }
        }
        circuit_->circuit.set_features(std::move(per_relation));
        circuit_->fed_by = nullptr;
    }
    void add_state(IdArray state) {
        check_atoms(*task_, state);
        guarded([&] {
            visitor_->visit({state.data(), state.size()});
            add();
        });
    }
    // The atoms of a relation in the last state, and their nodes.
    nb::tuple nodes(uint32_t relation) {
        check_condition();
        const Relation& of = visitor_->walk().materialization().relation(RelationId(relation));
        std::vector<uint32_t> values, nodes;
        for (Row row : of.true_rows()) {
            values.insert(values.end(), of.values(row), of.values(row) + of.arity());
            nodes.push_back(circuit_->circuit.node(RelationId(relation), row));
        }
        const size_t rows = nodes.size();
        return nb::make_tuple(as_rows(std::move(values), rows, of.arity()),
                              as_array(std::move(nodes)));
    }
    // The relations and nodes of the actions that the policy derives in the last state, ordered
    // by schema and arguments.
    nb::tuple actions() {
        check_condition();
        std::vector<ActionRow> derived;
        visitor_->walk().append_actions(derived);
        std::vector<uint32_t> relations, nodes;
        for (const ActionRow action : derived) {
            const RelationId relation = *circuit_->program->program.find_action(action.action);
            relations.push_back(index(relation));
            nodes.push_back(circuit_->circuit.node(relation, action.row));
        }
        return nb::make_tuple(as_array(std::move(relations)), as_array(std::move(nodes)));
    }
    // For each of these states of a space, the transitions that the policy derives and the
    // nodes of their actions.
    nb::tuple add_states(const SharedSpace& shared, IdArray states) {
        const StateSpace& space = shared.finished();
        if (shared.task() != task_) throw nb::value_error("the states are of another task");
        for (size_t i = 0; i < states.size(); ++i)
            if (states(i) >= space.expanded()) throw nb::value_error("a state is not expanded");
        std::vector<uint32_t> offsets{0}, transitions, nodes;
        guarded([&] {
            for (size_t i = 0; i < states.size(); ++i) {
                watch_();
                visitor_->visit(space.states(), states(i));
                add();
                for (uint32_t t = space.offsets[states(i)]; t < space.offsets[states(i) + 1]; ++t) {
                    const uint32_t action = space.actions[t];
                    const ActionId schema = space.ground_actions.symbols[action];
                    const auto relation = circuit_->program->program.find_action(schema);
                    if (!relation) continue;
                    const Relation& derived =
                        visitor_->walk().materialization().relation(*relation);
                    const Row row = derived.find(space.ground_actions.row(action));
                    if (row == no_row || !derived.is_true(row)) continue;
                    transitions.push_back(t);
                    nodes.push_back(circuit_->circuit.node(*relation, row));
                }
                offsets.push_back(static_cast<uint32_t>(nodes.size()));
            }
        });
        return nb::make_tuple(as_array(std::move(offsets)), as_array(std::move(transitions)),
                              as_array(std::move(nodes)));
    }

  private:
    void add() {
        circuit_->circuit.add(visitor_->walk().materialization(), circuit_->fed_by != this);
        circuit_->fed_by = this;
    }

    std::shared_ptr<SharedCircuit> circuit_;
    std::shared_ptr<SharedTask> task_;
    std::optional<Visitor> visitor_;
};

nb::tuple finished_arrays(SharedCircuit& shared, const std::vector<uint32_t>& outputs) {
    std::vector<RelationId> relations;
    for (uint32_t relation : outputs) {
        if (relation >= shared.program->program.relations().size())
            throw nb::value_error("no such relation");
        relations.push_back(RelationId(relation));
    }
    nb::list steps, renumbered;
    for (Circuit::Step& step : shared.circuit.finish(relations)) {
        nb::list parts;
        for (Circuit::Part& part : step.parts) {
            const size_t rows = part.width > 0 ? part.children.size() / part.width : 1;
            parts.append(
                nb::make_tuple(part.rule, as_rows(std::move(part.children), rows, part.width),
                               as_array(std::move(part.nodes)), as_array(std::move(part.offsets)),
                               as_array(std::move(part.messages))));
        }
        steps.append(nb::make_tuple(index(step.relation), step.first, step.last, parts));
    }
    for (auto& numbers : shared.circuit.renumbered) renumbered.append(as_array(std::move(numbers)));
    const Circuit::Counts c = shared.circuit.counts();
    return nb::make_tuple(
        steps, renumbered,
        nb::make_tuple(c.states, c.atoms, c.nodes, c.ground_messages, c.messages));
}

}  // namespace

void bind_circuits(nb::module_& m) {
    nb::class_<SharedCircuit>(m, "Circuit")
        .def(nb::init<std::shared_ptr<SharedProgram>, std::vector<uint32_t>, int>(), "program"_a,
             "rules"_a, "sharing"_a)
        .def("finish", &finished_arrays, "outputs"_a);
    nb::class_<CircuitFeed>(m, "CircuitFeed")
        .def(nb::init<std::shared_ptr<SharedCircuit>, std::shared_ptr<SharedTask>>(), "circuit"_a,
             "task"_a)
        .def("set_features", &CircuitFeed::set_features, "features"_a)
        .def("add_state", &CircuitFeed::add_state, "state"_a)
        .def("nodes", &CircuitFeed::nodes, "relation"_a)
        .def("actions", &CircuitFeed::actions)
        .def("add_states", &CircuitFeed::add_states, "space"_a, "states"_a);
}

}  // namespace planlog
