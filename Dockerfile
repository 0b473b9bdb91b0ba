# microagg in a slim image, as a user without rights. tools/image.sh builds it; nothing but the wheel goes in.
#   docker run --rm --network none --user "$(id -u):$(id -g)" -v "$PWD:/work" microagg release data.csv -r recipe.toml -o out/
FROM python:3.11-slim

ARG EXTRAS=plot,sign,sql
COPY dist/*.whl /tmp/
RUN set -eu; wheel="$(ls /tmp/microagg-*.whl)"; \
    pip install --no-cache-dir --no-compile "${wheel}[${EXTRAS}]"; \
    rm -rf /tmp/*.whl; \
    useradd --create-home --uid 10001 steward

# Compiled kernels are kept where any user may write; without it each run would compile them anew.
ENV NUMBA_CACHE_DIR=/tmp/microagg-kernels MPLCONFIGDIR=/tmp/microagg-matplotlib PYTHONUNBUFFERED=1
USER steward
WORKDIR /work
ENTRYPOINT ["microagg"]
CMD ["--help"]
