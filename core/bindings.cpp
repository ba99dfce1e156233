// The border to Python: thin. Names and small descriptions cross as tuples, all
// that grows with the task as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>

#include "batch.hpp"
#include "graph.hpp"
#include "network/circuit.hpp"
#include "network/network.hpp"
#include "pddl/pddl.hpp"
#include "program.hpp"
#include "state.hpp"
#include "statespace.hpp"
#include "walk.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace planlog {
namespace {

using IdArray = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, uint32_t>;

// --- Domains and tasks ---------------------------------------------------------

using DiagnosticTuple = std::tuple<int, uint32_t, uint32_t, uint32_t, std::string, std::string>;

std::vector<DiagnosticTuple> as_tuples(const std::vector<Diagnostic>& diagnostics) {
    std::vector<DiagnosticTuple> result;
    for (const Diagnostic& d : diagnostics)
        result.emplace_back(static_cast<int>(d.severity), d.line, d.column, d.length, d.message,
                            d.hint);
    return result;
}

struct SharedDomain {
    Domain domain;
};

// A task, its atoms, and the domain it needs.
struct SharedTask {
    std::shared_ptr<SharedDomain> domain;
    Task task;
    AtomTable atoms;

    SharedTask(std::shared_ptr<SharedDomain> of, Task read)
        : domain(std::move(of)), task(std::move(read)), atoms(task) {}
};

struct SharedProgram {
    std::shared_ptr<SharedDomain> domain;
    Program program;

    explicit SharedProgram(std::shared_ptr<SharedDomain> of)
        : domain(std::move(of)), program(domain->domain) {}
};

auto read_domain_text(nb::bytes text) {
    std::vector<Diagnostic> diagnostics;
    auto domain = read_domain({text.c_str(), text.size()}, diagnostics);
    std::shared_ptr<SharedDomain> result;
    if (domain) result = std::make_shared<SharedDomain>(SharedDomain{std::move(*domain)});
    return std::pair(result, as_tuples(diagnostics));
}

auto read_task_text(std::shared_ptr<SharedDomain> domain, nb::bytes text) {
    std::vector<Diagnostic> diagnostics;
    std::optional<Task> task;
    const std::string_view view(text.c_str(), text.size());
    {
        nb::gil_scoped_release unlocked;
        task = read_task(domain->domain, view, diagnostics);
    }
    std::shared_ptr<SharedTask> result;
    if (task) result = std::make_shared<SharedTask>(std::move(domain), std::move(*task));
    return std::pair(result, as_tuples(diagnostics));
}

using ParameterTuple = std::pair<std::string, std::vector<uint32_t>>;

std::vector<ParameterTuple> as_tuples(const std::vector<Parameter>& parameters) {
    std::vector<ParameterTuple> result;
    for (const Parameter& parameter : parameters) {
        auto& types = result.emplace_back(parameter.name, std::vector<uint32_t>{}).second;
        for (TypeId type : parameter.types) types.push_back(index(type));
    }
    return result;
}

auto types_of(const SharedDomain& shared) {
    std::vector<std::pair<std::string, uint32_t>> result;
    for (const Type& type : shared.domain.types) result.emplace_back(type.name, index(type.parent));
    return result;
}

auto predicates_of(const SharedDomain& shared) {
    std::vector<std::tuple<std::string, std::vector<ParameterTuple>, int, bool>> result;
    for (const Predicate& p : shared.domain.predicates)
        result.emplace_back(p.name, as_tuples(p.parameters), static_cast<int>(p.kind), p.fluent);
    return result;
}

auto actions_of(const SharedDomain& shared) {
    std::vector<std::pair<std::string, std::vector<ParameterTuple>>> result;
    for (const Action& action : shared.domain.actions)
        result.emplace_back(action.name, as_tuples(action.parameters));
    return result;
}

auto as_tuples(const std::vector<Object>& objects) {
    std::vector<std::pair<std::string, uint32_t>> result;
    for (const Object& object : objects) result.emplace_back(object.name, index(object.type));
    return result;
}

std::string atom_text(const Task& task, const std::string& name, const ObjectId* values,
                      size_t arity) {
    std::string text = "(" + name;
    for (size_t i = 0; i < arity; ++i) text += " " + task.objects[values[i]].name;
    return text + ")";
}

// Literals as such, and what is no literal as it was written.
std::vector<std::string> goal_texts(const SharedTask& shared) {
    std::vector<std::string> result;
    const auto& predicates = shared.task.domain->predicates;
    for (size_t i = 0; i < shared.task.goal.size(); ++i) {
        const Literal& literal = shared.task.goal[i];
        if (literal.kind == LiteralKind::Atom && index(literal.predicate) >= predicates.size()) {
            result.push_back(shared.task.goal_sources[i]);
            continue;
        }
        const bool is_atom = literal.kind == LiteralKind::Atom;
        const std::string& name = is_atom ? predicates[index(literal.predicate)].name : "=";
        std::vector<ObjectId> values;
        for (Term term : literal.terms) values.push_back(term.value);
        const std::string atom = atom_text(shared.task, name, values.data(), values.size());
        result.push_back(literal.negated ? "(not " + atom + ")" : atom);
    }
    return result;
}

std::vector<std::string> static_texts(const SharedTask& shared) {
    std::vector<std::string> result;
    const AtomList& initial = shared.task.initial;
    for (size_t i = 0; i < initial.size(); ++i) {
        const Predicate& predicate = shared.task.domain->predicates[index(initial.predicates[i])];
        if (!predicate.fluent)
            result.push_back(
                atom_text(shared.task, predicate.name, initial.row(i), initial.arity(i)));
    }
    return result;
}

// --- Arrays --------------------------------------------------------------------

// Hands a vector over to numpy without copying it.
template <class T>
nb::ndarray<nb::numpy, T> as_array(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const size_t size = owned->size();
    nb::capsule owner(owned.release(),
                      [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(data, {size}, owner);
}

// The same as rows. An array without columns still has rows: nullary atoms.
nb::object as_rows(std::vector<uint32_t>&& values, size_t rows, size_t columns) {
    return nb::cast(as_array(std::move(values))).attr("reshape")(rows, columns);
}

// What a vector that outlives the array holds; to be returned with reference_internal.
template <class T>
nb::ndarray<nb::numpy, const T> as_view(const std::vector<T>& values) {
    return nb::ndarray<nb::numpy, const T>(values.data(), {values.size()});
}

nb::tuple as_arrays(Batch&& batch) {
    nb::list relations, rules;
    for (AtomArray& array : batch.relations) {
        const size_t rows = array.offsets.back();
        relations.append(nb::make_tuple(as_rows(std::move(array.values), rows, array.arity),
                                        as_array(std::move(array.offsets)), array.is_static));
    }
    for (DerivationArray& array : batch.rules) {
        const size_t rows = array.heads.size();
        nb::object bodies = as_rows(std::move(array.bodies), rows, array.width);
        rules.append(nb::make_tuple(as_array(std::move(array.heads)), bodies,
                                    as_array(std::move(array.offsets)), array.is_static));
    }
    return nb::make_tuple(relations, rules);
}

// --- Rules ---------------------------------------------------------------------

using Terms = std::vector<int32_t>;  // variable v as v, constant c as -1 - c
using LiteralTuple = std::tuple<uint32_t, bool, Terms>;
using ComparisonTuple = std::tuple<int32_t, int32_t, bool>;

Term as_term(int32_t code) {
    return code >= 0 ? Term::variable(static_cast<uint32_t>(code))
                     : Term::object(static_cast<uint32_t>(-1 - code));
}

std::vector<Term> as_terms(const Terms& codes) {
    std::vector<Term> terms;
    for (int32_t code : codes) terms.push_back(as_term(code));
    return terms;
}

Rule as_rule(const Terms& head_terms, const std::vector<LiteralTuple>& body,
             const std::vector<ComparisonTuple>& comparisons, uint32_t variable_count) {
    Rule rule;
    rule.head_terms = as_terms(head_terms);
    for (const auto& [relation, negated, terms] : body)
        rule.body.push_back({RelationId(relation), negated, as_terms(terms)});
    for (const auto& [left, right, equal] : comparisons)
        rule.comparisons.push_back({as_term(left), as_term(right), equal});
    rule.variable_count = variable_count;
    return rule;
}

int32_t as_code(Term term) {
    const auto value = static_cast<int32_t>(term.value);
    return term.is_variable ? value : -1 - value;
}

auto rule_body(const SharedProgram& shared, uint32_t number) {
    std::vector<LiteralTuple> result;
    for (const BodyLiteral& literal : shared.program.rules().at(number).body) {
        Terms terms;
        for (Term term : literal.terms) terms.push_back(as_code(term));
        result.emplace_back(index(literal.relation), literal.negated, terms);
    }
    return result;
}

auto rule_comparisons(const SharedProgram& shared, uint32_t number) {
    std::vector<ComparisonTuple> result;
    for (const Comparison& comparison : shared.program.rules().at(number).comparisons)
        result.emplace_back(as_code(comparison.left), as_code(comparison.right), comparison.equal);
    return result;
}

auto relations_of(const SharedProgram& shared) {
    std::vector<std::tuple<int, std::string, uint32_t>> result;
    for (const RelationInfo& info : shared.program.relations())
        result.emplace_back(static_cast<int>(info.source), info.name, info.arity);
    return result;
}

// --- Walks ---------------------------------------------------------------------

// Stops an evaluation when its time is up or a signal handler has raised.
class Watch {
  public:
    void set_deadline(std::optional<double> seconds) {
        deadline_.reset();
        if (seconds)
            deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(*seconds));
    }
    void operator()() {
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(20);
        nb::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (deadline_ && now > *deadline_) {
            PyErr_SetString(PyExc_TimeoutError, "the time for the evaluation is up");
            throw nb::python_error();
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> deadline_;
    Clock::time_point next_{};
};

// Work that runs without the interpreter lock, by one thread at a time. What is interrupted
// in the middle is not used again.
class Guarded {
  protected:
    // Busy is set and looked at while the interpreter lock is held.
    enum class Condition : uint8_t { Ready, Busy, Broken };

    void check_condition() const {
        if (condition_ == Condition::Busy) throw nb::value_error("in use by another thread");
        if (condition_ == Condition::Broken) throw nb::value_error("interrupted: start again");
    }
    template <class Function>
    void guarded(Function function) {
        check_condition();
        condition_ = Condition::Busy;
        try {
            nb::gil_scoped_release unlocked;
            function();
        } catch (const MissingValue&) {  // found before anything was changed
            condition_ = Condition::Ready;
            throw;
        } catch (...) {
            condition_ = Condition::Broken;
            throw;
        }
        condition_ = Condition::Ready;
    }

    Watch watch_;
    Condition condition_ = Condition::Ready;
};

void check_same_domain(const SharedTask& task, const SharedProgram& program) {
    if (task.domain != program.domain)
        throw nb::value_error("task and policy are of different domains");
}

void check_atoms(SharedTask& task, IdArray atoms) {
    const auto lock = task.atoms.lock();
    for (size_t i = 0; i < atoms.size(); ++i)
        if (atoms(i) >= task.atoms.size()) throw nb::value_error("no such atom");
}

using MatrixArray = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Enum>
Enum as_enum(int number, Enum last) {
    if (number < 0 || number > static_cast<int>(last))
        throw nb::value_error("no such activation or aggregation");
    return Enum(number);
}

Matrix as_matrix(MatrixArray array) {
    Matrix matrix{static_cast<uint32_t>(array.shape(0)), static_cast<uint32_t>(array.shape(1)), {}};
    for (uint32_t c = 0; c < matrix.columns; ++c)
        for (uint32_t r = 0; r < matrix.rows; ++r) matrix.data.push_back(array(r, c));
    return matrix;
}

struct SharedNetwork {
    std::shared_ptr<SharedProgram> program;
    Network network;

    SharedNetwork(
        std::shared_ptr<SharedProgram> of, std::vector<uint32_t> dimensions,
        const std::vector<std::tuple<uint32_t, MatrixArray, std::vector<MatrixArray>>>& rules,
        int message_activation, const std::vector<int>& atom_activations, int aggregation)
        : program(std::move(of)),
          network{&program->program,
                  std::move(dimensions),
                  {},
                  as_enum(message_activation, Activation::LeakyRelu),
                  {},
                  as_enum(aggregation, Aggregation::Sum)} {
        for (const auto& [rule, head, body] : rules) {
            auto& weights = network.rules.emplace_back();
            weights.rule = rule;
            weights.head = as_matrix(head);
            for (const MatrixArray& matrix : body) weights.body.push_back(as_matrix(matrix));
        }
        for (int activation : atom_activations)
            network.atom_activations.push_back(as_enum(activation, Activation::LeakyRelu));
        network.check();
    }
};

class SharedWalk : public Guarded {
  public:
    SharedWalk(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program)
        : task_(std::move(task)), program_(std::move(program)) {
        check_same_domain(*task_, *program_);
        rebuild();
    }

    void start(IdArray state) {
        check_atoms(*task_, state);
        rebuild_if_broken();
        guarded([&] { walk_->start({state.data(), state.size()}); });
    }
    bool is_applicable(uint32_t action, const std::vector<uint32_t>& arguments) {
        check(action, arguments);
        return walk_->is_applicable(ActionId(action), arguments.data());
    }
    // Whether it was applicable; if not, nothing changes.
    bool apply(uint32_t action, const std::vector<uint32_t>& arguments) {
        check(action, arguments);
        bool applied = false;
        guarded([&] {
            applied = walk_->is_applicable(ActionId(action), arguments.data());
            if (applied) walk_->apply(ActionId(action), arguments.data());
        });
        return applied;
    }
    void undo() {
        if (usable().steps() == 0) throw nb::index_error("there is no step to undo");
        guarded([&] { walk_->undo(); });
    }
    nb::list actions() const {
        nb::list result;
        for (const GroundAction& action : usable().actions()) result.append(as_tuple(action));
        return result;
    }
    std::optional<nb::tuple> sample(uint64_t key) const {
        GroundAction action;
        if (!usable().sample(key, action)) return std::nullopt;
        return as_tuple(action);
    }
    // From here on, actions have scores: the values of their atoms.
    void attach(std::shared_ptr<SharedNetwork> network) {
        if (network->program != program_) throw nb::value_error("a network of another program");
        for (uint32_t a = 0; a < task_->task.domain->actions.size(); ++a) {
            const auto relation = program_->program.find_action(ActionId(a));
            if (relation && (!network->network.derives(*relation) ||
                             network->network.dimensions[index(*relation)] != 1))
                throw nb::value_error("actions need scores: values of dimension 1");
        }
        network_ = std::move(network);
        attach_again();
    }
    // The derived actions with their scores.
    nb::list scores() {
        nb::list result;
        for (const auto& [action, score] : scored())
            result.append(nb::make_tuple(as_tuple(action), score));
        return result;
    }
    // The action with the highest score or, with a temperature, one drawn with probabilities
    // in proportion to e^(score / temperature); of equal ones the first by name.
    std::optional<nb::tuple> best(std::optional<double> temperature, uint64_t key) {
        if (temperature && !(*temperature > 0))
            throw nb::value_error("the temperature must be positive");
        std::optional<ActionRow> chosen;
        double highest = 0;
        for (const auto& [action, score] : scored()) {
            double value = score;
            if (temperature) value = value / *temperature + walk_->gumbel(action, key);
            if (chosen &&
                (value < highest || (value == highest && !walk_->is_named_before(action, *chosen))))
                continue;
            chosen = action;
            highest = value;
        }
        if (!chosen) return std::nullopt;
        return as_tuple(*chosen);
    }
    // The values of a relation's atoms: objects, values.
    nb::tuple values(uint32_t id) {
        check_network();
        const Network& network = network_->network;
        if (id >= network.dimensions.size()) throw nb::value_error("no such relation");
        const RelationId relation{id};
        const Relation& of = walk_->model().relation(relation);
        const bool is_input = !network.derives(relation);
        const uint32_t dimension = network.dimensions[id];
        std::vector<uint32_t> objects;
        std::vector<float> values;
        guarded([&] {
            evaluation_->update(walk_->model());
            const float one = 1;
            for (Row row : of.true_rows()) {
                objects.insert(objects.end(), of.values(row), of.values(row) + of.arity());
                const float* value =
                    is_input ? &one : evaluation_->value(walk_->model(), relation, row);
                values.insert(values.end(), value, value + dimension);
            }
        });
        const size_t rows = of.size();
        return nb::make_tuple(
            as_rows(std::move(objects), rows, of.arity()),
            nb::cast(as_array(std::move(values))).attr("reshape")(rows, dimension));
    }
    size_t computed() const { return evaluation_ ? evaluation_->computed() : 0; }
    // The rules that derive an action.
    std::vector<uint32_t> rules_of(uint32_t action, const std::vector<uint32_t>& arguments) {
        check(action, arguments);
        std::vector<uint32_t> rules;
        const Model& model = usable().model();
        const auto relation = model.program().find_action(ActionId(action));
        if (!relation) return rules;
        const Row row = model.relation(*relation).find(arguments.data());
        if (row == no_row) return rules;
        model.derivations_of(*relation, row, [&](uint32_t rule, const Row*) {
            if (rules.empty() || rules.back() != rule) rules.push_back(rule);
        });
        return rules;
    }
    Numbers state() const { return as_array(usable().state()); }
    std::vector<bool> goals_hold() const {
        std::vector<bool> result;
        const Model& model = usable().model();
        for (const Literal& literal : task_->task.goal) result.push_back(model.holds(literal));
        return result;
    }
    nb::int_ fingerprint() const {
        const auto [low, high] = usable().fingerprint();
        return nb::int_(nb::int_(high) * nb::int_(uint64_t{1} << 32) * nb::int_(uint64_t{1} << 32) +
                        nb::int_(low));
    }
    nb::tuple snapshot() const {
        Batch batch(usable().model());
        batch.append(walk_->model());
        return as_arrays(std::move(batch));
    }
    void set_deadline(std::optional<double> seconds) { watch_.set_deadline(seconds); }
    // The models of many states, each from scratch; the walk is at the last one then.
    nb::tuple derive(IdArray states, IdArray offsets) {
        check_atoms(*task_, states);
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            if (offsets(i) > offsets(i + 1) || offsets(i + 1) > states.size())
                throw nb::value_error("offsets must not decrease nor pass the end");
        rebuild_if_broken();
        Batch batch(walk_->model());
        guarded([&] {
            for (size_t i = 0; i + 1 < offsets.size(); ++i) {
                walk_->start({states.data() + offsets(i), offsets(i + 1) - offsets(i)});
                batch.append(walk_->model());
            }
        });
        return as_arrays(std::move(batch));
    }
    std::shared_ptr<SharedWalk> copy() const {
        usable();
        auto twin = std::make_shared<SharedWalk>(task_, program_);
        *twin->walk_ = *walk_;
        twin->install_watch();
        twin->network_ = network_;
        twin->evaluation_ = evaluation_;
        return twin;
    }

    const Walk& usable() const {
        check_condition();
        return *walk_;
    }

  private:
    void rebuild() {
        walk_ = std::make_unique<Walk>(task_->task, task_->atoms, program_->program);
        if (network_) attach_again();
        install_watch();
        condition_ = Condition::Ready;
    }
    void rebuild_if_broken() {
        if (condition_ == Condition::Broken) rebuild();
    }
    void install_watch() {
        walk_->model().poll() = [this] { watch_(); };
    }
    void check(uint32_t action, const std::vector<uint32_t>& arguments) const {
        usable();
        const auto& actions = task_->task.domain->actions;
        if (action >= actions.size() || arguments.size() != actions[action].parameters.size())
            throw nb::value_error("no such action");
        for (uint32_t argument : arguments)
            if (argument >= task_->task.objects.size()) throw nb::value_error("no such object");
    }
    void attach_again() {
        evaluation_.emplace(network_->network);
        walk_->model().track_derivations();
    }
    void check_network() const {
        usable();
        if (!evaluation_) throw nb::value_error("no network is attached to the walk");
    }
    std::vector<std::pair<ActionRow, float>> scored() {
        check_network();
        std::vector<ActionRow> actions;
        std::vector<std::pair<ActionRow, float>> result;
        guarded([&] {
            evaluation_->update(walk_->model());
            walk_->append_actions(actions);
            for (ActionRow action : actions) {
                const RelationId relation = *program_->program.find_action(action.action);
                result.emplace_back(action,
                                    *evaluation_->value(walk_->model(), relation, action.row));
            }
        });
        return result;
    }
    nb::tuple as_tuple(ActionRow action) const {
        const ObjectId* values = walk_->arguments(action);
        const size_t arity = task_->task.domain->actions[index(action.action)].parameters.size();
        return as_tuple(GroundAction{action.action, {values, values + arity}});
    }
    static nb::tuple as_tuple(const GroundAction& action) {
        return nb::make_tuple(index(action.action), nb::tuple(nb::cast(action.arguments)));
    }

    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::unique_ptr<Walk> walk_;
    std::shared_ptr<SharedNetwork> network_;
    std::optional<Evaluation> evaluation_;
};

// --- State spaces --------------------------------------------------------------

auto as_tuple(const RuleCounts& counts) { return std::pair(counts.states, counts.derivations); }

class SharedSpace : public Guarded {
  public:
    SharedSpace(std::shared_ptr<SharedTask> task, std::shared_ptr<SharedProgram> program,
                IdArray start, size_t limit, bool through_goals, bool stop_at_goal)
        : task_(std::move(task)), program_(std::move(program)) {
        check_same_domain(*task_, *program_);
        check_atoms(*task_, start);
        space_.emplace(task_->task, task_->atoms, program_->program,
                       std::span(start.data(), start.size()),
                       StateSpace::Bounds{limit, through_goals, stop_at_goal});
        space_->set_poll([this] { watch_(); });
    }

    bool advance(size_t count) {
        guarded([&] { is_done_ = !space_->advance(count); });
        return !is_done_;
    }
    size_t size() const {
        check_condition();
        return space_->states().size();
    }
    // Arrays of a space that still grows would not stay where they are.
    const StateSpace& finished() const {
        check_condition();
        if (!is_done_) throw nb::value_error("the state space is not finished");
        return *space_;
    }
    const std::shared_ptr<SharedTask>& task() const { return task_; }

    auto bits() const {
        const StateSet& states = finished().states();
        return nb::ndarray<nb::numpy, const uint64_t>(states.bits().data(),
                                                      {states.size(), states.width()});
    }
    Numbers atoms() const {
        const AtomList& atoms = finished().states().atoms();
        std::vector<uint32_t> ids;
        const auto lock = task_->atoms.lock();
        for (size_t i = 0; i < atoms.size(); ++i)
            ids.push_back(task_->atoms.intern(atoms.predicates[i], atoms.row(i)));
        return as_array(std::move(ids));
    }
    nb::tuple action(uint32_t number) const {
        const auto& actions = finished().ground_actions;
        if (number >= actions.schemas.size()) throw nb::index_error("no such action");
        const std::vector<uint32_t> row(actions.row(number), actions.row(number + 1));
        return nb::make_tuple(index(actions.schemas[number]), nb::tuple(nb::cast(row)));
    }

  private:
    std::shared_ptr<SharedTask> task_;
    std::shared_ptr<SharedProgram> program_;
    std::optional<StateSpace> space_;
    bool is_done_ = false;
};

class SharedDerivation : public Guarded {
  public:
    SharedDerivation(std::shared_ptr<SharedSpace> space, std::shared_ptr<SharedProgram> program)
        : space_(std::move(space)), program_(std::move(program)) {
        check_same_domain(*space_->task(), *program_);
        derivation_.emplace(space_->finished(), space_->task()->atoms, program_->program);
        derivation_->set_poll([this] { watch_(); });
    }
    bool advance(size_t count) {
        bool more = false;
        guarded([&] { more = derivation_->advance(count); });
        return more;
    }
    const Derivation& usable() const {
        check_condition();
        return *derivation_;
    }

  private:
    std::shared_ptr<SharedSpace> space_;
    std::shared_ptr<SharedProgram> program_;
    std::optional<Derivation> derivation_;
};

// --- Circuits --------------------------------------------------------------------

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
        visitor_->walk().model().poll() = [this] { watch_(); };
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
        const Relation& of = visitor_->walk().model().relation(RelationId(relation));
        std::vector<uint32_t> values, nodes;
        for (Row row : of.true_rows()) {
            values.insert(values.end(), of.values(row), of.values(row) + of.arity());
            nodes.push_back(circuit_->circuit.node(RelationId(relation), row));
        }
        const size_t rows = nodes.size();
        return nb::make_tuple(as_rows(std::move(values), rows, of.arity()),
                              as_array(std::move(nodes)));
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
                    const ActionId schema = space.ground_actions.schemas[action];
                    const auto relation = circuit_->program->program.find_action(schema);
                    if (!relation) continue;
                    const Relation& derived = visitor_->walk().model().relation(*relation);
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
        circuit_->circuit.add(visitor_->walk().model(), circuit_->fed_by != this);
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

// --- Graphs ----------------------------------------------------------------------

Graph as_graph(IdArray offsets, IdArray targets, size_t size) {
    if (offsets.size() == 0 || offsets.size() > size + 1 || offsets(0) != 0 ||
        offsets(offsets.size() - 1) != targets.size())
        throw nb::value_error("offsets must lead from 0 to the number of arcs");
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
        if (offsets(i) > offsets(i + 1)) throw nb::value_error("offsets must not decrease");
    for (size_t i = 0; i < targets.size(); ++i)
        if (targets(i) >= size) throw nb::value_error("no such node");
    return {{offsets.data(), offsets.size()}, {targets.data(), targets.size()}, size};
}

nb::tuple reversed_arrays(IdArray offsets, IdArray targets, size_t size) {
    ReversedGraph result = reversed(as_graph(offsets, targets, size));
    return nb::make_tuple(as_array(std::move(result.offsets)), as_array(std::move(result.targets)),
                          as_array(std::move(result.arcs)));
}

auto distance_array(IdArray offsets, IdArray targets, size_t size, IdArray sources) {
    const Graph graph = as_graph(offsets, targets, size);
    for (size_t i = 0; i < sources.size(); ++i)
        if (sources(i) >= size) throw nb::value_error("no such node");
    return as_array(distances(graph, {sources.data(), sources.size()}));
}

auto component_array(IdArray offsets, IdArray targets, size_t size) {
    return as_array(strong_components(as_graph(offsets, targets, size)));
}

}  // namespace
}  // namespace planlog

NB_MODULE(_core, m) {
    using namespace planlog;
    m.doc() = "The core of Planlog: PDDL, relations, evaluation, state spaces, networks.";
    // Objects that other modules still hold when Python ends are no leaks of ours.
    nb::set_leak_warnings(false);
#ifdef PLANLOG_SANITIZED
    m.attr("sanitized") = true;
#else
    m.attr("sanitized") = false;
#endif
    m.attr("compiler") = __VERSION__;

    nb::class_<SharedDomain>(m, "Domain")
        .def_prop_ro("name", [](const SharedDomain& d) { return d.domain.name; })
        .def_prop_ro("types", &types_of)
        .def_prop_ro("predicates", &predicates_of)
        .def_prop_ro("actions", &actions_of)
        .def_prop_ro("constants",
                     [](const SharedDomain& d) { return as_tuples(d.domain.constants); });
    m.def("read_domain", &read_domain_text, "text"_a);

    nb::class_<SharedTask>(m, "Task")
        .def_prop_ro("name", [](const SharedTask& t) { return t.task.name; })
        .def_prop_ro("objects", [](const SharedTask& t) { return as_tuples(t.task.objects); })
        .def_prop_ro("goals", &goal_texts)
        .def_prop_ro("static_atoms", &static_texts)
        .def_prop_ro("minimises_cost", [](const SharedTask& t) { return t.task.minimises_cost; })
        .def("initial",
             [](SharedTask& t) {
                 const auto lock = t.atoms.lock();
                 return as_array(initial_state(t.task, t.atoms));
             })
        .def("atom_text",
             [](SharedTask& t, AtomId atom) {
                 const auto lock = t.atoms.lock();
                 if (atom >= t.atoms.size()) throw nb::index_error("no such atom");
                 const auto& name = t.task.domain->predicates[index(t.atoms.predicate(atom))].name;
                 return atom_text(t.task, name, t.atoms.values(atom), t.atoms.arity(atom));
             })
        .def("intern", [](SharedTask& t, uint32_t predicate, const std::vector<uint32_t>& values) {
            if (predicate >= t.task.domain->predicates.size() ||
                values.size() != t.task.domain->predicates[predicate].parameters.size())
                throw nb::value_error("no such atom");
            for (uint32_t value : values)
                if (value >= t.task.objects.size()) throw nb::value_error("no such object");
            const auto lock = t.atoms.lock();
            return t.atoms.intern(PredicateId(predicate), values.data());
        });
    m.def("read_task", &read_task_text, "domain"_a, "text"_a);

    nb::class_<SharedProgram>(m, "Program")
        .def(nb::init<std::shared_ptr<SharedDomain>>(), "domain"_a)
        .def("status",
             [](SharedProgram& p, uint32_t predicate, int source) {
                 return index(p.program.status(PredicateId(predicate), Source(source)));
             })
        .def("type",
             [](SharedProgram& p, const std::vector<uint32_t>& types) {
                 std::vector<TypeId> ids;
                 for (uint32_t type : types) ids.push_back(TypeId(type));
                 return index(p.program.type(std::move(ids)));
             })
        .def("derived",
             [](SharedProgram& p, std::string name, uint32_t arity) {
                 return index(p.program.derived(std::move(name), arity));
             })
        .def("action", [](SharedProgram& p,
                          uint32_t action) { return index(p.program.action(ActionId(action))); })
        .def("constant",
             [](SharedProgram& p, const std::string& name) { return p.program.constant(name); })
        .def("add_rule",
             [](SharedProgram& p, uint32_t head, const Terms& head_terms,
                const std::vector<LiteralTuple>& body,
                const std::vector<ComparisonTuple>& comparisons, uint32_t variable_count,
                std::optional<uint32_t> action) {
                 Rule rule = as_rule(head_terms, body, comparisons, variable_count);
                 rule.head = RelationId(head);
                 std::optional<ActionId> id;
                 if (action) id = ActionId(*action);
                 return p.program.add_rule(std::move(rule), id);
             })
        .def_prop_ro("relations", &relations_of)
        .def_prop_ro("rule_count", [](const SharedProgram& p) { return p.program.rules().size(); })
        .def("rule_head", [](const SharedProgram& p,
                             uint32_t rule) { return index(p.program.rules().at(rule).head); })
        .def("rule_body", &rule_body)
        .def("rule_comparisons", &rule_comparisons)
        .def("action_relation",
             [](const SharedProgram& p, uint32_t action) {
                 const auto relation = p.program.find_action(ActionId(action));
                 return relation ? std::optional(index(*relation)) : std::nullopt;
             })
        .def("check", [](const SharedProgram& p) { components(p.program); });

    nb::class_<SharedNetwork>(m, "Network")
        .def(nb::init<std::shared_ptr<SharedProgram>, std::vector<uint32_t>,
                      std::vector<std::tuple<uint32_t, MatrixArray, std::vector<MatrixArray>>>, int,
                      std::vector<int>, int>(),
             "program"_a, "dimensions"_a, "rules"_a, "message_activation"_a, "atom_activations"_a,
             "aggregation"_a);
    nb::exception<MissingValue>(m, "MissingValue", PyExc_LookupError);
    nb::class_<SharedWalk>(m, "Walk")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>>(), "task"_a,
             "program"_a)
        .def("start", &SharedWalk::start, "state"_a)
        .def("is_applicable", &SharedWalk::is_applicable, "action"_a, "arguments"_a)
        .def("apply", &SharedWalk::apply, "action"_a, "arguments"_a)
        .def("undo", &SharedWalk::undo)
        .def("actions", &SharedWalk::actions)
        .def("sample", &SharedWalk::sample, "key"_a)
        .def("attach", &SharedWalk::attach, "network"_a)
        .def("scores", &SharedWalk::scores)
        .def("best", &SharedWalk::best, "temperature"_a.none(), "key"_a)
        .def("values", &SharedWalk::values, "relation"_a)
        .def_prop_ro("computed", &SharedWalk::computed)
        .def("rules_of", &SharedWalk::rules_of, "action"_a, "arguments"_a)
        .def("state", &SharedWalk::state)
        .def("snapshot", &SharedWalk::snapshot)
        .def("derive", &SharedWalk::derive, "states"_a, "offsets"_a)
        .def("copy", &SharedWalk::copy)
        .def("set_deadline", &SharedWalk::set_deadline, "seconds"_a.none())
        .def_prop_ro("fingerprint", &SharedWalk::fingerprint)
        .def_prop_ro("action_count", [](const SharedWalk& w) { return w.usable().action_count(); })
        .def_prop_ro("steps", [](const SharedWalk& w) { return w.usable().steps(); })
        .def_prop_ro("cost", [](const SharedWalk& w) { return w.usable().cost(); })
        .def_prop_ro("goals_left", [](const SharedWalk& w) { return w.usable().goals_left(); })
        .def_prop_ro("goals_hold", &SharedWalk::goals_hold);

    const auto within = nb::rv_policy::reference_internal;
    nb::class_<SharedSpace>(m, "StateSpace")
        .def(nb::init<std::shared_ptr<SharedTask>, std::shared_ptr<SharedProgram>, IdArray, size_t,
                      bool, bool>(),
             "task"_a, "program"_a, "start"_a, "limit"_a, "through_goals"_a, "stop_at_goal"_a)
        .def("advance", &SharedSpace::advance, "count"_a)
        .def("action", &SharedSpace::action, "number"_a)
        .def("__len__", &SharedSpace::size)
        .def_prop_ro(
            "action_schemas",
            [](const SharedSpace& s) {
                std::vector<uint32_t> schemas;
                for (ActionId id : s.finished().ground_actions.schemas)
                    schemas.push_back(index(id));
                return as_array(std::move(schemas));
            },
            nb::rv_policy::move)
        .def_prop_ro("visited", [](const SharedSpace& s) { return s.finished().visited(); })
        .def_prop_ro("bits", &SharedSpace::bits, within)
        .def_prop_ro("atoms", &SharedSpace::atoms, nb::rv_policy::move)
        .def_prop_ro(
            "depths", [](const SharedSpace& s) { return as_view(s.finished().depths); }, within)
        .def_prop_ro(
            "goals", [](const SharedSpace& s) { return as_view(s.finished().goals); }, within)
        .def_prop_ro(
            "offsets", [](const SharedSpace& s) { return as_view(s.finished().offsets); }, within)
        .def_prop_ro(
            "successors", [](const SharedSpace& s) { return as_view(s.finished().successors); },
            within)
        .def_prop_ro(
            "actions", [](const SharedSpace& s) { return as_view(s.finished().actions); }, within)
        .def_prop_ro("rules", [](const SharedSpace& s) { return as_tuple(s.finished().rules); });
    nb::class_<SharedDerivation>(m, "Derivation")
        .def(nb::init<std::shared_ptr<SharedSpace>, std::shared_ptr<SharedProgram>>(), "space"_a,
             "program"_a)
        .def("advance", &SharedDerivation::advance, "count"_a)
        .def_prop_ro(
            "derived", [](const SharedDerivation& d) { return as_view(d.usable().derived); },
            within)
        .def_prop_ro("rules", [](const SharedDerivation& d) { return as_tuple(d.usable().rules); });

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
        .def("add_states", &CircuitFeed::add_states, "space"_a, "states"_a);

    m.def("reverse", &reversed_arrays, "offsets"_a, "targets"_a, "size"_a);
    m.def("distances", &distance_array, "offsets"_a, "targets"_a, "size"_a, "sources"_a);
    m.def("components", &component_array, "offsets"_a, "targets"_a, "size"_a);
}
