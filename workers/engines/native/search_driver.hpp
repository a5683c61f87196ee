// The search as a whole: a first plan, then annealing cooled by the share of the time (or of the iterations) used.
//
// Large plans are annealed by several threads at once, each on a part whose routes lie together; the parts are cut
// anew many times, so that nothing stays a border. Where the time is long for a plan, several are annealed, and then
// children of two, each for a short while. Temperatures are set by the first plan instead of fixed.
#pragma once
#include <memory>

#include "annealer.hpp"
#include "shared_incumbent.hpp"
#include "unassigned_penalty.hpp"
#include "decomposition.hpp"

namespace sisr {

enum class End : int { TIME_LIMIT, STOPPED, EXHAUSTED, UNSOUND, OUT_OF_MEMORY };

class Search {
public:
    Search(const Problem& problem, const Options& options, const StopCriterion& stop_criterion, SharedIncumbent& board);

    End run();

private:
    static constexpr double START_TEMPERATURE = 0.7, END_TEMPERATURE = 0.02;  // temperatures, in mean costs of a leg
    static constexpr double START_TEMPERATURE_MIXED = 2;  // to begin with where agents differ: who serves what is not soon settled
    static constexpr double WARM_START_TEMPERATURE = 0.3;  // where it begins from a given plan: warmer would forget it, colder not leave it
    static constexpr Number DESCENT = 8;           // iterations an item, to tell what a leg of a sensible plan costs
    static constexpr double DESCENT_SHARE = 0.05;  // of the time, at most
    static constexpr double PUBLISH_EVERY_S = 0.02;
    static constexpr int FEW_ITEMS = 3, FEW_ITERATIONS = 3000;
    static constexpr Number LONG = 3000, LONG_MIXED = 8000;  // iterations a ticket of which several plans make more
    static constexpr int FOUNDERS = 4, CHILDREN = 60;
    static constexpr double FOUNDED = 0.3;     // share of the time at which all founders are annealed
    static constexpr double OFFSPRING_TEMPERATURE = 0.3;  // times the heat of a founder
    static constexpr int PART_TICKETS = 250, PART_ROUTES = 8;  // smallest part worth a thread
    static constexpr Number PRICES_UPDATED_EVERY = 1024;              // iterations, while a price changes
    static constexpr double ROUND_SHARE = 0.01, ROUND_S = 0.1;  // how long parts stay: a share, but not shorter

    using Annealers = std::vector<std::unique_ptr<Annealer>>;

    End ended(End otherwise) const;  // why, if neither time nor caller
    void start();
    void descend(double until);
    int threads() const;
    bool uses_population() const;
    void evolve_population();
    void anneal_whole(double until, double heat);
    void cool(double heat, double until);
    void set_unassigned_prices();
    void settle(const Annealers& team, std::vector<Route>& now, std::vector<Route>& best, Number& best_cost);
    void settle(Annealer& annealer, const std::vector<Route>& first);
    void anneal_parts(int threads);
    void anneal(Annealer& annealer, const std::vector<Route>& routes, const SubPlan& part, double until);
    void gather(const Annealers& team, std::vector<Route>& now, std::vector<Route>& best, Number& best_cost);
    bool is_over(const Annealer& annealer) const;
    bool is_timed() const { return options_.max_iterations < 0; }  // else as many iterations, whatever the clock says
    void publish(const std::vector<Route>& routes, Number cost);
    double share(const Annealer& annealer) const;
    double temperature(const Annealer& annealer) const;
    double heat() const;  // to begin with, in mean legs

    const Problem& problem_;
    const Options& options_;
    const StopCriterion& stop_criterion_;
    SharedIncumbent& incumbent_;
    Annealer main_;
    UnassignedPenalty unassigned_penalty_;
    Random random_;  // for the cuts and the seeds of threads
    double mean_ = 1;                                       // cost of a leg
    double start_temperature_ = 0, cooling_ = 0, begun_ = 0, until_ = 1;  // the temperature falls from `start_temperature_` between these shares
    Number round_ = 0;  // iterations before this round …
    int pace_ = 1;      // … in which all threads together make this many while one makes one
    Number published_ = UNKNOWN;
    double published_at_ = -1;
};

}  // namespace sisr
