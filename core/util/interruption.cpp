#include "util/interruption.hpp"

#include <utility>

namespace planlog {

namespace {

thread_local Interruptible* innermost = nullptr;

}  // namespace

Interruptible::Interruptible(std::function<void()> check)
    : check_(std::move(check)), outer_(std::exchange(innermost, this)) {}

Interruptible::~Interruptible() { innermost = outer_; }

void interruption_point() {
    if (innermost) innermost->check_();
}

}  // namespace planlog
