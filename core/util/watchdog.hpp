// A watchdog: a thread that keeps a process within its limits of time and memory.
//
// It notices the end of the time, too much resident memory, and signals. Then it first asks the
// work to end: SIGALRM interrupts the main thread, and `wants_stop` tells the other threads. If the
// process still runs when the watchdog's patience is at its end, the watchdog ends the process
// itself, with the message and the exit code of the reason. It needs no lock that the work could
// hold, so it also ends work without interruption points: reading, compiling, imports.
//
// Patience is short while the work has no result yet: nothing is lost. It is long as soon as there
// is a result that has still to be written, so this way out is for hangs only, such as a pipe that
// nobody reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace planlog {

enum class StopReason : uint8_t { None, Time, Memory, Interrupt, Terminate };
constexpr size_t stop_reason_count = 5;

// What the watchdog writes if it ends the process, and its exit code.
struct Ending {
    std::string output, message;
    int exit_code = 0;
};

// All functions may be called on any thread.
class Watchdog {
  public:
    static Watchdog& instance();

    // Starts a watch, or changes its limits: the time from now in seconds, and the resident memory
    // of the process in bytes. The calling thread is the one to interrupt.
    void watch(std::optional<double> seconds, std::optional<size_t> memory);
    // Ends the watch, and forgets why it wanted the work to stop.
    void rest();

    // A pipe to which the number of each arriving signal is written; -1 if it cannot be made.
    int signal_pipe();
    // Allows the watchdog to end the process, with the ending of the reason.
    void set_ending(StopReason reason, Ending ending);
    void set_patience(double seconds);
    // Whether threads other than the main thread should stop now.
    void set_stops_work(bool value) { stops_work_ = value; }
    bool wants_stop() const { return stops_work_ && reason_ != StopReason::None; }
    StopReason reason() const { return reason_; }
    bool is_main_thread() const;  // the one that started the watch

  private:
    Watchdog() = default;
    void run();

    std::atomic<StopReason> reason_ = StopReason::None;
    std::atomic<bool> stops_work_ = false;
    struct Shared;  // what the thread and its users share under a lock
    static Shared& shared();
};

// The resident memory of this process in bytes; its peak where the system tells no more.
size_t resident_memory();

}  // namespace planlog
