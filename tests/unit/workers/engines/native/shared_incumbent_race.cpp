// Searches with several threads while others read the incumbent and cancel, under the thread sanitizer. Fails where a
// search ends without a plan.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "shared_incumbent.hpp"
#include "problem_input.hpp"
#include "search_support.hpp"

using namespace sisr;
using Numbers = std::vector<Number>;

extern "C" int sisr_solve(const Input* input, const Options* options, Number* incumbent, Number size);
extern "C" Number sisr_read(Number* cells, Number* copy);

namespace {

constexpr Number TICKETS = 900, THREADS = 3, HORIZON = 20'000;
constexpr double SECONDS = 4;  // enough for every phase of a search under the sanitizer

struct FleetShape {
    const char* name;
    bool is_timed, has_reduced_penalties;
    Number agents, types, room;
};

// Tickets around a depot; timed ones have windows. A fleet with little spare capacity makes penalties reduced.
struct RandomInput {
    explicit RandomInput(const FleetShape& shape)
        : agents(shape.agents), room(shape.agents, shape.room), none(TICKETS + shape.agents + 1, 0) {
        Random random(1);
        std::vector<double> x(TICKETS + 1, 0), y(TICKETS + 1, 0);
        Numbers row(AGENT_FIELDS, 0);
        row[A_CLOSE] = HORIZON, row[A_PER_DISTANCE] = 1;
        row[A_MAX_DISTANCE] = row[A_MAX_DURATION] = row[A_MAX_STOPS] = -1;
        for (Number i = 0; i < agents; ++i) {
            row[A_TYPE] = row[A_UNLOCKED_TYPE] = i % shape.types, row[A_FIXED] = 50 * row[A_TYPE];
            agent.insert(agent.end(), row.begin(), row.end());
        }
        Numbers order(TICKET_FIELDS, 0);
        order[T_SOFT_CLOSE] = order[T_PICKUP] = -1, order[T_PENALTY] = Number{1} << 40;
        for (int i = 1; i <= TICKETS; ++i) {
            x[i] = random.below(2000) - 1000, y[i] = random.below(2000) - 1000;
            order[T_LOCATION] = i;
            ticket.insert(ticket.end(), order.begin(), order.end());
            demand.push_back(shape.has_reduced_penalties ? 90 : 5 + random.below(10));
            preference.insert(preference.end(), {-1, 0});
            if (shape.is_timed && i % 2 == 0)
                windows.push_back(random.below(HORIZON / 2)), windows.push_back(windows.back() + 2000);
            windows_at.push_back(static_cast<Number>(windows.size()) / 2);
        }
        for (int i = 0; i <= TICKETS; ++i)
            for (int j = 0; j <= TICKETS; ++j) legs.push_back(std::lround(std::hypot(x[i] - x[j], y[i] - y[j])));
        allowed.assign(shape.types * TICKETS, 1);
        const Number* nil = none.data();
        input = {agents,
                 TICKETS,
                 TICKETS + 1,
                 1,
                 1,
                 shape.types,
                 0,
                 0,
                 0,
                 0,
                 agent.data(),
                 room.data(),
                 nil,
                 nil,
                 nil,
                 nil,
                 nil,
                 nil,
                 nil,
                 ticket.data(),
                 demand.data(),
                 windows_at.data(),
                 windows.data(),
                 allowed.data(),
                 nil,
                 nil,
                 nil,
                 nil,
                 nil,
                 &table,
                 &table,
                 preference.data()};
    }

    Number agents;
    Numbers room, none, agent, ticket, demand, preference, windows_at{0}, windows, legs;
    std::vector<std::uint8_t> allowed;
    const Number* table = nullptr;
    Input input{};
};

bool is_planned(const FleetShape& shape, double cancel_after) {
    RandomInput random_input(shape);
    random_input.table = random_input.legs.data();
    Numbers incumbent(INCUMBENT_PLAN + TICKETS + 2 * random_input.agents, 0), copy(incumbent), copied(incumbent);
    const Options options{SECONDS, 1, THREADS, -1, 0, copy.data()};
    std::atomic<bool> is_over = false;
    std::thread search([&] {
        sisr_solve(&random_input.input, &options, incumbent.data(), static_cast<Number>(incumbent.size()));
        is_over = true;
    });
    std::thread reader([&] {
        for (; !is_over; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
            sisr_read(incumbent.data(), copied.data());
    });
    std::this_thread::sleep_for(std::chrono::duration<double>(cancel_after));
    std::atomic_ref<Number>(incumbent[INCUMBENT_CANCEL]).store(1);
    search.join(), reader.join();
    std::fprintf(stderr, "%s: %ld iterations, cost %ld\n", shape.name, long(incumbent[INCUMBENT_ITERATIONS]),
                 long(incumbent[INCUMBENT_COST]));
    return incumbent[INCUMBENT_LENGTH] > 0;
}

}  // namespace

int main() {
    bool are_planned = true;
    for (const FleetShape& shape :
         {FleetShape{"plain", false, false, 100, 1, 100}, FleetShape{"timed", true, false, 150, 3, 100},
          FleetShape{"short", false, true, 470, 1, 200}})
        for (const double cancel_after : {SECONDS + 1, SECONDS / 2})
            are_planned = is_planned(shape, cancel_after) && are_planned;
    return are_planned ? 0 : 1;
}
