# Paperbook in a container; api/deploy/README.md says how to run it. The base has glibc, which
# uWebSockets.js needs: an Alpine image has not.
FROM node:22.23.3-bookworm-slim AS product
WORKDIR /src
COPY package.json package-lock.json LICENSE ./
RUN npm ci --no-audit --no-fund
COPY engine engine
COPY feeds feeds
COPY api api
# The Node that npm brings along is the one of the image once more.
RUN npm pack \
  && npm install --prefix /app --no-audit --no-fund ./paperbook-*.tgz \
  && rm -rf /app/node_modules/node-linux-* /app/node_modules/.bin/node

FROM node:22.23.3-bookworm-slim
# The version of package.json, which a release names.
ARG VERSION=unreleased
LABEL org.opencontainers.image.title=paperbook \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.version=$VERSION
WORKDIR /app
ENV NODE_ENV=production \
  PAPERBOOK_HOST=0.0.0.0 \
  PAPERBOOK_DATA_DIR=/data
RUN install -d -m 0700 -o 1000 -g 1000 /data \
  && ln -s /app/node_modules/paperbook/api/cli/paperbook.js /usr/local/bin/paperbook
COPY --from=product /app ./
# The user `node` of the image, by number, so that a cluster sees that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
# Ready, and not healthy: a venue that is down is no reason to start a server again.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["node", "-e", "\
fetch(`http://127.0.0.1:${process.env.PAPERBOOK_ADMIN_PORT || 8081}/readyz`)\
.then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["paperbook"]
CMD ["serve"]
