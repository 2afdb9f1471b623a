"""The web process: pages over HTTP, Events over websockets."""

import gc
import os
import warnings

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chainrule.settings")
# WhiteNoise hands a file over as a synchronous iterator. Static files are small, hashed and kept
# by the browser for a year, so reading one in a thread costs nothing worth a warning.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")
http = get_asgi_application()  # loads the apps, which the imports below need

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from accounts.addresses import Addressed  # noqa: E402
from chainrule.bounds import BoundedBodies  # noqa: E402
from chainrule.origins import SameOrigin  # noqa: E402
from chainrule.sockets import no_such_socket  # noqa: E402
from runner.routing import websocket_urlpatterns  # noqa: E402

sockets = URLRouter([*websocket_urlpatterns, re_path("", no_such_socket)])  # type: ignore[arg-type]
application = ProtocolTypeRouter(
    {
        "http": BoundedBodies(http, settings.LONGEST_BODY),
        "websocket": SameOrigin(Addressed(AuthMiddlewareStack(sockets))),
    }
)
# A page of tens of thousands of answers makes the collector look through all that is alive. What
# is loaded by now lives as long as the process: looking at it each time took a third of such pages.
gc.collect()
gc.freeze()
