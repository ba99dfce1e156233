// Walks through the states of a task, with scores if there is a network.
#include <algorithm>

#include "bindings/network.hpp"
#include "planning/batch.hpp"
#include "search/scored_walk.hpp"

namespace planlog {
namespace {

nb::tuple as_arrays(Batch&& batch) {
    nb::list relations, rules;
    for (AtomArray& array : batch.relations) {
        const size_t rows = array.offsets.back();
        relations.append(nb::make_tuple(as_rows(std::move(array.values), rows, array.arity),
                                        as_array(std::move(array.offsets)), array.is_static,
                                        array.numbers));
    }
    for (DerivationArray& array : batch.rules) {
        const size_t rows = array.heads.size();
        nb::object bodies = as_rows(std::move(array.bodies), rows, array.width);
        rules.append(nb::make_tuple(as_array(std::move(array.heads)), bodies,
                                    as_array(std::move(array.offsets)), array.is_static));
    }
    return nb::make_tuple(relations, rules);
}

class SharedWalk : public Guarded {
  public:
    // A network gives scores to actions: the values of their atoms.
    SharedWalk(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
               std::shared_ptr<SharedNetwork> network)
        : task_(std::move(task)), program_(std::move(program)), network_(std::move(network)) {
        check_same_domain(*task_, *program_);
        if (network_) network_->check_scores(*program_);
        rebuild();
    }

    void start(IdArray state) {
        const auto atoms = checked_atoms(*task_, state);
        if (is_broken()) rebuild();
        guarded([&] { walk().start(atoms); });
    }
    // Returns whether the action is applicable; if not, nothing changes.
    bool apply(uint32_t number, std::vector<uint32_t> values) {
        const auto [action, arguments] = checked_action(number, std::move(values));
        return guarded([&] {
            const bool applied = walk().is_applicable(action, arguments.data());
            if (applied) walk().apply(action, arguments.data());
            return applied;
        });
    }
    // Whether a relation without arguments holds.
    bool holds(uint32_t number) {
        const Materialization& materialization = usable().materialization();
        const auto relation = checked_flag(materialization.program(), number);
        return materialization.relation(*relation).holds(nullptr);
    }
    // The number of derivations of a rule.
    size_t derivation_count(uint32_t rule) {
        const Materialization& materialization = usable().materialization();
        if (rule >= materialization.program().rules().size()) throw nb::index_error("no such rule");
        return materialization.derivations().count(rule);
    }
    void undo() {
        if (usable().steps() == 0) throw nb::index_error("there is no step to undo");
        guarded([&] { walk().undo(); });
    }
    std::optional<GroundAction> sample(uint64_t key) {
        return guarded([&] { return ground(walk().sample(key)); });
    }
    std::vector<GroundAction> actions() {
        return guarded([&] { return walk().actions(); });
    }
    // The derived actions with their scores.
    std::vector<std::pair<GroundAction, float>> scores() {
        check_network();
        return guarded([&] {
            std::vector<std::pair<GroundAction, float>> actions;
            for (const auto& [action, score] : scored_walk_->scored())
                actions.emplace_back(walk().ground(action), score);
            std::ranges::sort(actions);
            return actions;
        });
    }
    // Returns the first by name of the actions with the highest score. With a temperature, samples
    // an action with probability proportional to e^(score / temperature).
    std::optional<GroundAction> best(std::optional<double> temperature, uint64_t key) {
        if (temperature && !(*temperature > 0))
            throw nb::value_error("the temperature must be positive");
        check_network();
        return guarded([&] {
            return ground(temperature ? scored_walk_->best(key, *temperature)
                                      : scored_walk_->best_by_name());
        });
    }
    // Applies the best action until a goal, a dead end or the limit. Returns the number of steps.
    size_t follow_policy(uint64_t key, size_t max_steps) {
        return guarded([&] {
            size_t steps = 0;
            for (; steps < max_steps && walk().goals_left() > 0; ++steps) {
                const auto action = scored_walk_->best(key);
                if (!action) break;
                walk().apply(action->action, walk().arguments(*action));
            }
            return steps;
        });
    }
    // The values of a relation's atoms: objects, values.
    nb::tuple values(uint32_t number) {
        check_network();
        const Network& network = network_->network;
        const auto relation = checked<RelationId>(number, network.dimensions, "no such relation");
        const Relation& of = walk().materialization().relation(relation);
        const uint32_t dimension = network.dimensions[number];
        std::vector<float> values;
        guarded([&] {
            NetworkInference& inference = scored_walk_->inference();
            inference.update(walk().materialization());
            const float one = 1;
            for (Row row : of.true_rows()) {
                const bool is_one = !network.structure.is_derived(relation) &&
                                    !network.structure.has_features(relation);
                const float* value = is_one ? &one : inference.value(relation, row);
                values.insert(values.end(), value, value + dimension);
            }
        });
        const nb::object atoms = true_atoms(of);
        const size_t count = values.size() / dimension;
        return nb::make_tuple(atoms, as_rows(std::move(values), count, dimension));
    }
    size_t computed() { return network_ ? scored_walk_->inference().computed() : 0; }
    // The rules that derive an action.
    std::vector<uint32_t> rules_of(uint32_t number, std::vector<uint32_t> values) {
        const auto [action, arguments] = checked_action(number, std::move(values));
        std::vector<uint32_t> rules;
        const auto derived = walk().find_derived(action, arguments.data());
        if (!derived) return rules;
        const Materialization& materialization = walk().materialization();
        const AtomRef atom{*materialization.program().find_action(action), derived->row};
        materialization.derivations().derivations_of(atom, [&](uint32_t rule, const Row*) {
            if (rules.empty() || rules.back() != rule) rules.push_back(rule);
        });
        return rules;
    }
    Numbers state() const { return as_array(usable().state()); }
    std::vector<bool> goals_hold() const {
        std::vector<bool> result;
        const Materialization& materialization = usable().materialization();
        for (const Literal& literal : task_->task.goal)
            result.push_back(materialization.holds(literal));
        return result;
    }
    nb::int_ fingerprint() const {
        const auto [low, high] = usable().fingerprint();
        return nb::int_((nb::int_(high) << nb::int_(64)) | nb::int_(low));
    }
    nb::tuple snapshot() const {
        Batch batch(usable().materialization());
        batch.append(walk().materialization());
        return as_arrays(std::move(batch));
    }
    // The integers that ids in columns of numbers stand for.
    auto numbers() const {
        return as_array(std::vector(usable().materialization().numbers().values()));
    }
    void set_deadline(std::optional<double> seconds) { watch.set_deadline(seconds); }
    // Evaluates many states from scratch. The walk is at the last one then.
    nb::tuple derive(IdArray states, IdArray offsets) {
        const auto atoms = checked_atoms(*task_, states);
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            if (offsets(i) > offsets(i + 1) || offsets(i + 1) > atoms.size())
                throw nb::value_error("offsets must not decrease nor pass the end");
        if (is_broken()) rebuild();
        Batch batch(walk().materialization());
        guarded([&] {
            for (size_t i = 0; i + 1 < offsets.size(); ++i) {
                walk().start(atoms.subspan(offsets(i), offsets(i + 1) - offsets(i)));
                batch.append(walk().materialization());
            }
        });
        return as_arrays(std::move(batch));
    }
    std::shared_ptr<SharedWalk> copy() const {
        usable();
        auto twin = std::make_shared<SharedWalk>(task_, program_, network_);
        *twin->scored_walk_ = *scored_walk_;
        return twin;
    }

    const Walk& usable() const {
        check_available();
        return walk();
    }

  private:
    void rebuild() {
        const Interruptible work([this] { watch(); });
        scored_walk_ = std::make_unique<ScoredWalk>(task_->task, task_->atoms, program_->frozen(),
                                                    network_ ? &network_->network : nullptr);
        repair();
    }
    GroundAction checked_action(uint32_t action, std::vector<uint32_t> arguments) const {
        usable();
        return planlog::checked_action(task_->task, action, std::move(arguments));
    }
    std::optional<GroundAction> ground(std::optional<ActionRow> action) const {
        return action ? std::optional(walk().ground(*action)) : std::nullopt;
    }
    void check_network() const {
        usable();
        if (!network_) throw nb::value_error("the walk has no network");
    }
    Walk& walk() { return scored_walk_->walk(); }
    const Walk& walk() const { return scored_walk_->walk(); }

    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::shared_ptr<SharedNetwork> network_;
    std::unique_ptr<ScoredWalk> scored_walk_;
};

}  // namespace

void bind_walks(nb::module_& m) {
    nb::enum_<Activation>(m, "Activation")
        .value("IDENTITY", Activation::Identity)
        .value("TANH", Activation::Tanh)
        .value("SIGMOID", Activation::Sigmoid)
        .value("RELU", Activation::Relu)
        .value("LEAKY_RELU", Activation::LeakyRelu);
    nb::enum_<Aggregation>(m, "Aggregation")
        .value("MAX", Aggregation::Max)
        .value("MEAN", Aggregation::Mean)
        .value("SUM", Aggregation::Sum);
    nb::class_<SharedNetwork>(m, "Network")
        .def(nb::init<std::shared_ptr<SharedProgram>, std::vector<uint32_t>,
                      std::vector<RuleWeightArrays>, Activation, std::vector<Activation>,
                      Aggregation, std::vector<uint32_t>>(),
             "program"_a, "dimensions"_a, "rules"_a, "message_activation"_a, "atom_activations"_a,
             "aggregation"_a, "with_features"_a = std::vector<uint32_t>());
    nb::exception<MissingValue>(m, "MissingValue", PyExc_LookupError);
    nb::exception<CostOverflow>(m, "CostOverflow", PyExc_OverflowError);
    nb::class_<SharedWalk>(m, "Walk")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>,
                      std::shared_ptr<SharedNetwork>>(),
             "task"_a, "program"_a, "network"_a.none())
        .def("start", &SharedWalk::start, "state"_a)
        .def("apply", &SharedWalk::apply, "action"_a, "arguments"_a)
        .def("undo", &SharedWalk::undo)
        .def("holds", &SharedWalk::holds, "relation"_a)
        .def("derivation_count", &SharedWalk::derivation_count, "rule"_a)
        .def("actions", &SharedWalk::actions)
        .def("sample", &SharedWalk::sample, "key"_a)
        .def("scores", &SharedWalk::scores)
        .def("best", &SharedWalk::best, "temperature"_a.none(), "key"_a)
        .def("follow_policy", &SharedWalk::follow_policy, "key"_a, "max_steps"_a)
        .def("values", &SharedWalk::values, "relation"_a)
        .def_prop_ro("computed", &SharedWalk::computed)
        .def("rules_of", &SharedWalk::rules_of, "action"_a, "arguments"_a)
        .def("state", &SharedWalk::state)
        .def("snapshot", &SharedWalk::snapshot)
        .def("derive", &SharedWalk::derive, "states"_a, "offsets"_a)
        .def("copy", &SharedWalk::copy)
        .def("numbers", &SharedWalk::numbers)
        .def("set_deadline", &SharedWalk::set_deadline, "seconds"_a.none())
        .def_prop_ro("fingerprint", &SharedWalk::fingerprint)
        .def_prop_ro("action_count", [](const SharedWalk& w) { return w.usable().action_count(); })
        .def_prop_ro("steps", [](const SharedWalk& w) { return w.usable().steps(); })
        .def_prop_ro("cost", [](const SharedWalk& w) { return w.usable().cost(); })
        .def_prop_ro("goals_left", [](const SharedWalk& w) { return w.usable().goals_left(); })
        .def_prop_ro("goals_hold", &SharedWalk::goals_hold);
}

}  // namespace planlog
