"""Every setting, read from the environment. Unset means: one machine, SQLite, own Valkey."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from chainrule import environment as env

BASE_DIR = Path(__file__).resolve().parents[2]
DATA_DIR = Path(env.text("DATA_DIR", str(BASE_DIR / ".data"))).expanduser().absolute()
COURSES_DIR = Path(env.text("COURSES_DIR", str(BASE_DIR / "lessons" / "courses")))

DEBUG = env.boolean("DEBUG")
SECRET_KEY = env.secret("SECRET_KEY", DATA_DIR / "secret")
# This machine always: `serve` and the health check of docker-compose.yml ask from here.
ALLOWED_HOSTS = [*env.words("ALLOWED_HOSTS"), "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
HTTPS = env.boolean("HTTPS")  # behind a proxy that ends TLS and sets X-Forwarded-Proto

INSTALLED_APPS = [
    "chainrule",
    "accounts",
    "classroom",
    "lessons",
    "runner",
    "axes",
    "channels",
    "csp",
    "lti_tool",  # its middleware is left out: nothing after a launch asks for the launch
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "chainrule.nulls.WithoutNulls",
    "accounts.middleware.PersonMiddleware",  # last: see there
]
ROOT_URLCONF = "chainrule.urls"
ASGI_APPLICATION = "chainrule.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chainrule.translations.compiling.notice",
                "classroom.hooks.menu",
            ],
        },
    }
]

# Data ----------------------------------------------------------------------------------------
DATABASES: dict[str, Any] = {
    "default": env.database("DATABASE_URL", f"sqlite:///{DATA_DIR / 'chainrule.sqlite3'}")
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",  # a writer waits its turn instead of failing half-way
        "timeout": 20,
        # The reaper moves the log into the file: in a writer that takes as long as the disk does.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
        "PRAGMA wal_autocheckpoint=10000;",
    }
else:
    # Each request has a thread of its own: connections outlive it in a pool of the process, not in
    # the thread. A request that gets none within the timeout fails, and says so in the log.
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": env.integer("DATABASE_POOL", 20, low=8),
        "timeout": 10,
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = env.text("REDIS_URL", f"unix://{DATA_DIR / 'valkey.sock'}")
STORAGES: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "files"},
    },
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "chainrule.static.HashedStatic"
    },
}
if bucket := env.text("S3_BUCKET"):  # a worker may stand on another machine
    STORAGES["default"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": env.text("S3_ENDPOINT") or None,
            "access_key": env.text("S3_ACCESS_KEY") or None,
            "secret_key": env.text("S3_SECRET_KEY") or None,
            "region_name": env.text("S3_REGION") or None,
            "default_acl": None,
            "file_overwrite": True,
        },
    }

# Static files --------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]  # and no app's
WHITENOISE_MAX_AGE = 3600

# Languages -----------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("fr", "Français"), ("tr", "Türkçe")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# People and trust ----------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "classroom.backend.CohortBackend",  # teachers see the Runs of their learners
]
# Asked in turn whether somebody may submit in a lesson now: (person, course, lesson) -> Closed.
SUBMISSION_GATES = ["classroom.hooks.gate"]
# What stands beside a lesson in its course's list: (request, course) -> {lesson: HTML}.
LESSON_NOTES = ["classroom.hooks.lesson_notes"]
# What stands beside a step's question: (request, course, lesson, step) -> Beside.
STEP_PARTS = ["classroom.hooks.step_part", "classroom.rechecks.learners.step_part"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
# Each knows what it holds of a person: export_person, erase_person, adopt.
PERSONAL_DATA = ["runner.api", "classroom.api", "lessons.api"]
LOGIN_URL = "accounts:sign-in"
# Asked in turn where somebody lands who asked for no page: (person) -> an address, or "".
LANDINGS = ["classroom.hooks.landing"]
PASSWORD_RESET_TIMEOUT = 24 * 3600
# How many proxies of ours stand in front and append to X-Forwarded-For; 0 means: ignore it.
TRUSTED_PROXIES = env.integer("TRUSTED_PROXIES", 1 if HTTPS else 0)
GUESTS_PER_HOUR = env.integer("GUESTS_PER_HOUR", 240, low=1)  # from one network address
CSRF_FAILURE_VIEW = "accounts.middleware.stale"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 365  # a guest's work lives as long as this cookie
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
LONGEST_BODY = 1024 * 1024  # of any request; beyond it nothing is read (chainrule.bounds)
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "font-src": [SELF],
        "img-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # or a stranger could prolong it for ever
AXES_DISABLE_ACCESS_LOG = True  # who signed in from where is nobody's business
AXES_CLIENT_IP_CALLABLE = "accounts.addresses.client_ip"
AXES_LOCKOUT_CALLABLE = "accounts.middleware.locked_out"
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if env.text("EMAIL_HOST")
    else "accounts.mail.PrintingBackend"
)
EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.integer("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.boolean("EMAIL_USE_TLS", bool(EMAIL_HOST))
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "chainrule@localhost")

# Learning platforms (LTI) --------------------------------------------------------------------
LTI_PROXY = env.text("LTI_PROXY")  # through which platforms are asked, like http://proxy:3128
LTI_LOOPBACK = env.boolean("LTI_LOOPBACK")  # a platform on this machine may do without HTTPS

# Runs ----------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as it takes
CELERY_BROKER_POOL_LIMIT = 10
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 6 * 3600,  # above the longest hard limit, or a Run would start twice
    "unacked_restore_interval": 10,
    "socket_timeout": 15,  # a frozen broker must not hang a request (above BRPOP's own wait)
    "socket_connect_timeout": 3,
    "retry_policy": {"timeout": 3.0},
}
REDIS_POOL = env.integer("REDIS_POOL", 500, low=10)  # one connection a Run that is watched
SOCKETS_EACH = env.integer("SOCKETS_EACH", 40, low=1)  # open pages with a Run, a person
RECORDINGS_DIR = BASE_DIR / "tests" / "data" / "recordings"
RUNNER_REGISTRY = env.text("RUNNER_REGISTRY", "kernels.registry")
RUNS_PER_DAY = env.integer("RUNS_PER_DAY", 200)
GUEST_RUNS_PER_DAY = env.integer("GUEST_RUNS_PER_DAY", 60)
HOUSEKEEPING = ["forget_guests"]  # commands that the reaper runs once a day
BACKGROUND = [  # what it does a slice of, again and again, each in a thread of its own
    "classroom.rechecks.working.work",
    "classroom.lti.passback.work",  # marks for learning platforms
]
RUN_MEMORY_MB = env.integer("RUN_MEMORY_MB", 6144, low=256)
RUN_GRACE_SECONDS = env.integer("RUN_GRACE_SECONDS", 10, low=1)  # from SIGTERM to SIGKILL
RUN_FILES_MB = env.integer("RUN_FILES_MB", 64, low=1)  # of one Run
TRAINING_FILES_MB = env.integer("TRAINING_FILES_MB", 8192, low=64)  # of one training at a time
RUN_LONGEST_SECONDS = 4 * 3600  # no Procedure runs longer; the visibility timeout lies above

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "WARNING")},
    # A form filled in wrongly or an address that is not there (4xx) is no news to who runs this.
    "loggers": {"django.request": {"level": "ERROR"}},
}
