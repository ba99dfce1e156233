#include "util/watchdog.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace planlog {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// A process fills new memory at some gigabytes a second. Memory is looked at as often as it takes
// not to miss the limit at this speed, in bytes a second.
constexpr double fill_rate = 8e9;
constexpr Seconds min_interval{0.0005}, max_interval{0.02};
// Resident memory, as a multiple of the limit, at which patience ends.
constexpr double hard_limit = 1.05;

// Writes a text unless that would block.
void write_now(int file, const std::string& text) {
    pollfd ready{file, POLLOUT, 0};
    if (text.empty() || ::poll(&ready, 1, 0) <= 0) return;
    [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
}

}  // namespace

size_t resident_memory() {
    static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    char text[128];
    const auto length = file < 0 ? -1 : ::pread(file, text, sizeof(text) - 1, 0);
    if (length > 0) {
        text[length] = 0;
        char* end = text;
        std::strtoull(text, &end, 10);  // the reserved memory
        return std::strtoull(end, nullptr, 10) * page;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return static_cast<size_t>(usage.ru_maxrss);
#else
    return static_cast<size_t>(usage.ru_maxrss) * 1024;
#endif
}

struct Watchdog::Shared {
    std::mutex mutex;
    bool is_running = false;
    int pipe[2] = {-1, -1};
    bool is_watching = false;
    std::optional<Clock::time_point> deadline;
    std::optional<size_t> memory;
    pthread_t main_thread{};
    Clock::time_point stop_time;  // when the reason came up
    Seconds patience{0};
    bool may_end = false;
    std::array<Ending, stop_reason_count> endings;
};

Watchdog& Watchdog::instance() {
    // Never destroyed: the thread may outlive the main thread's last steps.
    static Watchdog* const watchdog = new Watchdog;
    return *watchdog;
}

Watchdog::Shared& Watchdog::shared() {
    static Shared* const shared = new Shared;
    return *shared;
}

int Watchdog::signal_pipe() {
    Shared& s = shared();
    const std::scoped_lock lock(s.mutex);
    if (s.pipe[1] >= 0) return s.pipe[1];
    if (::pipe(s.pipe) != 0) return -1;
    for (const int end : s.pipe) {
        fcntl(end, F_SETFD, FD_CLOEXEC);
        fcntl(end, F_SETFL, O_NONBLOCK);
    }
    return s.pipe[1];
}

void Watchdog::watch(std::optional<double> seconds, std::optional<size_t> memory) {
    const int pipe = signal_pipe();
    Shared& s = shared();
    {
        const std::scoped_lock lock(s.mutex);
        s.is_watching = true;
        s.deadline.reset();
        if (seconds && *seconds < 1e9)  // the clock cannot count further than 292 years
            s.deadline =
                Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(*seconds));
        s.memory = memory;
        s.main_thread = pthread_self();
        if (!s.is_running) {
            // Signals are for the main thread.
            sigset_t all, before;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, &before);
            std::thread([this] { run(); }).detach();
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            s.is_running = true;
        }
    }
    const char wake = 0;
    [[maybe_unused]] const auto written = ::write(pipe, &wake, 1);
}

void Watchdog::rest() {
    Shared& s = shared();
    const std::scoped_lock lock(s.mutex);
    s.is_watching = false;
    s.deadline.reset();
    s.memory.reset();
    reason_ = StopReason::None;
    stops_work_ = false;
}

bool Watchdog::is_main_thread() const {
    Shared& s = shared();
    const std::scoped_lock lock(s.mutex);
    return pthread_equal(pthread_self(), s.main_thread) != 0;
}

void Watchdog::set_ending(StopReason reason, Ending ending) {
    Shared& s = shared();
    const std::scoped_lock lock(s.mutex);
    s.may_end = true;
    s.endings[static_cast<size_t>(reason)] = std::move(ending);
}

void Watchdog::set_patience(double seconds) {
    Shared& s = shared();
    const std::scoped_lock lock(s.mutex);
    s.patience = Seconds(seconds);
}

void Watchdog::run() {
    Shared& s = shared();
    Seconds wait = max_interval;
    for (;;) {
        pollfd readable{s.pipe[0], POLLIN, 0};
        const double milliseconds = std::ceil(wait.count() * 1000);
        if (wait >= Seconds(0.002)) {
            ::poll(&readable, 1, static_cast<int>(std::min(milliseconds, 1e6)));
        } else {
            std::this_thread::sleep_for(wait);
        }
        StopReason signalled = StopReason::None;
        for (char number = 0; ::read(s.pipe[0], &number, 1) == 1;) {
            if (number == SIGINT) signalled = StopReason::Interrupt;
            if (number == SIGTERM) signalled = StopReason::Terminate;
            if (number == SIGXCPU) signalled = StopReason::Time;
        }

        const std::scoped_lock lock(s.mutex);
        const auto now = Clock::now();
        wait = Seconds(1000);
        if (!s.is_watching) continue;
        const size_t used = s.memory ? resident_memory() : 0;
        if (reason_ == StopReason::None) {
            if (signalled != StopReason::None)
                reason_ = signalled;
            else if (s.deadline && now >= *s.deadline)
                reason_ = StopReason::Time;
            else if (s.memory && used > *s.memory)
                reason_ = StopReason::Memory;
            if (reason_ != StopReason::None) {
                s.stop_time = now;
                // A signal has interrupted the main thread already.
                if (signalled == StopReason::None) pthread_kill(s.main_thread, SIGALRM);
            }
        }
        if (reason_ != StopReason::None && s.may_end) {
            const bool is_short = s.patience < Seconds(1);
            const bool is_far_over =
                is_short && s.memory &&
                static_cast<double>(used) > hard_limit * static_cast<double>(*s.memory);
            if (is_far_over || now - s.stop_time >= s.patience) {
                if (is_far_over) reason_ = StopReason::Memory;
                const Ending& ending = s.endings[static_cast<size_t>(reason_.load())];
                write_now(STDERR_FILENO, ending.message);
                write_now(STDOUT_FILENO, ending.output);
                _exit(ending.exit_code);
            }
            wait = Seconds(0.005);
        } else if (reason_ == StopReason::None && s.deadline) {
            wait = *s.deadline - now;
        }
        if (s.memory) {
            const double left = static_cast<double>(*s.memory) - static_cast<double>(used);
            wait =
                std::min(wait, std::clamp(Seconds(left / fill_rate), min_interval, max_interval));
        }
    }
}

}  // namespace planlog
