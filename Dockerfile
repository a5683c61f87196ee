# One image for servers and workers: `serve` is the default, `worker --redis-url …` the other half.
# A release names the base image by its digest: `--build-arg PYTHON_IMAGE=python@sha256:…`
ARG PYTHON_IMAGE=python:3.12-slim-bookworm
FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
COPY requirements ./requirements
RUN python -m venv /opt/planner && python -m venv /opt/build && \
    /opt/planner/bin/pip install --no-cache-dir --require-hashes --requirement requirements/image.lock && \
    /opt/build/bin/pip install --no-cache-dir --require-hashes --requirement requirements/build.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY planner_mcp ./planner_mcp
COPY workers ./workers
COPY manifest ./manifest
# there is no C++ compiler here: Zig compiles the native engine, and an image without it is refused
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir dist . && \
    /opt/planner/bin/pip install --no-deps dist/*.whl && \
    cd / && /opt/planner/bin/python -c \
    "from workers.engines.native.sisr_engine import SisrEngine; raise SystemExit(not SisrEngine().is_available())"

FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="planner-mcp" \
      org.opencontainers.image.description="An async, job-oriented MCP server for vehicle routing" \
      org.opencontainers.image.licenses="MIT" \
      io.modelcontextprotocol.server.name="io.github.planner-mcp/planner-mcp"
# names in PNG maps, Latin and Chinese
RUN apt-get update && apt-get install --yes --no-install-recommends fonts-wqy-microhei && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/planner planner
COPY --from=build /opt/planner /opt/planner
ENV PATH="/opt/planner/bin:$PATH" \
    PLANNER_DATA_DIR=/var/lib/planner/data \
    PYTHONUNBUFFERED=1
# by number, so that Kubernetes can see that it is not root
USER 10001
WORKDIR /var/lib/planner
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ.get(\"PLANNER_PORT\", 8080)}/healthz', timeout=2)"]
ENTRYPOINT ["planner-mcp"]
CMD ["serve"]
