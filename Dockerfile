# Build: the service, compiled, and what of it ships.
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY src/app/apply-patches.mjs src/app/
COPY src/patches src/patches
COPY console/package.json console/package-lock.json console/
RUN npm ci --omit=dev --no-audit --no-fund && npm ci --omit=dev --no-audit --no-fund --prefix console
COPY tsconfig.json ./
COPY packages packages
COPY console console
COPY docs docs
COPY src src
# `--build-arg COMMIT="$(git describe --always)"`: what `--version` shows beside the version.
ARG COMMIT=""
RUN npm run --silent pack:service -- /tagcast && printf %s "$COMMIT" > /tagcast/dist/commit
# Symbols of the linker, 18 MB of them.
RUN apt-get update -q && apt-get install -q -y --no-install-recommends binutils && strip /usr/local/bin/node

# Run: what ships, as a user who owns nothing but the data. Node.js without npm and headers: 109 MB, 59 of ours, and
# Debian's own 79.
FROM debian:trixie-slim
# MALLOC_ARENA_MAX: docs/operate/configure.md, "Memory".
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=build /usr/local/bin/node /usr/local/bin/
COPY --from=build /tagcast ./
# `docker exec … tagcast client list`.
RUN ln -s /app/dist/src/main.js /usr/local/bin/tagcast \
  && useradd --uid 1000 --user-group --no-create-home node && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# SIGTERM drains: batches in flight are finished and chunks given back within 10 s.
STOPSIGNAL SIGTERM
# Over TLS when it speaks TLS; whose certificate that is, is not asked.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "const { PORT, TLS_CERT_FILE } = process.env; require(TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: PORT, path: '/livez', rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/main.js"]
