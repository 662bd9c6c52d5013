FROM python:3.12-slim AS build
WORKDIR /app
RUN python -m venv /venv
COPY pyproject.toml setup.py constraints.txt README.md LICENSE ./
COPY helix helix
COPY db db
COPY pipelines pipelines
COPY samples samples
RUN /venv/bin/pip install --no-cache-dir -c constraints.txt .

FROM python:3.12-slim
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 HOME=/home/helix
RUN useradd --create-home helix
WORKDIR /app
COPY --from=build /venv /venv
COPY samples samples
USER helix
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=2)"]
# exec form: SIGTERM reaches the server, which lets running answers finish
CMD ["helix", "serve", "--host", "0.0.0.0"]
