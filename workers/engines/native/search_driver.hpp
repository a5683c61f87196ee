// The search as a whole: an initial plan, then simulated annealing, cooled by the share of time (or iterations) used.
//
// Large plans are annealed by several threads, each on a part of nearby routes; the decomposition changes many times.
// If the time is long for the size of the plan, a population of plans is annealed, then offspring of two plans, each
// for a short time; otherwise a brief cooling comes first. The unit of temperatures is the mean leg cost of the initial
// plan, or a multiple of it.
#pragma once
#include <memory>

#include "annealer.hpp"
#include "shared_incumbent.hpp"
#include "unassigned_penalty.hpp"
#include "decomposition.hpp"

namespace sisr {

enum class End : int { TIME_LIMIT, STOPPED, EXHAUSTED, OUT_OF_MEMORY };

class Search {
public:
    Search(const Problem& problem, const Options& options, const StopCriterion& stop_criterion,
           SharedIncumbent& incumbent);

    End run();

private:
    static constexpr double START_TEMPERATURE = 0.7, END_TEMPERATURE = 0.02;  // in units
    // Where agents differ: the assignment of tickets to agents takes longer to settle.
    static constexpr double START_TEMPERATURE_MIXED = 2;
    // With a warm start: a higher temperature would discard it, a lower one not leave it.
    static constexpr double WARM_START_TEMPERATURE = 0.3;
    // A search from scratch cools once briefly, so that a good plan stands early: the annealing proper begins too hot
    // to find a better one for a third of its time or more.
    static constexpr double FIRST_COOLING_SHARE = 0.04, FIRST_COOLING_TEMPERATURE = 0.3;
    static constexpr Number FIRST_COOLING_ITERATIONS = 20;  // per item; with fewer it finds little
    // Where routes are long and windows wide, most detours cost little, and a plan at the initial temperature is hardly
    // worse than a settled one: then all temperatures rise.
    static constexpr double INITIAL_EXCESS = 0.05, RISE = 1.4;
    static constexpr Number RISE_ITERATIONS = 10;  // per item, before each rise
    static constexpr int MAX_RISES = 6;
    static constexpr Number DESCENT_ITERATIONS = 8;  // iterations per item before the mean leg cost is measured
    static constexpr double DESCENT_SHARE = 0.05;    // of the time, at most
    static constexpr double PUBLISH_EVERY_S = 0.02;
    static constexpr int FEW_ITEMS = 3, FEW_ITERATIONS = 3000;
    // Iterations per ticket from which a population is better.
    static constexpr Number POPULATION_ITERATIONS = 3000, POPULATION_ITERATIONS_MIXED = 8000;
    static constexpr int HOT_TIMES = 2;  // as many where temperatures rise
    static constexpr int FOUNDERS = 4, CHILDREN = 60;
    static constexpr double FOUNDERS_SHARE = 0.3;              // share of the time for annealing all founders
    static constexpr double OFFSPRING_TEMPERATURE = 0.3;       // times the initial temperature of a founder
    static constexpr int PART_TICKETS = 250, PART_ROUTES = 8;  // smallest part for a thread
    static constexpr Number PRICES_UPDATED_EVERY = 1024;       // iterations between updates of reduced penalties
    // Duration of a decomposition: a share of the time, and a minimum.
    static constexpr double ROUND_SHARE = 0.01, ROUND_S = 0.1;

    using Annealers = std::vector<std::unique_ptr<Annealer>>;

    End end_reason() const;
    void start();
    void descend(double until);
    int threads() const;
    double expected_iterations_per_item() const;
    bool has_time_for_population(int times = 1) const;
    bool uses_population() const;
    void cool_briefly();
    bool raise_temperatures();
    bool soon_exceeds(Number cost);
    void evolve_population();
    void anneal_whole(double until, double initial_temperature);
    void cool(double initial_temperature, double until);
    void set_unassigned_prices();
    void settle_route_count(const Annealers& annealers, std::vector<Route>& current, std::vector<Route>& best,
                            Number& best_cost);
    void settle_route_count(Annealer& annealer, const std::vector<Route>& first);
    void anneal_parts(int threads, double until, double initial_temperature);
    void anneal(Annealer& annealer, const std::vector<Route>& routes, const SubPlan& part, double until);
    void merge_parts(const Annealers& annealers, std::vector<Route>& current, std::vector<Route>& best,
                     Number& best_cost);
    bool is_over(const Annealer& annealer) const;
    bool is_timed() const { return options_.max_iterations < 0; }  // otherwise the count of iterations decides
    void publish(const std::vector<Route>& routes, Number cost);
    double share(const Annealer& annealer) const;
    double temperature(const Annealer& annealer) const;
    double initial_temperature() const;  // in units

    const Problem& problem_;
    const Options& options_;
    const StopCriterion& stop_criterion_;
    SharedIncumbent& incumbent_;
    RouteLog log_;
    Annealer main_;
    UnassignedPenalty unassigned_penalty_;
    Random random_;    // for decompositions and the seeds of threads
    double unit_ = 1;  // of temperatures
    double start_temperature_ = 0, cooling_ = 0;
    double begun_ = 0, until_ = 1;  // the temperature falls from `start_temperature_` between these shares
    Number iterations_before_ = 0;  // iterations before this round
    int parallel_ = 1;              // number of threads that iterate in this round
    Number published_ = UNKNOWN;
    double published_at_ = -1;
};

}  // namespace sisr
