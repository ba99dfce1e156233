// Circuits, and the feeds that add states of tasks to them.
#include "bindings/space.hpp"
#include "network/circuit.hpp"

namespace planlog {
namespace {

// A circuit is used by one thread at a time, through whichever feed.
struct SharedCircuit : Guarded {
    std::shared_ptr<SharedProgram> program;
    Circuit circuit;
    uint64_t feeds = 0;      // made so far
    uint64_t last_feed = 0;  // that added a state

    SharedCircuit(std::shared_ptr<SharedProgram> of, const std::vector<uint32_t>& rules,
                  Circuit::Sharing sharing, const std::vector<uint32_t>& with_features)
        : program(std::move(of)), circuit(program->frozen(), rules, sharing, with_features) {}
};

// Adds states of one task to a circuit.
class CircuitFeed {
  public:
    // `features` are relations, the objects of their atoms, and the numbers of feature vectors.
    using FeatureArrays = std::vector<std::tuple<uint32_t, IdArray, IdArray>>;

    CircuitFeed(std::shared_ptr<SharedCircuit> circuit, std::shared_ptr<SharedTask> task,
                const FeatureArrays& features)
        : circuit_(std::move(circuit)),
          task_(std::move(task)),
          number_(++circuit_->feeds),
          features_(relations().size()) {
        check_same_domain(*task_, *circuit_->program);
        visitor_.emplace(task_->task, task_->atoms, circuit_->program->program);
        const auto objects = static_cast<uint32_t>(task_->task.objects.size());
        for (const auto& [relation, values, numbers] : features) {
            const uint32_t arity = relations().at(relation).arity;
            if (circuit_->circuit.structure().has_features(RelationId(relation)))
                throw nb::value_error("the features of the relation are its integers");
            if (values.size() != numbers.size() * arity)
                throw nb::value_error("a row of objects is needed for each number");
            Circuit::Features& table =
                features_[relation].emplace(Circuit::Features{Relation(arity, objects), {}});
            for (size_t i = 0; i < numbers.size(); ++i) {
                for (size_t k = 0; k < arity; ++k)
                    if (values(i * arity + k) >= objects) throw nb::value_error("no such object");
                if (table.atoms.intern(values.data() + i * arity) != table.numbers.size())
                    throw nb::value_error("an atom has two feature vectors");
                table.numbers.push_back(numbers(i));
            }
        }
    }
    void add_state(IdArray state) {
        const auto atoms = checked_atoms(*task_, state);
        circuit_->guarded([&] {
            visitor_->visit(atoms);
            add();
        });
    }
    // The atoms of a relation in the last state, and their nodes.
    nb::tuple nodes(uint32_t number) {
        check_last_feed();
        const auto relation = checked<RelationId>(number, relations(), "no such relation");
        const Relation& of = walk().materialization().relation(relation);
        std::vector<uint32_t> nodes;
        for (Row row : of.true_rows()) nodes.push_back(circuit_->circuit.node(relation, row));
        return nb::make_tuple(true_atoms(of), as_array(std::move(nodes)));
    }
    // The relations and nodes of the actions that the policy derives in the last state, ordered
    // by schema and arguments.
    nb::tuple actions() {
        check_last_feed();
        std::vector<ActionRow> derived;
        walk().append_actions(derived);
        std::vector<uint32_t> relations, nodes;
        for (const ActionRow action : derived) {
            relations.push_back(index(relation_of(action)));
            nodes.push_back(node_of(action));
        }
        return nb::make_tuple(as_array(std::move(relations)), as_array(std::move(nodes)));
    }
    // Adds states of a space. Returns for each the transitions whose actions the policy derives,
    // and the relations and nodes of these actions.
    nb::tuple add_states(const SharedSpace& shared, IdArray numbers) {
        const StateSpace& space = shared.finished();
        if (shared.task() != task_) throw nb::value_error("the states are of another task");
        const auto states = checked(numbers, space.expanded(), "a state is not expanded");
        std::vector<uint32_t> offsets{0}, transitions, relations, nodes;
        circuit_->guarded([&] {
            for (uint32_t state : states) {
                circuit_->watch();
                visitor_->visit(space.states(), state);
                add();
                for (uint32_t t = space.offsets[state]; t < space.offsets[state + 1]; ++t) {
                    const uint32_t action = space.actions[t];
                    const auto derived = walk().find_derived(space.ground_actions().symbols[action],
                                                             space.ground_actions().row(action));
                    if (!derived) continue;
                    transitions.push_back(t);
                    relations.push_back(index(relation_of(*derived)));
                    nodes.push_back(node_of(*derived));
                }
                offsets.push_back(static_cast<uint32_t>(nodes.size()));
            }
        });
        return nb::make_tuple(as_array(std::move(offsets)), as_array(std::move(transitions)),
                              as_array(std::move(relations)), as_array(std::move(nodes)));
    }

  private:
    Walk& walk() { return visitor_->walk(); }
    const std::vector<RelationInfo>& relations() const {
        return circuit_->program->program.relations();
    }
    RelationId relation_of(ActionRow action) const {
        return *circuit_->program->program.find_action(action.action);
    }
    uint32_t node_of(ActionRow action) const {
        return circuit_->circuit.node(relation_of(action), action.row);
    }
    void add() {
        const bool is_first = circuit_->last_feed != number_;
        circuit_->last_feed = 0;  // in case of an exception
        circuit_->circuit.add(walk().materialization(), features_, is_first);
        circuit_->last_feed = number_;
    }
    void check_last_feed() const {
        circuit_->check_available();
        if (circuit_->last_feed != number_)
            throw nb::value_error("the last state of the circuit is not one of this feed");
    }

    std::shared_ptr<SharedCircuit> circuit_;
    std::shared_ptr<SharedTask> task_;
    uint64_t number_;
    Circuit::FeaturesOfRelations features_;
    std::optional<Visitor> visitor_;
};

nb::tuple finished_arrays(SharedCircuit& shared, const std::vector<uint32_t>& outputs) {
    shared.check_available();
    std::vector<RelationId> relations;
    for (uint32_t relation : outputs)
        relations.push_back(
            checked<RelationId>(relation, shared.program->program.relations(), "no such relation"));
    nb::list layers, renumbered;
    for (Circuit::Layer& layer : shared.circuit.finish(relations)) {
        nb::list rules;
        for (Circuit::RuleMessages& rule : layer.rules) {
            const size_t width = shared.circuit.structure().rules[rule.rule].body.size();
            rules.append(
                nb::make_tuple(rule.rule, as_rows(std::move(rule.children), rule.count, width),
                               as_array(std::move(rule.nodes)), as_array(std::move(rule.offsets)),
                               as_array(std::move(rule.messages))));
        }
        layers.append(nb::make_tuple(index(layer.relation), layer.first, layer.last, rules));
    }
    for (auto& numbers : shared.circuit.renumbered) renumbered.append(as_array(std::move(numbers)));
    nb::list features;
    const NetworkStructure& structure = shared.circuit.structure();
    for (uint32_t i = 0; i < structure.feature_columns.size(); ++i) {
        const RelationId relation{i};
        if (!structure.has_features(relation)) continue;
        std::vector<float> values = shared.circuit.features(relation);
        const uint32_t dimension = structure.input_dimension(relation);
        const size_t count = values.size() / dimension;
        features.append(nb::make_tuple(i, as_rows(std::move(values), count, dimension)));
    }
    const Circuit::Counts c = shared.circuit.counts();
    return nb::make_tuple(
        layers, renumbered, features,
        nb::make_tuple(c.states, c.atoms, c.nodes, c.ground_messages, c.messages));
}

}  // namespace

void bind_circuits(nb::module_& m) {
    nb::enum_<Circuit::Sharing>(m, "Sharing", "Criterion by which atoms are the same node.")
        .value("NONE", Circuit::Sharing::None, "Every atom is a node of its own.")
        .value("SETS", Circuit::Sharing::Sets,
               "Equal sets of messages from each rule: enough for the maximum.")
        .value("MULTISETS", Circuit::Sharing::Multisets,
               "Equal multisets of messages from each rule: needed for mean and sum.");
    nb::class_<SharedCircuit>(m, "Circuit")
        .def(nb::init<std::shared_ptr<SharedProgram>, std::vector<uint32_t>, Circuit::Sharing,
                      std::vector<uint32_t>>(),
             "program"_a, "rules"_a, "sharing"_a, "with_features"_a = std::vector<uint32_t>())
        .def("finish", &finished_arrays, "outputs"_a);
    nb::class_<CircuitFeed>(m, "CircuitFeed")
        .def(nb::init<std::shared_ptr<SharedCircuit>, std::shared_ptr<SharedTask>,
                      CircuitFeed::FeatureArrays>(),
             "circuit"_a, "task"_a, "features"_a)
        .def("add_state", &CircuitFeed::add_state, "state"_a)
        .def("nodes", &CircuitFeed::nodes, "relation"_a)
        .def("actions", &CircuitFeed::actions)
        .def("add_states", &CircuitFeed::add_states, "space"_a, "states"_a);
}

}  // namespace planlog
