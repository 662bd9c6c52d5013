FROM python:3.12-slim AS build
WORKDIR /app
RUN python -m venv /venv
COPY pyproject.toml setup.py requirements.lock README.md LICENSE ./
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY helix helix
COPY db db
COPY pipelines pipelines
COPY samples samples
RUN /venv/bin/pip install --no-cache-dir --no-deps .

FROM python:3.12-slim
# sources that are git repositories are fetched by it, over HTTPS and SSH
RUN apt-get update \
  && apt-get install -y --no-install-recommends git openssh-client ca-certificates \
  && rm -rf /var/lib/apt/lists/*
# Nothing is written but below /tmp: run it with a read-only root and a tmpfs there.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/nonexistent
WORKDIR /app
COPY --from=build /venv /venv
COPY samples samples
# nobody, by number: Kubernetes' runAsNonRoot believes no name
USER 65534:65534
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=2)"]
# exec form: SIGTERM reaches the server, which lets running answers finish
CMD ["helix", "serve", "--host", "0.0.0.0"]
