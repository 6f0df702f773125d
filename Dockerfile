# Perch in an image of its own: one static program and the authorities that it trusts. No shell, and nothing that must
# be writable (zone data is inside the program).
#
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD) -t perch:0.1.0 .
FROM golang:1.26.8 AS build
WORKDIR /src
# Not given: Go's own. A company's module proxy can be.
ARG GOPROXY
ARG VERSION=dev
ARG REVISION=
COPY . .
# The caches are named, because Go's own places for them depend on HOME, which not every builder sets.
ENV GOMODCACHE=/cache/modules GOCACHE=/cache/build CGO_ENABLED=0 GOFLAGS=-buildvcs=false
RUN --mount=type=cache,target=/cache go build -trimpath \
    -ldflags "-s -w -X main.version=${VERSION} -X main.revision=${REVISION}" -o /perch ./cmd/perch
# What the program was linked from, as CycloneDX: scanners look for files of this name.
RUN --mount=type=cache,target=/cache go run ./internal/sbom -version "${VERSION}" /perch > /perch.cdx.json

FROM scratch
ARG VERSION=dev
ARG REVISION=
LABEL org.opencontainers.image.title="perch" \
      org.opencontainers.image.description="Holds connections idle, reuses them as an application would, and says what broke" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/LICENSE /perch /perch.cdx.json /
USER 65532:65532
ENTRYPOINT ["/perch"]
