// Simulated annealing over ruin and recreate, cooled by the share of the time (or of the iterations) that is used.
//
// Source: Christiaens and Vanden Berghe 2020, section 4; temperatures are set by the first plan instead of fixed.
#pragma once
#include "board.hpp"
#include "recreate.hpp"
#include "ruin.hpp"

namespace sisr {

enum class End : int { TIME_LIMIT, STOPPED, EXHAUSTED, UNSOUND, OUT_OF_MEMORY };

class Search {
public:
    Search(const Problem& problem, const Options& options, const Watch& watch, Board& board);

    End run();

private:
    static constexpr double HOT = 2, COLD = 0.02;  // temperatures, in mean costs of a leg
    static constexpr double WARM = 0.3;  // where it begins from a given plan: warmer would forget it, colder not leave it
    static constexpr Number DESCENT = 8;           // iterations an item, to tell what a leg of a sensible plan costs
    static constexpr double DESCENT_SHARE = 0.05;  // of the time, at most
    static constexpr double EXCHANGES = 0.1;       // share of touched routes for which another agent is tried
    static constexpr double PUBLISH_EVERY_S = 0.02;
    static constexpr int FEW_ITEMS = 3, FEW_ITERATIONS = 3000;

    void start();
    void build(bool scattered);
    void descend(double until);
    void step(double temperature);
    void polish();
    void remember();
    void publish();
    double share() const;
    double mean_leg_cost() const;
    bool is_accepted(Number cost, double temperature);

    const Problem& problem_;
    const Options& options_;
    const Watch& watch_;
    Board& board_;
    Random random_;
    Plan plan_;
    Ruin ruin_;
    Recreate recreate_;
    std::vector<int> items_;
    std::vector<Route> best_;
    Bag stale_;  // agents whose route in `best_` is not the one of `plan_`
    Number cost_ = 0, best_cost_ = NEVER, iterations_ = 0;
    bool is_news_ = false;
    double published_at_ = -1;
};

}  // namespace sisr
