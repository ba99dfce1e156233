// Shared by all bindings: objects that Python and the core own together, arrays that cross the
// border, and work that can be interrupted.
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

namespace planlog {

namespace nb = nanobind;
using namespace nb::literals;

using IdArray = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, uint32_t>;

// --- Objects -------------------------------------------------------------------

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

// A program, and the domain it needs. It must not change once others have copied its structure.
struct SharedProgram {
    std::shared_ptr<SharedDomain> domain;
    Program program;
    bool is_frozen = false;

    explicit SharedProgram(std::shared_ptr<SharedDomain> of)
        : domain(std::move(of)), program(domain->domain) {}
    const Program& frozen() {
        is_frozen = true;
        return program;
    }
    Program& changeable() {
        if (is_frozen) throw nb::value_error("the program is in use and cannot change");
        return program;
    }
};

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
inline nb::object as_rows(std::vector<uint32_t>&& values, size_t rows, size_t columns) {
    return nb::cast(as_array(std::move(values))).attr("reshape")(rows, columns);
}

// A view of a vector that outlives the array; to be returned with reference_internal.
template <class T>
nb::ndarray<nb::numpy, const T> as_view(const std::vector<T>& values) {
    return nb::ndarray<nb::numpy, const T>(values.data(), {values.size()});
}

// --- Actions -------------------------------------------------------------------

inline nb::tuple as_python(const GroundAction& action) {
    return nb::make_tuple(index(action.action), nb::tuple(nb::cast(action.arguments)));
}

inline void check_action(const Task& task, uint32_t action,
                         const std::vector<uint32_t>& arguments) {
    const auto& actions = task.domain->actions;
    if (action >= actions.size() || arguments.size() != actions[action].parameters.size())
        throw nb::value_error("no such action");
    for (uint32_t argument : arguments)
        if (argument >= task.objects.size()) throw nb::value_error("no such object");
}

// --- Work ----------------------------------------------------------------------

// Stops an evaluation at its deadline, or when a signal handler has raised an exception.
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

// Work that runs without the interpreter lock, on one thread at a time. An exception in the middle
// of it leaves the object broken.
class Guarded {
  protected:
    // Read and written while the interpreter lock is held.
    enum class Availability : uint8_t { Ready, Busy, Broken };

    void check_available() const {
        if (availability_ == Availability::Busy) throw nb::value_error("in use by another thread");
        if (availability_ == Availability::Broken)
            throw nb::value_error("interrupted: start again");
    }
    template <class Function>
    void guarded(Function function) {
        check_available();
        availability_ = Availability::Busy;
        try {
            nb::gil_scoped_release unlocked;
            function();
        } catch (const MissingValue&) {  // thrown before anything is changed
            availability_ = Availability::Ready;
            throw;
        } catch (...) {
            availability_ = Availability::Broken;
            throw;
        }
        availability_ = Availability::Ready;
    }
    void repair() {
        if (availability_ == Availability::Broken) availability_ = Availability::Ready;
    }

    Watch watch_;
    Availability availability_ = Availability::Ready;
};

inline void check_same_domain(const SharedTask& task, const SharedProgram& program) {
    if (task.domain != program.domain)
        throw nb::value_error("task and policy are of different domains");
}

inline void check_atoms(SharedTask& task, IdArray atoms) {
    const auto lock = task.atoms.lock();
    for (size_t i = 0; i < atoms.size(); ++i)
        if (atoms(i) >= task.atoms.size()) throw nb::value_error("no such atom");
}

}  // namespace planlog
