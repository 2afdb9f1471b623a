"""A learning platform on this machine: login, keys, access tokens, gradebook, roster.

It holds to the specifications where a test does not ask it to do otherwise. What it was sent is
in `scores` and `asked`; what it answers is in its fields, which tests set.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import jwt
from jwcrypto.jwk import JWK

CORE = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
ROSTER = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
CLIENT, DEPLOYMENT = "chainrule-client", "deployment-1"

Answer = tuple[int, Any, dict[str, str]]


@dataclass
class Score:
    """What was posted to a column."""

    column: str
    told: dict[str, Any]


@dataclass
class Simulated:
    """The platform; `url` is its address, and its issuer."""

    url: str = ""
    key: JWK = field(default_factory=lambda: JWK.generate(kty="RSA", size=2048, kid="first"))
    tool_keys: Callable[[], dict[str, Any]] = dict  # the tool's JWKS, to know its tokens by
    scores: list[Score] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # METHOD /path
    roster: list[dict[str, Any]] = field(default_factory=list)
    page_size: int = 50
    status: int = 200  # of scores
    token_status: int = 200
    detour: str = ""  # where services send on to
    endless_roster: bool = False
    huge: bool = False  # an answer beyond all measure
    tokens: dict[str, str] = field(default_factory=dict)  # access token: its scopes
    tool: str = ""  # where browsers find the tool
    people: dict[str, dict[str, Any]] = field(default_factory=dict)  # claims, by login hint
    returned: list[str] = field(default_factory=list)  # what deep linking brought back

    # What its pages do in a browser -----------------------------------------------------------

    def announce(self, **more: str) -> dict[str, str]:
        """What it sends to the tool's login."""
        return {
            "iss": self.url, "client_id": CLIENT, "login_hint": "hint-1",
            "target_link_uri": "https://testserver/lti/launch/", "lti_message_hint": "message-1",
        } | more  # fmt: skip

    def claims(self, nonce: str, /, **more: Any) -> dict[str, Any]:
        """Of a learner who opens a link in the course; `more` replaces, None takes out."""
        now = int(time.time())
        body: dict[str, Any] = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "ada",
            "name": "Ada Lovelace",
            "email": "ada@school.example",
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            f"{CORE}message_type": "LtiResourceLinkRequest",
            f"{CORE}version": "1.3.0",
            f"{CORE}deployment_id": DEPLOYMENT,
            f"{CORE}target_link_uri": "https://testserver/lti/launch/",
            f"{CORE}resource_link": {"id": "link-1", "title": "Forward"},
            f"{CORE}roles": [f"{MEMBERSHIP}Learner"],
            f"{CORE}context": {"id": "course-1", "title": "Kernels I", "label": "K1"},
            f"{CORE}custom": {"lesson": "forward"},
            AGS: {"scope": [SCORE], "lineitem": f"{self.url}/columns/1?type=2"},
            NRPS: {"context_memberships_url": f"{self.url}/roster", "service_versions": ["2.0"]},
        }
        body |= more
        return {name: value for name, value in body.items() if value is not None}

    def sign(self, claims: dict[str, Any], *, key: JWK | None = None, alg: str = "RS256") -> str:
        private = (key or self.key).export_to_pem(private_key=True, password=None)
        text = json.dumps(claims).encode()  # also what a library would not sign
        return jwt.PyJWS().encode(text, private, algorithm=alg, headers={"kid": "first"})

    # Its services -----------------------------------------------------------------------------

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> Answer:
        parts = urlsplit(target)
        self.asked.append(f"{method} {parts.path}")
        if page := self._page(method, parts.path, parse_qs(parts.query), body):
            return 200, f"<!doctype html><title>School</title>{page}", {}
        if self.detour and parts.path != "/keys":
            return 302, "", {"Location": self.detour}
        if self.huge:
            return 200, ["x" * 1000] * 4000, {}
        match (method, parts.path):
            case ("GET", "/keys"):
                return 200, {"keys": [json.loads(self.key.export_public()) | {"alg": "RS256"}]}, {}
            case ("POST", "/token"):
                return self._token(parse_qs(body.decode()))
            case ("POST", path) if path.startswith("/columns/") and path.endswith("/scores"):
                return self._score(path, headers, body)
            case ("GET", "/roster"):
                return self._roster(parse_qs(parts.query), headers)
        return 404, "", {}

    def _page(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> str:
        """What a browser gets to see. `who` is the person whose session it would have."""
        given = {name: values[0] for name, values in query.items()}
        if path in ("/course", "/framed"):
            target = f"{self.tool}{given.get('target', '/lti/launch/')}"
            announced = self.announce(login_hint=given["who"], target_link_uri=target)
            address = escape(f"{self.tool}/lti/login/?{urlencode(announced)}")
            frame = f'<iframe src="{address}" width="900" height="600"></iframe>'
            return frame if path == "/framed" else f'<a href="{address}">Open it</a>'
        if path == "/auth":
            claims = self.claims(given["nonce"], **self.people[given["login_hint"]])
            return (
                f'<form method="post" action="{escape(given["redirect_uri"])}">'
                f'<input type="hidden" name="state" value="{escape(given["state"])}">'
                f'<input type="hidden" name="id_token" value="{self.sign(claims)}"></form>'
                "<script>document.forms[0].submit()</script>"
            )
        if (method, path) == ("POST", "/return"):
            self.returned.append(parse_qs(body.decode())["JWT"][0])
            return "<h1>The link is kept</h1>"
        return ""

    def _token(self, given: dict[str, list[str]]) -> Answer:
        if self.token_status != 200:
            return self.token_status, {"error": "out of order"}, {}
        assertion = given["client_assertion"][0]
        kid = jwt.get_unverified_header(assertion)["kid"]
        keys = {key["kid"]: key for key in self.tool_keys()["keys"]}
        if kid not in keys:
            return 401, {"error": "invalid_client"}, {}
        public = jwt.PyJWK(keys[kid]).key
        said = jwt.decode(assertion, public, algorithms=["RS256"], audience=f"{self.url}/token")
        assert said["iss"] == said["sub"] == CLIENT
        token = uuid4().hex
        self.tokens[token] = given["scope"][0]
        return 200, {"access_token": token, "token_type": "bearer", "expires_in": 3600}, {}

    def _may(self, headers: Any, scope: str) -> bool:
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        return scope in self.tokens.get(token, "").split()

    def _score(self, path: str, headers: Any, body: bytes) -> Answer:
        if not self._may(headers, SCORE):
            return 401, "", {}
        assert headers["Content-Type"] == "application/vnd.ims.lis.v1.score+json"
        if self.status == 200:
            self.scores.append(Score(path.removesuffix("/scores"), json.loads(body)))
        return self.status, "", {}

    def _roster(self, query: dict[str, list[str]], headers: Any) -> Answer:
        if not self._may(headers, ROSTER):
            return 401, "", {}
        page = int(query.get("Page", ["0"])[0])
        start = page * self.page_size
        people = self.roster[start : start + self.page_size]
        more = self.endless_roster or start + self.page_size < len(self.roster)
        following = f'<{self.url}/roster?{urlencode({"Page": page + 1})}>; rel="next"'
        return (
            200,
            {"id": f"{self.url}/roster", "context": {"id": "course-1"}, "members": people},
            {"Link": following} if more else {},
        )


def member(sub: str, role: str = "Learner", **more: Any) -> dict[str, Any]:
    """An entry of the roster."""
    return {
        "user_id": sub, "name": sub.title(), "status": "Active", "roles": [f"{MEMBERSHIP}{role}"],
        "email": f"{sub}@school.example",
    } | more  # fmt: skip


@contextmanager
def running(host: str = "127.0.0.1") -> Iterator[Simulated]:
    """The platform, listening on a port of its own. To browsers `localhost` is another site than
    `127.0.0.1`."""
    platform = Simulated()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._do("GET")

        def do_POST(self) -> None:
            self._do("POST")

        def _do(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, told, headers = platform.answer(method, self.path, self.headers, body)
            sent = told.encode() if isinstance(told, str) else json.dumps(told).encode()
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                is_page = sent.startswith(b"<!doctype")
                self.send_header("Content-Type", "text/html" if is_page else "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)
            except OSError:
                pass  # the tool has heard enough

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    platform.url = f"http://{host}:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield platform
    finally:
        server.shutdown()
        server.server_close()
