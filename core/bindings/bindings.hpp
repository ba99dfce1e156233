// Shared by all bindings: objects that Python and the core own together, values that cross the
// border, and work that can be interrupted. Names and small descriptions cross the border as
// tuples, data that grows with the task as arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "datalog/program.hpp"
#include "planning/state.hpp"
#include "planning/walk.hpp"
#include "util/interruption.hpp"
#include "util/watchdog.hpp"

namespace planlog {

namespace nb = nanobind;
using namespace nb::literals;

using IdArray = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, uint32_t>;

// --- Objects -------------------------------------------------------------------

// A task, its atoms, and the domain it needs.
struct SharedTask {
    std::shared_ptr<Domain> domain;
    Task task;
    AtomTable atoms;

    SharedTask(std::shared_ptr<Domain> of, Task read)
        : domain(std::move(of)), task(std::move(read)), atoms(task) {}
};

// A program, and the domain it needs. It must not change once others have copied its structure.
struct SharedProgram {
    std::shared_ptr<Domain> domain;
    Program program;
    bool is_frozen = false;

    explicit SharedProgram(std::shared_ptr<Domain> of) : domain(std::move(of)), program(*domain) {}
    const Program& frozen() {
        is_frozen = true;
        return program;
    }
    Program& changeable() {
        if (is_frozen) throw nb::value_error("the program is in use and cannot change");
        return program;
    }
};

inline void check_same_domain(const SharedTask& task, const SharedProgram& program) {
    if (task.domain != program.domain)
        throw nb::value_error("task and policy are of different domains");
}

// --- Numbers -------------------------------------------------------------------

// Returns the id of a member, given by its number.
template <class Id, class Member>
Id checked(uint32_t number, const std::vector<Member>& members, const char* message) {
    if (number >= members.size()) throw nb::value_error(message);
    return Id(number);
}

// Returns the numbers of an array, all of which must be below a bound.
inline std::span<const uint32_t> checked(IdArray numbers, size_t bound, const char* message) {
    const std::span result(numbers.data(), numbers.size());
    for (uint32_t number : result)
        if (number >= bound) throw nb::value_error(message);
    return result;
}

inline std::span<const AtomId> checked_atoms(SharedTask& task, IdArray atoms) {
    const auto lock = task.atoms.lock();
    return checked(atoms, task.atoms.size(), "no such atom");
}

// Throws unless there is such a predicate or action, and the values are objects, one for each of
// its parameters.
template <class Symbol>
void check_ground(const Task& task, const std::vector<Symbol>& symbols, uint32_t symbol,
                  const std::vector<uint32_t>& values, const char* message) {
    if (symbol >= symbols.size() || values.size() != symbols[symbol].parameters.size())
        throw nb::value_error(message);
    for (uint32_t value : values)
        if (value >= task.objects.size()) throw nb::value_error("no such object");
}

inline GroundAction checked_action(const Task& task, uint32_t action,
                                   std::vector<uint32_t> arguments) {
    check_ground(task, task.domain->actions, action, arguments, "no such action");
    return {ActionId(action), std::move(arguments)};
}

// Terms are numbers: variable v is v, constant c is -1 - c.
using TermCodes = std::vector<int32_t>;

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

// The same with rows. An array without columns still has rows: nullary atoms.
template <class T>
nb::object as_rows(std::vector<T>&& values, size_t rows, size_t columns) {
    return nb::cast(as_array(std::move(values))).attr("reshape")(rows, columns);
}

// The true atoms of a relation: a row of objects for each.
inline nb::object true_atoms(const Relation& relation) {
    std::vector<uint32_t> values;
    for (Row row : relation.true_rows())
        values.insert(values.end(), relation.values(row), relation.values(row) + relation.arity());
    return as_rows(std::move(values), relation.size(), relation.arity());
}

// A view of a vector that outlives the array; to be returned with reference_internal.
template <class T>
nb::ndarray<nb::numpy, const T> as_view(const std::vector<T>& values) {
    return nb::ndarray<nb::numpy, const T>(values.data(), {values.size()});
}

// --- Work ----------------------------------------------------------------------

// Stops work at its deadline, when a signal handler has raised an exception, or, on other threads
// than the main one, when the watchdog wants it to stop.
class Watch {
  public:
    void set_deadline(std::optional<double> seconds) {
        deadline_.reset();
        if (seconds && *seconds < 1e9)  // the clock cannot count further than 292 years
            deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::max(*seconds, 0.0)));
    }
    void operator()() {
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(20);
        nb::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (Watchdog& watchdog = Watchdog::instance();
            watchdog.wants_stop() && !watchdog.is_main_thread()) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
            throw nb::python_error();
        }
        if (deadline_ && now > *deadline_) {
            PyErr_SetString(PyExc_TimeoutError, "out of time");
            throw nb::python_error();
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> deadline_;
    Clock::time_point next_{};
};

// A relation of a program that has no arguments.
inline std::optional<RelationId> checked_flag(const Program& program,
                                              std::optional<uint32_t> number) {
    if (!number) return std::nullopt;
    const auto relation = checked<RelationId>(*number, program.relations(), "no such relation");
    if (program.relations()[*number].arity != 0)
        throw nb::value_error("the relation has arguments");
    return relation;
}

// Work that runs without the interpreter lock, on one thread at a time. An exception in the middle
// of it leaves the object broken.
class Guarded {
  public:
    void check_available() const {
        if (availability_ == Availability::Busy) throw nb::value_error("in use by another thread");
        if (availability_ == Availability::Broken)
            throw nb::value_error("interrupted: start again");
    }
    // Returns what the function returns.
    template <class Function>
    auto guarded(Function function) {
        check_available();
        availability_ = Availability::Busy;
        const Release release{availability_};
        try {
            nb::gil_scoped_release unlocked;
            const Interruptible work([this] { watch(); });
            return function();
        } catch (const MissingValue&) {  // thrown before anything is changed
            throw;
        } catch (const CostOverflow&) {  // likewise
            throw;
        } catch (...) {
            availability_ = Availability::Broken;
            throw;
        }
    }

    Watch watch;

  protected:
    bool is_broken() const { return availability_ == Availability::Broken; }
    void repair() { availability_ = Availability::Ready; }
    void damage() { availability_ = Availability::Broken; }

  private:
    // Read and written while the interpreter lock is held.
    enum class Availability : uint8_t { Ready, Busy, Broken };
    struct Release {
        Availability& availability;
        ~Release() {
            if (availability == Availability::Busy) availability = Availability::Ready;
        }
    };
    Availability availability_ = Availability::Ready;
};

// --- The parts of the module ---------------------------------------------------

void bind_tasks(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_walks(nb::module_& m);
void bind_spaces(nb::module_& m);
void bind_circuits(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_searches(nb::module_& m);
void bind_watchdog(nb::module_& m);

}  // namespace planlog

// Costs cross the border in units of their task.
template <>
struct nanobind::detail::type_caster<planlog::Cost> {
    NB_TYPE_CASTER(planlog::Cost, const_name("int"))

    static handle from_cpp(planlog::Cost cost, rv_policy, cleanup_list*) noexcept {
        return PyLong_FromLongLong(cost.units());
    }
};

// Ground actions cross the border as the numbers of their schema and of their objects.
template <>
struct nanobind::detail::type_caster<planlog::GroundAction> {
    NB_TYPE_CASTER(planlog::GroundAction, const_name("tuple[int, tuple[int, ...]]"))

    static handle from_cpp(const planlog::GroundAction& action, rv_policy policy,
                           cleanup_list* cleanup) noexcept {
        using Arguments = make_caster<std::vector<planlog::ObjectId>>;
        const object arguments = steal(Arguments::from_cpp(action.arguments, policy, cleanup));
        return Py_BuildValue("(IN)", index(action.action), PyList_AsTuple(arguments.ptr()));
    }
};
