"""Why a ticket, or a whole day, cannot be served: reasons, evidence and proved changes."""
