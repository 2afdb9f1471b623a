"""The two requests of a launch, with PyLTI1p3 and django-lti, more strictly than they come.

A platform sends a browser to `login`, we send it to the platform's own login with a state and a
nonce, and the platform sends it to `launch` with a signed token.
"""

import hmac
from dataclasses import dataclass
from typing import Any

import jwt
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from jwcrypto.common import JWException
from lti_tool.models import LtiDeployment, LtiRegistration
from lti_tool.utils import DjangoToolConfig
from pylti1p3.contrib.django import DjangoMessageLaunch, DjangoOIDCLogin
from pylti1p3.deployment import Deployment
from pylti1p3.exception import LtiException
from pylti1p3.registration import Registration

from classroom.lti import claims
from classroom.lti.outgoing import Services
from classroom.lti.storage import LOGIN_LASTS, OneTime, Table

CLOCKS_DIFFER = 60  # seconds by which a platform's clock may be ahead or behind
KEYS_LAST = 3600
KEYS_AGAIN = 30  # a key we do not know lets the keys be asked for again, so often at most
_DEPLOYMENT = "https://purl.imsglobal.org/spec/lti/claim/deployment_id"


@dataclass(frozen=True)
class Launch:
    """A launch that holds."""

    registration: LtiRegistration
    deployment: LtiDeployment
    claims: claims.Claims


def login(request: HttpRequest, launch_address: str) -> HttpResponse:
    """To the platform's login. Raises OIDCException where no platform is meant that we know."""
    tool = _Tool()
    asked = _Login(request, tool, OneTime(request))
    asked.set_launch_data_storage(Table())
    asked.set_launch_data_lifetime(LOGIN_LASTS)
    response: HttpResponse = asked.redirect(launch_address)
    return response


def launch(request: HttpRequest) -> Launch:
    """The token of this request, checked. Raises LtiException with what is wrong, for the log."""
    tool = _Tool()
    message = _Message(request, tool, OneTime(request))
    message.set_launch_data_storage(Table())
    message.validate()
    assert tool.registration is not None and tool.deployment is not None
    return Launch(tool.registration, tool.deployment, claims.read(message.get_launch_data()))


class _Tool(DjangoToolConfig):
    """Platforms and deployments that an operator let in. django-lti would make the others."""

    registration: LtiRegistration | None
    deployment: LtiDeployment | None

    def find_registration_by_params(
        self, iss: Any, client_id: Any, *args: Any, **options: Any
    ) -> Registration | None:
        """Without a client id, as some platforms begin, the issuer's only one is meant."""
        if not isinstance(iss, str) or not isinstance(client_id, str | None):
            return None
        rows = LtiRegistration.objects.active().filter(issuer=iss)
        found = list((rows.filter(client_id=client_id) if client_id else rows)[:2])
        if len(found) != 1:
            return None
        self.registration = found[0]
        return found[0].to_registration()

    def find_deployment_by_params(
        self, iss: Any, deployment_id: Any, client_id: Any, *args: Any, **options: Any
    ) -> Deployment | None:
        self.deployment = (
            LtiDeployment.objects.active()
            .filter(registration=self.registration, deployment_id=deployment_id)
            .first()
        )
        return Deployment().set_deployment_id(deployment_id) if self.deployment else None


class _Login(DjangoOIDCLogin):
    """The nonce follows from the state: neither is of use with another's other half."""

    _state = ""

    def _get_uuid(self) -> str:
        self._state = super()._get_uuid()
        return self._state

    def _generate_nonce(self) -> str:
        registered = self._tool_config.registration
        assert registered is not None
        self.pass_params_to_launch({"registration": registered.pk})
        return _nonce(f"state-{self._state}")


class _Message(DjangoMessageLaunch):
    _are_kept = False  # the keys, since before this launch
    _asks_again = False

    def validate_jwt_format(self) -> "_Message":
        super().validate_jwt_format()
        header, body = self._jwt["header"], self._jwt["body"]
        if not isinstance(header, dict) or not isinstance(body, dict):
            raise LtiException("The token holds no objects.")
        audience = body.get("aud")
        if isinstance(audience, list) and len(audience) == 1:
            audience = body["aud"] = audience[0]
        if isinstance(audience, list):  # several: who it was issued for says `azp`
            azp = body.get("azp")
            if azp not in audience:
                raise LtiException("The token is for several, and names none of them.")
            body["aud"] = azp
        for key in ("iss", "aud", "nonce", _DEPLOYMENT):
            claims.identifier(body, key)
        return self

    def validate_nonce(self) -> "_Message":
        state = self._get_request_param("state")
        if not hmac.compare_digest(_nonce(state), self._jwt["body"]["nonce"]):
            raise LtiException("The nonce belongs to another state.")
        super().validate_nonce()
        return self

    def validate_registration(self) -> "_Message":
        super().validate_registration()
        asked = self.get_params_from_login() or {}
        if asked.get("registration") != self._tool_config.registration.pk:
            raise LtiException("The login was begun with another platform.")
        self._requests_session = Services(self._tool_config.registration)
        return self

    def validate_jwt_signature(self) -> "_Message":
        """With what PyLTI1p3 leaves out: expiry has to be there, and one algorithm alone."""
        key, _algorithm = self.get_public_key()
        unverified = self._jwt["body"]
        try:
            body = jwt.decode(
                self._get_id_token(),
                key,
                algorithms=["RS256"],
                audience=unverified["aud"],
                issuer=unverified["iss"],
                leeway=CLOCKS_DIFFER,
                options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
            )
        except jwt.PyJWTError as error:
            raise LtiException(f"The token does not hold: {error}") from error
        if body["nonce"] != unverified["nonce"]:
            raise LtiException("The token can be read in two ways.")
        self._jwt["body"] = body | {"aud": unverified["aud"]}
        return self

    def get_public_key(self) -> tuple[str, str]:
        """From the keys as kept; asked for again where the platform has a new one."""
        try:
            return super().get_public_key()
        except JWException as error:
            raise LtiException("The platform's key cannot be used.") from error
        except LtiException:
            if not self._are_kept or not self._may_ask_again():
                raise
            assert self._registration is not None
            self._registration.set_key_set(None)
            return self.get_public_key()

    def fetch_public_key(self, key_set_url: str) -> Any:
        name = f"keys-{self._tool_config.registration.pk}"
        kept = None if self._asks_again else Table().get_value(name)
        self._are_kept = kept is not None
        if kept is None:
            kept = super().fetch_public_key(key_set_url)
            found = kept.get("keys") if isinstance(kept, dict) else None
            if not isinstance(found, list) or not all(isinstance(key, dict) for key in found):
                raise LtiException(f"{key_set_url} holds no keys.")
            Table().set_value(name, kept, KEYS_LAST)
        return kept

    def save_launch_data(self) -> "_Message":
        return self  # it is read at once, and not kept: it is about a person

    def _may_ask_again(self) -> bool:
        name = f"keys-asked-{self._tool_config.registration.pk}"
        if Table().check_value(name):
            return False
        Table().set_value(name, True, KEYS_AGAIN)
        self._asks_again = True
        return True


def _nonce(state: str) -> str:
    return hmac.digest(settings.SECRET_KEY.encode(), f"lti-nonce:{state}".encode(), "sha256").hex()
