"""Every prompt, in the order clients see. The texts are in the files beside this one."""

from typing import Final

from planner_mcp.server.prompts.prompt_definition import Argument, Prompt

_JOB: Final = Argument("job_id", "Job whose plan is meant.", is_required=True, kind="job_id")

PROMPTS: Final = (
    Prompt(
        "plan_a_day",
        "Plan a day",
        "From a description of vehicles and visits to an explained plan.",
        (
            Argument("work", "Vehicles, visits, times: in your own words.", label="\n\nWhat is to be done:\n"),
            Argument("date", "Planning date, YYYY-MM-DD.", kind="date", label=" for "),
            Argument("goal", "What matters most: cost, punctuality, few vehicles…", label="\n\nWhat matters most: "),
        ),
    ),
    Prompt(
        "map_business_table",
        "Map a business table",
        "From a table of orders to a scenario, in five checked steps.",
        (
            Argument(
                "table",
                "The table: CSV, or its columns with some rows.",
                label="\n\nThe table:\n",
                truncation_hint="import_scenario (tool set data) reads a larger table as a file.",
            ),
            Argument("hints", "What is known about its columns and units.", label="\n\nAbout its columns: "),
        ),
    ),
    Prompt(
        "explain_unassigned",
        "Explain what is unassigned",
        "Reasons with evidence, and the smallest change that serves each ticket.",
        (_JOB, Argument("tickets", "Only these tickets, by id.", label=" Look at these alone: ")),
    ),
    Prompt(
        "compare_plans",
        "Compare two plans",
        "What differs, for whom, and which to take.",
        (
            Argument("plan_a", "One plan.", is_required=True, kind="plan_id"),
            Argument("plan_b", "The other plan.", is_required=True, kind="plan_id"),
        ),
    ),
    Prompt(
        "replan_after_change",
        "Re-plan after a change",
        "A vehicle broke down, an order came in: change the day and move little.",
        (_JOB, Argument("change", "What happened.", is_required=True)),
    ),
)
