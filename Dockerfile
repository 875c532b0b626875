# The HTTP door in a container: no root, nothing written but /data and /tmp. See docs/deploy.md.
FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /opt/gateway
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN /opt/gateway/bin/pip install --no-cache-dir --no-compile --constraint constraints.txt ".[firestore,postgres]" \
    && /opt/gateway/bin/python -m compileall -q /opt/gateway/lib \
    && rm -rf /opt/gateway/lib/python3.11/site-packages/pip*

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home --home-dir /data gateway && install -d -o gateway -g gateway /data
COPY --from=build /opt/gateway /opt/gateway
ENV PATH=/opt/gateway/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 DATA_DIR=/data
USER 10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
# Whoever reaches it needs a token: without AUTH_MODE it refuses to start.
CMD ["websearch-gateway", "serve", "--http", "--host", "0.0.0.0", "--port", "8080"]
