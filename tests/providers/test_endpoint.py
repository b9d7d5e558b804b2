"""Addresses and secrets of model servers."""

import pytest

from turnwright.errors import ConfigError
from turnwright.providers.endpoint import Endpoint


def test_paths_go_below_the_base_and_keep_its_query() -> None:
    endpoint = Endpoint.at("https://host:8443/openai/v1/?api-version=2", name="azure")
    assert endpoint.to("chat/completions") == "https://host:8443/openai/v1/chat/completions?api-version=2"
    assert endpoint.shown == "https://host:8443/openai/v1/"


def test_credentials_in_the_url_become_a_header_and_are_not_shown() -> None:
    endpoint = Endpoint.at("https://me:p%40ssword1@host/v1?api_key=querysecret", name="x")
    assert endpoint.headers == {"authorization": "Basic bWU6cEBzc3dvcmQx"}
    assert (endpoint.url, endpoint.host) == ("https://host/v1?api_key=querysecret", "host")
    assert endpoint.mask("p@ssword1 p%40ssword1 bWU6cEBzc3dvcmQx querysecret") == "*** *** *** ***"


def test_headers_of_the_same_name_are_replaced_whatever_their_case() -> None:
    endpoint = Endpoint.at("http://h", name="x", token=" first-token\n", headers={"X-A": "1"})
    added = endpoint.with_headers({"AUTHORIZATION": "Bearer other-token", "x-a": "2"})
    assert endpoint.headers == {"authorization": "Bearer first-token", "x-a": "1"}
    assert added.headers == {"authorization": "Bearer other-token", "x-a": "2"}
    assert added.mask("first-token other-token") == "*** ***"


def test_an_endpoint_shows_no_secret_of_its_own_when_printed() -> None:
    endpoint = Endpoint.at("http://h/v1?api_key=a-secret-key", name="x", token="a-secret-token")
    assert repr(endpoint) == "Endpoint('x', 'http://h/v1')"


@pytest.mark.parametrize("url", ["", "host/v1", "ftp://host", "http://", "http://h:x/", "http://[::1/"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        Endpoint.at(url, name="x")


@pytest.mark.parametrize("headers", [{"bad name": "v"}, {"x": "a\r\nb: c"}])
def test_a_header_that_would_break_the_request_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="header"):
        Endpoint.at("http://h", name="x", headers=headers)
