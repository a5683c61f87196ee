"""Deliveries as they must stand: who may make an attempt, and which attempts may be recorded."""

from dataclasses import dataclass, field
from typing import Any

from tests.simulation.history import Step


@dataclass
class DeliveryModel:
    """Leases and ends of deliveries, told step by step like `JobModel`."""

    lease_ms: int
    leases: dict[str, int] = field(default_factory=dict)
    """"<delivery>/<fence>" by when it ends."""
    fences: dict[str, int] = field(default_factory=dict)
    delivered: set[str] = field(default_factory=set)

    def apply(self, step: Step) -> str:
        """Take a step over; return what is wrong with its reply, or nothing."""
        judge = getattr(self, f"_{step.name.removeprefix('webhook_')}", None)
        return judge(step, step.args, step.reply) if judge and step.name.startswith("webhook_") else ""

    def _claim(self, step: Step, _args: dict[str, Any], reply: list[Any]) -> str:
        self.leases = {lease: ends_ms for lease, ends_ms in self.leases.items() if ends_ms > step.at_ms}
        held = {lease.rpartition("/")[0] for lease in self.leases}
        wrong = []
        for delivery, fence, *_rest in reply[1]:
            if delivery in held:
                wrong.append(f"{delivery} was handed out twice")
            if delivery in self.delivered:
                wrong.append(f"{delivery} was handed out after it had arrived")
            if fence <= self.fences.get(delivery, 0):
                wrong.append(f"{delivery} has the number {fence} again")
            self.fences[delivery] = fence
            self.leases[f"{delivery}/{fence}"] = step.at_ms + self.lease_ms
        return "; ".join(wrong)

    def _renew(self, step: Step, args: dict[str, Any], _reply: list[Any]) -> str:
        for lease in args["leases"]:
            if lease in self.leases:
                self.leases[lease] = step.at_ms + args["lease_ms"]
        return ""

    def _settle(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        is_held = self.leases.pop(f"{args['id']}/{args['fence']}", None) is not None
        if is_held and args["is_delivered"]:
            self.delivered.add(args["id"])
        return "" if reply[0] == ("ok" if is_held else "lost") else f"answered {reply}; the lease is held: {is_held}"
