#include "search_driver.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <numeric>
#include <system_error>

namespace sisr {
namespace {

// Let a thread of its own work or, where none is to be had, whoever waits for it.
std::future<void> begin(const std::function<void()>& work) {
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, work);
    }
}

// Work as often as said, at once, and wait for all.
void side_by_side(int times, const std::function<void(int)>& work) {
    std::vector<std::future<void>> working;
    for (int k = 0; k < times; ++k) working.push_back(begin([&work, k] { work(k); }));
    for (auto& each : working) each.get();
}

}  // namespace

Search::Search(const Problem& problem, const Options& options, const StopCriterion& stop_criterion, SharedIncumbent& board)
    : problem_(problem),
      options_(options),
      stop_criterion_(stop_criterion),
      incumbent_(board),
      main_(problem, stop_criterion, static_cast<std::uint64_t>(options.seed)),
      unassigned_penalty_(problem, is_timed() ? options.seconds : 0),
      random_(static_cast<std::uint64_t>(options.seed) + 1) {}

End Search::run() {
    if (!problem_.is_read || !problem_.is_sound || !main_.plan.is_sound) return ended(End::UNSOUND);
    start();
    publish(main_.best, main_.best_cost);
    mean_ = main_.mean_leg_cost();
    if (options_.warm_length == 0) unassigned_penalty_.consider(main_.plan);
    if (const int parts = threads(); parts > 1)
        anneal_parts(parts);
    else if (uses_population())
        evolve_population();
    else
        anneal_whole(1, heat());
    return ended(End::EXHAUSTED);
}

End Search::ended(End otherwise) const {
    return stop_criterion_.cancelled() ? End::STOPPED : stop_criterion_.over() ? End::TIME_LIMIT : otherwise;
}

double Search::share(const Annealer& annealer) const {
    if (is_timed()) return stop_criterion_.share();
    const Number done = round_ + (annealer.iterations - round_) * pace_;
    return static_cast<double>(done) / static_cast<double>(options_.max_iterations);
}

double Search::temperature(const Annealer& annealer) const {
    return start_temperature_ * std::exp(cooling_ * (share(annealer) - begun_) / (until_ - begun_));
}

// Let the temperature fall from so many mean legs to what it ends at.
void Search::cool(double heat, double until) {
    start_temperature_ = heat * mean_, cooling_ = std::log(END_TEMPERATURE / heat);
    begun_ = share(main_), until_ = until;
}

double Search::heat() const { return options_.warm_length > 0 ? WARM_START_TEMPERATURE : problem_.exchangeable ? START_TEMPERATURE : START_TEMPERATURE_MIXED; }

bool Search::is_over(const Annealer& annealer) const {
    const Number items = static_cast<Number>(problem_.items.size());
    return stop_criterion_.over() || items == 0 || (items <= FEW_ITEMS && annealer.iterations >= FEW_ITERATIONS) ||
           (!is_timed() && annealer.iterations >= options_.max_iterations);
}

// Go on from the given plan, or from the better of two: routes that grow together and routes filled one by one.
void Search::start() {
    if (options_.warm_length > 0) {
        main_.plan.begin();
        decode(options_.warm, options_.warm_length, main_.plan);
        main_.plan.keep();
        main_.forget();
        return main_.build(false);
    }
    const std::vector<Route> nothing = main_.plan.routes;
    main_.build(true);
    publish(main_.best, main_.best_cost);
    descend(0.5 * DESCENT_SHARE);
    main_.restart_from(nothing);
    main_.build(false);
    descend(DESCENT_SHARE);
    if (main_.best_cost < UNKNOWN) main_.restart_from(main_.best);
}

void Search::descend(double until) {
    const Number iterations = DESCENT * static_cast<Number>(problem_.items.size());
    for (Number k = 0; k < iterations && share(main_) < until && !is_over(main_); ++k) main_.step(0);
}

// Whether the time is long for a plan from nothing, as far as the beginning tells. A lenient search wants all of it; a
// child must not be left with a group half served.
bool Search::uses_population() const {
    const double expected = static_cast<double>(main_.iterations) / std::max(share(main_), 1e-9);
    return options_.warm_length == 0 && !unassigned_penalty_.holds(0) && problem_.all_of.empty() &&
           expected > static_cast<double>((problem_.several_kinds ? LONG_MIXED : LONG) * problem_.items.size());
}

// Some plans annealed apart, then children of two. What one search settles early it seldom takes back; of several each
// has routes the others lack.
void Search::evolve_population() {
    const std::vector<Route> first = main_.plan.routes;
    const double begun = share(main_);
    Population population;
    for (int k = 1; k <= FOUNDERS && !is_over(main_); ++k) {
        main_.restart_from(first);
        main_.forget();
        anneal_whole(begun + (FOUNDED - begun) * k / FOUNDERS, heat());
        population.found(main_.best, main_.best_cost);
    }
    for (int k = 1; k <= CHILDREN && !is_over(main_); ++k) {
        const Population::Pair parents = population.draw(random_);
        main_.restart_from(population.routes(parents.one), population.routes(parents.other));
        main_.forget();
        anneal_whole(FOUNDED + (1 - FOUNDED) * k / CHILDREN, OFFSPRING_TEMPERATURE * heat());
        population.take(parents, main_.best, main_.best_cost);
    }
}

void Search::anneal_whole(double until, double heat) {
    for (cool(heat, until); share(main_) < until && !is_over(main_);) {
        if (main_.iterations % PRICES_UPDATED_EVERY == 0) set_unassigned_prices();
        main_.step(temperature(main_));
        incumbent_.count(main_.iterations);
        if (main_.best_cost < published_ && stop_criterion_.elapsed() - published_at_ > PUBLISH_EVERY_S)
            publish(main_.best, main_.best_cost);
    }
    publish(main_.best, main_.best_cost);
}

void Search::set_unassigned_prices() {
    if (const double at = share(main_); unassigned_penalty_.holds(at))
        main_.set_unassigned_prices(unassigned_penalty_.prices(at));
    else if (main_.plan.has_reduced_penalties())
        main_.set_unassigned_prices({});
}

// As many threads as pay; 1 where the cost of a plan is not the sum of its parts.
int Search::threads() const {
    if (problem_.span_cost > 0 || !problem_.all_of.empty()) return 1;
    const std::size_t most =
        std::min(main_.plan.served / PART_TICKETS, static_cast<int>(main_.plan.active.size()) / PART_ROUTES);
    return std::max(1, static_cast<int>(std::min<Number>(options_.threads, most)));
}

void Search::anneal_parts(int threads) {
    std::vector<Route> now = main_.plan.routes, best = main_.best;
    Number best_cost = main_.best_cost;
    cool(heat(), 1);
    std::vector<std::unique_ptr<Annealer>> team;
    while (static_cast<int>(team.size()) < threads)
        team.push_back(std::make_unique<Annealer>(problem_, stop_criterion_, random_.next()));
    pace_ = threads;
    if (unassigned_penalty_.holds(share(main_))) settle(team, now, best, best_cost);
    for (; !is_over(main_); publish(best, best_cost)) {
        const std::vector<SubPlan> parts = cut(problem_, now, threads, random_);
        round_ = main_.iterations;
        const double until = share(main_) + (is_timed() ? std::max(ROUND_SHARE, ROUND_S / options_.seconds) : ROUND_SHARE);
        side_by_side(threads, [&](int k) { anneal(*team[k], now, parts[k], until); });
        gather(team, now, best, best_cost);
        incumbent_.count(main_.iterations);
    }
}

// The number of routes settles in a plan of the whole, by chance in more or in fewer: one for each thread, the best stays.
void Search::settle(const Annealers& team, std::vector<Route>& now, std::vector<Route>& best, Number& best_cost) {
    round_ = main_.iterations;
    side_by_side(static_cast<int>(team.size()), [&](int k) { settle(*team[k], now); });
    for (const auto& each : team) main_.iterations += each->iterations - round_;
    incumbent_.count(main_.iterations);
    const auto ends_cheaper = [](const auto& one, const auto& other) { return one->cost < other->cost; };
    now = (*std::min_element(team.begin(), team.end(), ends_cheaper))->plan.routes;
    for (const auto& each : team)
        if (each->best_cost < best_cost) best = each->best, best_cost = each->best_cost;
    publish(best, best_cost);
}

void Search::settle(Annealer& annealer, const std::vector<Route>& first) {
    annealer.restart_from(first);
    annealer.forget();
    annealer.iterations = round_;
    for (Number k = 0; unassigned_penalty_.holds(share(annealer)) && !is_over(annealer); ++k) {
        if (k % PRICES_UPDATED_EVERY == 0) annealer.set_unassigned_prices(unassigned_penalty_.prices(share(annealer)));
        annealer.step(temperature(annealer));
    }
    annealer.set_unassigned_prices({});
}

void Search::anneal(Annealer& annealer, const std::vector<Route>& routes, const SubPlan& part, double until) {
    annealer.take(routes, part);
    annealer.iterations = round_;
    while (share(annealer) < until && !is_over(annealer)) annealer.step(temperature(annealer));
}

// Put the parts together: as they are, and each at its best.
void Search::gather(const Annealers& team, std::vector<Route>& now, std::vector<Route>& best, Number& best_cost) {
    Number sum = 0;
    for (const auto& each : team) {
        sum = each->best_cost == UNKNOWN ? UNKNOWN : sum == UNKNOWN ? sum : sum + each->best_cost;
        main_.iterations += each->iterations - round_;
    }
    for (const auto& each : team)
        for (int agent = 0; agent < static_cast<int>(now.size()); ++agent) {
            if (!each->plan.is_mine(agent)) continue;
            now[agent] = each->plan.routes[agent];
            if (sum < best_cost) best[agent] = each->best[agent];
        }
    best_cost = std::min(best_cost, sum);
}

void Search::publish(const std::vector<Route>& routes, Number cost) {
    if (cost >= published_) return;
    Code code;
    for (const Route& route : routes)
        if (route.is_used()) encode(problem_, route, code);
    incumbent_.publish(code, cost);
    published_ = cost;
    published_at_ = stop_criterion_.elapsed();
}

}  // namespace sisr
