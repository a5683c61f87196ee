// The C interface: seven functions over plain arrays. Thread-safe for different buffers.
#include <new>

#include "proof_listing.hpp"
#include "route_pricing.hpp"
#include "search_driver.hpp"
#include "small_day_listing.hpp"

#define EXPORTED __attribute__((visibility("default")))

// Make a call that returns how it ended; memory that does not suffice is one of the ends.
static int ended(const auto& call) {
    using End = decltype(call());
    try {
        return static_cast<int>(call());
    } catch (const std::bad_alloc&) {
        return static_cast<int>(End::OUT_OF_MEMORY);
    }
}

extern "C" {

EXPORTED sisr::Number sisr_abi() { return sisr::ABI_VERSION; }

// Search until the time is up or `incumbent[INCUMBENT_CANCEL]` is set; returns an `End`. The buffer starts as zeros.
EXPORTED int sisr_solve(const sisr::Input* input, const sisr::Options* options, sisr::Number* incumbent,
                        sisr::Number size) {
    return ended([&] {
        const sisr::StopCriterion stop_criterion(options->seconds, &incumbent[sisr::INCUMBENT_CANCEL]);
        const sisr::Problem problem(*input, stop_criterion);
        sisr::SharedIncumbent shared(incumbent, size);
        return sisr::Search(problem, *options, stop_criterion, shared).run();
    });
}

// Copy the incumbent (its length, then its codes); returns its sequence number, 0 without an incumbent.
EXPORTED sisr::Number sisr_read(sisr::Number* incumbent, sisr::Number* copy) {
    return sisr::read_incumbent(incumbent, copy);
}

// Price routes, see `price_routes`; returns a `Pricing`.
EXPORTED int sisr_price(const sisr::Network* network, const sisr::PricingOptions* options, sisr::Number* out,
                        sisr::Number size, sisr::Number* used, sisr::Number* least) {
    return ended([&] { return sisr::price_routes(*network, *options, out, size, used, least); });
}

// Enumerate routes, see `enumerate_routes`; returns a `Pricing`.
EXPORTED int sisr_enumerate(const sisr::Network* network, const sisr::PricingOptions* options, sisr::Number* out,
                            sisr::Number size, sisr::Number* used) {
    return ended([&] { return sisr::enumerate_routes(*network, *options, out, size, used); });
}

// List routes for the check of proofs, see `proof::list_routes`; returns a `proof::Listing`.
EXPORTED int proof_list_routes(const proof::Request* request, proof::Int* out, proof::Int size, proof::Int* used) {
    return ended([&] { return proof::list_routes(*request, out, size, used); });
}

// List routes of a small day for the check of proofs, see `proof::small::list_routes`; returns a `proof::Listing`.
EXPORTED int proof_list_small_day(const proof::small::Request* request, proof::Int* out, proof::Int size, proof::Int* used) {
    return ended([&] { return proof::small::list_routes(*request, out, size, used); });
}
}
