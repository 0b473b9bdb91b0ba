"""Nobody else gets in: every route is refused to who comes from elsewhere or does not have the key."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie

import pytest

from studio_pages import ORIGIN, PORT, Browser, open_studio, run_apart, with_project


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guard")
    studio, browser, keys = open_studio(folder)
    with_project(studio, folder)
    yield studio, browser, keys
    studio.close()


def routes_of(browser):
    """Every route with a method, its parameters filled in."""
    found = []
    for route in browser.app._app.routes:
        path = re.sub(r"\{(\w+)(:\w+)?\}", lambda one: "1" if one[2] else "studio.css", route.path)
        found += [(method, path) for method in sorted(route.methods - {"HEAD"})]
    return found


STRANGERS = {
    "another host": {"host": "evil.example"},
    "another port": {"host": "127.0.0.1:1"},
    "a rebound name": {"host": f"evil.example:{PORT}"},
    "no host": {"host": ""},
    "another origin": {"origin": "http://evil.example"},
    "another port's origin": {"origin": "http://127.0.0.1:1"},
    "the origin of a file": {"origin": "null"},
    "localhost's origin for 127.0.0.1": {"origin": f"http://localhost:{PORT}"},
    "another site": {"sec-fetch-site": "cross-site"},
    "another port of the site": {"sec-fetch-site": "same-site"},
}


@pytest.mark.parametrize("who", STRANGERS)
def test_every_route_is_refused_to_strangers(opened, who):
    _, browser, keys = opened
    for method, path in routes_of(browser):
        asked = f"{path}?token={keys.token}" if path == "/enter" else path
        answer = browser.ask(method, asked, **STRANGERS[who])
        assert (answer.status, answer.header("set-cookie")) == (403, ""), f"{method} {path}"


@pytest.mark.parametrize("cookie", ["", "microagg_studio_8765=", "microagg_studio_8765=ä", "other=1"])
def test_every_route_is_refused_without_the_key(opened, cookie):
    _, browser, _ = opened
    stranger = Browser(browser.app, cookie)
    refused = {path: stranger.ask(method, path).status for method, path in routes_of(browser)}
    assert set(refused.values()) == {403}
    assert len(refused) > 30


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=wrong", "?token=a&token={token}", "?other={token}", "?token=%C3%A4"]
)
def test_a_wrong_token_opens_nothing(opened, query):
    _, browser, keys = opened
    answer = Browser(browser.app).get("/enter" + query.format(token=keys.token))
    assert (answer.status, answer.header("set-cookie")) == (403, "")


def test_the_token_is_traded_for_a_cookie_that_scripts_and_other_sites_do_not_get(opened):
    _, browser, keys = opened
    answer = Browser(browser.app).get(f"/enter?token={keys.token}", sec_fetch_site="none")
    cookie = SimpleCookie(answer.header("set-cookie"))[f"microagg_studio_{PORT}"]
    assert (answer.status, answer.header("location")) == (303, "/")
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"
    assert cookie.value not in (keys.token, "")
    assert len(keys.token) >= 43  # 256 bits in base 64
    assert len(cookie.value) >= 43


def test_what_changes_something_needs_its_own_origin(opened):
    studio, browser, _ = opened
    before = studio.project.history.version
    for method, path in routes_of(browser):
        if method == "POST":
            assert browser.ask("POST", path, origin="").status == 403, path
    assert studio.project.history.version == before
    assert browser.post("/recipe/undo", origin=ORIGIN, sec_fetch_site="same-origin").status == 303


def test_every_answer_has_the_rules_of_the_page(opened):
    _, browser, _ = opened
    for path in ("/table", "/static/studio.css", "/enter", "/nothing", "/recipe.toml", "/job"):
        answer = browser.get(path)
        policy = answer.header("content-security-policy")
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'"), path
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.header("cache-control") == "no-store"
        assert answer.header("referrer-policy") == "same-origin"
        assert [key for key, _ in answer.headers].count("cache-control") == 1


def test_no_websocket_is_spoken(opened):
    _, browser, _ = opened
    said = []

    async def run():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            said.append(message)

        await browser.app({"type": "websocket", "path": "/", "headers": []}, receive, send)

    run_apart(run())
    assert [one["type"] for one in said] == ["websocket.close"]


@pytest.mark.parametrize("other", ['theme={"dark":true}', "a b=c", "x", "\xe9=1", f"microagg_studio_{PORT}=old"])
def test_cookies_of_other_servers_of_this_machine_do_not_lock_out(opened, other):
    _, browser, _ = opened
    assert browser.get("/job", cookie=f"{other}; {browser.cookie}").status == 204
    assert browser.get("/job", cookie=other).status == 403


def test_the_port_that_browsers_leave_out_is_answered():
    from microagg.studio.security import Guard, Keys

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})

    keys = Keys()
    for port, status in ((80, 204), (81, 403)):
        browser = Browser(Guard(app, keys, port), f"microagg_studio_{port}={keys.session}")
        asked = {"host": "127.0.0.1", "origin": "http://127.0.0.1"}
        assert browser.ask("POST", "/table/read", **asked).status == status


def test_the_token_that_a_list_of_processes_shows_opens_once(opened):
    _, browser, keys = opened
    once = keys.once
    assert once not in (keys.token, keys.session)
    assert [Browser(browser.app).get(f"/enter?token={once}").status for _ in range(3)] == [303, 403, 403]
    assert Browser(browser.app).get("/enter?token=").status == 403
    assert Browser(browser.app).get(f"/enter?token={keys.token}").status == 303
