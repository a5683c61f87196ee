// Ruin: removes strings of adjacent tickets from neighbouring routes.
//
// Source: Christiaens and Vanden Berghe, "Slack Induction by String Removals for Vehicle Routing Problems",
// Transportation Science 54 (2), 2020, section 5.1 (adjacent string removal with split strings).
#pragma once
#include "working_plan.hpp"

namespace sisr {

class Ruin {
public:
    Ruin(Plan& plan, Random& random)
        : plan_(plan),
          problem_(plan.problem),
          random_(random),
          is_ruined_(static_cast<int>(plan.problem.agents.size())),
          is_listed_(static_cast<int>(plan.problem.items.size())) {}

    // Fill `items` with the removed items, and with unserved ones in the neighbourhood.
    void operator()(std::vector<int>& items);
    // Whether the last call listed all unserved items of a neighbourhood, to be inserted at any cost: with reduced
    // penalties a single ticket never opens a route.
    bool has_listed_neighbourhood() const { return has_listed_neighbourhood_; }

private:
    static constexpr double MEAN_REMOVED = 10;
    static constexpr int LONGEST_STRING = 10;
    static constexpr double SPLIT = 0.5;          // share of split strings
    static constexpr double SPLIT_GROWTH = 0.01;  // probability that one more stop of a split string is preserved
    // Share of iterations that empty a route first, where agents differ or tickets are optional.
    static constexpr double EMPTIED_ROUTE = 0.02;
    static constexpr double REASSIGN_SHARE = 0.2;  // share of iterations in which a ruined route changes its agent
    static constexpr double RELOAD_SHARE = 0.1;    // share of iterations that try a reload among locked visits
    // Share of iterations that begin in the longest route, where its duration has a cost.
    static constexpr double LONGEST_ROUTE = 0.3;
    static constexpr int ABSENT_TRIED = 12;             // unserved items tried in an iteration at most …
    static constexpr int CHEAP_TRIED = 2;               // … and those of them that may stay unserved at a price
    static constexpr double NEIGHBOURHOOD_SHARE = 0.3;  // share of iterations that then list a whole neighbourhood

    void remove_string(int ticket, int length, std::vector<int>& items);
    void remove_route(int agent, std::vector<int>& items);
    void remove(int agent, std::vector<int>& items);
    int draw_seed();
    void reassign();
    void reload();
    void list_neighbourhood(int ticket, std::vector<int>& items);
    void list_absent(int ticket, std::vector<int>& items);

    Plan& plan_;
    const Problem& problem_;
    Random& random_;
    ClearableSet is_ruined_, is_listed_;
    std::vector<int> chosen_;  // tickets to remove from one route
    int absent_listed_ = 0;
    bool has_listed_neighbourhood_ = false;
};

}  // namespace sisr
