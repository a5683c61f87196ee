// One route: its stops in order, and what a look at an insertion needs to know at each of them.
//
// `lay_out` is the one definition of the model in this library: it walks the route, and says whether the route is
// feasible and what it costs. Everything faster (insertion.hpp) only leaves out what cannot matter.
#pragma once
#include "problem.hpp"

namespace sisr {

inline constexpr int TERMINUS = -1;  // the stop of the first and last node of each route

struct Node {
    std::int32_t stop;  // ticket, reload (Problem::reload_stop) or TERMINUS
    std::int32_t place;
    std::int32_t leg;  // distance from the node before
    Number finish;     // earliest end of service
    Number latest;     // latest start of service that keeps the rest of the route on time
};

struct RestTaken {
    int rest, after;
};  // index in Agent::rests, index of the node it follows

struct Route {
    explicit Route(int agent) : agent(agent), nodes{{TERMINUS, 0, 0, 0, 0}, {TERMINUS, 0, 0, 0, 0}} {}

    int agent;
    int pinned = 0;  // node of the last locked ticket: nothing is inserted before or removed up to it
    int served = 0, reloads = 0;
    Number distance = 0, duration = 0, idle = 0, cost = 0;  // idle: waiting that a later departure cannot save
    std::vector<Node> nodes;
    std::vector<Number> load;  // by dimension: the sum where loads only fall (see Problem::mixed)
    std::vector<Number> leg, head,
        tail;  // by node and dimension: on board when leaving; its maximum over the trip up to there, from there

    bool is_used() const { return served > 0; }
};

// Walk the route: times, cost, limits. False when it breaks a hard rule; then only `nodes` are still of use.
bool lay_out(const Problem& problem, Route& route, std::vector<RestTaken>* rests = nullptr);

// After `lay_out`: what insertions ask for (`latest`, `head`, `tail`).
void look_back(const Problem& problem, Route& route);

}  // namespace sisr
