// Interruption points: long work ends at the next one when somebody wants it to end.
//
// Long loops pass an interruption point every few thousand steps. It runs the check of the
// innermost `Interruptible` of the thread, which throws to end the work; without one, it does
// nothing. So a loop need not know who may end it: a deadline, a signal or another thread.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

namespace planlog {

// Thrown by work that another thread has stopped.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped"; }
};

// Makes the work of this thread interruptible as long as the object lives.
class Interruptible {
  public:
    explicit Interruptible(std::function<void()> check);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

  private:
    friend void interruption_point();
    std::function<void()> check_;
    Interruptible* outer_;
};

void interruption_point();

// Counts the steps of loops, and passes an interruption point every few thousand steps.
class StepCounter {
  public:
    void step() {
        if ((++steps_ & 0xfff) == 0) interruption_point();
    }

  private:
    uint32_t steps_ = 0;
};

}  // namespace planlog
