# Build: everything, compiled.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY src/store/patches src/store/patches
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
RUN node -e "fs.mkdirSync('test', { recursive: true }); fs.mkdirSync('bench', { recursive: true })" && npx tsc
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

# Run: what ships, as a user who owns nothing but the data.
FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# SIGTERM drains: batches in flight are finished and chunks given back within 10 s.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/main.js"]
