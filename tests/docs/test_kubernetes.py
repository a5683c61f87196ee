"""The chart and the manifests made from it: valid for Kubernetes, and about options and settings that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from typer.testing import CliRunner

import planner_mcp
from deploy import kubernetes_files
from planner_mcp.cli.command_line import app
from planner_mcp.settings import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in (DEPLOY / "k8s").glob("*.yaml"))


def _objects(text: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text) if each]


def test_the_committed_files_are_fresh() -> None:
    """SPEC O7: `make docs` writes them from the chart and from the settings."""
    assert kubernetes_files.main(["--check"]) == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_object_follows_the_schema_of_kubernetes(path: Path) -> None:
    """SPEC O7: strictly, so a misspelt field is found."""
    for each in _objects(path.read_text("utf-8")):
        if each["apiVersion"] != "keda.sh/v1alpha1":  # not of Kubernetes itself
            kubernetes_validate.validate(each, "1.37", strict=True)


def test_values_are_checked_and_a_misspelt_setting_is_refused() -> None:
    """SPEC O7, T7: Helm holds values against this schema before anything is installed."""
    values, schema = kubernetes_files.values(), kubernetes_files.schema()
    jsonschema.validate(values, schema)
    for wrong in (
        values | {"settings": {"PLANNER_MAX_TIKETS": "5"}},
        values | {"settings": {"PLANNER_ALLOWED_HOSTS": "x"}},  # the variable of the pod would hide it
        values | {"replicas": 3},
        values | {"worker": values["worker"] | {"processes": 0}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_every_value_reaches_an_object() -> None:
    """SPEC O7: another image, secret, setting and count, and another release beside this one."""
    values = kubernetes_files.values()
    values |= {"image": "example/x@sha256:1", "secret": "mine", "settings": {"PLANNER_POOLS": "2"}}
    values["worker"] |= {"replicas": 7, "processes": 5, "graceSeconds": 99}
    values["server"] |= {"allowedHosts": "planner.internal:8080"}
    objects = {
        each["kind"] + "/" + each["metadata"]["name"]: each
        for each in _objects(kubernetes_files.rendered(values, "two"))
    }
    server = objects["Deployment/two-server"]["spec"]["template"]["spec"]["containers"][0]
    (hosts,) = (each["value"] for each in server["env"] if each["name"] == "PLANNER_ALLOWED_HOSTS")
    assert hosts == "two-server:8080,$(POD_IP):8080,planner.internal:8080"
    worker = objects["Deployment/two-worker"]["spec"]
    pod = worker["template"]["spec"]
    assert (worker["replicas"], pod["terminationGracePeriodSeconds"]) == (7, 99)
    assert pod["containers"][0]["args"] == ["worker", "--processes", "5"]
    assert pod["containers"][0]["image"] == "example/x@sha256:1"
    assert {"secretRef": {"name": "mine"}} in pod["containers"][0]["envFrom"]
    assert objects["ConfigMap/two"]["data"] == {"PLANNER_POOLS": "2"}
    assert all(each["metadata"]["labels"]["app.kubernetes.io/instance"] == "two" for each in objects.values())


def test_a_form_of_helm_that_is_not_checked_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Our choice: what the test renders is what Helm would make."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "x.yaml").write_text("{{ if .Values.x }}a: 1{{ end }}\n", encoding="utf-8")
    monkeypatch.setattr(kubernetes_files, "CHART", tmp_path)
    with pytest.raises(ValueError, match="not known"):
        kubernetes_files.rendered({"x": 1})


def test_containers_run_commands_and_settings_that_exist_and_are_locked_down() -> None:
    """SPEC O7, A3: options of the command line, no root, no writable root, no token of the cluster."""
    settings = {f"PLANNER_{name.upper()}" for name in Settings.model_fields}
    deployments = [
        each for each in _objects(kubernetes_files.RENDERED.read_text("utf-8")) if each["kind"] == "Deployment"
    ]
    assert len(deployments) == 2
    for each in deployments:
        pod = each["spec"]["template"]["spec"]
        container = pod["containers"][0]
        shown = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [container["args"][0], "--help"]).output
        assert [word for word in container["args"] if word.startswith("--") and word not in shown] == []
        assert {entry["name"] for entry in container.get("env", ()) if entry["name"].startswith("PLANNER_")} <= settings
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert pod["terminationGracePeriodSeconds"] >= Settings().drain_s + 5
        assert container["image"].endswith(f":{planner_mcp.__version__}")


def test_the_chart_has_this_version() -> None:
    """SPEC O7: an image of another version would not know these settings."""
    chart = yaml.safe_load((kubernetes_files.CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["version"] == chart["appVersion"] == planner_mcp.__version__


def _expressions(value: Any) -> Iterator[str]:
    """Yield the expressions of rules and panels."""
    for name, each in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        if name == "expr":
            yield each
        else:
            yield from _expressions(each)


def test_alerts_and_panels_name_metrics_and_labels_that_exist() -> None:
    """SPEC O3, O7: against the table in docs/how-to/operate.md; `le` and `job` are Prometheus' own."""
    table = (ROOT / "docs" / "how-to" / "operate.md").read_text("utf-8")
    known = {name: set(labels.split(",")) for name, labels in re.findall(r"`(planner_\w+)(?:\{([\w,]+)\})?`", table)}
    rules, panels = DEPLOY / "prometheus" / "alerts.yaml", DEPLOY / "grafana" / "planner.json"
    expressions = [
        *_expressions(yaml.safe_load(rules.read_text("utf-8"))),
        *_expressions(json.loads(panels.read_text("utf-8"))),
    ]
    used: set[str] = set()
    for each in expressions:
        names = {re.sub(r"_(bucket|count|sum)$", "", name) for name in re.findall(r"\bplanner_\w+", each)}
        assert names <= known.keys(), each
        labels = set(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)\s*\"", each))
        labels |= {label for group in re.findall(r"\bby \(([^)]*)\)", each) for label in re.split(r",\s*", group)}
        assert labels <= {"le", "job"}.union(*(known[name] for name in names)), each
        used |= names
    assert len(used) >= 10


def test_workers_that_were_scaled_to_zero_raise_no_alarm_before_a_job_waits() -> None:
    """SPEC O3, O8: deploy/k8s/keda.yaml leaves no worker while there is nothing to solve."""
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text("utf-8"))["groups"]
    rules = {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}
    alive, _, waiting = rules["PlannerNoWorkers"].partition(" and ")
    assert alive == "max(planner_workers_live) == 0"
    assert waiting == "max(planner_jobs_queued + planner_jobs_solving) > 0"


def test_a_store_that_takes_no_writes_raises_an_alarm() -> None:
    """SPEC O3, J7: it is read as before, so the queue is shown; that all calls are refused shows in 503s alone."""
    rules = _expressions(yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text("utf-8")))
    assert any('planner_http_request_seconds_count{status="503"}' in each for each in rules)
