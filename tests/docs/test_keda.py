"""The objects for KEDA name what the chart and the server have."""

from dataclasses import fields
from urllib.parse import urlsplit

import yaml

from deploy import kubernetes_files
from planner_mcp.jobs.limits.scaling import Scale

KEDA = kubernetes_files.RENDERED.with_name("keda.yaml")


def test_keda_scales_the_workers_of_the_chart_by_a_figure_of_the_server() -> None:
    """SPEC O8: its schemas are not those of Kubernetes; Deployment, Service, figure and slots that it names exist."""
    keda = {each["kind"]: each for each in yaml.safe_load_all(KEDA.read_text("utf-8"))}
    chart = {
        (each["kind"], each["metadata"]["name"]): each["spec"]
        for each in yaml.safe_load_all(kubernetes_files.RENDERED.read_text("utf-8"))
        if "spec" in each
    }
    scaled = keda["ScaledObject"]["spec"]
    worker = chart["Deployment", scaled["scaleTargetRef"]["name"]]["template"]["spec"]["containers"][0]
    (trigger,) = scaled["triggers"]
    url = urlsplit(trigger["metadata"]["url"])
    assert url.port in [each["port"] for each in chart["Service", str(url.hostname)]["ports"]]
    assert url.path == "/scale"
    assert trigger["metadata"]["valueLocation"] in {each.name for each in fields(Scale)}
    assert worker["args"] == ["worker", "--processes", trigger["metadata"]["targetValue"]]
    (secret,) = keda["TriggerAuthentication"]["spec"]["secretTargetRef"]
    assert trigger["authenticationRef"]["name"] == keda["TriggerAuthentication"]["metadata"]["name"]
    assert (secret["name"], secret["key"]) == (keda["Secret"]["metadata"]["name"], *keda["Secret"]["stringData"])
