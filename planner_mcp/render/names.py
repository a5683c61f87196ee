"""What people call the tickets and places of a plan, in pages and pictures.

Owns the choice of names. Masked texts are left out, so a reader who may see no names sees ids.
"""

from dataclasses import dataclass

from planner_mcp.render.label_text import isolated
from planner_mcp.routing.plan import Visit
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.text import MASK


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one scenario."""

    customers: dict[str, str]
    """Name by ticket id."""
    places: dict[str, str]
    """Name, else address, by location id; places without either are left out."""

    @staticmethod
    def of(scenario: ShownScenario) -> "Names":
        """Return the names of a scenario, as its reader may see it."""
        customers = {ticket["id"]: name for ticket in scenario["tickets"] if (name := visible(ticket.get("name")))}
        places = {
            place["id"]: name
            for place in scenario.get("locations") or ()
            if (name := visible(place.get("name")) or visible(place.get("address")))
        }
        return Names(customers, places)

    def ticket(self, ticket_id: str) -> str:
        """Return the id of a ticket with its customer's name, each isolated."""
        name = self.customers.get(ticket_id)
        return isolated(ticket_id) if name is None else f"{isolated(ticket_id)}, {isolated(name)}"

    def stop(self, visit: Visit) -> str:
        """Return what a visit is to: its ticket, or "break" or "reload" with the place of it."""
        if visit.ticket_id is not None:
            return self.ticket(visit.ticket_id)
        place = self.places.get(visit.location or "", visit.location)
        return f"{visit.kind}, {isolated(place)}" if place else visit.kind

    def place(self, location: str) -> str:
        """Return the name of a place, else its id."""
        return self.places.get(location, location)


def visible(text: str | None) -> str:
    """Return a text for people; nothing for none and for a masked one."""
    return "" if text is None or text == MASK else text
