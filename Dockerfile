# Two images from one file: `web` has no torch; `worker` adds it, a C compiler (Triton needs
# one) and bubblewrap.
FROM python:3.12-slim AS base
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    DJANGO_SETTINGS_MODULE=chainrule.settings
WORKDIR /app
COPY requirements requirements
RUN pip install --require-hashes -r requirements/build.lock \
 && pip install --require-hashes -r requirements/s3.lock
COPY . .
RUN pip install --no-deps --no-build-isolation -e . \
 && SECRET_KEY=build python manage.py translations compile \
 && useradd --create-home --uid 1000 chainrule \
 && mkdir -p /data outputs && chown chainrule /data outputs
# What every Run names as the commit of its code: there is no .git in here.
ARG CHAINRULE_COMMIT=
ENV CHAINRULE_COMMIT=$CHAINRULE_COMMIT

FROM base AS web
USER chainrule
EXPOSE 8000

FROM base AS worker
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/* \
 && pip install -r requirements/torch.txt
USER chainrule
